"""Voice over one and over two satellites against ITU-T class 1, beside its delay by hand."""

from fractions import Fraction

import skycell
from tests.structure.tree import ROOT


def test_two_geostationary_hops_miss_the_delay_of_class_1_and_one_keeps_it() -> None:
    scenario = skycell.load(ROOT / "examples/voice-over-two-hops.toml")
    records = skycell.run(scenario).records
    found = {(row["vc"], row["what"]): row for row in records["qos"]}
    verdicts = {key: row["verdict"] for key, row in found.items() if key[1] != "clr"}
    assert verdicts == {
        ("one_hop", "ctd_ps"): "met",
        ("one_hop", "cdv_ps"): "met",
        ("two_hops", "ctd_ps"): "missed",
        ("two_hops", "cdv_ps"): "met",
    }
    # 250 ms a hop and 1 ms at either end; a cell of 424 bits at 2 Mbit/s at each hop, and one at
    # the payload rate of an STS-3c at the last; the first link counts from its departure.
    hop_ps = Fraction(424 * 10**12, 2 * 10**6)
    last_ps = Fraction(424 * 10**12, 149_760_000)
    for vc, hops in (("one_hop", 1), ("two_hops", 2)):
        fixed_ps = (250 * hops + 2) * 10**9 + hops * hop_ps + last_ps
        row = found[vc, "ctd_ps"]
        assert row["measured"] - found[vc, "cdv_ps"]["measured"] == round(fixed_ps)
        assert row["measured"] - round(fixed_ps) < 3 * 10**9
