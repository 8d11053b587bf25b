"""Nothing appears and nothing vanishes, counted again from outside the engine's own ledger."""

from itertools import pairwise
from typing import Any

import polars as pl
from hypothesis import HealthCheck, given, settings

import skycell
from skycell import RunResult
from tests.validation.generated import Values, scenarios

every_rule = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)


def total(records: list[dict[str, Any]], key: str) -> int:
    """The sum of a count over records; of all its reasons where it has reasons."""
    counts = [record[key] for record in records]
    return sum(sum(count.values()) if isinstance(count, dict) else count for count in counts)


@every_rule
@given(scenarios())
def test_every_cell_is_somewhere(pair: tuple[Values, Values]) -> None:
    records = skycell.run(skycell.parse(pair[1])).records
    vcs, ports = records["vcs"], records["ports"]
    for vc in vcs:
        found = vc["cells_delivered"] + sum(vc["cells_discarded"].values())
        found += vc["cells_queued"] + vc["cells_in_transit"] + sum(vc["cells_lost"].values())
        assert vc["cells_offered"] == found
        assert vc["cells_delivered"] == vc["cells_whole"] + vc["cells_corrupt"] + vc["cells_open"]
        assert vc["frames_delivered"] + vc["frames_corrupt"] <= vc["frames_offered"]
    for port in ports:
        assert port["arrived"] == port["departed"] + port["queued"] + total([port], "discarded")
        assert port["frames_discarded"].keys() == port["discarded"].keys()
        assert total([port], "frames_discarded") <= total([port], "discarded")
    # A cell that left a port is on a link, at the end of its VC, or has arrived at the next port.
    moved_on = total(ports, "departed") - total(vcs, "cells_delivered")
    moved_on -= total(vcs, "cells_in_transit")
    assert total(ports, "arrived") == total(vcs, "cells_offered") + moved_on
    assert total(ports, "discarded") == total(vcs, "cells_discarded")
    assert total(ports, "queued") == total(vcs, "cells_queued")


@every_rule
@given(scenarios())
def test_only_what_was_sent_is_delivered_and_in_order(pair: tuple[Values, Values]) -> None:
    result = skycell.run(skycell.parse(pair[1]))
    for flow in result.records["flows"]:
        new = flow["octets_sent"] - flow["octets_retransmitted"]
        assert flow["octets_delivered"] <= flow["octets_received"] <= new
        assert flow["octets_received"] == flow["octets_delivered"] + flow["octets_waiting"]
        assert flow["octets_acked"] <= flow["octets_delivered"]
        assert new == flow["octets_acked"] + flow["octets_outstanding"]
        assert flow["octets_delivered"] <= flow["octets_highest"] <= new
        on_the_way = flow["segments_sent"] - flow["segments_lost_by_script"]
        assert flow["segments_duplicate"] <= flow["segments_received"] <= on_the_way
        # A window that the reading has opened is told by an ACK of its own.
        answers = 2 if result.spec.flows[0].tcp.advertised_window == "free_buffer" else 1
        assert flow["acks_received"] <= flow["acks_sent"] <= answers * flow["segments_received"]
        assert flow["delay_min_ps"] <= flow["delay_mean_ps"] <= flow["delay_max_ps"]


@every_rule
@given(scenarios())
def test_traces_tell_what_the_counters_say(pair: tuple[Values, Values]) -> None:
    result = skycell.run(skycell.parse(pair[1]))
    for name, trace in result.traces.items():
        times = trace["end_ps" if name == "transfers" else "time_ps"].to_list()
        assert all(a <= b for a, b in pairwise(times)), name
        assert all(time < result.spec.duration_ps for time in times)
    _compare_sequences(result)
    _compare_windows(result)
    for port, (link, record) in enumerate(
        zip(result.spec.links, result.records["ports"], strict=True)
    ):
        sampled = result.traces["queue"].filter(pl.col("port") == port)["cells"]
        capacity = link.port.capacity_cells
        assert capacity is None or record["queue"]["max"] <= capacity
        assert all(cells <= record["queue"]["max"] for cells in sampled)
        discards = result.traces["discards"].filter(pl.col("port") == port)
        assert len(discards) == total([record], "frames_discarded")
        by_vc = result.traces["vc_queue"].filter(pl.col("port") == port)
        sums = by_vc.group_by("time_ps").agg(pl.col("cells").sum()).sort("time_ps")["cells"]
        assert sums.to_list() == sampled.to_list()


def _compare_sequences(result: RunResult) -> None:
    for number, flow in enumerate(result.records["flows"]):
        trace = result.traces["sequence"].filter(pl.col("flow") == number)
        counts = [len(trace.filter(pl.col("event") == event)) for event in (0, 1, 2)]
        assert counts[0] + counts[1] == flow["segments_sent"]
        assert counts[1] == flow["segments_retransmitted"]
        assert counts[2] >= flow["acks_received"]  # those of a closed connection go unread
        assert trace["length"].sum() == flow["octets_sent"]
        transfers = result.traces["transfers"].filter(pl.col("flow") == number)
        assert len(transfers) == flow["transfers"]


def _compare_windows(result: RunResult) -> None:
    for number, flow in enumerate(result.records["flows"]):
        trace = result.traces["cwnd"].filter(pl.col("flow") == number)
        tcp = result.spec.flows[number].tcp
        cwnd, ssthresh = trace["cwnd"].to_list(), trace["ssthresh"].to_list()
        if cwnd:
            assert int(max(cwnd)) == flow["cwnd_max"]
            assert min(cwnd) >= tcp.mss
            assert min(ssthresh) >= min(2 * tcp.mss, tcp.initial_ssthresh)
