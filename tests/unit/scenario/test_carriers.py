"""A carrier of DVB-S2 in a scenario; `crates/framing` tests its frames."""

from fractions import Fraction

from skycell.scenario import parse
from skycell.spec.values import octets_on_line


def test_a_carrier_is_a_line_of_gse_packets() -> None:
    framing = {"kind": "gse", "modcod": "8PSK 3/4", "label": "3 B"}
    bottleneck = {"rate": "30 Mbaud", "framing": framing, "delay": "1 ms", "buffer": "9 packets"}
    topology = {"kind": "dumbbell", "sources": 1, "bottleneck": bottleneck}
    access = {"rate": "1 Gbit/s", "delay": "1 ms"}
    spec = parse({"run": {"duration": "1 s"}, "topology": {**topology, "access": access}}).resolve()
    lines = {link.name: link.framing for link in spec.links}
    carrier, host = lines["router1>router2"], lines["source1>router1"]
    assert carrier is not None
    assert host is not None
    # 6051 octets a frame of 22 194 symbols, 10 of its header and 10 of a packet that is split.
    rate = Fraction(30_000_000 * 8 * (6051 - 20), 22_194)
    assert carrier.rate_millibps == round(rate * 1000)
    assert octets_on_line(carrier, 1500) == 1500 + 4 + 3
    assert octets_on_line(host, 1500) == 1500
