"""`skycell check`: all faults of scenario files."""

from __future__ import annotations

import json
from typing import Any

import click

from skycell.cli.given import STDIN, load_given, shown_name
from skycell.cli.options import NamedPath, json_option
from skycell.cli.verb import Verb


@click.command(
    cls=Verb,
    epilog="\b\nExample:  skycell check examples/*.toml",
    short_help="Tell all faults of scenario files.",
)
@click.argument("files", nargs=-1, required=True, type=NamedPath(), metavar="FILE...")
@json_option("Write one JSON object to standard output.")
@click.pass_context
def check(ctx: click.Context, files: tuple[str, ...], as_json: bool) -> None:
    """Tell all faults of scenario FILEs, without running them.

    A FILE that is - stands for standard input; files that such a scenario names are looked for from
    the current folder.

    Faults go to standard error, with where they are, what stands there, what may stand there and
    what it means. Ends with 0 when every file can be run, with 2 otherwise.
    """
    from skycell.scenario import Fault, ScenarioFaults

    if files.count(STDIN) > 1:
        message = "- stands for standard input, which can be read only once"
        raise click.BadParameter(message, param_hint="'FILE...'")
    found: list[Fault] = []
    told: list[dict[str, Any]] = []
    for given in files:
        file = shown_name(given)
        entry: dict[str, Any] = {"file": file, "spec_hash": None, "faults": []}
        told.append(entry)
        try:
            spec = load_given(given).resolve()
        except ScenarioFaults as faults:
            found += faults.faults
            entry["faults"] = [fault.as_dict() for fault in faults.faults]
        except OSError as error:
            fault = Fault(file, "", error.strerror or str(error), "a file that can be read")
            found.append(fault)
            entry["faults"] = [fault.as_dict()]
        else:
            entry["spec_hash"] = spec.hash()
            if not as_json:
                flows = f"{len(spec.flows)} flow{'s' if len(spec.flows) != 1 else ''}"
                click.echo(f"{file}: fine; {flows}, spec {spec.hash()[:12]}")
    if as_json:
        click.echo(json.dumps({"files": told}, indent=2))
    elif found:
        click.echo(str(ScenarioFaults(found)), err=True)
    ctx.exit(2 if found else 0)
