"""Figures of a real run: the right trace, names and levels."""

import polars as pl
import pytest

import skycell
from skycell.metrics import throughputs_bps
from skycell.plots.discards import discards_by_reason
from skycell.plots.figure import NothingToDrawError, Origin
from skycell.plots.labels import NAMES
from skycell.plots.run import TRACE_OF, figures_of_run, levels_of, run_figure
from skycell.plots.throughput import throughput_of_flows
from skycell.scenario import parse
from tests.unit.plots.runs import (
    CBR_FIRST,
    run_of_abr,
    run_of_classes,
    run_without_traces,
    short_run,
)
from tests.unit.plots.traces import drawn

MS = 10**9


def test_a_run_with_all_traces_has_all_figures() -> None:
    names = [figure.name for figure in figures_of_run(short_run())]
    # It has one class only, few flows, no packets, no ABR and no constellation.
    of_others = {"share", "throughput", "sojourn", "acr", "fair-share", "overload"}
    of_others |= {"map", "globe", "path", "pairs"}
    assert names == [kind for kind in TRACE_OF if kind not in of_others]
    others = [figure.name for figure in figures_of_run(run_of_classes())]
    assert others == ["queue", "share", "discards"]
    assert [figure.name for figure in figures_of_run(run_of_abr())] == [
        "acr",
        "fair-share",
        "overload",
    ]


def test_rates_of_abr_stand_beside_what_is_fair_beyond_the_mcrs() -> None:
    run = run_of_abr()
    rows = drawn(run_figure(run, "acr"))
    # VCs of data only. Half of the link's 366 792 cells/s is promised, the rest shared.
    fair = {row["panel"]: row["height"] for row in rows if row.get("height") is not None}
    link = 155.52e6 / 424
    assert fair == pytest.approx({"flow1.forward": 0.75 * link, "flow2.forward": 0.25 * link})
    for vc, rate in fair.items():
        acr = [r["value"] for r in rows if r["panel"] == vc and r.get("line") == "ACR"]
        assert acr[0] == pytest.approx(link, rel=1e-3)
        # TCP's window of 64 KB is more than the path: both always have something to send.
        assert acr[-1] == pytest.approx(rate, rel=0.1)
    shares = drawn(run_figure(run, "fair-share", port="switch1>switch2"))
    last = [row["value"] for row in shares if row["line"] == "fair share"][-1]
    assert last == pytest.approx(0.25 * link, rel=0.1)
    overloads = drawn(run_figure(run, "overload"))
    assert [r["value"] for r in overloads if "value" in r][-1] == pytest.approx(1, rel=0.1)
    with pytest.raises(NothingToDrawError, match="the ACR trace holds no port switch1>switch2"):
        run_figure(run, "acr", port="switch1>switch2")


def test_the_shares_of_classes_are_those_of_their_queues() -> None:
    run = run_of_classes()
    rows = drawn(run_figure(run, "share"))
    assert {row["panel"] for row in rows} == {"cbr", "rest"}
    later = [row["share"] for row in rows if row["panel"] == "cbr" and row["time_s"] > 0.01]
    assert later == pytest.approx([0.5] * len(later), abs=0.01)


def test_a_run_of_one_class_has_no_shares() -> None:
    message = "^share shows the classes of a port, and no port has a queue for one$"
    with pytest.raises(NothingToDrawError, match=message):
        run_figure(short_run(), "share")


def test_a_run_without_traces_and_losses_has_none() -> None:
    assert figures_of_run(run_without_traces()) == []


def test_the_caption_names_the_run() -> None:
    run = short_run()
    caption = run_figure(run, "cwnd").caption_text()
    assert f"scenario\u00a0{run.spec_hash[:12]}" in caption
    assert f"seed\u00a0{run.seed}" in caption
    assert f"skycell\u00a0{run.version}, engine\u00a0{run.engine}" in caption


def test_the_window_that_is_drawn_is_the_one_in_the_records() -> None:
    run = short_run()
    rows = drawn(run_figure(run, "cwnd", flows=["flow2"]))
    largest = max(row["window"] for row in rows if row["line"] == "cwnd")
    assert largest * 1e3 == pytest.approx(run.records["flows"][1]["cwnd_max"], abs=1)


