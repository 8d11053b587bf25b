"""What a table measures on a run."""

from dataclasses import replace
from typing import Any

import pytest

from skycell.experiment.design import Level
from skycell.measures.responses import RESPONSES
from skycell.studies import load_study, select
from skycell.studies.design import cell_of, specs_of
from skycell.studies.evaluation import evaluation_of
from skycell.studies.guaranteed_vcs import GuaranteedVc
from skycell.studies.measured_run import Evaluation, Facts, Measured
from skycell.studies.measures import MEASURES
from skycell.studies.model import UNITS, Part
from skycell.studies.thresholds import average_window_octets

MBIT_OVER_10_S = 10 * 10**6 // 8  # octets that make 1 Mbit/s over ten seconds


def flow(mbps: float) -> dict[str, Any]:
    octets = round(mbps * MBIT_OVER_10_S)
    return {
        "octets_delivered": octets,
        "connected_ps": 5 * 10**12,
        "timeouts": 2,
        "fast_retransmits": 3,
    }


def facts(**more: Any) -> Facts:
    fields: dict[str, Any] = {
        "mss": 512,
        "llc_snap": True,
        "timestamps": False,
        "bottleneck_cell_time_ps": 2_726_337,
        "buffer_cells": 48_000,
        "thresholds_cells": (),
        "rtt_s": 0.030,
        "loss_at_cwnd_octets": None,
    }
    return Facts(**(fields | more))


def test_sweeps_and_studies_share_the_declaration_of_a_name() -> None:
    assert all(MEASURES[name] is response for name, response in RESPONSES.items())


def measured(
    rates: list[float],
    *,
    base_bps: float | None = 155.52e6,
    throughput: str = "delivered_over_duration",
    network: Facts | None = None,
    **factors: Level,
) -> Measured:
    ports = [{"discarded": {"overflow": 5, "rest_of_frame": 7}}, {"discarded": {"overflow": 1}}]
    summary = {"duration_ps": 10 * 10**12, "flows": list(map(flow, rates)), "ports": ports}
    return Measured(summary, None, network or facts(), Evaluation(base_bps, throughput), factors)


def value(name: str, run: Measured) -> float:
    found = MEASURES[name].measure(run)
    assert found is not None
    return found


def test_a_table_measures_nothing_that_has_no_unit() -> None:
    assert all(UNITS.values())
    with pytest.raises(ValueError, match="speed is no measure: efficiency, max_min_fairness, "):
        Part(measure="speed", factors=("n",), grid=({"n": (1,)},))
    with pytest.raises(ValueError, match="total_throughput is now throughput"):
        Part(measure="total_throughput", factors=("n",), grid=({"n": (1,)},))


@pytest.mark.parametrize(
    ("base_bps", "expected"),
    [
        (155.52e6, 62.6 / 125.198),
        (149.7e6, 62.6 / 120.513),
        (None, 62.6 / 125.198),  # 2.726337 us a cell are 155.52 Mbit/s
    ],
)
def test_efficiency_depends_on_the_base(base_bps: float | None, expected: float) -> None:
    assert value("efficiency", measured([30.0, 32.6], base_bps=base_bps)) == pytest.approx(
        expected, rel=1e-4
    )


def test_the_definition_of_throughput_is_the_studys() -> None:
    run = measured([30.0], throughput="delivered_over_connection")
    assert value("throughput", run) == pytest.approx(60.0)  # connected for 5 of 10 s


def test_fairness_is_of_equal_shares_and_undefined_where_nothing_came() -> None:
    assert value("jain_fairness", measured([9.0, 3.0])) == 0.8
    assert value("jain_fairness", measured([6.0, 0.0])) == 0.5  # who got nothing counts
    assert MEASURES["jain_fairness"].measure(measured([0.0, 0.0])) is None


def test_efficiency_may_be_of_segments_of_a_stated_size() -> None:
    run = measured([62.6])
    of_large = replace(run, evaluation=replace(run.evaluation, ceiling_mss=9180))
    assert value("efficiency", of_large) == pytest.approx(62.6 / 139.57, rel=1e-4)


