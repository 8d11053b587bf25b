"""`skycell budget`: where each bit of a carrier goes, and what loss remains."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.inputs import load_input
from skycell.cli.options import NAME, NamedPath, force_option, set_option, table_options
from skycell.cli.plot import drawing_faults
from skycell.cli.sentences import say_json
from skycell.cli.settings import read_settings
from skycell.cli.verb import Verb, validated

if TYPE_CHECKING:
    from skycell.metrics.budget import LinkBudget
    from skycell.plots.figure import Figure


def _validate(
    collector: ErrorCollector,
    file: str | None,
    link: str | None,
    settings: tuple[str, ...],
    plot: Path | None,
    force: bool,
    **_: object,
) -> tuple[tuple[LinkBudget, ...], Figure | None]:
    from skycell.metrics.budget import budgets
    from skycell.plots.export import format_of
    from skycell.plots.files import refuse_overwriting

    values = read_settings(settings, collector.faults)
    found: tuple[LinkBudget, ...] = ()
    figure: Figure | None = None
    with collector.step(), drawing_faults("--plot"):
        if plot is not None:
            format_of(plot)
            refuse_overwriting([plot], force=force)
    with collector.step():
        if file is not None:
            scenario = load_input(file, values)
            found = budgets(scenario, link)
            if plot is not None:
                from skycell.metrics.coding_curves import coding_curves
                from skycell.plots.coding import coding_figure

                figure = coding_figure(coding_curves(scenario, link))
    return found, figure


@click.command(
    cls=Verb,
    validate=_validate,
    epilog="\b\nExamples:\n"
    "  skycell budget examples/dvb-s2.toml\n"
    "  skycell budget examples/dvb-s2.toml 'hub>terminal' --set topology.link.1.rate='10 Mbaud'\n"
    "  skycell budget examples/dvb-s2.toml 'terminal>hub' --plot codes.pdf",
    short_help="Show what each layer takes of a carrier, and the remaining loss.",
)
@click.argument("file", type=NamedPath(), metavar="FILE")
@click.argument("link", type=NAME, required=False, metavar="[LINK]")
@click.option(
    "--plot",
    type=NamedPath(path_type=Path),
    metavar="FILE",
    help="Draw the bit and segment errors of LINK behind each code over Eb/N0: .svg, .pdf, .png or "
    ".html.",
)
@force_option("FILE of --plot if it exists")
@table_options()
@set_option("Replace a value of the file, such as tcp.mss='1240 B'")
def budget(
    file: str, link: str | None, as_json: bool, plot: Path | None, force: bool, **_: object
) -> None:
    """Show where each bit of the carriers in the scenario FILE goes, and what loss remains.

    Of each link that data of flows cross, or of LINK alone: its symbols and the bandwidth that they
    occupy; what is taken by the physical layer, codes, BBFRAMEs or SONET, GSE or cells, AAL5, IP
    and TCP, which together with TCP's payload is all of the carrier; and the cells and segments
    that the errors behind its decoder cost. If FILE is -, the scenario comes from standard input.
    """
    found, figure = validated(_validate)
    if figure is not None and plot is not None:
        from skycell.plots.export import save

        with drawing_faults("--plot"):
            save({plot: figure}, force=force)
    if as_json:
        links = [one.as_dict() for one in found]
        say_json({"file": file, "links": links})
        return
    from skycell.cli.console import Output
    from skycell.tables.budget import budget_tables

    output = Output()
    for table in budget_tables(found):
        output.show(table)
