"""A reproduction on the terminal: a table per published table, conclusions, and a summary."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from skycell.cli.console import Output
from skycell.cli.sentences import say_json
from skycell.input.quantities import counted
from skycell.input.settings import write_value
from skycell.tables.table import NOTHING, Cell, Table, columns, count, number, words

if TYPE_CHECKING:
    from skycell.studies import ConclusionResult, Reproduction, TableSummary
    from skycell.studies.compare import Score
    from skycell.studies.sensitivity import Sensitivity


def show_studies(as_json: bool) -> None:
    """The studies and their tables."""
    from skycell.studies import STUDY_IDS, load_study

    studies = [load_study(study_id) for study_id in STUDY_IDS]
    if as_json:
        listed = [
            {
                "id": study.id,
                "title": study.title,
                "origin": study.origin,
                "tables": [{"id": table.id, "title": table.title} for table in study.tables],
            }
            for study in studies
        ]
        say_json(listed)
        return
    rows = []
    for study in studies:
        rows.append((words(study.id), words(study.title)))
        for table in study.tables:
            printed = f" ({table.printed_as})" if table.printed_as else ""
            rows.append((words(f"  {table.id}"), words(table.title + printed)))
    ends = accumulate(1 + len(study.tables) for study in studies)
    Output().show(
        Table(
            caption="Studies and their tables",
            columns=columns("id", "title", prose=["title"]),
            rows=tuple(rows),
            ruled=frozenset(end - 1 for end in ends),
        )
    )


def show_reproduction(result: Reproduction) -> None:
    """All of a reproduction."""
    from skycell.report.comparison import comparison_table, groups_of
    from skycell.studies.readme import WHY, explained

    output = Output()
    for study in result.studies:
        groups = groups_of(result, study.id)
        tables = [group.table.id for group in groups]
        for group in groups:
            output.show(comparison_table(group, several=tables.count(group.table.id) > 1))
    for failure in dict.fromkeys(text for row in result.rows for text in row.failures):
        output.say(f"failed: {failure}", "red")
    if result.conclusions:
        output.show(_conclusions(result))
    for summary in result.summaries:
        output.say(_summary(summary))
    for study in result.studies:
        if any(row.study == study.id and row.verdict == "off" for row in result.rows):
            output.say(f"why values of {study.id} are off: {explained(study.id).get(WHY, NOTHING)}")
    holding, asked = result.conclusion_score()
    if asked:
        message = f"conclusions that hold in print: {holding} of {asked} hold in ours"
        output.say(_with_agreement(message, result.decided_of_print()))
    holding, asked = result.own_conclusion_score()
    if asked:
        message = f"conclusions of our own: {holding} of {asked} hold"
        output.say(_with_agreement(message, result.decided_of_our_own()))
    if result.overrides:
        settings = ", ".join(
            f"{key} = {write_value(value)}" for key, value in result.overrides.items()
        )
        output.say(f"set differently from the studies: {settings}")
    output.say(_runs(result))


def _conclusions(result: Reproduction) -> Table:
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


def _with_agreement(message: str, results: Sequence[ConclusionResult]) -> str:
    from skycell.studies.agreement import Agreement

    sentence = Agreement.of_results(results).sentence()
    return f"{message}. {sentence}" if sentence else message


def _holds(holds: bool | None) -> Cell:
    if holds is None:
        return Cell("no data", css="none")
    return Cell("holds", css="good") if holds else Cell("fails", css="bad")


def _summary(summary: TableSummary) -> str:
    parts = [_score(summary.cells, "")]
    parts += [_score(summary.suspect, "of doubtful print: ")] if summary.suspect.compared else []
    parts += [_score(summary.averages, "averages: ")] if summary.averages.compared else []
    parts += [f"{summary.unpublished} without a published value"] if summary.unpublished else []
    parts += [f"{counted(summary.own, 'value')} of our own"] if summary.own else []
    parts += [f"{summary.failed} failed"] if summary.failed else []
    return f"{summary.table}: " + "; ".join(part for part in parts if part)


def _score(score: Score, what: str) -> str:
    if not score.compared:
        return ""
    unit = f" {score.unit}" if score.unit not in (None, "1") else ""
    error = f", mean absolute error {number(score.mean_absolute_error, 3).text}{unit}"
    return f"{what}{score.inside} inside, {score.near} near, {score.off} off{error}"


def _runs(result: Reproduction) -> str:
    runs = result.runs
    text = (
        f"{counted(runs.needed, 'run')} with the {result.engine} engine ({result.version}), "
        f"seeds from {result.seed}: {runs.simulated} simulated, {runs.from_store} from the store"
    )
    text += f", {runs.failed} failed" if runs.failed else ""
    for tables, times in runs.shared.items():
        text += f"; {times} serve{'s' if times == 1 else ''} {' and '.join(tables)}"
    return f"{text} ({runs.wall_s:.0f} s)"


def show_sensitivity(result: Sensitivity) -> None:
    """How much each alternative moves each table."""
    output = Output()
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
    output.show(
        Table(
            caption="what each alternative choice does, one at a time",
            columns=columns("table", "choice", "value", *numbers, numeric=numbers[:-1]),
            rows=tuple(rows),
            keys=3,
            ruled=frozenset({len(result.baseline) - 1}),
        )
    )
    for flip in result.flips:
        does = "holds" if flip.holds else "no longer holds"
        output.say(f"{flip.key} = {write_value(flip.value)}: {flip.study} {flip.conclusion} {does}")
    for entry in result.undecided:
        output.say(f"{entry.study} {entry.id} is not decided without {', '.join(entry.without)}")


def _verdicts(summary: TableSummary) -> tuple[Cell, ...]:
    cells = summary.cells
    scores = map(count, (cells.inside, cells.near, cells.off))
    unit = cells.unit if cells.unit not in (None, "1") else ""
    return (*scores, number(cells.mean_absolute_error, 3), words(unit))
