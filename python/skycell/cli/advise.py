"""`skycell advise`: which queue and TCP, or which service category, suits a link."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from skycell.cli.amounts import Amount
from skycell.cli.collector import ErrorCollector
from skycell.cli.options import (
    engine_option,
    figure_option,
    force_option,
    jobs_option,
    latex_option,
    level_option,
    out_folder_option,
    store_option,
    table_json_option,
)
from skycell.cli.results import drawing_faults, refuse_earlier_result, refuse_unwritable
from skycell.cli.sentences import say_json
from skycell.cli.store import open_store, refuse_unfit_store
from skycell.cli.verb import Call, Verb, option

if TYPE_CHECKING:
    from skycell.experiment.advice import Question
    from skycell.experiment.ranking import Beside, Ranking, Traffic
    from skycell.input.quantities import Quantity
    from skycell.studies.advice import Answer, Rests
    from skycell.studies.sources import Choice

FILE = "advise.toml"
"""The sweep in the folder of `--out`, where a queue is chosen."""

AIM_WORDS = ("goodput", "slowest", "delay", "fairness", "vc_fairness", "guarantee", "pages")
DEFAULT_REPLICATIONS = 5

RATE = Amount("RATE", "50 Mbit/s", 64e3, 10e9)
RTT = Amount("RTT", "600 ms", 1e9, 3e12)
PART = Amount("PART", "0.1 %", 0, 0.5)
SEGMENT = Amount("SIZE", "1460 B", 88, 65_495)


class Advise(Call):
    """Answer which queue and TCP, or which service category, suit a link.

    The answer rests on stored runs whose setting is near in every factor (rate, round trip, users
    and segments within a quarter, losses within a half), and says of which study they are and how
    far each factor is; or on a small experiment of just this link, which takes seconds to minutes.

    Options share their random numbers; one counts as worse than the best only if the interval of
    the difference says so. Where that leaves half of the options or more, the answer says that the
    data do not decide.

    Runs that a store has are not made again. Exits with 0, with 1 if a run failed, with 2 if the
    input is faulty.
    """

    choose: Choice = option(
        "--choose",
        type=click.Choice(["queue", "category"]),
        default="queue",
        show_default=True,
        help="Choose buffer, queue management and TCP of a link of packets, or the service "
        "category of ATM's VCs, with drop policy, buffer and TCP where a stored study varies "
        "these.",
    )
    rate: Quantity = option(
        "--rate", type=RATE, required=True, help="Rate of the link, such as '50 Mbit/s'."
    )
    rtt: Quantity = option(
        "--rtt", type=RTT, required=True, help="Round trip without queues: '600 ms'."
    )
    users: int = option(
        "--users", type=click.IntRange(1, 1000), default=5, show_default=True, help="Users at once."
    )
    traffic: Traffic = option(
        "--traffic",
        type=click.Choice(["bulk", "web"]),
        default="bulk",
        show_default=True,
        help="Traffic of the users: endless downloads, or web pages.",
    )
    loss: Quantity | None = option(
        "--loss", type=PART, help="Part of the packets that the link loses.  [default: none]"
    )
    mss: Quantity | None = option(
        "--mss",
        type=SEGMENT,
        help="Data in a full segment, such as '9180 B'; stored runs with any answer if not given.",
    )
    beside: Beside = option(
        "--beside",
        type=click.Choice(["none", "vbr"]),
        default="none",
        show_default=True,
        help="Other traffic on the link, of categories only: VBR, which goes first and takes all "
        "of the link half of the time.",
    )
    matters: str = option(
        "--matters",
        type=click.Choice(AIM_WORDS),
        default="goodput",
        show_default=True,
        help="Measure to rank by; slowest is for queues only, vc_fairness and guarantee for "
        "categories only.",
    )
    rests: Rests = option(
        "--from",
        type=click.Choice(["auto", "stored", "runs"]),
        default="auto",
        show_default=True,
        help="Runs to use: stored runs if they are near, otherwise new runs; the nearest stored "
        "runs only; or new runs of this link only.",
    )
    replications: int | None = option(
        "--replications",
        type=click.IntRange(2, 1000),
        help=f"Runs of each option; stored runs with fewer are not taken.  "
        f"[default: {DEFAULT_REPLICATIONS}]",
    )
    plot: Path | None = figure_option("the ranked options with their intervals")
    as_json: bool = table_json_option()
    as_latex: bool = latex_option()
    out: Path | None = out_folder_option(
        f"Write the runs behind the answer into DIR: sweep.json, runs.csv, report; {FILE}, the "
        "sweep, where a queue is chosen."
    )
    force: bool = force_option("files of an earlier result in DIR, or an existing figure")
    level: float = level_option()
    jobs: int | None = jobs_option()
    engine: str = engine_option()
    store_path: Path | None = store_option()
    fresh: bool = option("--fresh", is_flag=True, help="Simulate stored runs again.")

    def check(self, collector: ErrorCollector) -> Question | None:
        from skycell.cli.sweep import RESULTS
        from skycell.plots.export import format_of

        with collector.step(), drawing_faults("--plot"):
            if self.plot is not None:
                format_of(self.plot)
        with collector.step():
            if self.out is not None:
                refuse_earlier_result(self.out, "sweep", (*RESULTS, FILE), self.force)
                refuse_unwritable(self.out)
        with collector.step():
            refuse_unfit_store(self.store_path)
        with collector.step():
            if self.rests == "stored" and (self.fresh or self.replications is not None):
                raise click.BadParameter(
                    "stored: simulates nothing, and takes neither --fresh nor --replications",
                    param_hint="'--from'",
                )
        with collector.step():
            self._refuse_other_aims()
        return collector.read(self._question)

    def _refuse_other_aims(self) -> None:
        """Refuses an aim that the choice or the traffic does not have."""
        from skycell.studies.sources import aims_of

        aims = aims_of(self.choose)
        reason = ""
        if self.matters not in aims:
            reason = f"with --choose {self.choose} it is one of {', '.join(aims)}"
        elif all(aim.traffic not in (None, self.traffic) for aim in aims[self.matters]):
            reason = f"is of {aims[self.matters][0].traffic} traffic"
        if reason:
            raise click.BadParameter(f"{self.matters}: {reason}", param_hint="'--matters'")

    def _question(self) -> Question:
        from skycell.experiment.advice import Question

        return Question(
            self.rate,
            self.rtt,
            self.users,
            self.traffic,
            float(self.loss.amount) if self.loss is not None else 0.0,
            self.matters,
            replications=self.replications or DEFAULT_REPLICATIONS,
            mss=round(self.mss.amount) if self.mss is not None else None,
            beside=self.beside,
        )

    def run(self, question: Question) -> None:
        from skycell.cli.advice_output import as_dict, show
        from skycell.cli.study_progress import StudyProgress
        from skycell.experiment.ranking import rank
        from skycell.studies.advice import CannotAnswerError, answer

        with open_store(self.store_path) as store:
            try:
                with StudyProgress(store.path) as progress:
                    found = answer(
                        self.choose,
                        question,
                        "runs" if self.fresh else self.rests,
                        least=self.replications or 2,
                        engine=self.engine,
                        jobs=self.jobs,
                        store=store,
                        on_progress=progress,
                        fresh=self.fresh,
                    )
            except CannotAnswerError as error:
                raise click.UsageError(str(error)) from None
            try:
                ranking = rank(found.result, found.aim, self.level)
            except ValueError as error:
                raise click.ClickException(str(error)) from None
            fault = None
            if self.out is not None:
                fault = _write(found, question, self.out, self.force, store.path, self.level)
        if self.plot is not None:
            _draw(found, ranking, self.plot, self.force)
        if self.as_json:
            say_json(as_dict(found, question, ranking))
        else:
            is_new_sweep = self.choose == "queue" and found.stored is None and fault is None
            again = f"skycell sweep {self.out / FILE}" if self.out and is_new_sweep else ""
            show(found, question, ranking, again)
        if fault is not None:
            raise click.ClickException(fault)
        result = found.result
        if result.failed:
            first = result.failed[0]
            raise click.ClickException(
                f"{len(result.failed)} of {len(result.runs)} runs failed, the first: {first.reason}"
            )


advise = Verb(
    Advise,
    "skycell advise --rate '20 Mbit/s' --rtt '600 ms' --users 10",
    "skycell advise --rate '20 Mbit/s' --rtt '40 ms' --users 30 --traffic web --matters pages",
    "skycell advise --rate '50 Mbit/s' --rtt '600 ms' --loss '0.1 %' --matters delay --out dir",
    "skycell advise --choose category --rate '8 Mbit/s' --rtt '580 ms' --users 10 --matters "
    "guarantee",
)


def _write(
    found: Answer, question: Question, out: Path, force: bool, store: str | Path, level: float
) -> str | None:
    """Writes the runs; a report where the measures are those of sweeps. Returns what was wrong."""
    from skycell.cli.sweep import write_sweep
    from skycell.experiment.advice import experiment_of

    is_sweep = found.choice == "queue"
    beside = {}
    if is_sweep and found.stored is None:
        beside[out / FILE] = experiment_of(question).encode()
    shown = level if is_sweep and found.stored is None else None
    return write_sweep(found.result, out, force, store, level=shown, beside=beside)


def _draw(found: Answer, ranking: Ranking, file: Path, force: bool) -> None:
    from skycell.plots.export import save
    from skycell.plots.figure import Origin
    from skycell.plots.ranking import ranking_figure

    result = found.result
    hashes = tuple(dict.fromkeys(run.spec_hash for run in result.runs))
    origin = Origin(result.engine, result.version, hashes, result.first_seed, result.replications)
    setting = found.setting if found.stored is None else found.stored.setting
    with drawing_faults("--plot"):
        figure = ranking_figure(
            ranking,
            origin,
            unit=result.units[ranking.aim.response],
            title=setting.in_words() + ("" if found.stored is None else ", from stored runs"),
            subject=result.subjects.get(ranking.aim.response, ""),
        )
        save({file: figure}, force=force)
