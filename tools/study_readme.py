"""Writes the measured part of a study's README: what reproduces, and how much each choice matters.

    python tools/study_readme.py icccn97 [--replications 2] [--table icccn97-t1] [--store FILE]
    python tools/study_readme.py icccn97 --keep-choices

What stands above the marker is written by hand and stays. So does, with `--keep-choices`, what is
told of the choices, which costs most of the runs.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from skycell.experiment.store import RunStore
from skycell.studies import ConclusionResult, Reproduction, TableSummary, load_study, reproduce
from skycell.studies.compare import Score
from skycell.studies.firmness import Firmness
from skycell.studies.library import PUBLISHED_IDS
from skycell.studies.sensitivity import Sensitivity, Shift, sensitivity

STUDIES = Path(__file__).parents[1] / "python" / "skycell" / "studies"
MARKER = "<!-- Below: written by tools/study_readme.py -->"
CHOICES = "## Which choices were tried, and how much each moves the tables"


@click.command()
@click.argument("study", type=click.Choice(PUBLISHED_IDS))
@click.option("--replications", type=int, help="Of every variant; as the study says if not given.")
@click.option("--table", "tables", multiple=True, help="Vary choices for these tables alone.")
@click.option("--store", type=click.Path(path_type=Path), default=Path(".skycell/runs.sqlite"))
@click.option("--keep-choices", is_flag=True, help="Leave what is told of the choices as it is.")
def main(
    study: str,
    replications: int | None,
    tables: tuple[str, ...],
    store: Path,
    keep_choices: bool,
) -> None:
    """Write the measured part of the README of STUDY."""
    file = STUDIES / study / "README.md"
    page = file.read_text(encoding="utf-8")
    with RunStore(store) as runs:
        reproduced = "\n".join(_reproduced(reproduce([study], store=runs, engine="fast")))
        if keep_choices:
            choices = choices_of(page)
        else:
            moved = sensitivity(
                tables or [study],
                store=runs,
                engine="fast",
                replications=replications,
                on_variant=lambda name: click.echo(name, err=True),
            )
            choices = "\n".join(_moved(study, tables, moved))
    above = page.partition(MARKER)[0].rstrip()
    measured = f"{reproduced}\n{choices}".rstrip()
    file.write_text(f"{above}\n\n{MARKER}\n\n{measured}\n", encoding="utf-8")


def choices_of(page: str) -> str:
    """What a README tells of its study's choices; empty where it tells nothing."""
    _, heading, rest = page.partition(CHOICES)
    return f"{heading}{rest}"


def _reproduced(result: Reproduction) -> list[str]:
    times = next(iter(result.replications.values()))
    lines = [
        "## What reproduces",
        "",
        (
            f"{times} replications, seeds from {result.seed}. `inside`: the printed value lies "
            "within what our replications span, widened by its rounding and 0.02. `near`: our "
            "mean is within 0.10 of it (15 % for throughputs)."
        ),
        "",
        "| table | values | inside | near | off | mean absolute error |",
        "|---|---|---|---|---|---|",
    ]
    for summary in result.summaries:
        lines += _scores(summary)
    lines += ["", _score_of_conclusions(result)]
    open_ones = [
        entry
        for entry in result.conclusions
        if entry.ours_holds is False and entry.published_holds is not False
    ]
    if open_ones:
        lines += ["", "Those that do not:", ""]
        lines += [f"* {entry.id} {entry.text} ({_evidence(entry)})" for entry in open_ones]
    lines += _in_some_runs(result)
    return [*lines, ""]


def _score_of_conclusions(result: Reproduction) -> str:
    holding, asked = result.conclusion_score()
    decided = result.decided_of_print()
    told = f"Of the conclusions that hold in print {holding} of {asked} hold in ours."
    if not asked:
        decided = [entry for entry in result.conclusions if entry.ours_holds is not None]
        holding = sum(bool(entry.ours_holds) for entry in decided)
        told = f"No conclusion can be decided in print. {holding} of {len(decided)} hold in ours."
    return f"{told} {Firmness.of_results(decided).sentence()}".rstrip()


def _evidence(entry: ConclusionResult) -> str:
    single = f"; in {entry.run_by_run} single replications" if entry.run_by_run else ""
    return f"{entry.evidence}{single}"


