"""`skycell advise`: which queue and TCP, or which service category, suits a link."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import (
    NamedPath,
    engine_option,
    force_option,
    level_option,
    out_folder_option,
    store_option,
    table_options,
)
from skycell.cli.plot import drawing_faults
from skycell.cli.results import refuse_earlier_result, refuse_unwritable
from skycell.cli.sentences import say_json
from skycell.cli.store import open_store, refuse_unfit_store
from skycell.cli.verb import Verb, validated

if TYPE_CHECKING:
    from skycell.experiment.advice import Question
    from skycell.experiment.ranking import Ranking
    from skycell.input.quantities import Quantity
    from skycell.studies.advice import Answer, Rests
    from skycell.studies.stored import Choice

FILE = "advise.toml"
"""The sweep in the folder of `--out`, where a queue is chosen."""

AIM_WORDS = ("goodput", "slowest", "delay", "fairness", "vc_fairness", "guarantee", "pages")
DEFAULT_REPLICATIONS = 5


class _Amount(click.ParamType["Quantity"]):
    """A quantity with its unit."""

    def __init__(self, name: str, example: str, least: float, most: float) -> None:
        self.name, self.example, self.least, self.most = name, example, least, most

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Quantity:
        """The quantity."""
        from skycell.input.quantities import Quantity, Refused, parse_quantity

        if isinstance(value, Quantity):
            return value
        wanted = parse_quantity(self.example).dimension
        try:
            found = parse_quantity(str(value))
        except Refused as refused:
            reason = f"; {refused}" if str(refused) else ""
            self.fail(f"{value!r}: must be such as {self.example!r}{reason}", param, ctx)
        if found.dimension is not wanted or not self.least <= found.amount <= self.most:
            self.fail(f"{value!r}: must be such as {self.example!r}, within reason", param, ctx)
        return found


RATE = _Amount("RATE", "50 Mbit/s", 64e3, 10e9)
RTT = _Amount("RTT", "600 ms", 1e9, 3e12)
PART = _Amount("PART", "0.1 %", 0, 0.5)


def _validate(
    collector: ErrorCollector,
    choose: str | None,
    rests: str | None,
    rate: Quantity | None,
    rtt: Quantity | None,
    users: int | None,
    traffic: str | None,
    loss: Quantity | None,
    matters: str | None,
    replications: int | None,
    fresh: bool,
    plot: Path | None,
    out: Path | None,
    force: bool,
    store_path: Path | None,
    **_: object,
) -> Question | None:
    from skycell.cli.sweep import RESULTS
    from skycell.experiment.advice import Question
    from skycell.plots.export import format_of
    from skycell.studies.advice import aims_of

    with collector.step(), drawing_faults("--plot"):
        if plot is not None:
            format_of(plot)
    with collector.step():
        if out is not None:
            refuse_earlier_result(out, "sweep", (*RESULTS, FILE), force)
            refuse_unwritable(out)
    with collector.step():
        refuse_unfit_store(store_path)
    with collector.step():
        if rests == "stored" and (fresh or replications is not None):
            raise click.BadParameter(
                "stored: simulates nothing, and takes neither --fresh nor --replications",
                param_hint="'--from'",
            )
    with collector.step():
        if matters and choose:
            aims = aims_of("queue" if choose == "queue" else "category")
            if matters not in aims:
                raise click.BadParameter(
                    f"{matters}: with --choose {choose} it is one of {', '.join(aims)}",
                    param_hint="'--matters'",
                )
            if aims[matters].traffic not in (None, traffic) and traffic:
                raise click.BadParameter(
                    f"{matters}: is of {aims[matters].traffic} traffic", param_hint="'--matters'"
                )
            if choose == "category" and traffic == "web" and matters == "goodput":
                raise click.BadParameter(
                    "goodput: of web users, who ask for what they ask for, it says nothing here; "
                    "pages does",
                    param_hint="'--matters'",
                )
    if None in (rate, rtt, users, traffic, matters):
        return None
    assert rate is not None
    assert rtt is not None
    return Question(
        rate,
        rtt,
        users or 1,
        traffic,  # type: ignore[arg-type]
        float(loss.amount) if loss is not None else 0.0,
        str(matters),
        replications=replications or DEFAULT_REPLICATIONS,
    )


@click.command(
    cls=Verb,
    validate=_validate,
    epilog="\b\nExamples:\n"
    "  skycell advise --rate '20 Mbit/s' --rtt '600 ms' --users 10\n"
    "  skycell advise --rate '20 Mbit/s' --rtt '40 ms' --users 30 --traffic web --matters pages\n"
    "  skycell advise --rate '50 Mbit/s' --rtt '600 ms' --loss '0.1 %' --matters delay --out dir\n"
    "  skycell advise --choose category --rate '8 Mbit/s' --rtt '580 ms' --users 10 "
    "--matters guarantee",
    short_help="Answer which queue and TCP, or service category, suit a link.",
)
@click.option(
    "--choose",
    type=click.Choice(["queue", "category"]),
    default="queue",
    show_default=True,
    help="Choose buffer, queue management and TCP of a link of packets, or the service "
    "category of VCs over a satellite with a switch on board.",
)
@click.option("--rate", type=RATE, required=True, help="Rate of the link, such as '50 Mbit/s'.")
@click.option("--rtt", type=RTT, required=True, help="Round trip without queues: '600 ms'.")
@click.option(
    "--users", type=click.IntRange(1, 1000), default=5, show_default=True, help="Users at once."
)
@click.option(
    "--traffic",
    type=click.Choice(["bulk", "web"]),
    default="bulk",
    show_default=True,
    help="Traffic of the users: endless downloads, or web pages.",
)
@click.option("--loss", type=PART, help="Part of the packets that the link loses.  [default: none]")
@click.option(
    "--matters",
    type=click.Choice(AIM_WORDS),
    default="goodput",
    show_default=True,
    help="Measure to rank by; slowest is for queues only, vc_fairness and guarantee for "
    "categories only.",
)
@click.option(
    "--from",
    "rests",
    type=click.Choice(["auto", "stored", "runs"]),
    default="auto",
    show_default=True,
    help="Runs to use: stored runs if they are near, otherwise new runs; the nearest stored "
    "runs only; or new runs of this link only.",
)
@click.option(
    "--replications",
    type=click.IntRange(2, 1000),
    help=f"Runs of each option; stored runs with fewer are not taken.  "
    f"[default: {DEFAULT_REPLICATIONS}]",
)
@click.option(
    "--plot",
    type=NamedPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Draw the ranked options with their intervals: .svg, .png, .pdf or .html.",
)
@table_options()
@out_folder_option(
    f"Write the runs behind the answer into DIR: sweep.json, runs.csv, report; {FILE}, the sweep, "
    "where a queue is chosen."
)
@force_option("files of an earlier result in DIR, or an existing figure")
@level_option
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Runs at a time on this machine; all cores if not given.",
)
@engine_option()
@store_option
@click.option("--fresh", is_flag=True, help="Simulate stored runs again.")
def advise(
    choose: Choice,
    rests: Rests,
    replications: int | None,
    plot: Path | None,
    out: Path | None,
    force: bool,
    as_json: bool,
    jobs: int | None,
    level: float,
    engine: str,
    store_path: Path | None,
    fresh: bool,
    **_: object,
) -> None:
    """Answer which queue and TCP, or which service category, suit a link.

    The answer rests on stored runs whose setting is near in every factor (rate, round trip and
    users within a quarter, losses within a half), and says how far each is; or on a small
    experiment of just this link, which takes seconds to minutes.

    Options share their random numbers; one counts as worse than the best only if the interval of
    the difference says so. Where that leaves half of the options or more, the answer says that the
    data do not decide.

    Runs that a store has are not made again. Exits with 0, with 1 if a run failed, with 2 if the
    input is faulty.
    """
    from skycell.cli.advice_output import as_dict, show
    from skycell.cli.study_progress import StudyProgress
    from skycell.experiment.ranking import rank
    from skycell.studies.advice import CannotAnswerError, aims_of, answer

    question = validated(_validate)
    assert question is not None
    with open_store(store_path) as store:
        try:
            with StudyProgress(store.path) as progress:
                found = answer(
                    choose,
                    question,
                    "runs" if fresh else rests,
                    least=replications or 2,
                    engine=engine,
                    jobs=jobs,
                    store=store,
                    on_progress=progress,
                    fresh=fresh,
                )
        except CannotAnswerError as error:
            raise click.UsageError(str(error)) from None
        aim = aims_of(choose)[question.aim]
        try:
            ranking = rank(found.result, aim, level)
        except ValueError as error:
            raise click.ClickException(str(error)) from None
        fault = None if out is None else _write(found, question, out, force, store.path, level)
    if plot is not None:
        _draw(found, ranking, plot, force)
    if as_json:
        say_json(as_dict(found, question, ranking))
    else:
        again = ""
        if out is not None and fault is None and choose == "queue" and found.stored is None:
            again = f"skycell sweep {out / FILE}"
        show(found, question, ranking, again)
    if fault is not None:
        raise click.ClickException(fault)
    result = found.result
    if result.failed:
        first = result.failed[0]
        raise click.ClickException(
            f"{len(result.failed)} of {len(result.runs)} runs failed, the first: {first.reason}"
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
