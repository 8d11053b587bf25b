"""`skycell explain`: what a scenario comes to, before it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.inputs import load_input
from skycell.cli.options import NamedPath, set_option, table_options
from skycell.cli.sentences import say_json
from skycell.cli.settings import read_settings
from skycell.cli.verb import Verb, validated

if TYPE_CHECKING:
    from skycell.scenario import Scenario

#: Rows of a table that are shown.
_MOST_ROWS = 40


def _validate(
    collector: ErrorCollector, file: str | None, settings: tuple[str, ...], **_: object
) -> Scenario | None:
    values = read_settings(settings, collector.faults)
    found: list[Scenario] = []
    with collector.step():
        if file is not None:
            found.append(load_input(file, values))
    return found[0] if found else None


@click.command(
    cls=Verb,
    validate=_validate,
    epilog="\b\nExample:  skycell explain examples/satellite-buffer.toml",
    short_help="Show the resolved scenario without running it.",
)
@click.argument("file", type=NamedPath(), metavar="FILE")
@table_options()
@set_option("Replace a value of the file, such as tcp.recovery=reno")
def explain(file: str, as_json: bool, settings: tuple[str, ...]) -> None:
    """Show what the scenario in FILE comes to, before it is run.

    Link by link what packets cost and which layer takes what; buffers and thresholds in every
    unit; the settings of ports and where each comes from; the round trip hop by hop; the ports that
    the fast engine steps; and what to doubt. If FILE is -, the scenario comes from standard input.
    """
    from skycell.metrics.explained import explain as explained

    scenario = validated(_validate)
    assert scenario is not None
    found = explained(scenario)
    if as_json:
        say_json({"file": file, **found.as_dict()})
        return
    from skycell.cli.console import Output
    from skycell.tables.explained import explained_tables
    from skycell.tables.table import first_rows

    output = Output()
    for table in explained_tables(found):
        output.show(first_rows(table, _MOST_ROWS))
    for warning in found.warnings:
        output.say(f"Warning: {warning}")
    for note in found.notes:
        output.say(f"Note: {note}")
