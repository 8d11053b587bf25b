"""`skycell budget`: where each bit of a carrier goes, and what the carrier comes to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.inputs import load_scenario_or_carrier
from skycell.cli.options import (
    NAME,
    NamedPath,
    force_option,
    latex_option,
    set_option,
    table_json_option,
)
from skycell.cli.results import drawing_faults, why_unwritable
from skycell.cli.sentences import say, say_json
from skycell.cli.settings import read_settings
from skycell.cli.times import TIME, TimeOption
from skycell.cli.verb import Call, Verb, argument, option

if TYPE_CHECKING:
    from skycell.link import AvailabilityCurve, Carrier, CarrierBudget
    from skycell.metrics.budget import LinkBudget
    from skycell.plots.figure import Figure
    from skycell.scenario import Scenario
    from skycell.tables.table import Table

_USUAL_RANGE = (90.0, 99.99)
"""Per cent of a year, of a picture of a carrier."""
_USUAL_DURATION_PS = 3600 * 10**12
_USUAL_STEP_PS = 10**12
_LARGEST_SEED = 2**63 - 1


class _Availability(click.ParamType[tuple[float, ...]]):
    """A part of a year in per cent, or two of them: 99.7, 90..99.99."""

    name = "PERCENT"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        """One or two percentages."""
        from skycell.input.quantities import Refused
        from skycell.link.file import AVAILABILITY

        if isinstance(value, tuple):
            return value
        texts = str(value).replace("%", "").split("..")
        try:
            found = tuple(AVAILABILITY.read(f"{text.strip()} %") for text in texts)
        except Refused:
            found = ()
        if len(found) not in (1, 2) or list(found) != sorted(set(found)):
            self.fail(
                f"{value!r}: must be {AVAILABILITY.allowed}, or two of them, the lower first, "
                "such as 90..99.99",
                param,
                ctx,
            )
        return found


@dataclass(frozen=True)
class _OfScenario:
    budgets: tuple[LinkBudget, ...]
    figure: Figure | None


@dataclass(frozen=True)
class _OfCarrier:
    carrier: Carrier
    budget: CarrierBudget | None
    curve: AvailabilityCurve | None
    figure: Figure | None


class Budget(Call):
    """Show what the carriers of a scenario, or of a carrier FILE, come to.

    Of a scenario: of each link that data of flows cross, or of LINK alone, its symbols and the
    bandwidth that they occupy; what is taken by the physical layer, codes, BBFRAMEs or SONET, GSE
    or cells, AAL5, IP and TCP, which together with TCP's payload is all of the carrier; and the
    cells and segments that the errors behind its decoder cost.

    Of a file with a table [carrier]: the link budget, from antennas, path and weather to Es/N0,
    the MODCOD, and the rate of IP.

    If FILE is -, it comes from standard input.
    """

    file: str = argument(type=NamedPath(), metavar="FILE")
    link: str | None = argument(type=NAME, required=False, metavar="[LINK]")
    availability: tuple[float, ...] | None = option(
        "--availability",
        type=_Availability(),
        metavar="PERCENT",
        help="Part of a year for which a carrier's budget holds, instead of the file's, or a range "
        "such as 90..99.99: a table over it.",
    )
    plot: Path | None = option(
        "--plot",
        type=NamedPath(path_type=Path),
        metavar="FILE",
        help="Draw the bit and segment errors of LINK behind each code over Eb/N0, or a carrier "
        "over availability: .svg, .pdf, .png or .html.",
    )
    series: Path | None = option(
        "--series",
        type=NamedPath(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Write Es/N0 of a carrier over time as CSV, for [adaptive_coding].",
    )
    duration: TimeOption | None = option(
        "--duration", type=TIME, help="Time that --series covers.  [default: 1 h]"
    )
    step: TimeOption | None = option(
        "--step", type=TIME, help="Time between rows of --series.  [default: 1 s]"
    )
    seed: int | None = option(
        "--seed",
        type=click.IntRange(0, _LARGEST_SEED),
        help="Seed of --series.  [default: 1]",
    )
    force: bool = force_option("FILE of --plot and --series if it exists")
    as_json: bool = table_json_option()
    as_latex: bool = latex_option()
    settings: tuple[str, ...] = set_option("Replace a value of the file, such as tcp.mss='1240 B'")

    def check(self, collector: ErrorCollector) -> _OfScenario | _OfCarrier | None:
        from skycell.link import Carrier
        from skycell.plots.export import format_of
        from skycell.plots.files import refuse_overwriting

        values = read_settings(self.settings, collector.faults)
        with collector.step(), drawing_faults("--plot"):
            if self.plot is not None:
                format_of(self.plot)
                refuse_overwriting([self.plot], force=self.force)
        with collector.step(), drawing_faults("--series"):
            if self.series is not None:
                if reason := why_unwritable(self.series, self.series.parent):
                    raise click.UsageError(reason)
                refuse_overwriting([self.series], force=self.force)
        with collector.step():
            self._check_series()
        read = collector.read(lambda: load_scenario_or_carrier(self.file, values))
        if read is None:
            return None
        if isinstance(read, Carrier):
            return collector.read(lambda: self._of_carrier(read))
        return collector.read(lambda: self._of_scenario(read))

    def run(self, found: _OfScenario | _OfCarrier) -> None:
        with drawing_faults("--plot"):
            if found.figure is not None and self.plot is not None:
                from skycell.plots.export import save

                save({self.plot: found.figure}, force=self.force)
        if isinstance(found, _OfScenario):
            from skycell.tables.budget import budget_tables

            links = [of_link.as_dict() for of_link in found.budgets]
            self._report({"links": links}, list(budget_tables(found.budgets)))
            return
        from skycell.tables.carrier import availability_table, carrier_tables

        if self.series is not None:
            self._write_series(found.carrier, self.series)
        tables: list[Table] = []
        as_dict: dict[str, Any] = {}
        if found.budget is not None:
            tables += carrier_tables(found.budget)
            as_dict |= {"budget": found.budget.as_dict()}
        if found.curve is not None:
            tables.append(availability_table(found.curve))
            as_dict |= {"year": found.curve.as_dict()}
        self._report(as_dict, tables)
        if self.series is not None and not self.as_json:
            say(f"Written to {self.series}.")

    def _report(self, as_dict: dict[str, Any], tables: list[Table]) -> None:
        if self.as_json:
            say_json({"file": self.file, **as_dict})
            return
        from skycell.cli.console import Output

        output = Output()
        for table in tables:
            output.show(table)

    def _of_scenario(self, scenario: Scenario) -> _OfScenario:
        from skycell.metrics.budget import budgets

        for name, value in (("--availability", self.availability), ("--series", self.series)):
            if value is not None:
                raise click.UsageError(f"{name} needs a FILE with a table [carrier]")
        found = budgets(scenario, self.link)
        if self.plot is None:
            return _OfScenario(found, None)
        from skycell.metrics.coding_curves import coding_curves
        from skycell.plots.coding import coding_figure

        return _OfScenario(found, coding_figure(coding_curves(scenario, self.link)))

    def _of_carrier(self, carrier: Carrier) -> _OfCarrier:
        from skycell.link import availability_curve, budget_of

        if self.link is not None:
            raise click.UsageError(f"LINK: {self.file} has a table [carrier], and no links")
        asked = self.availability or ()
        if self.series is not None and carrier.file.carrier.rate.text.endswith("bit/s"):
            raise click.UsageError("--series needs a carrier with a symbol rate, such as 36 Mbaud")
        budget = curve = None
        if len(asked) < 2:
            budget = budget_of(carrier, *asked)
        if len(asked) == 2 or self.plot is not None:
            low, high = asked if len(asked) == 2 else _USUAL_RANGE
            curve = availability_curve(carrier, low, high)
        if self.plot is None or curve is None:
            return _OfCarrier(carrier, budget, curve, None)
        from skycell.plots.availability import availability_figure

        return _OfCarrier(carrier, budget, curve, availability_figure(curve))

    def _check_series(self) -> None:
        from skycell.scenario.links.schedule import MOST_STEPS

        if self.series is None:
            options = {"--duration": self.duration, "--step": self.step, "--seed": self.seed}
            for name, value in options.items():
                if value is not None:
                    raise click.UsageError(f"{name} goes with --series FILE")
        elif self._step_ps == 0:
            raise click.BadParameter("0 s: must be a time above 0", param_hint="'--step'")
        elif self._rows > MOST_STEPS:
            message = f"{self._rows:,} rows: at most {MOST_STEPS:,}"
            raise click.BadParameter(message, param_hint="'--step'")

    @property
    def _step_ps(self) -> int:
        return self.step.ps if self.step else _USUAL_STEP_PS

    @property
    def _rows(self) -> int:
        duration_ps = self.duration.ps if self.duration else _USUAL_DURATION_PS
        return -(-duration_ps // self._step_ps) + 1

    def _write_series(self, carrier: Carrier, file: Path) -> None:
        from skycell.input.quantities import PS_PER_SECOND
        from skycell.link import es_n0_series
        from skycell.records.staging import Staging

        seed = 1 if self.seed is None else self.seed
        ratios = es_n0_series(carrier, f"{seed}/link", self._step_ps, self._rows)
        lines = ["time_s,es_n0_db"]
        lines += [f"{i * self._step_ps / PS_PER_SECOND:.12g},{r:g}" for i, r in enumerate(ratios)]
        with Staging() as staging:
            staging.write(file, "\n".join([*lines, ""]).encode())


budget = Verb(
    Budget,
    "skycell budget examples/dvb-s2.toml",
    "skycell budget examples/dvb-s2.toml 'hub>terminal' --set topology.link.1.rate='10 Mbaud'",
    "skycell budget examples/dvb-s2.toml 'terminal>hub' --plot codes.pdf",
    "skycell budget examples/carriers/ka-geo.toml --availability 90..99.99 --plot year.svg",
)
