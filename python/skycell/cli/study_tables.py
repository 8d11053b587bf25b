"""A reproduction on the terminal: a table per published table, conclusions, and a summary."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from skycell.cli.console import show_table, standard_output
from skycell.input.quantities import counted
from skycell.input.settings import write_value

if TYPE_CHECKING:
    from skycell.studies import ConclusionResult, Reproduction, Row, TableSummary
    from skycell.studies.compare import Score
    from skycell.studies.sensitivity import Sensitivity

_STYLE = {"inside": "green", "near": "yellow", "off": "red", "failed": "bold red"}


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
        click.echo(json.dumps(listed, indent=2, ensure_ascii=False))
        return
    grid = Table(box=None, pad_edge=False, show_header=False)
    grid.add_column(no_wrap=True)
    grid.add_column()
    for study in studies:
        grid.add_row(Text(study.id, "bold"), Text(study.title, "bold"))
        for table in study.tables:
            printed = f" ({table.printed_as})" if table.printed_as else ""
            grid.add_row(Text(f"  {table.id}"), Text(table.title + printed))
    show_table(standard_output(), grid)


def show_reproduction(result: Reproduction) -> None:
    """All of a reproduction."""
    console = standard_output()
    for table in result.tables:
        rows = result.rows_of(table)
        show_table(console, _table(f"{table}: {result.title_of(table)}", rows))
        _notes(console, rows)
    if result.conclusions:
        show_table(console, _conclusions(result))
    for summary in result.summaries:
        console.print(_summary(summary), soft_wrap=True)
    holding, asked = result.conclusion_score()
    if asked:
        message = f"conclusions that hold in print: {holding} of {asked} hold in ours"
        console.print(_with_agreement(message, result.decided_of_print()), soft_wrap=True)
    holding, asked = result.own_conclusion_score()
    if asked:
        message = f"conclusions of our own: {holding} of {asked} hold"
        console.print(_with_agreement(message, result.decided_of_our_own()), soft_wrap=True)
    if result.overrides:
        settings = ", ".join(
            f"{key} = {write_value(value)}" for key, value in result.overrides.items()
        )
        console.print(f"set differently from the studies: {settings}", soft_wrap=True)
    console.print(_runs(result), soft_wrap=True)


def _table(title: str, rows: Sequence[Row]) -> Table:
    factors = list(dict.fromkeys(name for row in rows for name in row.factors))
    several = len({(row.metric, row.unit) for row in rows}) > 1
    if rows and not several:
        title += _unit(rows[0].unit)
    table = Table(title=title, title_justify="left", title_style="bold", header_style="dim")
    for name in factors:
        table.add_column(name.replace("_", " "), no_wrap=True)
    if several:
        table.add_column("measure")
    # What is computed has no spread to look at.
    spread = ("low", "high") if not all(row.is_computed for row in rows) else ()
    is_own = all(row.verdict in ("own", "failed") for row in rows)
    beside = () if is_own else ("published",)
    for heading in (*beside, "ours", "sd", "n", *spread):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    doubts = _doubts(rows)
    for row in rows:
        cells = [str(row.factors.get(name, "all")) for name in factors]
        if several:
            cells.append(f"{row.metric.replace('_', ' ')}{_unit(row.unit)}")
        digits = _digits(row)
        cells += [_number(row.published, digits) for _ in beside]
        cells += [_number(row.mean, digits + 1)]
        cells += [_number(row.sd, digits + 1), str(row.n)]
        if spread:
            cells += [_number(row.low, digits + 1), _number(row.high, digits + 1)]
        mark = f" [{doubts.index(row.doubt) + 1}]" if row.doubt else ""
        verdict = Text(row.verdict, _STYLE.get(row.verdict, ""))
        table.add_row(*map(Text, cells), verdict.append(mark, "dim"))
    return table


def _unit(unit: str) -> str:
    return "" if unit == "1" else f", {unit}"


def _digits(row: Row) -> int:
    return 0 if row.unit in ("cells", "events", "%", "km", "satellites") else 2


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _doubts(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row.doubt for row in rows if row.doubt))


def _notes(console: Console, rows: Sequence[Row]) -> None:
    for place, doubt in enumerate(_doubts(rows), start=1):
        console.print(Text(f"[{place}] {doubt}", "dim"))
    for failure in dict.fromkeys(text for row in rows for text in row.failures):
        console.print(Text(f"failed: {failure}", "red"))
    console.print()


def _conclusions(result: Reproduction) -> Table:
    table = Table(title="conclusions", title_justify="left", title_style="bold", show_lines=True)
    table.add_column("id", no_wrap=True)
    table.add_column("statement")
    in_print = not all(study.is_own for study in result.studies)
    if in_print:
        table.add_column("print", no_wrap=True)
    table.add_column("ours", no_wrap=True)
    has_runs = any(entry.run_by_run for entry in result.conclusions)
    if has_runs:
        table.add_column("in single\nruns", no_wrap=True)
    table.add_column("evidence")
    for entry in result.conclusions:
        table.add_row(
            Text(f"{entry.study}\n{entry.id}"),
            Text(entry.text),
            *([_holds(entry.published_holds)] if in_print else []),
            _holds(entry.ours_holds),
            *([Text(str(entry.run_by_run or "–"))] if has_runs else []),
            Text(entry.evidence),
        )
    return table


def _with_agreement(message: str, results: Sequence[ConclusionResult]) -> str:
    from skycell.studies.agreement import Agreement

    sentence = Agreement.of_results(results).sentence()
    return f"{message}. {sentence}" if sentence else message


def _holds(holds: bool | None) -> Text:
    if holds is None:
        return Text("no data", "dim")
    return Text("holds", "green") if holds else Text("fails", "red")


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
    error = f", mean absolute error {_number(score.mean_absolute_error, 3)}{unit}"
    return f"{what}{score.inside} inside, {score.near} near, {score.off} off{error}"


def _runs(result: Reproduction) -> str:
    runs = result.runs
    text = (
        f"{counted(runs.needed, 'run')} with the {result.engine} engine ({result.version}), "
        f"seeds from {result.seed}: {runs.simulated} simulated, {runs.from_store} from the store"
    )
    text += f", {runs.failed} failed" if runs.failed else ""
    for tables, count in runs.shared.items():
        text += f"; {count} serve{'s' if count == 1 else ''} {' and '.join(tables)}"
    return f"{text} ({runs.wall_s:.0f} s)"


def show_sensitivity(result: Sensitivity) -> None:
    """How much each alternative moves each table."""
    table = Table(
        title="what each alternative choice does, one at a time",
        title_justify="left",
        title_style="bold",
        header_style="dim",
    )
    for heading in ("table", "choice", "value"):
        table.add_column(heading)
    for heading in ("mean change", "largest", "inside", "near", "off", "mean error"):
        table.add_column(heading, justify="right", no_wrap=True)
    for summary in result.baseline:
        measured = f"{summary.table}{_unit(summary.cells.unit or '1')}"
        table.add_row(measured, "as chosen", "", "", "", *_verdicts(summary), end_section=True)
    for shift in result.shifts:
        changes = (_number(shift.mean_absolute_change, 3), _number(shift.largest_change, 3))
        value = Text(write_value(shift.value))
        table.add_row(shift.table, shift.key, value, *changes, *_verdicts(shift.summary))
    show_table(standard_output(), table)
    for flip in result.flips:
        does = "holds" if flip.holds else "no longer holds"
        message = f"{flip.key} = {write_value(flip.value)}: {flip.study} {flip.conclusion} {does}"
        standard_output().print(Text(message), soft_wrap=True)
    for entry in result.undecided:
        message = f"{entry.study} {entry.id} is not decided without {', '.join(entry.without)}"
        standard_output().print(Text(message), soft_wrap=True)


def _verdicts(summary: TableSummary) -> tuple[str, str, str, str]:
    cells = summary.cells
    error = _number(cells.mean_absolute_error, 3)
    return str(cells.inside), str(cells.near), str(cells.off), error
