"""`skycell advise`: which buffer, queue management and TCP for a link."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import (
    NamedPath,
    force_option,
    level_option,
    many_runs_options,
    out_folder_option,
    table_options,
)
from skycell.cli.plot import drawing_faults
from skycell.cli.results import refuse_earlier_result, refuse_unwritable
from skycell.cli.store import open_store, refuse_unfit_store
from skycell.cli.verb import Verb, validated
from skycell.experiment.advice import AIMS

if TYPE_CHECKING:
    from skycell.experiment.advice import Advice, Question
    from skycell.experiment.result import SweepResult
    from skycell.input.quantities import Quantity

FILE = "advise.toml"
"""The sweep in the folder of `--out`."""


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
    rate: Quantity | None,
    rtt: Quantity | None,
    users: int | None,
    traffic: str | None,
    loss: Quantity | None,
    matters: str | None,
    replications: int | None,
    plot: Path | None,
    out: Path | None,
    force: bool,
    store_path: Path | None,
    **_: object,
) -> Question | None:
    from skycell.cli.sweep import RESULTS
    from skycell.experiment.advice import Question
    from skycell.plots.export import format_of

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
        aim = AIMS[matters] if matters else None
        if aim and aim.traffic not in (None, traffic):
            raise click.BadParameter(
                f"{matters}: is of {aim.traffic} traffic", param_hint="'--matters'"
            )
    if None in (rate, rtt, users, traffic, matters, replications):
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
        replications=replications or 2,
    )


@click.command(
    cls=Verb,
    validate=_validate,
    epilog="\b\nExamples:\n"
    "  skycell advise --rate '50 Mbit/s' --rtt '600 ms' --users 5\n"
    "  skycell advise --rate '20 Mbit/s' --rtt '40 ms' --users 30 --traffic web --matters pages\n"
    "  skycell advise --rate '50 Mbit/s' --rtt '600 ms' --loss '0.1 %' --matters delay --out dir",
    short_help="Answer which buffer, queue management and TCP suit a link.",
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
    help="What they do: downloads without end, or pages.",
)
@click.option("--loss", type=PART, help="Part of the packets that the link loses.  [default: none]")
@click.option(
    "--matters",
    type=click.Choice(list(AIMS)),
    default="goodput",
    show_default=True,
    help="What is ranked by.",
)
@click.option(
    "--replications",
    type=click.IntRange(2, 1000),
    default=5,
    show_default=True,
    help="Runs of each option.",
)
@click.option(
    "--plot",
    type=NamedPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Draw throughput over the wait, a point an option: .svg, .png, .pdf or .html.",
)
@table_options()
@out_folder_option(f"Write the sweep behind the answer into DIR: {FILE}, its runs and report.")
@force_option("files of an earlier result in DIR, or an existing figure")
@level_option
@many_runs_options
def advise(
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
    """Answer which buffer, queue management and TCP suit a link, by a small experiment.

    Tried are buffers of 0.25 and 1 product of rate and round trip; tail drop, CoDel, FQ-CoDel and
    PIE as their RFCs have them, over long round trips also CoDel and FQ-CoDel set to these; and
    Linux's CUBIC and Reno. Options share their random numbers; one counts as worse than the best
    only if the interval of the difference says so. Where that leaves half of the options or more,
    the answer says that the data do not decide.

    Runs that a store has are not made again. Exits with 0, with 1 if a run failed, with 2 if the
    input is faulty.
    """
    from skycell.cli.study_progress import StudyProgress
    from skycell.cli.sweep import write_sweep
    from skycell.experiment.advice import experiment_of, plan_of, rank
    from skycell.experiment.sweep import sweep as make

    question = validated(_validate)
    assert question is not None
    with open_store(store_path) as store:
        with StudyProgress(store.path) as progress:
            result = make(
                plan_of(question),
                engine=engine,
                jobs=jobs,
                store=store,
                on_progress=progress,
                fresh=fresh,
            )
        advice = rank(question, result, level)
        fault = None
        if out is not None:
            beside = {out / FILE: experiment_of(question).encode()}
            fault = write_sweep(result, out, force, store.path, level=level, beside=beside)
    if plot is not None:
        _draw(result, question.traffic, plot, force)
    if as_json:
        click.echo(json.dumps(_as_dict(advice), indent=2))
    else:
        _show(advice, len(result.runs))
        if out is not None and fault is None:
            click.echo(f"The same again: skycell sweep {out / FILE}")
    if fault is not None:
        raise click.ClickException(fault)
    if result.failed:
        first = result.failed[0]
        raise click.ClickException(
            f"{len(result.failed)} of {len(result.runs)} runs failed, the first: {first.reason}"
        )


def _as_dict(advice: Advice) -> dict[str, Any]:
    question = advice.question
    return {
        "question": {
            "rate": str(question.rate),
            "rtt": str(question.rtt),
            "users": question.users,
            "traffic": question.traffic,
            "loss": question.loss,
            "matters": question.aim,
            "response": AIMS[question.aim].response,
            "replications": question.replications,
        },
        "confidence": advice.confidence,
        "decides": advice.decides,
        "best": [dict(option.levels) for option in advice.best],
        "ranked": [
            {
                "levels": dict(option.levels),
                "values": dict(option.values),
                "difference": option.difference,
                "low": option.low,
                "high": option.high,
                "worse": option.is_worse,
            }
            for option in advice.ranked
        ],
        "unranked": [dict(levels) for levels in advice.unranked],
    }


def _show(advice: Advice, runs: int) -> None:
    from skycell.cli.console import Output
    from skycell.experiment.measures import RESPONSES
    from skycell.tables.table import Table, columns, number, words

    question = advice.question
    aim = AIMS[question.aim]
    responses = list(advice.ranked[0].values)
    heads = [f"{name.replace('_', ' ')}{_unit(RESPONSES[name].unit)}" for name in responses]
    rows = [
        (
            *(words(level) for level in option.levels.values()),
            *(number(option.values[name], 3) for name in responses),
            words(f"{option.low:+.3g} to {option.high:+.3g}" if at else ""),
            words("worse" if option.is_worse else "best" if not at else "not told apart"),
        )
        for at, option in enumerate(advice.ranked)
    ]
    output = Output(120)
    title = (
        f"{question.users} users of {question.traffic} traffic, {question.rate}, {question.rtt}: "
        f"by {question.aim} ({aim.meaning})"
    )
    factors = list(advice.ranked[0].levels)
    names = columns(*factors, *heads, "to the best", "", numeric=[*heads, "to the best"])
    output.show(Table(title, names, tuple(rows), keys=len(factors)))
    if advice.decides:
        found = "; ".join(_in_words(option.levels) for option in advice.best)
        one = "is best" if len(advice.best) == 1 else "are best, and not told apart"
        output.say(f"By {question.aim}: {found} {one}.", "bold")
    else:
        output.say(
            f"The data do not decide: {len(advice.best)} of {len(advice.ranked)} options are not "
            "told apart from the best. More --replications may.",
            "bold",
        )
    output.say(
        f"{runs} runs of {question.duration_s()} s; intervals hold together with "
        f"{advice.confidence:.0%} (Bonferroni); the same seeds for every option."
    )
    for levels in advice.unranked:
        output.say(f"Without a value in some run, and so not ranked: {_in_words(levels)}.")


def _in_words(levels: Any) -> str:
    return ", ".join(f"{name} {level}" for name, level in levels.items())


def _unit(unit: str) -> str:
    return "" if unit == "1" else f", {unit}"


def _draw(result: SweepResult, traffic: str, file: Path, force: bool) -> None:
    from skycell.plots.export import save
    from skycell.plots.figure import Origin
    from skycell.plots.values import Axes, values_figure

    rows = [value.as_dict() for value in result.values()]
    hashes = tuple(dict.fromkeys(run.spec_hash for run in result.runs))
    origin = Origin(result.engine, result.version, hashes, result.first_seed, result.replications)
    measure = "throughput" if traffic == "bulk" else "p95_page_response"
    with drawing_faults("--plot"):
        figure = values_figure(
            rows, origin, Axes("p95_sojourn", "policy"), measure, study=result.title
        )
        save({file: figure}, force=force)