def test_the_queue_is_drawn_with_the_levels_of_its_port() -> None:
    run = short_run()
    rows = drawn(run_figure(run, "queue"))
    assert {row["panel"] for row in rows} == {"switch1>switch2"}
    assert {row["level"]: row["height"] for row in rows if "level" in row} == {
        "buffer K": 600,
        "threshold R": 480,
    }
    assert max(row["cells"] for row in rows if "cells" in row) == run.traces["queue"]["cells"].max()


def test_a_port_with_several_queues_has_no_levels_of_one_of_them() -> None:
    # 600 cells are the default queue's; what is sampled is all that wait.
    run = run_of_classes()
    figure = run_figure(run, "queue", port="switch1>switch2")
    assert not any("level" in row for row in drawn(figure))
    assert "in all its queues; each of them has its own buffer." in figure.caption_text()
    assert "in all its queues" not in run_figure(short_run(), "queue").caption_text()


@pytest.mark.parametrize(
    ("policy", "levels"),
    [
        ('{ kind = "dfba" }', {"threshold L": 500, "threshold H": 900}),
        ('{ kind = "priority_drop" }', {"LBO": 750, "HBO": 875}),
        ('{ kind = "red" }', {"min_th of the average": 200, "max_th of the average": 600}),
        ('{ kind = "fred" }', {"min_th of the average": 200, "max_th of the average": 600}),
        ('{ kind = "virtual_queueing" }', {}),  # its threshold is of one VC's virtual queue
        ('{ kind = "tail_drop" }', {}),
    ],
)
def test_the_levels_of_a_policy_bear_its_own_symbols(policy: str, levels: dict[str, int]) -> None:
    text = f"""
preset = "icccn97-lan"
topology.bottleneck.policy = {policy}
[[gfr]]
vcs = ["flow1.forward"]
mcr = "20000 cells/s"
"""
    named = levels_of(parse(text).resolve())["switch1>switch2"].named()
    assert named == {"buffer K": 1000, **levels}


def test_a_port_that_holds_whatever_arrives_has_no_levels() -> None:
    assert dict(levels_of(short_run().spec)["source1>switch1"].named()) == {}


def test_the_range_of_time_is_cut_to_the_run() -> None:
    rows = drawn(run_figure(short_run(), "cwnd", from_ps=150 * MS, to_ps=10**15))
    assert min(row["time_s"] for row in rows) == pytest.approx(0.15)
    assert max(row["time_s"] for row in rows) == pytest.approx(0.2)


def test_the_vcs_of_a_flow_are_found_by_the_flows_name() -> None:
    rows = drawn(run_figure(short_run(), "vc-queue", flows=["flow1"]))
    assert {row["panel"] for row in rows} == {"flow1.forward"}


def test_the_discards_of_a_flow_are_those_of_its_vcs() -> None:
    run = short_run()
    cells = sum(row["cells"] for row in drawn(run_figure(run, "discards", flows=["flow1"])))
    by_vc = {vc["name"]: sum(vc["cells_discarded"].values()) for vc in run.records["vcs"]}
    assert cells == by_vc["flow1.forward"] + by_vc["flow1.reverse"]
    assert cells > 0


def test_the_description_of_discards_tells_each_reason_that_was_with_its_cells() -> None:
    records = [
        {"name": name, "offered": 1000, "discarded": {"overflow": cells, "drawn": 2 * cells}}
        for name, cells in (("flow1.forward", 5), ("flow2.forward", 1200), ("flow2.reverse", 0))
    ]
    origin = Origin(engine="fast", version="0.1.0", spec_hashes=("aa",), seed=1, replications=1)
    figure = discards_by_reason(records, origin)
    reported = [f"{NAMES['overflow']} 1\u202f205", f"{NAMES['drawn']} 2\u202f410"]
    assert figure.description.endswith(f" over 2 VCs: {'; '.join(reported)}.")
    assert figure.caption[0].startswith(
        "Cells discarded at all ports on the way, 3\u202f615 in all"
    )
    assert figure.caption[1] == "One VC that lost nothing is left out."


