"""`skycell trace`: what a file of measurements says of a link, before anything runs."""

from __future__ import annotations

import tomllib
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import NamedPath, force_option, set_option, table_options
from skycell.cli.plot import drawing_faults
from skycell.cli.sentences import say_json
from skycell.cli.settings import read_settings
from skycell.cli.times import TIME, TimeOption
from skycell.cli.verb import Verb, validated
from skycell.input.printable import printable
from skycell.version import version

if TYPE_CHECKING:
    from skycell.scenario.links.fitted import Checked
    from skycell.scenario.links.link_model import LinkModel
    from skycell.scenario.links.link_summary import LinkSummary
    from skycell.scenario.links.schedule import Schedule

#: A link of packets that is faster than any log.
_FAST_BPS = 10**15


@click.group(
    epilog="\b\nExample:  skycell trace show ping.txt --set minimum_over='15 s'",
    short_help="Show the link that a measured series describes, or fit a model.",
)
def trace() -> None:
    """Show what a file of measurements says of a link: a table of steps, or a tool's log."""


def _validate(
    collector: ErrorCollector,
    file: Path | None,
    settings: tuple[str, ...],
    plot: Path | None,
    csv_file: Path | None,
    force: bool,
    **_: object,
) -> Schedule | None:
    from skycell.plots.export import format_of

    with collector.step(), drawing_faults("--plot"):
        if plot is not None:
            format_of(plot)
    _refuse_overwriting(collector, csv_file, force)
    return _schedule(collector, file, settings)


def _refuse_overwriting(collector: ErrorCollector, out: Path | None, force: bool) -> None:
    from skycell.plots.files import WouldOverwriteError, refuse_overwriting

    with collector.step():
        if out is not None:
            try:
                refuse_overwriting([out], force=force)
            except WouldOverwriteError as error:
                raise click.UsageError(f"{error}; --force replaces it") from None


def _schedule(
    collector: ErrorCollector, file: Path | None, settings: tuple[str, ...]
) -> Schedule | None:
    """How the file is to be read; none where the settings have faults, which are noted."""
    from skycell.input.checking import check_against
    from skycell.input.faults import FaultCollector
    from skycell.scenario.links.schedule import Schedule

    faults = FaultCollector("--set")
    with collector.step():
        values = read_settings(settings, faults)
        return check_against(Schedule, {"series": str(file), **values}, faults)


@trace.command(
    cls=Verb,
    validate=_validate,
    epilog="\b\nExamples:  skycell trace show ping.txt --set minimum_over='15 s' --plot link.svg\n"
    "           skycell trace show irtt.json --set lost=outage --json",
    short_help="Summarise and draw a file that drives a link.",
)
@click.argument("file", type=NamedPath(path_type=Path, exists=True, dir_okay=False))
@set_option("Read it by a key of [topology.…].schedule, such as rtt_share=0.5")
@click.option(
    "--plot",
    type=NamedPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Draw delay, rate and loss over time: .svg, .png, .pdf or .html.",
)
@click.option(
    "--csv",
    "csv_file",
    type=NamedPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the steps as they were understood, as a table of steps.",
)
@force_option("an existing figure or table")
@table_options()
def show(
    file: Path, plot: Path | None, csv_file: Path | None, force: bool, as_json: bool, **_: object
) -> None:
    """Summarise and draw what FILE makes of a link, and say how it was read.

    FILE is what `schedule.series` of a scenario may name: a CSV table of steps, a CSV table of
    samples, or a log of ping, fping, irtt, iperf3, mahimahi, RIPE Atlas or flent. The notes say
    what was left aside, what was assumed, and which part of the result is in no sample.
    """
    from skycell.plots.link_steps import link_over_time
    from skycell.scenario.declared.framings import Ip
    from skycell.scenario.links.link_rate import LinkRate
    from skycell.scenario.links.link_summary import summary_of
    from skycell.scenario.links.series import understood
    from skycell.scenario.links.steps_table import steps_table

    schedule = validated(_validate)
    assert schedule is not None
    rate = LinkRate(Fraction(_FAST_BPS), Ip(kind="ip"), "")
    account, steps = understood(Path(), schedule, rate)
    found = summary_of(account.form, steps, rate)
    if plot is not None:
        from skycell.plots.export import save

        with drawing_faults("--plot"):
            save({plot: link_over_time(steps, printable(file.name), account.form)}, force=force)
    if csv_file is not None:
        from skycell.plots.files import write_all

        table = steps_table(steps, has_delays=found.delay_ms is not None)
        write_all({csv_file: table.encode()}, force=force)
    if as_json:
        values = {"file": str(file), **asdict(found)}
        values |= {"account": account.as_dict(), "notes": list(account.notes())}
        say_json(values, allow_nan=False)
        return
    from skycell.cli.console import Output

    _show(file, found)
    for note in (account.heading, *account.sentences()):
        Output().say(f"Note: {note}")
    for written in filter(None, (plot, csv_file)):
        Output().say(f"Wrote {written}")


