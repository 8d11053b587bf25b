"""`skycell policies`: every buffer policy with its class, parameters and source."""

from __future__ import annotations

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import json_option
from skycell.cli.sentences import say, say_json
from skycell.cli.verb import Verb, validated


def _validate(collector: ErrorCollector, markdown: bool, as_json: bool, **_: object) -> None:
    with collector.step():
        if markdown and as_json:
            raise click.UsageError("--markdown and --json exclude each other")


@click.command(
    cls=Verb,
    validate=_validate,
    epilog="\b\nExample:  skycell policies --json",
    short_help="List the buffer policies by class.",
)
@click.option("--markdown", is_flag=True, help="Write the table of the reference page.")
@json_option("Write one JSON list.")
def policies(markdown: bool, as_json: bool) -> None:
    """List every buffer policy: its class, how it discards, parameters, source.

    SA and MA: one count of cells, or one for each VC; ST and MT: one threshold, or several.
    """
    from skycell.scenario.policy_table import policy_page, policy_rows

    validated(_validate)
    if markdown:
        say(policy_page(), nl=False)
        return
    rows = policy_rows()
    if as_json:
        say_json([row.as_dict() for row in rows])
        return
    width = max(len(row.kind) for row in rows)
    for row in rows:
        facts = row.facts
        tags = "sees tags" if row.sees_tags else "blind to tags"
        words = f"{facts['class']:<5}  {facts['threshold']:<7}  {facts['discards']:<13}  {tags}"
        say(f"{row.kind:<{width}}  {words}")
        say(f"    {row.rule}")
        reported = ", ".join(f"{name} {value}".strip() for name, value in row.parameters.items())
        if reported:
            say(f"    parameters: {reported}")
        say(f"    source: {facts['source']}")
        if "chosen" in facts:
            say(f"    chosen by us: {facts['chosen']}")
