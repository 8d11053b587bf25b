"""Thinning keeps what the eye would have seen."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skycell.plots.decimation import Thinned, decimate, decimate_marks, select
from tests.unit.plots.traces import SECOND, cwnd

Rows = list[tuple[int, int, int]]


def frame(rows: Rows) -> pl.DataFrame:
    schema = {"line": pl.UInt32, "time_ps": pl.UInt64, "value": pl.Int64}
    return pl.DataFrame(sorted(rows, key=lambda row: row[1]), schema=schema, orient="row")


def thinned(trace: pl.DataFrame, columns: int) -> Thinned:
    return decimate(trace, from_ps=0, to_ps=1000, columns=columns, values=["value"], keys=["line"])


rows_in_range = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1000), st.integers(-50, 50)), max_size=300
)


def by_column(trace: pl.DataFrame, columns: int) -> dict[tuple[int, int], list[int]]:
    cells: dict[tuple[int, int], list[int]] = {}
    for line, time, value in trace.iter_rows():
        column = min(time * columns // 1000, columns - 1)
        cells.setdefault((line, column), []).append(value)
    return cells


@given(rows_in_range, st.integers(1, 40))
def test_each_pixel_column_of_each_line_keeps_first_last_lowest_and_highest(
    rows: Rows, columns: int
) -> None:
    trace = frame(rows)
    before = by_column(trace, columns)
    after = by_column(thinned(trace, columns).frame, columns)
    assert after.keys() == before.keys()
    for cell, values in after.items():
        all_values = before[cell]
        assert (values[0], values[-1]) == (all_values[0], all_values[-1])
        assert (min(values), max(values)) == (min(all_values), max(all_values))
        assert len(values) <= 4


@given(rows_in_range, st.integers(1, 40))
def test_rows_that_are_kept_are_rows_of_the_trace_in_its_order(rows: Rows, columns: int) -> None:
    trace = frame(rows)
    remaining = trace.iter_rows()
    assert all(row in remaining for row in thinned(trace, columns).frame.iter_rows())


@given(rows_in_range)
def test_thinning_twice_changes_nothing(rows: Rows) -> None:
    once = thinned(frame(rows), 7).frame
    assert thinned(once, 7).frame.equals(once)


def test_a_long_trace_becomes_short_and_says_so() -> None:
    trace = frame([(0, time, time % 17) for time in range(1000)])
    result = thinned(trace, 10)
    assert result.frame.height <= 40
    assert result.sentence() == (
        f"Drawn from {result.frame.height} of 1\u202f000 rows: the first, last, lowest and highest "
        "of each of 10 pixel columns."
    )


def test_a_short_trace_is_left_alone_and_nothing_is_said() -> None:
    trace = frame([(0, 0, 1), (0, 500, 2), (0, 1000, 3)])
    result = thinned(trace, 600)
    assert result.frame.equals(trace)
    assert result.sentence() is None


@pytest.mark.parametrize(("to_ps", "columns"), [(0, 10), (1000, 0)])
def test_an_empty_range_or_no_columns_are_refused(to_ps: int, columns: int) -> None:
    with pytest.raises(ValueError, match="range of time and at least one pixel column"):
        decimate(frame([]), from_ps=0, to_ps=to_ps, columns=columns, values=["value"])


def test_samples_are_cut_to_the_range_with_both_ends() -> None:
    times = [(0, n * SECOND, n) for n in range(6)]
    part = select(frame(times), from_ps=2 * SECOND, to_ps=4 * SECOND)
    assert part["value"].to_list() == [2, 3, 4]


def test_a_value_that_holds_is_drawn_from_the_start_of_the_range_to_its_end() -> None:
    half = SECOND // 2
    part = select(cwnd(flows=2, changes=3), from_ps=half, to_ps=3 * half, keys=["flow"], holds=True)
    assert part.filter(pl.col("flow") == 1).select("time_ps", "cwnd").rows() == [
        (half, 1000.0),  # set at 0 s, still held at 0.5 s
        (2 * half, 2000.0),
        (3 * half, 2000.0),  # held to the end, 1.5 s
    ]


def test_a_line_that_has_not_begun_is_not_invented() -> None:
    late: list[tuple[Any, ...]] = [(0, 5 * SECOND, 1)]
    part = select(frame(late), from_ps=0, to_ps=SECOND, keys=["line"], holds=True)
    assert part.is_empty()


@given(rows_in_range, st.integers(1, 40), st.integers(1, 40))
def test_of_the_marks_on_one_pixel_the_first_is_kept(rows: Rows, columns: int, lines: int) -> None:
    trace = frame(rows)
    kept = decimate_marks(
        trace,
        from_ps=0,
        to_ps=1000,
        columns=columns,
        value="value",
        bottom=-50,
        top=51,
        lines=lines,
        keys=["line"],
    )

    def pixel(row: tuple[int, ...]) -> tuple[int, int, int]:
        return row[0], row[1] * columns // 1000, (row[2] + 50) * lines // 101

    firsts: dict[tuple[int, int, int], tuple[int, ...]] = {}
    for row in trace.iter_rows():
        firsts.setdefault(pixel(row), row)
    assert kept.rows() == list(firsts.values())
