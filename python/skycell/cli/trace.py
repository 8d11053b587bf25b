"""`skycell trace`: what a file of measurements says of a link, before anything runs."""

from __future__ import annotations

import tomllib
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import (
    NamedPath,
    figure_option,
    force_option,
    latex_option,
    set_option,
    table_json_option,
)
from skycell.cli.results import drawing_faults
from skycell.cli.sentences import say_json
from skycell.cli.settings import read_settings
from skycell.cli.times import TIME, TimeOption
from skycell.cli.verb import Call, Verb, argument, option
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
)
def trace() -> None:
    """Show what a file of measurements says of a link: a table of steps, or a tool's log."""


def _refuse_overwriting(out: Path | None, force: bool) -> None:
    from skycell.plots.files import WouldOverwriteError, refuse_overwriting

    try:
        refuse_overwriting([] if out is None else [out], force=force)
    except WouldOverwriteError as error:
        raise click.UsageError(f"{error}; --force replaces it") from None


def _schedule(collector: ErrorCollector, file: Path, settings: tuple[str, ...]) -> Schedule | None:
    """How the file is to be read; none where the settings have faults, which are noted."""
    from skycell.input.checking import check_against
    from skycell.input.faults import FaultCollector
    from skycell.scenario.links.schedule import Schedule

    faults = FaultCollector("--set")
    with collector.step():
        values = read_settings(settings, faults)
        return check_against(Schedule, {"series": str(file), **values}, faults)
    return None


