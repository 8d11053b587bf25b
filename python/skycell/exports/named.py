"""Traces for other programs: times in seconds, names in place of ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skycell.input.quantities import PS_PER_SECOND
from skycell.metrics.recorded_ports import port_names
from skycell.plots.discards import REASONS
from skycell.plots.sequence import EVENTS

if TYPE_CHECKING:
    import polars as pl

    from skycell.spec.declared.network import NetworkSpec


class NothingToExport(Exception):
    """The run kept no trace of what was asked for; the message says which trace it takes."""


def named(trace: pl.DataFrame, spec: NetworkSpec) -> pl.DataFrame:
    """A trace with names and seconds.

    Args:
        trace: as a run keeps it: ids, picoseconds, numbers of events and reasons.
        spec: what was run, whose order the ids follow.

    Returns:
        The same rows and columns. Columns ``flow``, ``vc`` and ``port`` hold names (null where a
        discarded frame belongs to no flow), ``event`` and ``reason`` words, and each column
        ``X_ps`` is ``X_s``, in seconds.
    """
    import polars as pl

    names: dict[str, Sequence[str]] = {
        "flow": [flow.name for flow in spec.flows],
        "vc": [vc.name for vc in spec.vcs],
        "port": port_names(spec),
        "event": [EVENTS[number] for number in sorted(EVENTS)],
        "reason": [REASONS[number].replace("_", " ") for number in range(len(REASONS))],
    }
    columns: list[pl.Expr | pl.Series] = []
    for column in trace.columns:
        if column in names:
            of_number = dict(enumerate(names[column]))
            columns.append(
                pl.col(column).replace_strict(of_number, default=None, return_dtype=pl.String)
            )
        elif column.endswith("_ps"):
            columns.append(seconds(trace[column]).alias(f"{column.removesuffix('_ps')}_s"))
        else:
            columns.append(pl.col(column))
    return trace.select(columns)


def seconds(picoseconds: pl.Series) -> pl.Series:
    """Times in seconds, each the nearest double: the picosecond is still there for two hours."""
    import polars as pl

    return pl.Series(picoseconds.name, picoseconds.to_numpy() / PS_PER_SECOND)
