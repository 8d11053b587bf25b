"""`skycell explain`: what a scenario comes to, before it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skycell.cli.collector import ErrorCollector
from skycell.cli.inputs import load_input
from skycell.cli.options import NamedPath, latex_option, set_option, table_json_option
from skycell.cli.sentences import say_json
from skycell.cli.settings import read_settings
from skycell.cli.verb import Call, Verb, argument

if TYPE_CHECKING:
    from skycell.scenario import Scenario

#: Rows of a table that are shown.
_MOST_ROWS = 40


class Explain(Call):
    """Show what the scenario in FILE comes to, before it is run.

    Link by link what packets cost and which layer takes what; buffers and thresholds in every
    unit; the settings of ports and where each comes from; the round trip hop by hop; the ports that
    the fast engine steps; and what to doubt. If FILE is -, the scenario comes from standard input.
    """

    file: str = argument(type=NamedPath(), metavar="FILE")
    as_json: bool = table_json_option()
    as_latex: bool = latex_option()
    settings: tuple[str, ...] = set_option("Replace a value of the file, such as tcp.recovery=reno")

    def check(self, collector: ErrorCollector) -> Scenario | None:
        values = read_settings(self.settings, collector.faults)
        return collector.read(lambda: load_input(self.file, values))

    def run(self, scenario: Scenario) -> None:
        from skycell.metrics.explained import explain as explained

        found = explained(scenario)
        if self.as_json:
            say_json({"file": self.file, **found.as_dict()})
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


explain = Verb(Explain, "skycell explain examples/satellite-buffer.toml")