def test_the_congested_links_time_is_told_by_class() -> None:
    # Cells of 2 us: five million in ten seconds, of which a fifth and a half are sent.
    run = measured([1.0], network=facts(bottleneck_cell_time_ps=2_000_000))
    sent = ((1_000_000, "nrt_vbr"), (250_000, "cbr"), (2_500_000, None))
    queues = [{"class": name, "departed": cells} for cells, name in sent]
    run = replace(run, summary={**run.summary, "ports": [{"queues": queues}]})
    assert value("vbr_share", run) == pytest.approx(0.2)
    assert value("ubr_share", run) == pytest.approx(0.5)


def test_throughput_is_told_in_all_by_flow_and_by_group() -> None:
    rates = [float(n) for n in range(1, 16)]
    assert value("throughput", measured(rates)) == pytest.approx(120.0)
    assert value("flow_throughput", measured(rates, destination="d4")) == pytest.approx(4.0)
    assert value("group_throughput", measured(rates, tcp_group="4-6")) == pytest.approx(5.0)


def test_the_ratio_compares_a_groups_rate_with_its_share_of_the_thresholds() -> None:
    thresholds = facts(thresholds_cells=(100, 100, 300, 300))
    run = measured([10.0, 20.0, 40.0, 50.0], network=thresholds, tcp_group="1-2")
    # 15 Mbit/s each; expected 120 x 100/800 = 15
    assert value("ratio_to_expected", run) == pytest.approx(1.0)
    run = measured([10.0, 20.0, 40.0, 50.0], network=thresholds, tcp_group="3-4")
    assert value("ratio_to_expected", run) == pytest.approx(1.0)


def test_thresholds_are_summed_and_compared_with_the_buffer() -> None:
    run = measured([1.0], network=facts(thresholds_cells=(12_000, 12_000)))
    assert value("threshold_total", run) == 24_000
    assert value("threshold_share", run) == 50.0


def test_a_guaranteed_vc_is_measured_by_its_flows_against_48_octets_a_cell() -> None:
    vcs = (GuaranteedVc(7, 20_000.0, (0, 1)), GuaranteedVc(9, 40_000.0, (2,)))
    run = measured([5.0, 4.0, 20.0], network=facts(guaranteed=vcs), vc=1)
    # 20 000 cells/s of 384 bits are 7.68 Mbit/s.
    assert value("vc_throughput", run) == pytest.approx(9.0)
    assert value("vc_excess", run) == pytest.approx(1.32)
    assert value("vc_excess_ratio", run) == pytest.approx(1.32 / 7.68)
    assert value("vc_expected", run) == pytest.approx(6.912)  # IJSC, Table 3: 6.91
    assert value("mcr_total", run) == pytest.approx(23.04)
    assert value("excess_total", run) == pytest.approx(29 - 23.04)
    other = measured([5.0, 4.0, 20.0], network=facts(guaranteed=vcs), vc=2)
    assert value("vc_throughput", other) == pytest.approx(20.0)


def test_the_mean_queue_of_a_vc_is_that_of_the_port_that_samples_it() -> None:
    run = measured([1.0], network=facts(guaranteed=(GuaranteedVc(7, 1.0, (0,)),)), vc=1)
    queues = [{"vc": 3, "mean": 2.5}, {"vc": 7, "mean": 4.5}]
    run.summary["ports"][0]["vc_queues"] = []
    run.summary["ports"][1]["vc_queues"] = queues
    assert value("vc_mean_queue", run) == 4.5
    queues.pop()
    with pytest.raises(ValueError, match="no port samples VC 7"):
        value("vc_mean_queue", run)


def test_counters_are_those_of_all_flows_and_ports() -> None:
    run = measured([1.0, 2.0])
    assert value("cells_discarded", run) == 13
    assert value("timeouts", run) == 4
    assert value("fast_retransmits", run) == 6


@pytest.mark.parametrize(
    ("largest", "printed"), [(120_960, 91_232), (241_920, 181_952), (483_840, 363_392)]
)
def test_average_windows_are_those_of_the_paper(largest: int, printed: int) -> None:
    assert average_window_octets(largest, 1024) == printed


