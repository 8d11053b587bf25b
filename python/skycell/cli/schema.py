"""`skycell schema`: what a scenario file may say."""

from __future__ import annotations

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import json_option
from skycell.cli.sentences import say, say_json
from skycell.cli.verb import Call, Verb, option


class Schema(Call):
    """Describe the scenario file: as JSON Schema, as a listing of keys, or as a page."""

    prefix: str | None = option(
        "--keys",
        is_flag=False,
        flag_value="",
        metavar="[PREFIX]",
        help="List the keys, or those that begin with PREFIX, as text.",
    )
    markdown: bool = option("--markdown", is_flag=True, help="Write the reference page.")
    as_json: bool = json_option("Write the JSON Schema (as without options).")

    def check(self, collector: ErrorCollector) -> str:
        """Also reads the listing of the keys asked for."""
        from skycell.scenario.documentation import listing, paths_with

        with collector.step():
            if (self.prefix is not None) + self.markdown + self.as_json > 1:
                raise click.UsageError("--keys, --markdown and --json exclude each other")
        keys = "" if self.prefix is None else listing(self.prefix)
        with collector.step():
            if self.prefix is not None and not keys:
                named = ", ".join(paths_with(self.prefix))
                hint = f"; keys with that name: {named}" if named else ""
                raise click.UsageError(f"no key begins with {self.prefix!r}{hint}")
        return keys

    def run(self, keys: str) -> None:
        if self.prefix is not None:
            say(keys)
        elif self.markdown:
            from skycell.scenario.documentation import page

            say(page(), nl=False)
        else:
            from skycell.scenario.schema import scenario_schema

            say_json(scenario_schema())


schema = Verb(Schema, "skycell schema --keys tcp.rto")