def _in_some_runs(result: Reproduction) -> list[str]:
    """Conclusions that hold for the means of ours, but not in each of our replications."""
    weak = [
        f"{entry.id} ({entry.run_by_run})"
        for entry in result.conclusions
        if entry.ours_holds
        and entry.run_by_run is not None
        and entry.run_by_run.holding < entry.run_by_run.of
    ]
    if not weak:
        return []
    return ["", f"Those that hold, but not in every single replication: {', '.join(weak)}."]


def _scores(summary: TableSummary) -> list[str]:
    kinds = (
        ("cells", summary.cells),
        ("of doubtful print", summary.suspect),
        ("averages", summary.averages),
    )
    rows = [
        f"| {summary.table} | {kind} | {_counts(score)} |"
        for kind, score in kinds
        if score.compared
    ]
    if summary.unpublished:
        rows.append(f"| {summary.table} | {summary.unpublished} without a printed value | | | | |")
    return rows


def _counts(score: Score) -> str:
    error = score.mean_absolute_error
    shown = "" if error is None else f"{error:.3f}"
    return f"{score.inside} | {score.near} | {score.off} | {shown}"


def _moved(study: str, tables: Sequence[str], moved: Sensitivity) -> list[str]:
    times = moved.replications or load_study(study).replications
    runs = f"{times} replication{'s' if times > 1 else ''}"
    of_these = f", of the tables {' and '.join(tables)}" if tables else ""
    lines = [
        CHOICES,
        "",
        (
            "One choice at a time is set otherwise, all else as chosen; "
            f"{runs}{of_these}. Change: mean over the table's cells of the "
            "absolute change of our mean, in the table's unit."
        ),
        *_flipped(moved),
    ]
    chosen = {choice.name: choice.value for choice in load_study(study).choices}
    for baseline in moved.baseline:
        shifts = [shift for shift in moved.shifts if shift.table == baseline.table]
        if not any(shift.mean_absolute_change for shift in shifts):
            continue
        lines += ["", f"### {baseline.table}", "", *_head(baseline)]
        ordered = sorted(shifts, key=lambda shift: -(shift.mean_absolute_change or 0.0))
        lines += [
            _shift(shift, chosen[shift.key], has_print=bool(baseline.cells.compared))
            for shift in ordered
            if _matters(shift)
        ]
        still = [shift for shift in shifts if not _matters(shift)]
        if still:
            names = ", ".join(f"{shift.key} = {_plain(shift.value)}" for shift in still)
            lines += ["", f"Without effect: {names}."]
    return lines


def _flipped(moved: Sensitivity) -> list[str]:
    """Conclusions that alternatives decide otherwise, as a table; nothing where there are none."""
    if not moved.flips:
        return ["", "No alternative decides a conclusion otherwise."]
    lines = [
        "",
        (
            "Conclusions that an alternative decides otherwise than as chosen, with the same "
            "number of replications:"
        ),
        "",
        "| choice | instead | then holds | no longer holds |",
        "|---|---|---|---|",
    ]
    for key, value in dict.fromkeys((flip.key, _plain(flip.value)) for flip in moved.flips):
        same = [flip for flip in moved.flips if (flip.key, _plain(flip.value)) == (key, value)]
        holds, fails = (
            ", ".join(flip.conclusion for flip in same if flip.holds is answer)
            for answer in (True, False)
        )
        lines.append(f"| {key} | {value} | {holds} | {fails} |")
    return lines


def _matters(shift: Shift) -> bool:
    return bool(shift.mean_absolute_change)


def _head(baseline: TableSummary) -> list[str]:
    """Headings and the row of what was chosen; a table that has no print has no verdicts."""
    if not baseline.cells.compared:
        return [
            "| choice | as chosen | instead | change | largest change |",
            "|---|---|---|---|---|",
        ]
    return [
        "| choice | as chosen | instead | change | inside | near | off | mean absolute error |",
        "|---|---|---|---|---|---|---|---|",
        f"| all | as chosen | | | {_counts(baseline.cells)} |",
    ]


def _shift(shift: Shift, chosen: object, *, has_print: bool) -> str:
    change = _change(shift.mean_absolute_change)
    rest = _counts(shift.summary.cells) if has_print else _change(shift.largest_change)
    return f"| {shift.key} | {_plain(chosen)} | {_plain(shift.value)} | {change} | {rest} |"


def _change(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_plain, value))
    return str(value)


if __name__ == "__main__":
    main()
