"""`skycell validate`: runs beside recordings of real hosts over the same paths."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import (
    NamedPath,
    engine_option,
    force_option,
    jobs_option,
    latex_option,
    out_folder_option,
    refuse_engine,
    set_option,
    table_json_option,
)
from skycell.cli.results import refuse_earlier_result, refuse_unwritable, report_result, writing
from skycell.cli.sentences import say, say_json, say_json_text
from skycell.cli.settings import read_settings
from skycell.cli.verb import Call, Verb, argument, option

if TYPE_CHECKING:
    from skycell.validation import Validation

_RESULTS = ("validation.json", "rows.csv", "report.html")
_HOSTS = ("linux",)
_MOST_REPLICATIONS = 10_000


class Validate(Call):
    """Simulate what real hosts were recorded over and show our values next to theirs.

    HOSTS is linux. ID is a scenario (one-cubic-10M-100ms-83p) or a group of them (two); without one
    all are run.

    Exits with 0, with 1 if a run failed, with 2 if the input is faulty.
    """

    hosts: str = argument(metavar="HOSTS", type=click.Choice(_HOSTS))
    ids: tuple[str, ...] = argument(metavar="[ID]...", nargs=-1)
    show_list: bool = option("--list", is_flag=True, help="List the scenarios by group.")
    record_to: Path | None = option(
        "--record",
        type=NamedPath(path_type=Path),
        metavar="DIR",
        help="Record the scenarios on this machine's kernel instead, into recordings.csv in DIR, "
        "as many runs of each as --replications says; runs that it has are not made again. Needs "
        "root.",
    )
    as_json: bool = table_json_option(
        "Write rows and conclusions as one JSON object, as reproduce does."
    )
    as_latex: bool = latex_option()
    out: Path | None = out_folder_option("Write validation.json, rows.csv and a report into DIR.")
    force: bool = force_option("files of an earlier result in DIR")
    seed: int = option(
        "--seed",
        type=click.IntRange(0, 2**63),
        default=1,
        show_default=True,
        help="Seed of the first replication; the others have the seeds that follow.",
    )
    replications: int = option(
        "--replications",
        type=click.IntRange(1, _MOST_REPLICATIONS),
        default=5,
        show_default=True,
        help="Runs of each scenario.",
    )
    engine: str = engine_option()
    jobs: int | None = jobs_option("Runs at a time; all cores if not given.")
    settings: tuple[str, ...] = set_option(
        "Set a scenario key otherwise than the scenarios say, such as tcp.preset"
    )

    def check(self, collector: ErrorCollector) -> dict[str, Any]:
        """Also reads what is set."""
        overrides = read_settings(self.settings, collector.faults)
        _refuse_unknown(self.ids, collector)
        with collector.step():
            refuse_engine(self.engine)
        with collector.step():
            if self.record_to is not None and (self.out is not None or self.settings):
                raise click.UsageError("--record makes no runs of ours; without --out and --set")
        with collector.step():
            if self.record_to is not None:
                refuse_unwritable(self.record_to)
        with collector.step():
            if self.out is not None:
                refuse_earlier_result(self.out, "validation", _RESULTS, self.force)
                refuse_unwritable(self.out)
        return overrides

    def run(self, overrides: dict[str, Any]) -> None:
        if self.show_list:
            _show_list(self.ids, self.as_json)
            return
        if self.record_to is not None:
            _record(self.ids, self.record_to, self.replications)
            return
        from skycell.cli.progress import ShareProgress
        from skycell.validation import validate_linux

        with ShareProgress("simulated") as progress:
            result = validate_linux(
                self.ids,
                engine=self.engine,
                jobs=self.jobs,
                replications=self.replications,
                seed=self.seed,
                overrides=overrides,
                on_progress=progress,
            )
        fault = None if self.out is None else _write(result, self.out, self.force)
        failed = None
        if result.failed_runs:
            from skycell.input.quantities import counted

            first = result.failed_runs[0]
            failed = (
                f"{counted(len(result.failed_runs), 'run')} failed, the first: "
                f"{first.case}, seed {first.seed}: {first.reason}"
            )

        def show() -> None:
            if self.as_json:
                say_json_text(result.to_json())
            else:
                from skycell.cli.validation_output import show_validation

                show_validation(result)

        report_result(show, self.out, fault, as_json=self.as_json, failed=failed)


validate = Verb(Validate, "skycell validate linux two --out out/linux")


def _refuse_unknown(ids: Sequence[str], collector: ErrorCollector) -> None:
    """Notes IDs that name nothing."""
    from skycell.input.spelling import nearest
    from skycell.validation.scenarios import known_ids, linux

    for name in ids:
        if name not in known_ids():
            near = nearest(name, known_ids())
            hint = f"; did you mean {near}?" if near else ""
            groups = ", ".join(group.id for group in linux().group)
            collector.faults.add(
                ("ID",),
                name,
                f"a group ({groups}), or a scenario of one{hint}",
                "what to validate; `skycell validate linux --list` shows all scenarios",
            )


def _show_list(ids: Sequence[str], as_json: bool) -> None:
    from skycell.validation.scenarios import linux, select

    selected = select(ids)
    if as_json:
        listed = [{**found.factors, "group": found.group.id} for found in selected]
        say_json(listed)
        return
    for group in linux().group:
        own = [found for found in selected if found.group.id == group.id]
        if own:
            say(f"{group.id}: {group.title}")
        for found in own:
            say(f"  {found.id}")


def _record(ids: Sequence[str], out: Path, replications: int) -> None:
    """Records scenarios, telling each run as it ends."""
    from skycell.validation.record import Recorded, record_linux
    from skycell.validation.scenarios import select

    def report(run: Recorded) -> None:
        late = f"late by up to {run.late_p99_us:.0f} us in 99 of 100"
        kept = "" if run.is_good else ": not kept, deliveries were too late"
        say(f"{run.scenario}, replication {run.replication}: {late}{kept}")

    made = record_linux(select(ids), out, replications=replications, on_recorded=report)
    late = sum(not run.is_good for run in made)
    if late:
        say(f"{late} of {len(made)} runs were too late to be kept", err=True)
        raise click.exceptions.Exit(1)


def _write(result: Validation, out: Path, force: bool) -> str | None:
    from skycell.report import write_validation_report

    tables = {"validation.json": result.to_result_json(), "rows.csv": result.to_csv()}
    beside = {out / name: text.encode() for name, text in tables.items()}
    with writing(out) as reported:
        write_validation_report(result, out / "report.html", force, beside=beside)
    return reported.fault
