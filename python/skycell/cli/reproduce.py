"""`skycell reproduce`: published studies beside what was published, and studies of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import (
    ManyRuns,
    force_option,
    latex_option,
    out_folder_option,
    set_option,
    table_json_option,
)
from skycell.cli.results import refuse_earlier_result, refuse_unwritable, report_result, writing
from skycell.cli.sentences import say, say_json, say_json_text
from skycell.cli.settings import read_settings, split_settings
from skycell.cli.shards import refuse_results, report_shard
from skycell.cli.store import open_store, refuse_unfit_store
from skycell.cli.verb import Call, Verb, argument, option, shared

if TYPE_CHECKING:
    from skycell.experiment.shard import Shard
    from skycell.experiment.store import RunStore
    from skycell.studies import Reproduction

_RESULTS = ("result.json", "rows.csv", "report.html", "index.html")
#: What `--vary` takes for every alternative that the studies name.
_ALL = "all"
_MOST_REPLICATIONS = 10_000
"""As of `skycell.experiment.file`, which help must not wait for."""
_VARIED = "all, or KEY=V1,V2, such as tcp.recovery=reno,sack"


class Reproduce(Call):
    """Simulate what the tables of studies need and show our values next to published ones.

    ID is a table (icccn97-t3), a study (icccn97), all for every published study, or own for every
    study of our own, for which nothing is published. An interrupted call keeps the runs that are
    finished; the same call continues from there.

    Exits with 0, with 1 if a run failed, with 2 if the input is faulty.
    """

    ids: tuple[str, ...] = argument(metavar="ID...", nargs=-1)
    show_list: bool = option("--list", is_flag=True, help="List the studies and their tables.")
    as_json: bool = table_json_option("Write rows and conclusions as one JSON object.")
    as_latex: bool = latex_option()
    out: Path | None = out_folder_option(
        "Write result.json, rows.csv and a report with its figures into DIR."
    )
    force: bool = force_option("files of an earlier result in DIR")
    seed: int = option(
        "--seed",
        type=click.IntRange(0, 2**63),
        default=1,
        show_default=True,
        help="Seed of the first replication; the others have the seeds that follow.",
    )
    replications: int | None = option(
        "--replications",
        type=click.IntRange(1, _MOST_REPLICATIONS),
        help="Runs of each case; if not given, as many as each study says.",
    )
    runs = shared(ManyRuns)
    settings: tuple[str, ...] = set_option(
        "Set a choice or a scenario key to something other than the studies say"
    )
    varied: tuple[str, ...] = option(
        "--vary",
        multiple=True,
        metavar="KEY=V1,V2",
        help="Show how much other values of a choice move the tables, and which conclusions they "
        "change, one at a time; may be repeated. --vary all tries every alternative that the "
        "studies name, in addition to any others given.",
    )

    def check(self, collector: ErrorCollector) -> tuple[dict[str, Any], dict[str, list[Any]]]:
        """Also reads what is set and what is varied."""
        with collector.step():
            if not self.ids and not self.show_list:
                raise click.UsageError("name a study or a table; --list shows them")
        overrides = read_settings(self.settings, collector.faults)
        variations = _variations(self.varied, collector)
        seed = collector.read(lambda: self.seed)
        _refuse_early(self.ids, overrides, variations, 1 if seed is None else seed, collector)
        self.runs.check(collector)
        with collector.step():
            refuse_results(self.runs.shard, out=self.out, vary=self.varied)
        with collector.step():
            if self.out is not None and self.varied:
                raise click.UsageError("--out writes a reproduction; with --vary there is none")
            if self.out is not None:
                refuse_earlier_result(self.out, "study", _RESULTS, self.force)
                refuse_unwritable(self.out)
        with collector.step():
            refuse_unfit_store(self.runs.store_path)
        return overrides, variations

    def run(self, found: tuple[dict[str, Any], dict[str, list[Any]]]) -> None:
        if self.show_list:
            from skycell.cli.study_output import show_studies

            show_studies(self.as_json)
            return
        overrides, variations = found
        common: dict[str, Any] = {
            **self.runs.where,
            "engine": self.runs.engine,
            "replications": self.replications,
            "seed": self.seed,
            "overrides": overrides,
            "fresh": self.runs.fresh,
        }
        with open_store(self.runs.store_path) as store:
            if self.runs.shard is not None:
                self._make_shard(self.runs.shard, store, common)
            elif self.varied:
                self._vary(variations, store, common)
            else:
                self._reproduce(store, common)

    def _reproduce(self, store: RunStore, common: dict[str, Any]) -> None:
        from skycell.cli.study_progress import StudyProgress
        from skycell.studies import reproduce as run_studies

        with StudyProgress(store.path) as progress:
            result = run_studies(self.ids, store=store, on_progress=progress, **common)
        fault = None
        if self.out is not None:
            fault = _write(result, self.out, self.force, common["jobs"], store.path)
        failed = None
        if result.failed_runs:
            first = result.failed_runs[0]
            failed = (
                f"{len(result.failed_runs)} of {result.runs.needed} runs failed, the first: "
                f"{first.case}, seed {first.seed}: {first.reason}"
            )

        def show() -> None:
            if self.as_json:
                say_json_text(result.to_json())
            else:
                from skycell.cli.study_output import show_reproduction

                show_reproduction(result)

        report_result(show, self.out, fault, as_json=self.as_json, failed=failed, store=store.path)

    def _make_shard(self, shard: Shard, store: RunStore, common: dict[str, Any]) -> None:
        from skycell.cli.study_progress import StudyProgress
        from skycell.studies.reproduce import make_shard

        with StudyProgress(store.path) as progress:
            made = make_shard(self.ids, shard, store, on_progress=progress, **common)
        report_shard(made, shard, store.path, self.as_json)

    def _vary(
        self, variations: Mapping[str, Sequence[Any]], store: RunStore, common: dict[str, Any]
    ) -> None:
        from skycell.cli.study_progress import StudyProgress
        from skycell.studies.sensitivity import sensitivity

        with StudyProgress(store.path) as progress:
            result = sensitivity(
                self.ids,
                variations,
                named=_ALL in self.varied,
                store=store,
                on_progress=progress,
                on_variant=progress.name,
                **common,
            )
        if self.as_json:
            say_json(result.as_dict())
        else:
            from skycell.cli.study_output import show_sensitivity

            show_sensitivity(result)
        if any(entry.failed for entry in (*result.baseline, *(s.summary for s in result.shifts))):
            say("Some runs failed; their rows are left out of the averages.", err=True)
            raise click.exceptions.Exit(1)


reproduce = Verb(Reproduce, "skycell reproduce icccn97-t3 icccn97-t4 --out out/geo")


def _variations(varied: Sequence[str], collector: ErrorCollector) -> dict[str, list[Any]]:
    """Values to try by key, beside those that the studies name."""
    from skycell.input.settings import read_values

    found: dict[str, list[Any]] = {}
    own = [text for text in varied if text != _ALL]
    for key, values in split_settings(own, collector.faults, "--vary", _VARIED):
        found.setdefault(key, []).extend(read_values(values))
    return found


def _refuse_early(
    ids: Sequence[str],
    overrides: Mapping[str, Any],
    variations: Mapping[str, Sequence[Any]],
    seed: int,
    collector: ErrorCollector,
) -> None:
    """Notes IDs that name nothing, and what is set otherwise and does not fit."""
    from skycell.studies import STUDY_IDS, UnknownStudyError, select
    from skycell.studies.library import nearest_id
    from skycell.studies.overrides import refuse_faulty, refuse_unknown_everywhere

    known = list(ids)
    try:
        select(ids)
    except UnknownStudyError as error:
        known = [name for name in ids if name not in error.unknown]
        for name in error.unknown:
            near = nearest_id(name)
            hint = f"; did you mean {near}?" if near else ""
            collector.faults.add(
                ("ID",),
                name,
                f"all, own, a study ({', '.join(STUDY_IDS)}), or a table of one{hint}",
                "what to reproduce; `skycell reproduce --list` shows all tables",
            )
            known += [near] if near else []  # whose settings these are, most likely
    changes = [overrides]
    for key, values in variations.items():
        changes += [{**overrides, key: value} for value in values]
    with collector.step():
        if known:
            refuse_faulty(select(known), changes, seed)
        else:
            refuse_unknown_everywhere(changes)


def _write(
    result: Reproduction, out: Path, force: bool, jobs: int | None, store: str | Path
) -> str | None:
    from skycell.cli.progress import DrawingProgress
    from skycell.report import write_study_report

    tables = {"result.json": result.to_result_json(), "rows.csv": result.to_csv()}
    beside = {out / name: text.encode() for name, text in tables.items()}
    with writing(out, store) as reported, DrawingProgress() as progress:
        write_study_report(result, out, force, jobs=jobs, beside=beside, on_drawn=progress)
    return reported.fault