def test_calculated_throughput_is_the_average_window_in_a_round_trip() -> None:
    cut = facts(mss=1024, loss_at_cwnd_octets=120_960)
    run = measured([1.0], network=cut, base_bps=149.76e6)
    # CC section 2 prints 24.32 for 91232 bytes in 30 ms.
    assert value("calculated_throughput", run) == pytest.approx(24.33, abs=0.005)
    free = measured([1.0], network=facts(mss=1024), base_bps=149.76e6)
    assert value("calculated_throughput", free) == pytest.approx(125.80, abs=0.005)


def case_facts(table: str, **factors: Level) -> Facts:
    (found,) = select([table])
    case = cell_of(found.study, found.table.experiment, factors)
    return Facts.of(specs_of(found.study, case, {})[0])


def test_facts_are_read_from_the_spec() -> None:
    fifteen = case_facts("compcom99-t2", experiment=1)
    assert fifteen.thresholds_cells[:4] == (305, 305, 305, 611)
    assert sum(fifteen.thresholds_cells) == 13_752  # CC, Table 1
    assert fifteen.buffer_cells == 48_000
    assert fifteen.mss == 1024
    single = case_facts("compcom99-f3", case="b")
    assert single.loss_at_cwnd_octets == 250_000
    assert single.rtt_s == pytest.approx(0.030)
    assert single.thresholds_cells == ()
    assert case_facts("compcom99-f3", case="d").loss_at_cwnd_octets is None


def test_of_several_congested_links_the_slowest_is_the_one_that_counts() -> None:
    (found,) = select(["compcom99-f3"])
    (spec, *_) = specs_of(
        found.study, cell_of(found.study, found.table.experiment, {"case": "b"}), {}
    )
    congested = next(link for link in spec.links if link.port.capacity_cells is not None)
    slower = {"cell_time_ps": 2 * congested.cell_time_ps}
    links = (*spec.links, congested.model_copy(update=slower))
    many = Facts.of(spec.model_copy(update={"links": links}))
    assert many.bottleneck_cell_time_ps == 2 * congested.cell_time_ps


def test_guaranteed_vcs_are_those_with_an_mcr_and_carry_their_flows() -> None:
    few = case_facts(
        "compcom99-t4", n_tcps=50, mcr_allocation_percent=50, buffer_cells=25_000, vc=1
    )
    assert [vc.mcr_cells_per_s for vc in few.guaranteed] == [12e3, 24e3, 36e3, 48e3, 60e3]
    assert [vc.flows for vc in few.guaranteed][1] == tuple(range(10, 20))
    far = case_facts("ijsc-t4", buffer_cells=6_000, vc=3)
    assert len(far.guaranteed[2].flows) == 20


def test_every_study_has_its_own_base_and_definition() -> None:
    found = {}
    for study_id in ("icccn97", "ijsc", "atmf970616"):
        study = load_study(study_id)
        for name in study.experiments:
            found[name] = evaluation_of(study, name, {})
    assert found["terrestrial"] == Evaluation(155.52e6, "delivered_over_duration")
    assert found["leo"].throughput == "delivered_over_connection"
    assert found["buffers"].stated_bps == 149.7e6


def on_a_path(**link_losses: int) -> Measured:
    run = measured([1.0])
    flow = {
        **run.summary["flows"][0],
        "timeouts": 2,
        "octets_sent": 1000,
        "octets_retransmitted": 50,
        "segments_sent": 20,
        "segments_duplicate": 1,
    }
    summary = {
        **run.summary,
        "flows": [flow],
        **({"link_losses": link_losses} if link_losses else {}),
    }
    return replace(run, summary=summary)


def test_a_timeout_is_false_where_nothing_was_lost() -> None:
    assert value("timeouts_without_loss", on_a_path(frames_corrupt=0, cells_lost=0)) == 2
    assert value("timeouts_without_loss", on_a_path()) == 2
    assert value("timeouts_without_loss", on_a_path(frames_corrupt=1, cells_lost=0)) == 0
    assert value("timeouts_without_loss", on_a_path(frames_corrupt=0, cells_lost=9)) == 0


