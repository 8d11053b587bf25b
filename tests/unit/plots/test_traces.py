"""What the figures of a run hold: their data, units and words."""

from typing import Any

import polars as pl
import pytest
from altair.utils.schemapi import SchemaValidationError

from skycell.plots.discards import REASONS, discards_by_reason
from skycell.plots.figure import Figure, NothingToDrawError
from skycell.plots.panels import TimeRange, choose
from skycell.plots.queue import Levels, queue_over_time, vc_queue_over_time
from skycell.plots.rate import rate_over_time
from skycell.plots.round_trip import rtt_over_time
from skycell.plots.sequence import sequence_over_time
from skycell.plots.share import share_over_time
from skycell.plots.window import cwnd_over_time
from tests.unit.plots import traces
from tests.unit.plots.traces import FLOWS, ORIGIN, SECOND, drawn

TEN_SECONDS = TimeRange(0, 10 * SECOND)
PORTS = ["a>b", "b>a", "sw1>sw2", "sw2>sw1"]


def titles(spec: Any, axis: str) -> set[str]:
    """All titles of an axis, wherever in the spec."""
    if isinstance(spec, list):
        return set().union(*(titles(part, axis) for part in spec))
    if not isinstance(spec, dict):
        return set()
    own = spec.get(axis)
    here = {own["title"]} if isinstance(own, dict) and own.get("title") else set()
    return here.union(*(titles(part, axis) for part in spec.values()))


def test_windows_are_drawn_as_steps_of_both_lines_up_to_the_end() -> None:
    figure = cwnd_over_time(traces.cwnd(), FLOWS, TEN_SECONDS, ORIGIN)
    rows = drawn(figure)
    assert [(r["time_s"], r["window"]) for r in rows if r["line"] == "cwnd"] == [
        (0.0, 1.0),
        (1.0, 2.0),
        (2.0, 3.0),
        (3.0, 4.0),
        (4.0, 5.0),
        (10.0, 5.0),
    ]
    assert {r["window"] for r in rows if r["line"] == "ssthresh"} == {3.0}
    spec = figure.bare_spec()
    assert titles(spec, "y") == {"Window (kB)"}
    assert titles(spec, "x") == {"Time (s)"}
    assert spec["layer"][0]["mark"]["interpolate"] == "step-after"


def test_the_caption_of_a_run_names_scenario_seed_engine_and_version() -> None:
    caption = cwnd_over_time(traces.cwnd(), FLOWS, TEN_SECONDS, ORIGIN).caption_text()
    # Names and their numbers stay on one line.
    ending = "skycell\u00a00.1.0, engine\u00a0reference, scenario\u00a03f9a12cd77aa, seed\u00a07."
    assert caption.endswith(ending)


