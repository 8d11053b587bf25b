"""Sentences of a command on its outputs, whoever has chosen the names in them."""

from __future__ import annotations

import click

from skycell.input.printable import printable


def say(text: str, *, err: bool = False) -> None:
    """Writes a text of one line or more; what would steer a terminal is escaped."""
    click.echo(printable(text, keep="\n"), err=err)
