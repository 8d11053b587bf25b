"""`skycell budget`: where each bit of a carrier goes, and what loss remains."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.inputs import load_input
from skycell.cli.options import NAME, NamedPath, set_option, table_options
from skycell.cli.settings import read_settings
from skycell.cli.verb import Verb, validated

if TYPE_CHECKING:
    from skycell.metrics.budget import LinkBudget


def _validate(
    collector: ErrorCollector,
    file: str | None,
    link: str | None,
    settings: tuple[str, ...],
    **_: object,
) -> tuple[LinkBudget, ...]:
    from skycell.metrics.budget import budgets

    values = read_settings(settings, collector.faults)
    found: tuple[LinkBudget, ...] = ()
    with collector.step():
        if file is not None:
            found = budgets(load_input(file, values), link)
    return found


@click.command(
    cls=Verb,
    validate=_validate,
    epilog="\b\nExamples:\n"
    "  skycell budget examples/dvb-s2.toml\n"
    "  skycell budget examples/dvb-s2.toml 'hub>terminal' --set topology.link.1.rate='10 Mbaud'",
    short_help="Show where each bit of a carrier goes, and what loss remains.",
)
@click.argument("file", type=NamedPath(), metavar="FILE")
@click.argument("link", type=NAME, required=False, metavar="[LINK]")
@table_options()
@set_option("Replace a value of the file, such as tcp.mss='1240 B'")
def budget(file: str, link: str | None, as_json: bool, settings: tuple[str, ...]) -> None:
    """Show where each bit of the carriers in the scenario FILE goes, and what loss remains.

    Of each link that data of flows cross, or of LINK alone: its symbols and the bandwidth that they
    occupy; what is taken by the physical layer, codes, BBFRAMEs or SONET, GSE or cells, AAL5, IP
    and TCP, which together with TCP's payload is all of the carrier; and the cells and segments
    that the errors behind its decoder cost. If FILE is -, the scenario comes from standard input.
    """
    found = validated(_validate)
    if as_json:
        links = [one.as_dict() for one in found]
        click.echo(json.dumps({"file": file, "links": links}, indent=2))
        return
    from skycell.cli.console import Output
    from skycell.tables.budget import budget_tables

    output = Output()
    for table in budget_tables(found):
        output.show(table)