def test_an_ssthresh_far_above_cwnd_does_not_squeeze_the_figure() -> None:
    trace = traces.cwnd().with_columns(ssthresh=1e12)
    figure = cwnd_over_time(trace, FLOWS, TEN_SECONDS, ORIGIN)
    low, high = figure.bare_spec()["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert (low, round(high, 3)) == (0, 5.4)
    assert "ssthresh above the axis is not drawn." in figure.caption
    assert figure.bare_spec()["layer"][0]["mark"]["clip"]


def test_lines_that_stay_within_their_axes_are_drawn_without_a_clip() -> None:
    # Each costs a PNG as much as all else in it.
    figures = [
        cwnd_over_time(traces.cwnd(), FLOWS, TEN_SECONDS, ORIGIN),
        queue_over_time(traces.queue(), PORTS, TEN_SECONDS, ORIGIN),
        vc_queue_over_time(traces.vc_queue((2,)), "sw1>sw2", FLOWS, TEN_SECONDS, ORIGIN),
        rate_over_time(traces.sequence(), FLOWS, TEN_SECONDS, ORIGIN),
    ]
    assert [f.name for f in figures if f.bare_spec()["layer"][0]["mark"].get("clip")] == []


def test_many_flows_are_cut_to_six_panels_and_the_caption_says_so() -> None:
    figure = cwnd_over_time(traces.cwnd(flows=8), FLOWS, TEN_SECONDS, ORIGIN)
    assert {row["panel"] for row in drawn(figure)} == set(FLOWS[:6])
    assert "Shown: flow1, flow2, flow3, flow4, flow5 and flow6 of 8 flows." in figure.caption


def test_flows_that_were_asked_for_are_all_shown_in_that_order() -> None:
    figure = cwnd_over_time(
        traces.cwnd(flows=8), FLOWS, TEN_SECONDS, ORIGIN, flows=["flow8", "flow2", "flow8"]
    )
    assert figure.bare_spec()["facet"]["row"]["sort"] == ["flow8", "flow2"]


def test_a_flow_that_the_trace_does_not_hold_is_refused_with_those_it_holds() -> None:
    with pytest.raises(NothingToDrawError) as fault:
        cwnd_over_time(traces.cwnd(flows=2), FLOWS, TEN_SECONDS, ORIGIN, flows=["flow9"])
    assert str(fault.value) == "the trace holds no flow called flow9; it holds flow1 and flow2"


def test_a_trace_of_nothing_is_refused() -> None:
    with pytest.raises(NothingToDrawError, match="holds nothing of any port"):
        choose([], PORTS, None, noun="port")


def test_a_range_before_the_first_change_is_refused() -> None:
    late = traces.cwnd().filter(traces.cwnd()["time_ps"] >= 2 * SECOND)
    with pytest.raises(NothingToDrawError, match="no flow had begun in that range of time"):
        cwnd_over_time(late, FLOWS, TimeRange(0, SECOND), ORIGIN)


@pytest.mark.parametrize(("start", "end"), [(5, 5), (6, 5), (-1, 5)])
def test_a_range_of_time_that_is_none_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match=f"not {start} s to {end} s"):
        TimeRange(start * SECOND, end * SECOND)


def test_sequence_numbers_keep_what_was_sent_repeated_and_acknowledged_apart() -> None:
    figure = sequence_over_time(traces.sequence(), FLOWS, TEN_SECONDS, ORIGIN)
    rows = [(r["event"], r["time_s"], r["sequence"]) for r in drawn(figure)]
    assert rows == [
        ("sent", 1.0, 0.0),
        ("sent", 2.0, 500.0),
        ("sent", 4.0, 1000.0),
        ("sent again", 5.0, 500.0),
        ("acknowledged up to", 3.0, 500.0),
        ("acknowledged up to", 6.0, 1500.0),
        ("acknowledged up to", 10.0, 1500.0),  # still so at the end of the figure
    ]
    assert titles(figure.bare_spec(), "y") == {"Sequence number (octets)"}
    assert "1 segment sent again" in figure.description


def test_marks_on_one_pixel_are_drawn_once_and_the_caption_says_so() -> None:
    crowd = pl.concat([traces.sequence()] * 20).sort("time_ps", maintain_order=True)
    figure = sequence_over_time(crowd, FLOWS, TEN_SECONDS, ORIGIN)
    sent = [r for r in drawn(figure) if r["event"] == "sent"]
    assert [(r["time_s"], r["sequence"]) for r in sent] == [(1, 0), (2, 500), (4, 1000)]
    # 4 marks; of the line the first and last row of both columns, and its end.
    assert figure.caption[-1] == "Drawn from 9 of 120 rows: one mark for each pixel."


