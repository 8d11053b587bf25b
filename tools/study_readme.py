"""Writes the measured part of a study's README: what reproduces, and how much each choice matters.

    python tools/study_readme.py icccn97 [--replications 2] [--table icccn97-t1] [--store FILE]
    python tools/study_readme.py icccn97 --choice tcp.tick --choice tcp.rto_min
    python tools/study_readme.py icccn97 --join icccn97-window-stall
    python tools/study_readme.py icccn97 --keep-choices | --keep-verdicts

What stands above the marker is written by hand and stays. What alternatives did is kept in the
study's `sensitivity.json`: those that it has are not run again while the tables as chosen are the
same, and finished runs come from the store, so that a call that was stopped goes on where it was.
`--choice` tries those of some choices only, or single ones; the README names those that are left.
`--join` measures tables that the file lacks, under the alternatives that it has, as long as its own
are the same. `--keep-choices` tries none, and leaves what is told of them; `--keep-verdicts` leaves
what is told of what reproduces, whose replications are more.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from skycell.experiment.store import RunStore
from skycell.studies import ConclusionResult, Reproduction, TableSummary, load_study, reproduce
from skycell.studies.agreement import Agreement
from skycell.studies.compare import Score
from skycell.studies.library import STUDY_IDS, module_name
from skycell.studies.model import Study
from skycell.studies.sensitivity import sensitivity
from skycell.studies.sensitivity_store import (
    FILE,
    Alternative,
    Effect,
    KeptSensitivity,
    alternatives_of,
    value_in_words,
)

STUDIES = Path(__file__).parents[1] / "python" / "skycell" / "studies"
MARKER = "<!-- Below: written by tools/study_readme.py -->"
CHOICES = "## Which choices were tried, and how much each moves the tables"
MOST_IN_FULL = 5
"""A study with more tables than this that choices move has one table of all their changes."""


@click.command()
@click.argument("study", type=click.Choice(STUDY_IDS))
@click.option("--replications", type=int, help="Of every alternative; as before, or as the study.")
@click.option("--table", "tables", multiple=True, help="Vary choices for these tables alone.")
@click.option("--choice", "keys", multiple=True, help="Try these alone: KEY or KEY=VALUE.")
@click.option("--join", "joining", multiple=True, help="A table that the file lacks.")
@click.option("--store", type=click.Path(path_type=Path), default=Path(".skycell/runs.sqlite"))
@click.option("--jobs", type=int, help="Processes at a time; one a core if not given.")
@click.option("--keep-choices", is_flag=True, help="Leave what is told of the choices as it is.")
@click.option("--keep-verdicts", is_flag=True, help="Leave what is told of what reproduces.")
def main(
    study: str,
    replications: int | None,
    tables: tuple[str, ...],
    keys: tuple[str, ...],
    joining: tuple[str, ...],
    store: Path,
    jobs: int | None,
    keep_choices: bool,
    keep_verdicts: bool,
) -> None:
    """Write the measured part of the README of STUDY."""
    folder = STUDIES / module_name(study)
    file = folder / "README.md"
    measured: dict[str, str] = {}
    with RunStore(store) as runs:
        if not keep_verdicts:
            found = reproduce([study], store=runs, engine="fast", jobs=jobs)
            measured["verdicts"] = "\n".join(_reproduced(found))
        if joining:
            _join(study, folder / FILE, joining, runs, jobs)
        if not keep_choices:
            kept = _try_choices(study, folder / FILE, replications, tables, keys, runs, jobs)
            measured["choices"] = "\n".join(_reported_of_choices(kept))
    # Runs take their time, in which the page may have been written on.
    page = file.read_text(encoding="utf-8")
    verdicts, choices = parts_of(page)
    parts = (measured.get("verdicts", verdicts), measured.get("choices", choices))
    above = page.partition(MARKER)[0].rstrip()
    reported = "\n\n".join(part.strip() for part in (above, MARKER, *parts) if part)
    file.write_text(f"{reported}\n", encoding="utf-8")


def _try_choices(
    study_id: str,
    file: Path,
    replications: int | None,
    tables: tuple[str, ...],
    keys: tuple[str, ...],
    runs: RunStore,
    jobs: int | None,
) -> KeptSensitivity:
    """Tries what has not been tried yet, and keeps it in the file with what was."""
    study = load_study(study_id)
    before = KeptSensitivity.read(file) if file.exists() else None
    ids = tables or (before.tables if before else (study_id,))
    times = replications or (before.replications if before else study.replications)
    as_chosen = reproduce(ids, store=runs, engine="fast", jobs=jobs, replications=times)
    kept = KeptSensitivity.begun(study_id, ids, as_chosen)
    if before is not None and before.goes_on(kept):
        kept = before
    elif before is not None:
        click.echo("the tables as chosen are not what they were: all is tried anew", err=True)
    missing = _asked_for(kept.missing(study), keys)
    found: list[Alternative] = []
    if missing:
        measured = sensitivity(
            ids,
            missing,
            store=runs,
            engine="fast",
            jobs=jobs,
            replications=times,
            on_variant=lambda name: click.echo(name, err=True),
        )
        found = alternatives_of(measured)
    kept = kept.with_alternatives(study, found)
    kept.write(file)
    return kept


def _join(
    study_id: str, file: Path, joining: Sequence[str], runs: RunStore, jobs: int | None
) -> None:
    """Measures tables that the file lacks, under the alternatives that it has, and joins them."""
    study = load_study(study_id)
    before = KeptSensitivity.read(file)
    old = tuple(before.as_chosen)

    def as_chosen(ids: Sequence[str]) -> Reproduction:
        times = before.replications
        return reproduce(ids, store=runs, engine="fast", jobs=jobs, replications=times)

    if not before.goes_on(KeptSensitivity.begun(study_id, before.tables, as_chosen(old))):
        raise click.ClickException("the tables of the file as chosen are not what they were")
    listed = tuple(table.id for table in study.tables if table.id in {*old, *joining})
    ids = (study_id,) if len(listed) == len(study.tables) else listed
    both, alone = as_chosen(ids), as_chosen(joining)
    found = {entry.id for part in (as_chosen(old), alone) for entry in part.conclusions}
    if spanning := [entry.id for entry in both.conclusions if entry.id not in found]:
        raise click.ClickException(f"conclusions on tables old and new: {', '.join(spanning)}")
    varied: dict[str, tuple[Any, ...]] = {}
    for entry in before.alternatives:
        varied[entry.key] = (*varied.get(entry.key, ()), entry.value)
    measured = sensitivity(
        joining,
        varied,
        named=False,
        store=runs,
        engine="fast",
        jobs=jobs,
        replications=before.replications,
        on_variant=lambda name: click.echo(name, err=True),
    )
    before.joined(ids, both, alternatives_of(measured)).write(file)


def _asked_for(
    missing: Mapping[str, Sequence[Any]], keys: Sequence[str]
) -> dict[str, tuple[Any, ...]]:
    """The values that are missing and that `--choice` names; all of them where it is not given."""
    asked = {
        key: tuple(
            value
            for value in values
            if not keys or key in keys or f"{key}={value_in_words(value)}" in keys
        )
        for key, values in missing.items()
    }
    return {key: values for key, values in asked.items() if values}


def parts_of(page: str) -> tuple[str, str]:
    """What a README tells of what reproduces, and of its study's choices; empty where nothing."""
    measured = page.partition(MARKER)[2]
    verdicts, heading, rest = measured.partition(CHOICES)
    return verdicts.strip(), f"{heading}{rest}".strip()


