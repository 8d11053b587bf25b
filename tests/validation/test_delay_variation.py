"""Delays that vary from packet to packet: moments, reordering, and both engines."""

from __future__ import annotations

from math import sqrt
from typing import Any

import pytest

import skycell
from skycell.scenario import ScenarioFaults, parse

DELAY_MS = 50
SPREAD_MS = 2


def datagrams(variation: dict[str, Any] | None, every_ms: float = 10) -> Any:
    """A datagram of 100 octets every so often over a link whose delay varies."""
    link: dict[str, Any] = {
        "from": "a",
        "to": "b",
        "rate": "1 Gbit/s",
        "framing": "ip",
        "delay": f"{DELAY_MS} ms",
    }
    if variation is not None:
        link["delay_variation"] = variation
    rate = 100 * 8 / (every_ms / 1000)
    return {
        "run": {"duration": "200 s"},
        "topology": {"kind": "graph", "hosts": ["a", "b"], "link": [link]},
        "source": [
            {
                "kind": "cbr",
                "name": "probe",
                "source": "a",
                "destination": "b",
                "rate": f"{rate:.0f} bit/s",
                "packet_size": "100 B",
            }
        ],
    }


def delays(variation: dict[str, Any]) -> dict[str, float]:
    """One-way delays of the datagrams, milliseconds."""
    scenario = {**datagrams(variation), "qos": [{"flows": ["probe"], "ctd": "1 s"}]}
    (source,) = skycell.run(scenario).records["sources"]
    return {key: source["delay"][f"{key}_ps"] / 1e9 for key in ("min", "mean", "max")}


@pytest.mark.parametrize(
    ("kind", "least", "sigma"),
    [
        ("uniform", DELAY_MS - SPREAD_MS, SPREAD_MS / sqrt(3)),
        ("normal", DELAY_MS - 4 * SPREAD_MS, SPREAD_MS),
        ("pareto", DELAY_MS - SPREAD_MS / sqrt(3), SPREAD_MS),
    ],
)
def test_the_delay_of_the_link_is_the_mean_and_no_packet_takes_less_than_the_law_allows(
    kind: str, least: float, sigma: float
) -> None:
    found = delays({"kind": kind, "spread": f"{SPREAD_MS} ms"})
    # 20 000 datagrams: three standard deviations of their mean.
    assert found["mean"] == pytest.approx(DELAY_MS, abs=3 * sigma / sqrt(20_000))
    assert found["min"] >= least
    if kind != "normal":
        assert found["min"] == pytest.approx(least, abs=0.01)


def test_a_table_adds_its_values_to_the_delay() -> None:
    found = delays({"kind": "table", "values": ["0 ms", "3 ms"]})
    assert found["min"] == pytest.approx(DELAY_MS, abs=0.01)
    assert found["max"] == pytest.approx(DELAY_MS + 3, abs=0.01)
    assert found["mean"] == pytest.approx(DELAY_MS + 1.5, abs=3 * 1.5 / sqrt(20_000))


def download(variation: dict[str, Any] | None) -> Any:
    """A download over 20 Mbit/s and 40 ms."""
    link: dict[str, Any] = {"from": "a", "to": "b", "rate": "20 Mbit/s", "framing": "ip"}
    link |= {"delay": "20 ms", "host_buffer": "200 packets"}
    if variation is not None:
        link["delay_variation"] = variation
    return {
        "run": {"duration": "20 s"},
        "topology": {
            "kind": "graph",
            "hosts": ["a", "b"],
            "link": [link],
            "flow": [{"name": "f", "source": "a", "destination": "b"}],
        },
        "tcp": {"preset": "rfc-modern"},
    }


def test_packets_that_overtake_cost_a_sender_that_counts_duplicates_and_those_in_order_do_not() -> (
    None
):
    # A packet takes 0.6 ms: with 5 ms of spread many overtake more than three others. SACK takes
    # the late ones for lost and halves its window. With the order kept the link stays full.
    def goodput(variation: dict[str, Any] | None) -> float:
        (flow,) = skycell.run(download(variation)).records["flows"]
        return float(flow["octets_delivered"] * 8 / 20e6)

    spread = {"kind": "normal", "spread": "5 ms"}
    steady = goodput(None)
    assert goodput({**spread, "reorder": False}) == pytest.approx(steady, rel=0.02)
    assert goodput(spread) < steady / 5


@pytest.mark.parametrize("reorder", [True, False])
def test_both_engines_agree(reorder: bool) -> None:
    variation = {"kind": "pareto", "spread": "3 ms", "correlation": 0.5, "reorder": reorder}
    scenario = parse(download(variation))
    fast, reference = (
        skycell.run(scenario, engine=engine).records["flows"] for engine in ("fast", "reference")
    )
    assert fast == reference


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"delay": "7 ms"}, "topology.link[0].delay_variation.spread"),  # 4 x 2 ms
        ({"framing": "none"}, "topology.link[0].delay_variation"),
        ({"jitter": "1 ms"}, "topology.link[0].jitter"),
    ],
)
def test_what_cannot_vary_is_refused(change: dict[str, str], path: str) -> None:
    values = datagrams({"kind": "normal", "spread": f"{SPREAD_MS} ms"})
    values["topology"]["link"][0] |= change
    with pytest.raises(ScenarioFaults) as refused:
        parse(values).resolve()
    assert path in [fault.path for fault in refused.value.faults]