def test_round_trips_are_drawn_below_what_was_dropped_and_sent_again() -> None:
    schema = {"flow": pl.UInt32, "time_ps": pl.UInt64}
    rows = [(0, 4 * SECOND), (1, 5 * SECOND)]
    drops = pl.DataFrame(rows, schema=schema, orient="row")
    more = pl.DataFrame(
        [(0, 7 * SECOND, 0, 1500, 500), (0, 9 * SECOND, 2, 2000, 0)],
        schema=traces.sequence().schema,
        orient="row",
    )
    trace = pl.concat([traces.sequence(), more])
    figure = rtt_over_time(trace, drops, FLOWS, TEN_SECONDS, ORIGIN, with_ecn=["flow1", "flow2"])
    marks = drawn(figure)
    times = [(r["event"], r["time_s"]) for r in marks]
    # The ACK at 6 s is of the segment that was sent again at 5 s.
    dots = [("round-trip time", 3.0), ("round-trip time", 9.0)]
    assert times == [*dots, ("sent again", 5.0), ("dropped", 4.0)]
    assert [r["rtt_ms"] for r in marks][:2] == pytest.approx([2000, 2000])
    assert all(r["rtt_ms"] > 2001 for r in marks[2:])
    assert "not drawn (flow1)." in figure.caption_text()
    assert titles(figure.bare_spec(), "y") == {"Round-trip time (ms)"}


def test_without_its_trace_nothing_is_said_to_be_dropped() -> None:
    figure = rtt_over_time(traces.sequence(), None, FLOWS, TEN_SECONDS, ORIGIN)
    assert "dropped" not in {r["event"] for r in drawn(figure)}
    assert "the run kept no trace discards" in figure.caption_text()
    span = TimeRange(4 * SECOND, 10 * SECOND)
    with pytest.raises(NothingToDrawError, match="no ACK in that range of time measures"):
        rtt_over_time(traces.sequence(), None, FLOWS, span, ORIGIN)


def test_a_range_without_segments_is_refused() -> None:
    span = TimeRange(8 * SECOND, 9 * SECOND)
    with pytest.raises(NothingToDrawError, match="no segment was sent or acknowledged"):
        sequence_over_time(traces.sequence(), FLOWS, span, ORIGIN)


def test_a_queue_is_drawn_with_its_buffer_and_threshold() -> None:
    levels = {"sw1>sw2": Levels(capacity=200, thresholds={"threshold R": 180})}
    figure = queue_over_time(traces.queue(), PORTS, TEN_SECONDS, ORIGIN, levels=levels)
    rows = drawn(figure)
    assert [r["cells"] for r in rows if "cells" in r] == [12 + 10 * n for n in range(10)]
    assert {(r["level"], r["height"]) for r in rows if "level" in r} == {
        ("buffer K", 200),
        ("threshold R", 180),
    }
    assert figure.subtitle == "sw1>sw2"
    assert titles(figure.bare_spec(), "y") == {"Queue (cells)"}
    assert "Sampled every 1 s after the departures" in figure.caption_text()


def test_a_queue_without_levels_has_no_lines_across() -> None:
    figure = queue_over_time(traces.queue(), PORTS, TEN_SECONDS, ORIGIN)
    assert len(figure.bare_spec()["layer"]) == 1


def test_two_ports_get_a_panel_each() -> None:
    figure = queue_over_time(traces.queue((1, 2)), PORTS, TEN_SECONDS, ORIGIN)
    assert {row["panel"] for row in drawn(figure)} == {"b>a", "sw1>sw2"}
    assert figure.subtitle is None