def _show(file: Path, found: LinkSummary) -> None:
    from skycell.cli.console import Output
    from skycell.input.quantities import counted
    from skycell.tables.table import Table, columns, words

    rows = []
    for name, spread in (
        ("delay one way (ms)", found.delay_ms),
        ("rate (Mbit/s)", found.rate_mbps),
        ("loss of frames (%)", found.loss_percent),
    ):
        if spread is not None:
            values = (spread.least, spread.median, spread.mean, spread.p95, spread.most)
            rows.append((name, *(f"{value:.4g}" for value in values)))
    if found.delay_ms is None:
        rows.append(("delay one way (ms)", "", "", "the link's own", "", ""))
    heads = ("least", "median", "mean", "95 %", "most")
    output, name = Output(100), printable(file.name)
    output.show(
        Table(
            f"{name}: {found.form}, {counted(found.steps, 'step')} in {found.span_s:g} s",
            columns("over the time with a path", *heads, numeric=heads),
            tuple(tuple(map(words, row)) for row in rows),
        )
    )
    if found.outages:
        outages = counted(found.outages, "outage")
        output.say(
            f"{outages}, {found.outage_s:g} s in all, the longest {found.longest_outage_s:g} s"
        )
    output.say(f"The longest time without anything new: {found.longest_step_s:g} s.")


def _validate_fit(
    collector: ErrorCollector,
    file: Path | None,
    settings: tuple[str, ...],
    out: Path | None,
    step: TimeOption | None,
    slot: TimeOption | None,
    force: bool,
    **_: object,
) -> Schedule | None:
    _refuse_overwriting(collector, out, force)
    with collector.step():
        if step is not None and slot is not None and (step.ps < 10**9 or slot.ps % step.ps):
            message = f"{step}: a whole number of times in --slot {slot}, 1 ms or longer"
            raise click.BadParameter(message, param_hint="'--step'")
    return _schedule(collector, file, settings)


@trace.command(
    cls=Verb,
    validate=_validate_fit,
    epilog="\b\nExamples:  skycell trace fit ping.txt --out starlink.toml\n"
    "           skycell trace fit leo.csv --slot '15 s' --phase '12 s' --out leo.toml --json",
    short_help="Fit a model to a file, which seeds draw links from.",
)
@click.argument("file", type=NamedPath(path_type=Path, exists=True, dir_okay=False))
@set_option("Read it by a key of [topology.…].schedule, such as minimum_over='1 s'")
@click.option("--slot", type=TIME, default="15 s", show_default=True, help="Time a level holds.")
@click.option("--step", type=TIME, default="1 s", show_default=True, help="Time of a sample.")
@click.option(
    "--phase", type=TIME, help="Beginning of the first whole slot  [default: the least noise]"
)
@click.option(
    "--out",
    type=NamedPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the model, for `schedule.model` of a scenario.",
)
@force_option("an existing model")
@table_options()
def fit(
    file: Path,
    slot: TimeOption,
    step: TimeOption,
    phase: TimeOption | None,
    out: Path | None,
    force: bool,
    as_json: bool,
    **_: object,
) -> None:
    """Fit a model to FILE: slots with a level of their own, noise within them, and outages.

    The table has the file beside 20 courses of the same length that the model draws: their mean,
    and the least and greatest of them. What is outside is marked.
    """
    from skycell.plots.files import write_all
    from skycell.scenario.declared.framings import Ip
    from skycell.scenario.links.fitted import UnfitError, check, model_text
    from skycell.scenario.links.fitted import fit as fitted
    from skycell.scenario.links.link_rate import LinkRate
    from skycell.scenario.links.link_summary import summary_of
    from skycell.scenario.links.series import understood

    schedule = validated(_validate_fit)
    assert schedule is not None
    rate = LinkRate(Fraction(_FAST_BPS), Ip(kind="ip"), "")
    account, steps = understood(Path(), schedule, rate)
    has_delay = summary_of(account.form, steps, rate).delay_ms is not None
    try:
        model = fitted(
            steps,
            step_ps=step.ps,
            slot_ps=slot.ps,
            phase_ps=None if phase is None else phase.ps,
            has_delay=has_delay,
        )
    except UnfitError as error:
        raise click.UsageError(f"{file}: {error}") from None
    found = check(model, steps)
    if out is not None:
        heading = f"Fitted by skycell {version()} to {printable(file.name)}, {account.form}."
        write_all({out: model_text(model, heading).encode()}, force=force)
    if as_json:
        rows = [{**asdict(row), "is_inside": row.is_inside} for row in found]
        values = tomllib.loads(model_text(model, ""))
        say_json({"file": str(file), "model": values, "check": rows})
        return
    _show_fit(file, model, found)
    if out is not None:
        from skycell.cli.console import Output

        Output().say(f"Wrote {out}")


def _show_fit(file: Path, model: LinkModel, found: list[Checked]) -> None:
    from skycell.cli.console import Output
    from skycell.tables.table import Table, columns, words

    heads = ("file", "least", "mean", "most")
    titles = {"delay_ms": "delay (ms)", "rate_mbps": "rate (Mbit/s)", "outages": "outages"}
    rows = []
    for row in found:
        numbers = (row.measured, row.low, row.mean, row.high)
        rows.append(
            (
                titles[row.value],
                row.what,
                *(f"{value:.4g}" for value in numbers),
                "" if row.is_inside else "outside",
            )
        )
    output = Output(100)
    title = f"{printable(file.name)} beside 20 courses of the model"
    title += f": slots of {model.slot} from {model.phase}"
    names = columns("value", "property", *heads, "", numeric=heads)
    output.show(Table(title, names, tuple(tuple(map(words, row)) for row in rows), keys=2))
    outside = sum(not row.is_inside for row in found)
    if outside:
        output.say(f"{outside} of {len(found)} outside what the model draws.")
