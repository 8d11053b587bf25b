"""`skycell trace`: what a file of measurements says of a link, before anything runs."""

from __future__ import annotations

import json
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import NamedPath, force_option, json_option, set_option
from skycell.cli.plot import drawing_faults
from skycell.cli.settings import read_settings
from skycell.cli.verb import Verb, validated

if TYPE_CHECKING:
    from skycell.scenario.file.schedule import Schedule
    from skycell.scenario.steps.series import LinkSummary

#: A link of packets that is faster than any log.
_FAST_BPS = 10**15


@click.group(
    epilog="\b\nExample:  skycell trace show ping.txt --set minimum_over='15 s'",
    short_help="Show what a measured series says of a link.",
)
def trace() -> None:
    """Show what a file of measurements says of a link: a table of steps, or a tool's log."""


def _validate(
    collector: ErrorCollector,
    file: Path | None,
    settings: tuple[str, ...],
    plot: Path | None,
    **_: object,
) -> Schedule | None:
    from skycell.input.checking import check_against
    from skycell.input.faults import FaultCollector
    from skycell.plots.export import format_of
    from skycell.scenario.file.schedule import Schedule

    with collector.step(), drawing_faults("--plot"):
        if plot is not None:
            format_of(plot)
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
@force_option("an existing figure")
@json_option()
def show(file: Path, plot: Path | None, force: bool, as_json: bool, **_: object) -> None:
    """Summarise and draw what FILE makes of a link.

    FILE is what `schedule.series` of a scenario may name: a CSV table of steps, a CSV table of
    samples, or a log of ping, fping, irtt, iperf3 or mahimahi.
    """
    from skycell.plots.link_steps import link_over_time
    from skycell.scenario.declared.framings import Ip
    from skycell.scenario.steps.link_rate import LinkRate
    from skycell.scenario.steps.series import series_notes, summary_of, understood

    schedule = validated(_validate)
    assert schedule is not None
    rate = LinkRate(Fraction(_FAST_BPS), Ip(kind="ip"), "")
    form, steps = understood(Path(), schedule, rate)
    found = summary_of(form, steps, rate)
    if plot is not None:
        from skycell.plots.export import save

        with drawing_faults("--plot"):
            save({plot: link_over_time(steps, file.name, form)}, force=force)
    notes = series_notes(Path(), schedule)
    if as_json:
        click.echo(json.dumps({"file": str(file), **asdict(found), "notes": list(notes)}, indent=2))
        return
    _show(file, found)
    for note in notes:
        click.echo(f"Note: {note}")
    if plot is not None:
        click.echo(f"Wrote {plot}")


def _show(file: Path, found: LinkSummary) -> None:
    from rich.box import SIMPLE
    from rich.table import Table

    from skycell.cli.console import show_table, standard_output
    from skycell.input.quantities import counted

    console = standard_output(100)
    title = f"{file.name}: {found.form}, {counted(found.steps, 'step')} in {found.span_s:g} s"
    console.print(title, style="bold", soft_wrap=True)
    grid = Table(box=SIMPLE)
    grid.add_column("over the time with a path")
    for heading in ("least", "median", "mean", "95 %", "most"):
        grid.add_column(heading, justify="right")
    for name, spread in (
        ("delay one way (ms)", found.delay_ms),
        ("rate (Mbit/s)", found.rate_mbps),
        ("loss of frames (%)", found.loss_percent),
    ):
        if spread is not None:
            values = (spread.least, spread.median, spread.mean, spread.p95, spread.most)
            grid.add_row(name, *(f"{value:.4g}" for value in values))
    if found.delay_ms is None:
        grid.add_row("delay one way (ms)", "", "", "the link's own", "", "")
    show_table(console, grid)
    if found.outages:
        outages = counted(found.outages, "outage")
        console.print(
            f"{outages}, {found.outage_s:g} s in all, the longest {found.longest_outage_s:g} s",
            soft_wrap=True,
        )
    longest = f"The longest time without anything new: {found.longest_step_s:g} s."
    console.print(longest, soft_wrap=True)