def test_samples_outside_the_range_are_refused() -> None:
    with pytest.raises(NothingToDrawError, match="no sample falls in that range of time"):
        queue_over_time(traces.queue(), PORTS, TimeRange(0, SECOND // 2), ORIGIN)


def test_vc_occupancy_is_drawn_with_the_thresholds_of_the_vcs() -> None:
    names = ["flow1.forward", "flow1.reverse", "flow2.forward"]
    figure = vc_queue_over_time(
        traces.vc_queue(), "sw1>sw2", names, TEN_SECONDS, ORIGIN, thresholds={"flow2.forward": 25}
    )
    rows = drawn(figure)
    last = {r["panel"]: r["cells"] for r in rows if "cells" in r}
    assert last == {"flow1.forward": 10, "flow2.forward": 30}
    assert [r for r in rows if "height" in r] == [{"panel": "flow2.forward", "height": 25}]
    assert "Dashed: the VC's own threshold r." in figure.caption


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: cwnd_over_time(traces.cwnd().clear(), FLOWS, TEN_SECONDS, ORIGIN), "cwnd trace"),
        (
            lambda: sequence_over_time(traces.sequence().clear(), FLOWS, TEN_SECONDS, ORIGIN),
            "sequence trace",
        ),
        (
            lambda: queue_over_time(traces.queue().clear(), PORTS, TEN_SECONDS, ORIGIN),
            "queue trace",
        ),
        (
            lambda: vc_queue_over_time(
                traces.vc_queue().clear(), "sw1>sw2", FLOWS, TEN_SECONDS, ORIGIN
            ),
            "VC queue trace at sw1>sw2",
        ),
    ],
)
def test_a_trace_that_the_run_did_not_keep_is_named(draw: Any, message: str) -> None:
    with pytest.raises(NothingToDrawError, match=f"^the run kept no {message}$"):
        draw()


def discarded(**counts: int) -> dict[str, int]:
    return {reason: counts.get(reason, 0) for reason in REASONS}


def test_discards_are_split_by_reason_and_quiet_vcs_left_out() -> None:
    figure = discards_by_reason(
        [
            {"name": "a", "offered": 100, "discarded": discarded(overflow=3, rest_of_frame=7)},
            {"name": "b", "offered": 50, "discarded": discarded()},
            {"name": "c", "offered": 50, "discarded": discarded(over_fair_share=5)},
        ],
        ORIGIN,
    )
    assert [(r["name"], r["reason"], r["cells"], r["part"]) for r in drawn(figure)] == [
        ("a", "buffer full", 3, 0.03),
        ("a", "rest of a frame", 7, 0.07),
        ("c", "VC over its fair share", 5, 0.1),
    ]
    assert figure.caption[0].startswith("Cells discarded at all ports on the way, 15 in all")
    assert figure.caption[1] == "One VC that lost nothing is left out."


def test_of_very_many_vcs_those_that_lost_most_are_shown_in_their_order() -> None:
    records = [
        {"name": f"vc{number}", "offered": 99, "discarded": discarded(overflow=number % 50)}
        for number in range(3000)
    ]
    figure = discards_by_reason(records, ORIGIN)
    shown = [row["name"] for row in drawn(figure)]
    assert shown == [f"vc{number}" for number in range(2000) if number % 50 == 49]
    assert figure.caption[:3] == (
        "Cells discarded at all ports on the way, 73\u202f500 in all, by recorded reason.",
        "Shown: of 2\u202f940 VCs with losses, the 40 that lost most.",
        "60 VCs that lost nothing are left out.",
    )
    assert len(drawn(discards_by_reason(records, ORIGIN, most=None))) == 2940


def test_a_run_without_discards_has_no_figure_of_them() -> None:
    with pytest.raises(NothingToDrawError, match="no cell was discarded in this run"):
        discards_by_reason([{"name": "a", "offered": 1, "discarded": discarded()}], ORIGIN)


