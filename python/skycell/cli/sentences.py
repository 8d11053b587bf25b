"""What a command writes to its outputs as text, whoever has chosen the names in it."""

from __future__ import annotations

import json
from typing import Any

import click

from skycell.cli.at_work import make_room
from skycell.input.printable import printable


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Writes a text of one line or more; what would steer a terminal is escaped."""
    make_room()
    click.echo(printable(text, keep="\n"), err=err, nl=nl)


def say_json(data: Any, *, allow_nan: bool = True) -> None:
    """Writes plain data as JSON, for a program or for people."""
    say_json_text(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=allow_nan))


def say_json_text(text: str) -> None:
    """Writes a JSON text, which stays what it is: its escapes are those of JSON."""
    make_room()
    click.echo(printable(text, keep="\n", is_json=True))
