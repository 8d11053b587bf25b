"""What a privileged source and the background sources beside it are measured by."""

from typing import Any

import pytest

from skycell.studies.measured_run import Measured
from skycell.studies.measures import MEASURES
from tests.unit.studies.test_measures import facts, measured


def flow(delivered: int, **counts: int) -> dict[str, Any]:
    return {"octets_delivered": delivered, "connected_ps": 10**13, **counts}


def run_of(source: str = "privileged") -> Measured:
    return measured([30.0, 10.0, 20.0], network=facts(first_vcs=(4, 5, 6)), source=source)


def test_a_source_stands_for_the_first_flow_the_others_or_all() -> None:
    found = [
        MEASURES["source_throughput"].measure(run_of(s))
        for s in ("privileged", "background", "each")
    ]
    assert found == pytest.approx([30.0, 15.0, 20.0])


def test_counts_are_told_for_each_transfer_of_the_privileged_source() -> None:
    run = run_of()
    run.summary["flows"][0] = flow(25 * 10**6, timeouts=5, octets_retransmitted=500_000)
    assert MEASURES["timeouts_per_10mb"].measure(run) == pytest.approx(2.0)
    assert MEASURES["retransmitted_per_10mb"].measure(run) == pytest.approx(200.0)  # kB
    run.summary["flows"][0] = flow(0, timeouts=5)
    assert MEASURES["timeouts_per_10mb"].measure(run) is None


def test_tagged_frames_are_those_of_the_privileged_sources_vc() -> None:
    run = run_of()
    vcs = [
        {"vc": 5, "frames_offered": 10, "frames_tagged": 9},
        {"vc": 4, "frames_offered": 200, "frames_tagged": 50},
    ]
    assert isinstance(run.summary, dict)
    run.summary["gfr_vcs"] = vcs
    assert MEASURES["tagged_share"].measure(run) == 0.25


def test_a_round_trip_is_the_delay_of_segments_and_the_way_back() -> None:
    run = run_of()
    run.summary["flows"][0]["delay_mean_ps"] = 12e9
    # 12 ms, and half of the 30 ms by propagation.
    assert MEASURES["segment_rtt"].measure(run) == pytest.approx(27.0)


def test_a_delay_is_the_mean_over_the_flows_of_a_source() -> None:
    run = run_of("background")
    for flow_record, delay in zip(run.summary["flows"], (1e9, 4e9, 6e9), strict=True):
        flow_record["delay_mean_ps"] = delay
    assert MEASURES["packet_delay"].measure(run) == pytest.approx(5.0)


def test_a_source_holds_what_its_vcs_have_in_the_port_that_samples_them() -> None:
    queues = [{"vc": vc, "mean": mean} for vc, mean in ((4, 30.0), (5, 100.0), (6, 60.0))]
    held = {}
    for source in ("privileged", "background"):
        run = run_of(source)
        for port, sampled in zip(run.summary["ports"], (queues, []), strict=True):
            port["vc_queues"] = sampled
        held[source] = MEASURES["source_mean_queue"].measure(run)
    assert held == {"privileged": 30.0, "background": 80.0}


def test_the_queue_and_the_losses_are_those_of_the_limited_ports() -> None:
    run = run_of()
    for port, mean, above in zip(run.summary["ports"], (4000.0, 10.0), (3, 1), strict=True):
        port["queue"] = {"mean": mean}
        port["frames_discarded"] = {"above_threshold": above, "overflow": 2, "tagged": 7}
    assert MEASURES["mean_queue_worst_port"].measure(run) == 4000.0
    assert MEASURES["frames_above_hbo"].measure(run) == 8.0
