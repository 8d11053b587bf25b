"""Traces made short enough to draw, without losing what the eye would have seen.

A line that is drawn w pixels wide shows, in each pixel column, the values from the lowest to the
highest, entered at the first and left at the last. These four rows of each column give the same
pixels as all rows (Jugel, Jerzak, Hackenbroich, Markl: M4, a visualization-oriented time series
data aggregation, VLDB 2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skycell.plots.labels import grouped

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Thinned:
    """A thinned trace.

    Attributes:
        frame: the rows that are left, in their first order.
        rows_before: rows of the trace in the range of time that is drawn.
        columns: pixel columns that the range was cut into.
    """

    frame: pl.DataFrame
    rows_before: int
    columns: int

    def sentence(self) -> str | None:
        """What a caption says about it; None when every row was kept."""
        if self.frame.height == self.rows_before:
            return None
        return (
            f"Drawn from {grouped(self.frame.height)} of {grouped(self.rows_before)} rows: the "
            f"first, last, lowest and highest of each of {self.columns} pixel columns."
        )


def select(
    trace: pl.DataFrame,
    *,
    from_ps: int,
    to_ps: int,
    keys: Sequence[str] = (),
    holds: bool = False,
) -> pl.DataFrame:
    """The rows of a trace within a range of time.

    Args:
        trace: rows with a column ``time_ps``, in order of time.
        from_ps: start of the range, picoseconds.
        to_ps: end of the range, picoseconds, included.
        keys: columns that tell one line from another.
        holds: whether a value holds until the next row; then the value that held at ``from_ps`` is
            given a row there, and the value that holds at ``to_ps`` one there.
    """
    import polars as pl

    inside = trace.filter(pl.col("time_ps").is_between(from_ps, to_ps))
    if not holds:
        return inside
    before = _last_of_each(trace.filter(pl.col("time_ps") < from_ps), keys, from_ps)
    up_to_end = pl.concat([before, inside])
    return pl.concat([up_to_end, _last_of_each(up_to_end, keys, to_ps)])


def _last_of_each(trace: pl.DataFrame, keys: Sequence[str], time_ps: int) -> pl.DataFrame:
    """The last row of each line, moved to another time."""
    import polars as pl

    last = trace.group_by(keys, maintain_order=True).last() if keys else trace.tail(1)
    time = pl.lit(time_ps, dtype=trace.schema["time_ps"]).alias("time_ps")
    return last.with_columns(time).select(trace.columns)


def decimate(
    trace: pl.DataFrame,
    *,
    from_ps: int,
    to_ps: int,
    columns: int,
    values: Sequence[str],
    keys: Sequence[str] = (),
) -> Thinned:
    """Keeps, of each pixel column and line, the first, last, lowest and highest rows.

    Args:
        trace: rows with a column ``time_ps``, in order of time, none outside the range.
        from_ps: start of the range that is drawn, picoseconds.
        to_ps: end of the range, picoseconds, above ``from_ps``.
        columns: pixels that the range is drawn across, above zero.
        values: columns whose lowest and highest rows are kept.
        keys: columns that tell one line from another.
    """
    import polars as pl

    if to_ps <= from_ps or columns < 1:
        raise ValueError("a trace is thinned over a range of time and at least one pixel column")
    row = pl.int_range(pl.len(), dtype=pl.UInt32).alias("row")
    offset = (pl.col("time_ps") - from_ps).cast(pl.Float64) / float(to_ps - from_ps)
    column = (offset * columns).floor().cast(pl.Int32).clip(0, columns - 1).alias("column")
    kept = (
        trace.with_columns(row, column)
        .group_by([*keys, "column"])
        .agg(
            pl.col("row").first().alias("kept_first"),
            pl.col("row").last().alias("kept_last"),
            *(pl.col("row").get(pl.col(v).arg_min()).alias(f"kept_min_{v}") for v in values),
            *(pl.col("row").get(pl.col(v).arg_max()).alias(f"kept_max_{v}") for v in values),
        )
        .select(pl.concat_list(pl.selectors.starts_with("kept_")).alias("kept"))
        .explode("kept")["kept"]
        .unique()
        .sort()
    )
    return Thinned(trace[kept], trace.height, columns)


def decimate_marks(
    trace: pl.DataFrame,
    *,
    from_ps: int,
    to_ps: int,
    columns: int,
    value: str,
    bottom: float,
    top: float,
    lines: int,
    keys: Sequence[str] = (),
) -> pl.DataFrame:
    """Keeps, of the marks that fall on one pixel, the first.

    Args:
        trace: rows with a column ``time_ps``, in order of time, none outside the range.
        from_ps: start of the range that is drawn, picoseconds.
        to_ps: end of the range, picoseconds, above ``from_ps``.
        columns: pixels that the range is drawn across, above zero.
        value: column that is drawn upwards.
        bottom: value at the lower edge of the drawing.
        top: value at its upper edge, above ``bottom``.
        lines: pixels between the two edges, above zero.
        keys: columns that tell one kind of mark from another.
    """
    import polars as pl

    across = (pl.col("time_ps") - from_ps).cast(pl.Float64) * columns / float(to_ps - from_ps)
    up = (pl.col(value).cast(pl.Float64) - bottom) * lines / (top - bottom)
    return (
        trace.with_columns(across.floor().alias("across"), up.floor().alias("up"))
        .unique([*keys, "across", "up"], keep="first", maintain_order=True)
        .select(trace.columns)
    )


def most(column: pl.Series) -> int:
    """The largest of some whole numbers, of which there is at least one."""
    return int(column.cast(int).max())  # type: ignore[arg-type] # polars: any kind of value


def least(column: pl.Series) -> int:
    """The smallest of some whole numbers, of which there is at least one."""
    return int(column.cast(int).min())  # type: ignore[arg-type] # polars: any kind of value
