"""Tables of studies: which there are, their conclusions, what their choices do."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from skycell.input.settings import write_value
from skycell.tables.table import NOTHING, Cell, Table, columns, count, number, words

if TYPE_CHECKING:
    from skycell.studies import Reproduction, TableSummary
    from skycell.studies.model import Study
    from skycell.studies.sensitivity import Sensitivity


def studies_table(studies: Sequence[Study]) -> Table:
    """Returns the studies with their tables."""
    rows = []
    for study in studies:
        rows.append((words(study.id), words(study.title)))
        for table in study.tables:
            printed = f" ({table.printed_as})" if table.printed_as else ""
            rows.append((words(f"  {table.id}"), words(table.title + printed)))
    ends = accumulate(1 + len(study.tables) for study in studies)
    return Table(
        caption="Studies and their tables",
        columns=columns("id", "title", prose=["title"]),
        rows=tuple(rows),
        ruled=frozenset(end - 1 for end in ends),
    )


def conclusions_table(result: Reproduction) -> Table:
    """Returns the conclusions, in print and in ours."""
    in_print = not all(study.is_own for study in result.studies)
    has_runs = any(entry.run_by_run for entry in result.conclusions)
    heads = (
        "study",
        "id",
        "statement",
        *(["print"] if in_print else []),
        "ours",
        *(["in single runs"] if has_runs else []),
        "evidence",
    )
    rows = [
        (
            words(entry.study),
            words(entry.id),
            words(entry.text),
            *([_holds(entry.published_holds)] if in_print else []),
            _holds(entry.ours_holds),
            *([words(entry.run_by_run or NOTHING)] if has_runs else []),
            words(entry.evidence),
        )
        for entry in result.conclusions
    ]
    return Table(
        caption="conclusions",
        columns=columns(*heads, prose=("statement", "evidence")),
        rows=tuple(rows),
        keys=2,
        ruled=frozenset(range(len(rows))),
    )


def _holds(holds: bool | None) -> Cell:
    if holds is None:
        return Cell("no data", css="none")
    return Cell("holds", css="good") if holds else Cell("fails", css="bad")


def choices_table(result: Sensitivity) -> Table:
    """Returns how much each alternative moves each table."""
    nothing = words("")
    rows = [
        (
            words(summary.table),
            words("as chosen"),
            *[nothing] * 3,
            *_verdicts(summary),
        )
        for summary in result.baseline
    ]
    rows += [
        (
            words(shift.table),
            words(shift.key),
            words(write_value(shift.value)),
            number(shift.mean_absolute_change, 3),
            number(shift.largest_change, 3),
            *_verdicts(shift.summary),
        )
        for shift in result.shifts
    ]
    numbers = ("mean change", "largest", "inside", "near", "off", "mean error", "in")
    return Table(
        caption="what each alternative choice does, one at a time",
        columns=columns("table", "choice", "value", *numbers, numeric=numbers[:-1]),
        rows=tuple(rows),
        keys=3,
        ruled=frozenset({len(result.baseline) - 1}),
    )


def _verdicts(summary: TableSummary) -> tuple[Cell, ...]:
    cells = summary.cells
    scores = map(count, (cells.inside, cells.near, cells.off))
    unit = cells.unit if cells.unit not in (None, "1") else ""
    return (*scores, number(cells.mean_absolute_error, 3), words(unit))
