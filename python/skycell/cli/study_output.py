"""A reproduction on the terminal: a table per published table, conclusions, and a summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skycell.cli.console import Output
from skycell.cli.sentences import say_json
from skycell.input.quantities import counted
from skycell.input.settings import write_value
from skycell.tables.study import choices_table, conclusions_table, studies_table
from skycell.tables.table import NOTHING, number

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
    Output().show(studies_table(studies))


def show_reproduction(result: Reproduction) -> None:
    """All of a reproduction."""
    from skycell.report.comparison import comparison_tables
    from skycell.studies.readme import WHY, explained

    output = Output()
    for table in comparison_tables(result):
        output.show(table)
    for failure in dict.fromkeys(text for row in result.rows for text in row.failures):
        output.say(f"failed: {failure}", "red")
    if result.conclusions:
        output.show(conclusions_table(result))
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


def _with_agreement(message: str, results: Sequence[ConclusionResult]) -> str:
    from skycell.studies.agreement import Agreement

    sentence = Agreement.of_results(results).sentence()
    return f"{message}. {sentence}" if sentence else message


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
    output.show(choices_table(result))
    for flip in result.flips:
        does = "holds" if flip.holds else "no longer holds"
        output.say(f"{flip.key} = {write_value(flip.value)}: {flip.study} {flip.conclusion} {does}")
    for entry in result.undecided:
        output.say(f"{entry.study} {entry.id} is not decided without {', '.join(entry.without)}")