class Show(Call):
    """Summarise and draw what FILE makes of a link, and say how it was read.

    FILE is what `schedule.series` of a scenario may name: a CSV table of steps, a CSV table of
    samples, or a log of ping, fping, irtt, iperf3, mahimahi, RIPE Atlas or flent. The notes say
    what was left aside, what was assumed, and which part of the result is in no sample.
    """

    file: Path = argument(type=NamedPath(path_type=Path, exists=True, dir_okay=False))
    settings: tuple[str, ...] = set_option(
        "Read it by a key of [topology.…].schedule, such as rtt_share=0.5"
    )
    plot: Path | None = figure_option("delay, rate and loss over time")
    csv_file: Path | None = option(
        "--csv",
        type=NamedPath(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Write the steps as they were understood, as a table of steps.",
    )
    force: bool = force_option("an existing figure or table")
    as_json: bool = table_json_option()
    as_latex: bool = latex_option()

    def check(self, collector: ErrorCollector) -> Schedule | None:
        from skycell.plots.export import format_of

        with collector.step(), drawing_faults("--plot"):
            if self.plot is not None:
                format_of(self.plot)
        with collector.step():
            _refuse_overwriting(self.csv_file, self.force)
        return _schedule(collector, self.file, self.settings)

    def run(self, schedule: Schedule) -> None:
        from skycell.plots.link_steps import link_over_time
        from skycell.scenario.declared.framings import Ip
        from skycell.scenario.links.link_rate import LinkRate
        from skycell.scenario.links.link_summary import summary_of
        from skycell.scenario.links.series import understood
        from skycell.scenario.links.steps_table import steps_table

        rate = LinkRate(Fraction(_FAST_BPS), Ip(kind="ip"), "")
        account, steps = understood(Path(), schedule, rate)
        found = summary_of(account.form, steps, rate)
        if self.plot is not None:
            from skycell.plots.export import save

            with drawing_faults("--plot"):
                save(
                    {self.plot: link_over_time(steps, printable(self.file.name), account.form)},
                    force=self.force,
                )
        if self.csv_file is not None:
            from skycell.plots.files import write_all

            table = steps_table(steps, has_delays=found.delay_ms is not None)
            write_all({self.csv_file: table.encode()}, force=self.force)
        if self.as_json:
            values = {"file": str(self.file), **asdict(found)}
            values |= {"account": account.as_dict(), "notes": list(account.notes())}
            say_json(values, allow_nan=False)
            return
        from skycell.cli.console import Output

        _show(self.file, found)
        for note in (account.heading, *account.sentences()):
            Output().say(f"Note: {note}")
        for written in filter(None, (self.plot, self.csv_file)):
            Output().say(f"Wrote {written}")


trace.add_command(
    Verb(
        Show,
        "skycell trace show ping.txt --set minimum_over='15 s' --plot link.svg",
        "skycell trace show irtt.json --set lost=outage --json",
        short_help="Summarise and draw a file that drives a link.",
    )
)


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
            middle = (spread.median, spread.mean, spread.p90, spread.p95, spread.p99)
            values = (spread.least, *middle, spread.most)
            rows.append((name, *(f"{value:.4g}" for value in values)))
    if found.delay_ms is None:
        rows.append(("delay one way (ms)", "", "", "the link's own", "", "", "", ""))
    heads = ("least", "median", "mean", "90 %", "95 %", "99 %", "most")
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


class Fit(Call):
    """Fit a model to FILE: slots with a level of their own, noise within them, and outages.

    The table has the file beside 20 courses of the same length that the model draws: their mean,
    and the least and greatest of them. What is outside is marked.
    """

    file: Path = argument(type=NamedPath(path_type=Path, exists=True, dir_okay=False))
    settings: tuple[str, ...] = set_option(
        "Read it by a key of [topology.…].schedule, such as minimum_over='1 s'"
    )
    slot: TimeOption = option(
        "--slot", type=TIME, default="15 s", show_default=True, help="Time a level holds."
    )
    step: TimeOption = option(
        "--step", type=TIME, default="1 s", show_default=True, help="Time of a sample."
    )
    phase: TimeOption | None = option(
        "--phase", type=TIME, help="Beginning of the first whole slot  [default: the least noise]"
    )
    out: Path | None = option(
        "--out",
        type=NamedPath(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Write the model, for `schedule.model` of a scenario.",
    )
    force: bool = force_option("an existing model")
    as_json: bool = table_json_option()
    as_latex: bool = latex_option()

    def check(self, collector: ErrorCollector) -> Schedule | None:
        with collector.step():
            _refuse_overwriting(self.out, self.force)
        with collector.step():
            if self.step.ps < 10**9 or self.slot.ps % self.step.ps:
                message = (
                    f"{self.step}: a whole number of times in --slot {self.slot}, 1 ms or longer"
                )
                raise click.BadParameter(message, param_hint="'--step'")
        return _schedule(collector, self.file, self.settings)

    def run(self, schedule: Schedule) -> None:
        from skycell.plots.files import write_all
        from skycell.scenario.declared.framings import Ip
        from skycell.scenario.links.fitted import UnfitError, check, model_text
        from skycell.scenario.links.fitted import fit as fitted
        from skycell.scenario.links.link_rate import LinkRate
        from skycell.scenario.links.link_summary import summary_of
        from skycell.scenario.links.series import understood

        rate = LinkRate(Fraction(_FAST_BPS), Ip(kind="ip"), "")
        account, steps = understood(Path(), schedule, rate)
        has_delay = summary_of(account.form, steps, rate).delay_ms is not None
        try:
            model = fitted(
                steps,
                step_ps=self.step.ps,
                slot_ps=self.slot.ps,
                phase_ps=None if self.phase is None else self.phase.ps,
                has_delay=has_delay,
            )
        except UnfitError as error:
            raise click.UsageError(f"{self.file}: {error}") from None
        found = check(model, steps)
        if self.out is not None:
            heading = (
                f"Fitted by skycell {version()} to {printable(self.file.name)}, {account.form}."
            )
            write_all({self.out: model_text(model, heading).encode()}, force=self.force)
        if self.as_json:
            rows = [{**asdict(row), "is_inside": row.is_inside} for row in found]
            values = tomllib.loads(model_text(model, ""))
            say_json({"file": str(self.file), "model": values, "check": rows})
            return
        _show_fit(self.file, model, found)
        if self.out is not None:
            from skycell.cli.console import Output

            Output().say(f"Wrote {self.out}")


trace.add_command(
    Verb(
        Fit,
        "skycell trace fit ping.txt --out starlink.toml",
        "skycell trace fit leo.csv --slot '15 s' --phase '12 s' --out leo.toml --json",
        short_help="Fit a model to a file, which seeds draw links from.",
    )
)


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
