"""`skycell schema`: what a scenario file may say."""

from __future__ import annotations

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import json_option
from skycell.cli.sentences import say, say_json
from skycell.cli.verb import Verb, validated


def _validate(
    collector: ErrorCollector, prefix: str | None, markdown: bool, as_json: bool, **_: object
) -> str:
    """Also gives the listing of the keys asked for."""
    from skycell.scenario.documentation import listing, paths_with

    with collector.step():
        if (prefix is not None) + markdown + as_json > 1:
            raise click.UsageError("--keys, --markdown and --json exclude each other")
    text = "" if prefix is None else listing(prefix)
    with collector.step():
        if prefix is not None and not text:
            named = ", ".join(paths_with(prefix))
            hint = f"; keys with that name: {named}" if named else ""
            raise click.UsageError(f"no key begins with {prefix!r}{hint}")
    return text


@click.command(
    cls=Verb,
    validate=_validate,
    epilog="\b\nExample:  skycell schema --keys tcp.rto",
    short_help="Describe the scenario file.",
)
@click.option(
    "--keys",
    "prefix",
    is_flag=False,
    flag_value="",
    metavar="[PREFIX]",
    help="List the keys, or those that begin with PREFIX, as text.",
)
@click.option("--markdown", is_flag=True, help="Write the reference page.")
@json_option("Write the JSON Schema (as without options).")
def schema(prefix: str | None, markdown: bool, as_json: bool) -> None:
    """Describe the scenario file: as JSON Schema, as a listing of keys, or as a page."""
    keys = validated(_validate)
    if prefix is not None:
        say(keys)
    elif markdown:
        from skycell.scenario.documentation import page

        say(page(), nl=False)
    else:
        from skycell.scenario.schema import scenario_schema

        say_json(scenario_schema())
