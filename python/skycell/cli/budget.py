"""`skycell budget`: where each bit of a carrier goes, and what loss remains."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from skycell.cli.collector import ErrorCollector
from skycell.cli.inputs import load_input
from skycell.cli.options import (
    NAME,
    NamedPath,
    force_option,
    latex_option,
    set_option,
    table_json_option,
)
from skycell.cli.results import drawing_faults
from skycell.cli.sentences import say_json
from skycell.cli.settings import read_settings
from skycell.cli.verb import Call, Verb, argument, option

if TYPE_CHECKING:
    from skycell.metrics.budget import LinkBudget
    from skycell.plots.figure import Figure


class Budget(Call):
    """Show where each bit of the carriers in the scenario FILE goes, and what loss remains.

    Of each link that data of flows cross, or of LINK alone: its symbols and the bandwidth that they
    occupy; what is taken by the physical layer, codes, BBFRAMEs or SONET, GSE or cells, AAL5, IP
    and TCP, which together with TCP's payload is all of the carrier; and the cells and segments
    that the errors behind its decoder cost. If FILE is -, the scenario comes from standard input.
    """

    file: str = argument(type=NamedPath(), metavar="FILE")
    link: str | None = argument(type=NAME, required=False, metavar="[LINK]")
    plot: Path | None = option(
        "--plot",
        type=NamedPath(path_type=Path),
        metavar="FILE",
        help="Draw the bit and segment errors of LINK behind each code over Eb/N0: .svg, .pdf, "
        ".png or .html.",
    )
    force: bool = force_option("FILE of --plot if it exists")
    as_json: bool = table_json_option()
    as_latex: bool = latex_option()
    settings: tuple[str, ...] = set_option("Replace a value of the file, such as tcp.mss='1240 B'")

    def check(self, collector: ErrorCollector) -> tuple[tuple[LinkBudget, ...], Figure | None]:
        from skycell.metrics.budget import budgets
        from skycell.plots.export import format_of
        from skycell.plots.files import refuse_overwriting

        values = read_settings(self.settings, collector.faults)
        found: tuple[LinkBudget, ...] = ()
        figure: Figure | None = None
        with collector.step(), drawing_faults("--plot"):
            if self.plot is not None:
                format_of(self.plot)
                refuse_overwriting([self.plot], force=self.force)
        with collector.step():
            scenario = load_input(self.file, values)
            found = budgets(scenario, self.link)
            if self.plot is not None:
                from skycell.metrics.coding_curves import coding_curves
                from skycell.plots.coding import coding_figure

                figure = coding_figure(coding_curves(scenario, self.link))
        return found, figure

    def run(self, found: tuple[tuple[LinkBudget, ...], Figure | None]) -> None:
        budgets, figure = found
        if figure is not None and self.plot is not None:
            from skycell.plots.export import save

            with drawing_faults("--plot"):
                save({self.plot: figure}, force=self.force)
        if self.as_json:
            links = [of_link.as_dict() for of_link in budgets]
            say_json({"file": self.file, "links": links})
            return
        from skycell.cli.console import Output
        from skycell.tables.budget import budget_tables

        output = Output()
        for table in budget_tables(budgets):
            output.show(table)


budget = Verb(
    Budget,
    "skycell budget examples/dvb-s2.toml",
    "skycell budget examples/dvb-s2.toml 'hub>terminal' --set topology.link.1.rate='10 Mbaud'",
    "skycell budget examples/dvb-s2.toml 'terminal>hub' --plot codes.pdf",
)
