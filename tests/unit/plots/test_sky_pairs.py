"""Figures of pairs over a constellation: what they got, and their paths over time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from skycell.metrics import throughputs_bps
from skycell.plots.export import save
from skycell.plots.figure import Figure, NothingToDrawError
from skycell.plots.panels import DATASET
from skycell.plots.run import run_figure
from skycell.plots.sky_pairs import CHANGE
from skycell.records.result import RunResult
from skycell.records.sky_pairs import opposite, pairs_of, path_changes_ps, rtt_course, sky_pairs
from tests.unit.plots.browser import outside_references
from tests.unit.plots.runs import run_over_a_sky, short_run

SECOND = 10**12


def with_tables(run: RunResult, **tables: pl.DataFrame) -> RunResult:
    """The run with other tables."""
    return replace(run, traces={**run.traces, **tables})


def without_path(run: RunResult, pair: str, begin_s: int, end_s: int) -> RunResult:
    """The run with a pair that has no path for some seconds."""
    paths = run.traces["sky_paths"]
    (last,) = paths.filter((pl.col("pair") == pair) & (pl.col("end_ps") == 30 * SECOND)).to_dicts()
    before = {**last, "end_ps": begin_s * SECOND}
    gap = {
        **last,
        "start_ps": begin_s * SECOND,
        "end_ps": end_s * SECOND,
        "delay_ps": None,
        "last_delay_ps": None,
        "missing": "no route",
    }
    after = {**last, "start_ps": end_s * SECOND}
    kept = paths.filter((pl.col("pair") != pair) | (pl.col("end_ps") != 30 * SECOND))
    changed = pl.concat([kept, pl.DataFrame([before, gap, after], schema=paths.schema)])
    in_gap = (pl.col("pair") == pair) & pl.col("second").is_between(begin_s, end_s - 1)
    delays = run.traces["sky_delays"].with_columns(
        pl.when(in_gap).then(None).otherwise("delay_ps").alias("delay_ps")
    )
    return with_tables(run, sky_paths=changed, sky_delays=delays)


def marks(figure: Figure) -> list[tuple[str, float]]:
    """Panel and time of each change of a path that a figure shows."""
    rows = figure.datasets[DATASET]
    return [(row["panel"], row[CHANGE]) for row in rows if row.get(CHANGE) is not None]


def lines(figure: Figure, panel: str) -> list[dict[str, Any]]:
    """The points of the lines of a panel."""
    return [row for row in figure.datasets[DATASET] if row["panel"] == panel and "rtt_ms" in row]


def test_a_pair_gets_what_its_connections_and_sources_get_together() -> None:
    run = run_over_a_sky()
    pairs = sky_pairs(run.spec, run.records, run.traces)
    got = dict(pairs["pair", "mbps"].iter_rows())
    names = [flow.name for flow in run.spec.flows]
    rates = dict(zip(names, throughputs_bps(run.records), strict=True))
    (source,) = run.records["sources"]
    of_source = source["octets_delivered"] * 8 / 30
    assert got == pytest.approx(
        {**{name: rate / 1e6 for name, rate in rates.items()}, "tokyo>london": of_source / 1e6}
    )
    assert 0.09 < got["tokyo>london"] < 0.1001
    assert set(got) == set(pairs_of(run.spec))


def test_delays_hops_and_changes_of_a_pair_are_those_of_its_paths() -> None:
    run = run_over_a_sky()
    delays, paths = run.traces["sky_delays"], run.traces["sky_paths"]
    for row in sky_pairs(run.spec, run.records, run.traces).iter_rows(named=True):
        own = (delays.filter(pl.col("pair") == row["pair"])["delay_ps"] / 1e9).to_list()
        assert row["delay_ms"] == pytest.approx(sum(own) / len(own))
        assert row["least_delay_ms"] <= min(own) <= max(own) <= row["most_delay_ms"]
        ways = paths.filter(pl.col("pair") == row["pair"])
        assert row["changes"] == len(ways) - 1
        assert (row["hops_least"], row["hops_most"]) == (ways["hops"].min(), ways["hops"].max())


def test_the_spread_has_a_step_for_each_pair() -> None:
    run = run_over_a_sky()
    pairs = sky_pairs(run.spec, run.records, run.traces)
    figure = run_figure(run, "pairs")
    for column in ("mbps", "delay_ms"):
        rows = figure.datasets[column]
        values = sorted(pairs[column].to_list())
        assert [row["value"] for row in rows] == [values[0], *values]
        expected = [100 * number / len(values) for number in range(len(values) + 1)]
        assert [row["percent"] for row in rows] == expected


def test_pairs_without_a_path_are_counted_and_have_no_delay() -> None:
    run = run_over_a_sky()
    lost = pl.col("pair") == "tokyo>london"
    gone = {"delay_ps": None, "last_delay_ps": None, "missing": "no route"}
    columns = [
        pl.when(lost).then(pl.lit(value)).otherwise(name).alias(name)
        for name, value in gone.items()
    ]
    delays = run.traces["sky_delays"].with_columns(columns[0])
    paths = run.traces["sky_paths"].with_columns(columns)
    figure = run_figure(with_tables(run, sky_delays=delays, sky_paths=paths), "pairs")
    # A step for each pair, and the beginning of the curve.
    assert len(figure.datasets["delay_ms"]) == len(pairs_of(run.spec))
    assert len(figure.datasets["mbps"]) == len(pairs_of(run.spec)) + 1
    assert "Without a path at any time: 1 pair." in figure.caption_text()


def asymmetric(run: RunResult) -> RunResult:
    """The run with ways back that take 10 ms more, and 1 ms more at the end of each path."""
    longer = pl.when(pl.col("pair").is_in(pairs_of(run.spec))).then(0).otherwise(10**10)
    delays = run.traces["sky_delays"].with_columns(pl.col("delay_ps") + longer)
    paths = run.traces["sky_paths"].with_columns(
        pl.col("delay_ps") + longer, pl.col("last_delay_ps") + longer + 10**9
    )
    return with_tables(run, sky_delays=delays, sky_paths=paths)


def test_the_round_trip_is_the_delays_of_both_ways_at_every_second() -> None:
    run = asymmetric(run_over_a_sky())
    delays = run.traces["sky_delays"]
    for pair in pairs_of(run.spec):
        of_both = delays.filter(pl.col("pair").is_in([pair, opposite(pair)]))
        sums = of_both.group_by("second").agg(pl.col("delay_ps").sum() / 1e9)
        courses = rtt_course(run.traces, pair)
        drawn: dict[float, float] = {}
        for times, values in courses:
            assert times == sorted(times)
            drawn.update(zip(times, values, strict=True))
        for second, rtt_ms in sums.iter_rows():
            assert drawn[float(second)] == pytest.approx(rtt_ms)
        assert (courses[0][0][0], courses[-1][0][-1]) == (0, 30)


def test_a_change_of_path_is_a_jump_from_the_last_delay_to_the_first() -> None:
    run = asymmetric(run_over_a_sky())
    paths = run.traces["sky_paths"]
    for pair in ("new_york>tokyo", "london>new_york"):
        (changed_ps,) = path_changes_ps(run.traces, pair)
        ((times, values),) = rtt_course(run.traces, pair)
        at = [value for time, value in zip(times, values, strict=True) if time == changed_ps / 1e12]
        both = paths.filter(pl.col("pair").is_in([pair, opposite(pair)]))
        before = sum(both.filter(pl.col("end_ps") == changed_ps)["last_delay_ps"].to_list()) / 1e9
        after = sum(both.filter(pl.col("start_ps") == changed_ps)["delay_ps"].to_list()) / 1e9
        assert at == pytest.approx([before, after])


def test_without_a_path_one_way_there_is_no_line() -> None:
    run = without_path(run_over_a_sky(), "london>tokyo", 10, 20)
    figure = run_figure(run, "path", flows=None)
    rows = lines(figure, "tokyo>london")
    assert {row["course"] for row in rows} == {0, 1}
    times = sorted({row["time_s"] for row in rows})
    assert all(time <= 10 or time >= 20 for time in times)
    assert {10.0, 20.0} <= set(times)
    assert {("tokyo>london", 10.0), ("tokyo>london", 20.0)} <= set(marks(figure))


def test_each_pair_has_a_panel_and_its_changes_are_marked() -> None:
    run = run_over_a_sky()
    figure = run_figure(run, "path")
    panels = list(dict.fromkeys(row["panel"] for row in figure.datasets[DATASET]))
    # The opposite of a pair has the same round trip.
    assert panels == [pair for pair in pairs_of(run.spec) if pair != "tokyo>new_york"]
    expected = [
        (pair, at_ps / 1e12) for pair in panels for at_ps in path_changes_ps(run.traces, pair)
    ]
    assert marks(figure) == expected
    assert len(expected) > 1
    assert f"Dotted lines: {len(expected)} changes of paths." in figure.caption_text()
    one = run_figure(run, "path", flows=["new_york>tokyo"])
    assert {row["panel"] for row in one.datasets[DATASET]} == {"new_york>tokyo"}


def test_a_range_of_time_has_the_line_up_to_its_ends_and_only_its_own_changes() -> None:
    run = run_over_a_sky()
    figure = run_figure(run, "path", from_ps=SECOND // 2, to_ps=5 * SECOND // 2)
    assert marks(figure) == []
    assert "No path changes in that time." in figure.caption_text()
    rows = lines(figure, "new_york>tokyo")
    assert [row["time_s"] for row in rows] == [0.5, 1, 2, 2.5]
    whole = {
        row["time_s"]: row["rtt_ms"] for row in lines(run_figure(run, "path"), "new_york>tokyo")
    }
    assert rows[-1]["rtt_ms"] == pytest.approx((whole[2] + whole[3]) / 2)
    lost = without_path(run, "new_york>tokyo", 10, 20)
    with pytest.raises(NothingToDrawError, match="no pair has a path there and back"):
        run_figure(lost, "path", flows=["new_york>tokyo"], from_ps=12 * SECOND, to_ps=15 * SECOND)


@pytest.mark.parametrize("kind", ["rate", "sequence"])
def test_figures_of_senders_have_the_changes_of_their_paths(kind: str) -> None:
    run = run_over_a_sky()
    flow = "new_york>tokyo"
    figure = run_figure(run, kind, flows=[flow])
    (changed_ps,) = path_changes_ps(run.traces, flow)
    assert marks(figure) == [(flow, changed_ps / 1e12)]
    assert {name for name, _ in marks(run_figure(run, kind))} == {
        pair for pair in pairs_of(run.spec) if path_changes_ps(run.traces, pair)
    } - {"tokyo>london"}
    assert marks(run_figure(short_run(), kind)) == []
    assert "path" not in run_figure(short_run(), kind).caption_text()


def test_figures_of_pairs_are_refused_without_a_constellation() -> None:
    for kind in ("path", "pairs"):
        with pytest.raises(NothingToDrawError, match='topology of the kind "constellation"'):
            run_figure(short_run(), kind)


def test_they_are_drawn_without_a_network_and_with_their_marks(tmp_path: Path) -> None:
    run = run_over_a_sky()
    figures = {kind: run_figure(run, kind) for kind in ("path", "pairs", "rate")}
    save({tmp_path / f"{kind}.svg": figure for kind, figure in figures.items()})
    page = tmp_path / "path.html"
    save({page: figures["path"]})
    assert outside_references(page.read_text("utf-8")) == []
    for kind in ("path", "rate"):
        text = (tmp_path / f"{kind}.svg").read_text("utf-8")
        assert text.count('stroke-dasharray="1.5,2.5"') == len(marks(figures[kind]))