def test_what_is_sent_again_and_what_of_it_in_vain_are_parts_of_what_was_sent() -> None:
    assert value("retransmitted_octets_percent", on_a_path()) == 5.0
    assert value("needless_percent", on_a_path()) == 5.0


def test_the_shortfall_counts_what_is_missing_and_the_excess_what_is_beyond() -> None:
    # 10 000 and 20 000 cells/s are 3.84 and 7.68 Mbit/s.
    vcs = (GuaranteedVc(0, 10_000.0, (0,)), GuaranteedVc(1, 20_000.0, (1,)))
    run = measured([1.92, 20.0], network=facts(guaranteed=vcs))
    assert value("guarantee_shortfall", run) == pytest.approx(1.92 / 11.52)
    assert value("excess_fairness", run) == 0.5
    none = measured([1.0, 1.0], network=facts(guaranteed=vcs))
    assert MEASURES["excess_fairness"].measure(none) is None


def test_windows_are_told_by_round_trips_cuts_and_what_they_carry() -> None:
    # 60 segments in a round trip of 100 ms, halved every 5 s; 4 s would make it one a round trip.
    rate = 60 * 512 * 8 / 0.1 / 1e6
    run = measured([rate, rate, 1.0], tcp_group="1-2")
    for entry in run.summary["flows"]:
        entry |= {"delay_mean_ps": 85 * 10**9, "fast_retransmits": 2, "timeouts": 0}
    run.summary["flows"][1] |= {"fast_retransmits": 2, "timeouts": 1}
    assert value("round_trip", run) == pytest.approx(100.0)  # 15 ms of them back
    assert value("window_cycle", run) == pytest.approx((5 + 10 / 3) / 2)
    assert value("window_growth", run) == pytest.approx((0.8 + 1.2) / 2, rel=1e-4)
    run.summary["flows"][0] |= {"fast_retransmits": 0}
    assert MEASURES["window_cycle"].measure(run) is None
    assert MEASURES["window_growth"].measure(run) is None


def test_what_is_sent_is_that_of_the_rows_senders() -> None:
    contracts = (GuaranteedVc(1, 1.0, ()), GuaranteedVc(2, 1.0, (0,)))
    run = measured([1.0], network=facts(guaranteed=contracts), sender="tcp")
    run.summary["flows"][0]["segments_sent"] = 30
    frames = [{"vc": 1, "frames_offered": 50}, {"vc": 2, "frames_offered": 70}]
    run = replace(run, summary={**run.summary, "gfr_vcs": frames})
    assert value("sent_packets", run) == 3.0
    assert value("sent_packets", replace(run, factors={"sender": "datagrams"})) == 5.0


def test_cells_of_whole_segments_are_a_part_of_the_cells_of_ubr_that_were_carried() -> None:
    run = measured([1.0, 1.0], network=facts(segment_cells=(12, 192)))
    for entry, segments in zip(run.summary["flows"], (10, 1), strict=True):
        entry["segments_received"] = segments
    queues: list[dict[str, object]] = [
        {"class": "nrt_vbr", "departed": 1000},
        {"class": None, "departed": 320},
    ]
    run = replace(run, summary={**run.summary, "ports": [{"queues": queues}]})
    assert value("whole_part", run) == pytest.approx((10 * 12 + 192) / 320)
    queues[1]["departed"] = 0
    assert MEASURES["whole_part"].measure(run) is None


def test_headers_with_bit_errors_are_counted_on_links_that_have_any() -> None:
    errors = {"headers_corrected": 6, "headers_lost": 3, "misinserted": 1, "payloads": 90}
    ports = [{"departed": 2_000_000, "errors": errors}, {"departed": 500}]
    run = measured([])
    run = replace(run, summary={**run.summary, "ports": ports})
    assert value("lost_by_header", run) == 2.0
    assert value("corrected_part", run) == 0.6
    without = replace(run, summary={**run.summary, "ports": [{"departed": 500, "errors": None}]})
    assert MEASURES["lost_by_header"].measure(without) is None
    assert MEASURES["corrected_part"].measure(without) is None
