"""`skycell schema`: what a scenario file may say."""

from __future__ import annotations

import json

import click

from skycell.cli.options import json_option
from skycell.cli.verb import Verb


@click.command(
    cls=Verb,
    epilog="\b\nExample:  skycell schema --keys tcp.rto",
    short_help="Describe the scenario file.",
)
@click.option(
    "--keys",
    "prefix",
    is_flag=False,
    flag_value="",
    metavar="[PREFIX]",
    help="List the keys, or those that begin with PREFIX, for reading.",
)
@click.option("--markdown", is_flag=True, help="Write the reference page.")
@json_option("Write the JSON Schema (as without options).")
def schema(prefix: str | None, markdown: bool, as_json: bool) -> None:
    """Describe the scenario file: as JSON Schema, as a listing of keys, or as a page."""
    if (prefix is not None) + markdown + as_json > 1:
        raise click.UsageError("--keys, --markdown and --json exclude each other")
    if prefix is not None:
        from skycell.scenario.reference import listing

        text = listing(prefix)
        if not text:
            raise click.UsageError(f"no key begins with {prefix!r}")
        click.echo(text)
    elif markdown:
        from skycell.scenario.reference import page

        click.echo(page(), nl=False)
    else:
        from skycell.scenario.schema import scenario_schema

        click.echo(json.dumps(scenario_schema(), indent=2))
