"""Throughput by each definition of the studies."""

from typing import Any

import pytest

from skycell.metrics import THROUGHPUT_DEFINITIONS, throughputs_bps

S = 10**12  # picoseconds in a second


def run(duration_s: int, **octets: int) -> dict[str, Any]:
    flow = {
        "octets_delivered": 1_000,
        "octets_received": 2_000,
        "octets_highest": 4_000,
        "connected_ps": 5 * S,
    } | octets
    return {"duration_ps": duration_s * S, "flows": [flow]}


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ("delivered_over_duration", 1_000 * 8 / 10),
        ("received_over_duration", 2_000 * 8 / 10),
        ("delivered_over_connection", 1_000 * 8 / 5),
        ("highest_over_duration", 4_000 * 8 / 10),
    ],
)
def test_each_definition_takes_its_own_octets_and_time(definition: str, expected: float) -> None:
    assert throughputs_bps(run(10), definition) == [expected]


def test_every_definition_is_tested_above() -> None:
    assert len(THROUGHPUT_DEFINITIONS) == 4


def test_a_flow_that_never_connected_has_no_throughput() -> None:
    assert throughputs_bps(run(10, connected_ps=0), "delivered_over_connection") == [0.0]


def test_counting_from_a_later_moment_leaves_out_what_came_before() -> None:
    early, late = run(2, octets_delivered=100), run(10, octets_delivered=900)
    assert throughputs_bps(late, since=early) == [800 * 8 / 8]


def test_the_earlier_records_must_be_earlier() -> None:
    with pytest.raises(ValueError, match="the earlier records must be of a shorter run"):
        throughputs_bps(run(10), since=run(10))


def test_the_earlier_records_must_have_the_same_flows() -> None:
    with pytest.raises(ValueError, match="another number of flows"):
        throughputs_bps(run(10), since={"duration_ps": S, "flows": []})


def test_an_unknown_definition_is_refused_with_the_list() -> None:
    with pytest.raises(ValueError, match=r"'goodput': allowed are delivered_over_duration, "):
        throughputs_bps(run(10), "goodput")