def test_a_rate_counts_repetitions_but_no_acknowledgements_over_100_ms_each() -> None:
    figure = rate_over_time(
        traces.sequence(), FLOWS, TimeRange(4 * SECOND, 5 * SECOND + SECOND // 5), ORIGIN
    )
    rows = drawn(figure)
    assert len(rows) == 13
    # The last step goes on to the end of its interval.
    assert (rows[-1]["time_s"], rows[-1]["mbps"]) == (5.2, rows[-2]["mbps"])
    # 500 octets in 100 ms are 40 kbit/s; the segment at 5 s is sent for the second time.
    assert {r["time_s"]: r["mbps"] for r in rows if r["mbps"]} == {4.0: 0.04, 5.0: 0.04}
    assert titles(figure.bare_spec(), "y") == {"Sent (Mbit/s)"}
    assert "A segment is sent when its sender hands it to the port" in figure.caption[1]


def test_a_reserved_rate_is_a_dashed_line_that_the_caption_tells() -> None:
    figure = rate_over_time(
        traces.sequence(), FLOWS, TEN_SECONDS, ORIGIN, flows=["flow1"], reserved_mbps=68.5
    )
    assert "Dashed: 68.5 Mbit/s reserved." in figure.caption_text()
    assert figure.bare_spec()["layer"][1]["encoding"]["y"] == {"datum": 68.5}


def test_a_rate_over_less_than_its_interval_or_without_segments_is_refused() -> None:
    with pytest.raises(NothingToDrawError, match="means over 100 ms"):
        rate_over_time(traces.sequence(), FLOWS, TimeRange(0, SECOND // 11), ORIGIN)
    acks = traces.sequence().filter(pl.col("event") == 2)
    with pytest.raises(NothingToDrawError, match="no sequence trace of segments sent"):
        rate_over_time(acks, FLOWS, TEN_SECONDS, ORIGIN)


def test_a_chart_that_vega_lite_does_not_know_is_found_by_any_test() -> None:
    figure = queue_over_time(traces.queue(), PORTS, TEN_SECONDS, ORIGIN)
    chart: Any = figure.chart
    chart.layer[0].mark.interpolation = "step"
    with pytest.raises(SchemaValidationError, match="is an invalid value"):
        figure.spec()


def shares(figure: Figure, panel: str) -> list[tuple[float, float]]:
    """Time in seconds and part of the link, of one class."""
    return [(r["time_s"], r["share"]) for r in drawn(figure) if r["panel"] == panel]


def test_the_share_of_a_class_is_what_it_sent_between_samples_over_what_the_link_carries() -> None:
    # Ten cells a second.
    figure = share_over_time(
        traces.service(4), "a>b", ["cbr", "rest"], SECOND // 10, TEN_SECONDS, ORIGIN
    )
    assert shares(figure, "cbr") == [(0, 0), (1, 0.5), (2, 0), (3, 0.5), (4, 0.5)]
    assert shares(figure, "rest") == [(n, 0.2) for n in range(5)]
    assert figure.caption == (
        "Cells sent, as a fraction of those that the link carries, over 1 s each.",
        "Means: cbr 0.250, rest 0.200.",
    )
    assert figure.subtitle == "a>b"


def test_shares_begin_and_end_with_the_range_of_time() -> None:
    span = TimeRange(3 * SECOND, 5 * SECOND)
    figure = share_over_time(traces.service(), "a>b", ["cbr", "rest"], SECOND // 10, span, ORIGIN)
    assert shares(figure, "cbr") == [(3, 0.5), (4, 0), (5, 0)]
    assert "Means: cbr 0.250, rest 0.200." in figure.caption
    short = TimeRange(3 * SECOND, 3 * SECOND + 1)
    with pytest.raises(NothingToDrawError, match="a share takes two samples"):
        share_over_time(traces.service(), "a>b", ["cbr", "rest"], SECOND // 10, short, ORIGIN)


def test_shares_of_more_samples_than_columns_are_means_over_several() -> None:
    # 1 000 intervals in 640 columns: two samples each, of which one has the first queue's 5 cells.
    span = TimeRange(0, 1000 * SECOND)
    figure = share_over_time(
        traces.service(1000), "a>b", ["cbr", "rest"], SECOND // 10, span, ORIGIN
    )
    assert {share for _, share in shares(figure, "cbr")} == {0.25}
    assert len(shares(figure, "cbr")) == 501
    assert "over 2 s each" in figure.caption_text()