def test_every_sequence_event_of_the_run_is_in_its_figure() -> None:
    run = short_run()
    trace = run.traces["sequence"].filter(pl.col("flow") == 0)
    rows = drawn(run_figure(run, "sequence", flows=["flow1"]))
    assert {row["event"] for row in rows} == {"sent", "sent again", "acknowledged up to"}
    sent = trace.filter(pl.col("event") < 2)["time_ps"]
    times = [row["time_s"] for row in rows if row["event"].startswith("sent")]
    assert times[0] == pytest.approx(sent[0] / 1e12)


@pytest.mark.parametrize("kind", [kind for kind, trace in TRACE_OF.items() if trace])
def test_a_trace_that_was_not_kept_is_told_how_to_ask_for(kind: str) -> None:
    trace = TRACE_OF[kind]
    with pytest.raises(NothingToDrawError) as fault:
        run_figure(run_without_traces(), kind)
    assert str(fault.value) == (
        f"the run kept no {trace} trace; ask for it with `skycell run --trace {trace}`, or with "
        f'`traces = ["{trace}"]` in the table `records` of the scenario'
    )


@pytest.mark.parametrize("kind", [kind for kind, trace in TRACE_OF.items() if trace])
def test_a_trace_without_a_row_is_told_to_be_empty(kind: str) -> None:
    trace = TRACE_OF[kind]
    run = skycell.run(
        {
            "preset": "icccn97-lan",
            "run": {"duration": "1 ns"},
            "topology": {"kind": "dumbbell", "bottleneck": CBR_FIRST},
            "records": {"traces": [trace]},
        }
    )
    with pytest.raises(NothingToDrawError, match=f"^the run's {trace} trace is empty$"):
        run_figure(run, kind)


@pytest.mark.parametrize("kind", TRACE_OF)
def test_a_flow_that_is_not_there_is_refused_for_every_kind(kind: str) -> None:
    with pytest.raises(NothingToDrawError, match="the run has no flow x; it has flow1, flow2"):
        run_figure(short_run(), kind, flows=["flow1", "x"])


def test_the_spread_of_throughput_is_that_of_the_flows() -> None:
    run = short_run()
    one, other = sorted(rate / 1e6 for rate in throughputs_bps(run.records))
    rows = [(row["mbps"], row["percent"]) for row in drawn(run_figure(run, "throughput"))]
    assert rows == [(one, 0), (one, 50), (other, 100)]


def test_of_very_many_flows_a_part_of_the_steps_is_drawn() -> None:
    figure = throughput_of_flows([1e6 * own for own in range(1001)], Origin("fast", "0"))
    rows = drawn(figure)
    assert len(rows) == 501
    # Every 2.002th flow: the first step is of two, the last ends with the last.
    assert (rows[1]["mbps"], rows[1]["percent"]) == (1, pytest.approx(200 / 1001))
    assert (rows[-1]["mbps"], rows[-1]["percent"]) == (1000, 100)
    assert "1001 flows: smallest 0, median 500, largest 1000 Mbit/s." in figure.caption_text()
    assert "Drawn: 500 steps of 2 flows each." in figure.caption_text()


def test_a_port_that_was_not_sampled_is_refused() -> None:
    message = "the VC queue trace holds no port a>b; it holds switch1>switch2"
    with pytest.raises(NothingToDrawError, match=message):
        run_figure(short_run(), "vc-queue", port="a>b")
    with pytest.raises(NothingToDrawError, match="holds no port called a>b"):
        run_figure(short_run(), "queue", port="a>b")


def test_a_kind_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="no figure of a run is called rto; there are cwnd, "):
        run_figure(short_run(), "rto")


def test_a_queue_is_drawn_in_octets_and_in_the_time_that_its_line_needs() -> None:
    run = short_run()
    cells = drawn(run_figure(run, "queue"))
    cell_ms = next(
        link.cell_time_ps for link in run.spec.links if link.name == "switch1>switch2"
    ) / (10**9)
    for unit, each in (("octets", 53), ("ms", cell_ms)):
        rows = drawn(run_figure(run, "queue", unit=unit))
        for key in ("cells", "height"):
            got, held = ([row[key] for row in one if key in row] for one in (rows, cells))
            assert max(got) == pytest.approx(each * max(held))
