"""The table of the runs of an experiment that have no result."""

from __future__ import annotations

from collections.abc import Iterable

from skycell.tables.table import Table, columns, words


def failed_runs(runs: Iterable[tuple[str, int, str | None]]) -> Table | None:
    """Each failed run by its case, with seed and reason; none where none failed."""
    rows = tuple(tuple(map(words, run)) for run in runs)
    if not rows:
        return None
    return Table(
        caption="Runs that failed; they are left out of everything else.",
        columns=columns("run", "seed", "reason", numeric=["seed"], prose=["reason"]),
        rows=rows,
        sortable=False,
    )
