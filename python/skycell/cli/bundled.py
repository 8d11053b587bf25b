"""What of a command goes into a bundle, and so what a bundle may ask for.

Whoever makes a bundle chooses its command. `unpack --verify` carries it out only as far as this
list goes: no address, no store, no place to write is a bundle's to choose.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import click

from skycell.cli.main import main
from skycell.exports.bundle import INPUT
from skycell.input.printable import printable

Use = Literal["packed", "local", "own"]
"""Of an option: it decides the results and is packed; it says where this machine makes and keeps
runs, is obeyed while a bundle is made, and is not packed; or the bundle decides it."""

OPTIONS: dict[str, dict[str, Use]] = {
    "run": {
        "--engine": "packed",
        "--seed": "packed",
        "--set": "packed",
        "--trace": "packed",
        "--threads": "local",
        "--force": "own",
        "--json": "own",
        "--latex": "own",
        "--out": "own",
    },
    "sweep": {
        "--engine": "packed",
        "--facet": "packed",
        "--level": "packed",
        "--replications": "packed",
        "--series": "packed",
        "--x": "packed",
        "--fresh": "local",
        "--jobs": "local",
        "--scheduler": "local",
        "--scheduler-file": "local",
        "--store": "local",
        "--force": "own",
        "--json": "own",
        "--latex": "own",
        "--no-report": "own",
        "--out": "own",
        "--plan": "own",
        "--shard": "own",
    },
    "reproduce": {
        "--engine": "packed",
        "--replications": "packed",
        "--seed": "packed",
        "--set": "packed",
        "--fresh": "local",
        "--jobs": "local",
        "--scheduler": "local",
        "--scheduler-file": "local",
        "--store": "local",
        "--force": "own",
        "--json": "own",
        "--latex": "own",
        "--list": "own",
        "--out": "own",
        "--shard": "own",
        "--vary": "own",
    },
}
"""Verbs that are packed, with every option of each but --help."""

READS_A_FILE = ("run", "sweep")
"""Verbs whose only argument is a file; those of the others are names that skycell knows."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class NotAllowedError(Exception):
    """A command is none that a bundle may have; the message says why."""


@dataclass(frozen=True)
class Command:
    """A command, read as the command line reads it.

    Attributes:
        verb: `run`, `sweep` or `reproduce`.
        arguments: a file, or names.
        options: each option that was given with its value, or none of a flag.
    """

    verb: str
    arguments: tuple[str, ...]
    options: tuple[tuple[str, str | None], ...]

    def words(self, *uses: Use) -> list[str]:
        """The command as words, with the options of these uses; each value with its option."""
        shown = [
            name if value is None else f"{name}={value}"
            for name, value in self.options
            if OPTIONS[self.verb][name] in uses
        ]
        return [self.verb, *self.arguments, *shown]

    @property
    def has_store(self) -> bool:
        """Whether the verb keeps runs in a store."""
        return "--store" in OPTIONS[self.verb]

    def names(self, use: Use) -> list[str]:
        """The options of a use."""
        return [name for name, _ in self.options if OPTIONS[self.verb][name] == use]


def read_command(words: Sequence[str]) -> Command:
    """A command that may be packed.

    Raises:
        NotAllowedError: its verb or an option is none that is packed, or it cannot be read.
    """
    if not words or words[0] not in OPTIONS:
        verb = printable(words[0]) if words else "nothing"
        raise NotAllowedError(
            f"{verb} cannot be packed; COMMAND begins with one of {', '.join(OPTIONS)}"
        )
    verb, *rest = words
    command = main.get_command(click.Context(main), verb)
    assert command is not None
    context = click.Context(command, info_name=verb)
    try:
        values, arguments, inputs = command.make_parser(context).parse_args(list(rest))
    except click.UsageError as error:
        raise NotAllowedError(f"{verb}: {printable(error.format_message())}") from None
    options = tuple(_options_in(values, dict.fromkeys(inputs)))
    for name, _ in options:
        if name not in OPTIONS[verb]:
            raise NotAllowedError(f"{name} of {verb} is not for a bundle")
    # Of an argument that there is one of, a word; of one that there are several of, all of them.
    found = [values.get(str(p.name)) for p in command.params if isinstance(p, click.Argument)]
    several = ([each] if isinstance(each, str) else each for each in found)
    named = [word for words in several if isinstance(words, list | tuple) for word in words]
    return Command(verb, (*named, *arguments), options)


def allowed_command(words: Sequence[str], files: Collection[str]) -> Command:
    """The command of a stranger's bundle, if it is one that is carried out.

    Args:
        words: of the bundle's manifest.
        files: names of what the bundle holds.

    Raises:
        NotAllowedError: it asks for more than `pack` puts into a bundle.
    """
    command = read_command(words)
    for use in ("local", "own"):
        if names := command.names(use):
            raise NotAllowedError(f"{names[0]} is not a bundle's to choose")
    for argument in command.arguments:
        if command.verb not in READS_A_FILE:
            if not _NAME.fullmatch(argument):
                raise NotAllowedError(f"{printable(argument)} names no table and no study")
        elif not argument.startswith(f"{INPUT}/") or argument not in files:
            raise NotAllowedError(f"{printable(argument)} is no file below {INPUT}/ of the bundle")
    if command.verb in READS_A_FILE and len(command.arguments) != 1:
        raise NotAllowedError(f"{command.verb} takes one file")
    return command


def _options_in(
    values: dict[str, object], params: Collection[click.Parameter]
) -> Iterator[tuple[str, str | None]]:
    """Each option that was given, by its name, with each of its values."""
    for param in params:
        if not isinstance(param, click.Option) or param.name is None:
            continue
        value = values[param.name]
        if param.is_flag:
            yield param.opts[0], None
        elif isinstance(value, list):
            yield from ((param.opts[0], str(each)) for each in value)
        else:
            yield param.opts[0], str(value)
