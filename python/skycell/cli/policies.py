"""`skycell policies`: every buffer policy with its class, fairness, parameters and source."""

from __future__ import annotations

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import json_option
from skycell.cli.sentences import say, say_json
from skycell.cli.verb import Call, Verb, option


class Policies(Call):
    """List every buffer policy: its class, how it discards, parameters, source.

    SA and MA: one count of cells, or one for each VC; ST and MT: one threshold, or several.
    Fairness: what Table 1 of NASA/CR-1999-209158, part I.A, says of the policies in that table.
    """

    markdown: bool = option(
        "--markdown", is_flag=True, help="Write the table of the reference page."
    )
    as_json: bool = json_option("Write one JSON list.")

    def check(self, collector: ErrorCollector) -> None:
        with collector.step():
            if self.markdown and self.as_json:
                raise click.UsageError("--markdown and --json exclude each other")

    def run(self, _: None) -> None:
        from skycell.scenario.policy_table import policy_page, policy_rows

        if self.markdown:
            say(policy_page(), nl=False)
            return
        rows = policy_rows()
        if self.as_json:
            say_json([row.as_dict() for row in rows])
            return
        width = max(len(row.kind) for row in rows)
        for row in rows:
            facts = row.facts
            tags = "sees tags" if row.sees_tags else "blind to tags"
            words = f"{facts['class']:<5}  {facts['threshold']:<7}  {facts['discards']:<13}  {tags}"
            say(f"{row.kind:<{width}}  {words}")
            say(f"    {row.rule}")
            if "fairness" in facts:
                say(f"    fairness in print: {facts['fairness']}")
            reported = ", ".join(
                f"{name} {value}".strip() for name, value in row.parameters.items()
            )
            if reported:
                say(f"    parameters: {reported}")
            say(f"    source: {facts['source']}")
            if "chosen" in facts:
                say(f"    chosen by us: {facts['chosen']}")


policies = Verb(Policies, "skycell policies --json")
