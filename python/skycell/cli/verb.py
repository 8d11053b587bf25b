"""A verb of the command line, which tells all faults of its parameters at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

LookOver = Callable[..., object]
"""Notes what is wrong with a call's values, each for itself, before anything is done.

Is given a `Gathered` and the values of all parameters by name; none for what could not be read."""


class Verb(click.Command):
    """A command whose faulty options and arguments are told together.

    Attributes:
        look_over: what the command says of the values that could be read; asked here where others
            could not be.
    """

    def __init__(self, *args: Any, look_over: LookOver | None = None, **named: Any) -> None:
        super().__init__(*args, **named)
        self.look_over = look_over

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads what was given.

        Raises:
            click.UsageError: with every fault of a parameter, or with what keeps the command line
                from being read, such as an option that there is not.
            click.exceptions.Exit: there are faults of files too, and all are told; with code 2.
        """
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as first:
            told = self._told(ctx, list(given))
            if told:
                self._refuse_with_files(ctx, given, told)
            if len(told) < 2:
                raise
            messages = (error.format_message() for error in told)
            raise click.UsageError("\nError: ".join(messages), ctx) from first

    def _told(self, ctx: click.Context, args: list[str]) -> list[click.UsageError]:
        """What there is to say about each parameter of a faulty call."""
        try:
            options, rest, _ = self.make_parser(ctx).parse_args(args=args)
        except click.UsageError:
            return []
        told = []
        for param in self.get_params(ctx):
            try:
                _, rest = param.handle_parse_result(ctx, options, rest)
            except click.UsageError as error:
                told.append(error)
        return told

    def _refuse_with_files(
        self, ctx: click.Context, args: list[str], told: list[click.UsageError]
    ) -> None:
        """Ends the command if it has something to say beside `told`."""
        from skycell.cli.gathered import Gathered

        read = self.make_context(ctx.info_name, args, ctx.parent, resilient_parsing=True).params
        # Without an argument there is no file to look at.
        arguments = (param.name for param in self.params if isinstance(param, click.Argument))
        if self.look_over is None or any(read[name or ""] is None for name in arguments):
            return
        gathered = Gathered()
        self.look_over(gathered, **read)
        if gathered:
            gathered.add(*told)
            gathered.refuse_if_any()