def _reproduced(result: Reproduction) -> list[str]:
    (study,) = result.studies
    times = result.replications[study.id]
    how_often = f"{times} replications, seeds from {result.seed}."
    inside = "lies within what our replications span, widened by its rounding and 0.02"
    if all(row.is_computed for row in result.rows):
        how_often = "Nothing is drawn: each value is computed once."
        inside = "is ours but for its rounding and 0.02"
    if study.is_own:
        lines = ["## What holds", "", how_often]
    else:
        lines = [
            "## What reproduces",
            "",
            (
                f"{how_often} `inside`: the printed value {inside}. `near`: our mean is within "
                "0.10 of it (15 % where it has a unit)."
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
    reported = f"Of the conclusions that hold in print {holding} of {asked} hold in ours."
    if not asked:
        decided = [entry for entry in result.conclusions if entry.ours_holds is not None]
        holding = sum(bool(entry.ours_holds) for entry in decided)
        reported = (
            f"No conclusion can be decided in print. {holding} of {len(decided)} hold in ours."
        )
        if result.studies[0].is_own:
            reported = f"{holding} of {len(decided)} conclusions hold."
    return f"{reported} {Agreement.of_results(decided).sentence()}".rstrip()


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


def _reported_of_choices(kept: KeptSensitivity) -> list[str]:
    """What has been tried of a study's choices, from the file in its folder."""
    study = load_study(kept.study)
    of_these = f", of the tables {', '.join(kept.tables)}" if kept.tables != (study.id,) else ""
    lines = [
        CHOICES,
        "",
        (
            f"One choice at a time is set otherwise, all else as chosen; {_runs(kept, study)}"
            f"{of_these}. Change: mean over the table's cells of the absolute change of our mean, "
            "in the table's unit."
        ),
        *(["", kept.note] if kept.note else []),
        *_missing(kept, study),
        *_flipped(kept),
    ]
    moving = [
        table
        for table in kept.as_chosen
        if any(_moves(entry, table) for entry in kept.alternatives)
    ]
    if len(moving) > MOST_IN_FULL:
        return [*lines, *_in_one_table(kept, study, moving), *_failed(kept)]
    for table in moving:
        lines += ["", f"### {table}", "", *_in_full(kept, study, table)]
    return [*lines, *_failed(kept)]


def _runs(kept: KeptSensitivity, study: Study) -> str:
    """How often each alternative was run, and what few runs cannot tell."""
    if not any(entry.kind == "runs" for entry in study.experiments.values()):
        return "nothing is drawn"
    runs = f"{kept.replications} replication{'s' if kept.replications > 1 else ''}"
    if kept.replications >= study.replications:
        return runs
    return f"{runs}, so that conclusions whose numbers are close to their line may change by chance"


def _missing(kept: KeptSensitivity, study: Study) -> list[str]:
    missing = [
        f"`{key}` {value_in_words(value)}"
        for key, values in kept.missing(study).items()
        for value in values
    ]
    return ["", f"Not tried: {', '.join(missing)}."] if missing else []


def _flipped(kept: KeptSensitivity) -> list[str]:
    """Conclusions that alternatives decide otherwise, as a table; nothing where there are none."""
    deciding = [entry for entry in kept.alternatives if entry.flips]
    if not deciding:
        return ["", "No alternative decides a conclusion otherwise."]
    lines = [
        "",
        "Conclusions that an alternative decides otherwise than as chosen:",
        "",
        "| choice | instead | then holds | no longer holds |",
        "|---|---|---|---|",
    ]
    for entry in deciding:
        holds, fails = (
            ", ".join(name for name, held in entry.flips.items() if held is answer)
            for answer in (True, False)
        )
        lines.append(f"| {entry.key} | {value_in_words(entry.value)} | {holds} | {fails} |")
    return lines


def _in_full(kept: KeptSensitivity, study: Study, table: str) -> list[str]:
    """One table's section: each alternative that moves it, with its verdicts where it has print."""
    as_chosen = kept.as_chosen[table]
    if as_chosen.has_print:
        lines = [
            "| choice | as chosen | instead | change | inside | near | off | mean absolute error |",
            "|---|---|---|---|---|---|---|---|",
            f"| all | as chosen | | | {_scored(as_chosen)} |",
        ]
    else:
        lines = [
            "| choice | as chosen | instead | change | largest change |",
            "|---|---|---|---|---|",
        ]
    moving = [entry for entry in kept.alternatives if _moves(entry, table)]
    for entry in sorted(moving, key=lambda entry: -(entry.effects[table].change or 0.0)):
        effect = entry.effects[table]
        rest = _scored(effect) if as_chosen.has_print else _change(effect.largest)
        lines.append(f"| {_set_otherwise(entry, study)} | {_change(effect.change)} | {rest} |")
    return [*lines, *_still(entry for entry in kept.alternatives if not _moves(entry, table))]


def _in_one_table(kept: KeptSensitivity, study: Study, tables: Sequence[str]) -> list[str]:
    """All tables of a study with many, a column each; most moving first.

    Tables have different units, so an alternative's place is that of the sum of its parts of the
    largest change in each column.
    """
    most = {
        table: max(entry.effects[table].change or 0.0 for entry in kept.alternatives)
        for table in tables
    }
    compared = [table for table in tables if kept.as_chosen[table].has_print]

    def part(entry: Alternative) -> float:
        return sum((entry.effects[table].change or 0.0) / most[table] for table in tables)

    def verdicts(effects: Mapping[str, Effect]) -> str:
        if not compared:
            return ""
        printed = [effects[table] for table in compared]
        inside, near, off = (
            sum(getattr(effect, verdict) for effect in printed)
            for verdict in ("inside", "near", "off")
        )
        return f" {inside} | {near} | {off} |"

    heads = [f"{table.removeprefix(study.id + '-')}{_unit(study, table)}" for table in tables]
    columns = ["choice", "as chosen", "instead", *heads]
    columns += ["inside", "near", "off"] if compared else []
    lines = [
        "",
        "Changes table by table"
        + ("; `inside`, `near` and `off` count the values of all of them:" if compared else ":"),
        "",
        f"| {' | '.join(columns)} |",
        "|---|---|---|" + "--:|" * (len(columns) - 3),
        f"| all | as chosen | |{' |' * len(tables)}{verdicts(kept.as_chosen)}",
    ]
    moving = [entry for entry in kept.alternatives if part(entry)]
    for entry in sorted(moving, key=lambda entry: -part(entry)):
        changes = " | ".join(
            _change(entry.effects[table].change) if _moves(entry, table) else "" for table in tables
        )
        lines.append(f"| {_set_otherwise(entry, study)} | {changes} |{verdicts(entry.effects)}")
    return [*lines, *_still(entry for entry in kept.alternatives if not part(entry))]


def _unit(study: Study, table: str) -> str:
    """The unit in which changes of a table are told, for its column's head."""
    unit = study.table(table).unit_of_changes
    return "" if unit == "1" else f", {unit}"


def _set_otherwise(entry: Alternative, study: Study) -> str:
    chosen = next(choice.value for choice in study.choices if choice.name == entry.key)
    return f"{entry.key} | {value_in_words(chosen)} | {value_in_words(entry.value)}"


def _moves(entry: Alternative, table: str) -> bool:
    return bool(entry.effects[table].change)


def _still(entries: Iterable[Alternative]) -> list[str]:
    names = ", ".join(f"{entry.key} = {value_in_words(entry.value)}" for entry in entries)
    return ["", f"Without effect: {names}."] if names else []


def _failed(kept: KeptSensitivity) -> list[str]:
    """Alternatives that leave rows without a value; nothing where there are none."""
    counts = {
        f"{entry.key} = {value_in_words(entry.value)}": sum(
            effect.failed for effect in entry.effects.values()
        )
        for entry in kept.alternatives
    }
    reported = ", ".join(f"{name} ({count})" for name, count in counts.items() if count)
    return (
        ["", f"Rows without a value, where a run failed or there is no path: {reported}."]
        if reported
        else []
    )


def _scored(effect: Effect) -> str:
    error = "" if effect.error is None else f"{effect.error:.3f}"
    return f"{effect.inside} | {effect.near} | {effect.off} | {error}"


def _change(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    main()
