"""A verb of the command line, which tells all faults of its parameters at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, TypeVar

import click

if TYPE_CHECKING:
    from skycell.cli.collector import ErrorCollector

Found = TypeVar("Found")

_SOUTHERN = re.compile(r"-[0-9.]+,")
"""A latitude and a longitude, which are a place and no option. A blank before it says so."""

Validate = Callable[..., object]
"""Notes what is wrong with a call's values, each for itself, before anything is done.

Is given an `ErrorCollector` and the values of all parameters by name; none for what could not be
read.
"""


def validated(validate: Callable[Concatenate[ErrorCollector, ...], Found]) -> Found:
    """What `validate` makes of the running command's values; with faults the command ends.

    Raises:
        ScenarioFaults: every fault says what is allowed.
        click.UsageError: the only fault is one of the command's use.
        click.exceptions.Exit: there are both, and they are told; with code 2.
    """
    from skycell.cli.collector import ErrorCollector

    collector = ErrorCollector()
    found = validate(collector, **click.get_current_context().params)
    collector.refuse_if_any()
    return found


class Verb(click.Command):
    """A command whose faulty options and arguments are told together.

    Attributes:
        validate: what the command says of the values that could be read; asked here where others
            could not be.
    """

    def __init__(self, *args: Any, validate: Validate | None = None, **named: Any) -> None:
        super().__init__(*args, **named)
        self.validate = validate

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads what was given.

        Raises:
            click.UsageError: with every fault of an option or an argument.
            click.exceptions.Exit: there are faults of files too, and all are told; with code 2.
        """
        args = [f" {word}" if _SOUTHERN.match(word) else word for word in args]
        inputs = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as first:
            reported, words = self._reported(ctx, inputs)
            self._refuse_with_files(ctx, words, reported)
            if len(reported) < 2:
                raise
            messages = (error.format_message() for error in reported)
            raise click.UsageError("\nError: ".join(messages), ctx) from first

    def _reported(
        self, ctx: click.Context, inputs: list[str]
    ) -> tuple[list[click.UsageError], list[str]]:
        """What there is to say about a faulty call, and its words but for unknown options.

        A word behind an unknown option may be its value, of which there is nothing to be said; it
        is an argument where one would be missing without it.
        """
        for with_values in (True, False):
            unread, words = self._without_unknown(ctx, inputs, with_values)
            reported = self._faults_of_values(ctx, words)
            if not any(map(_is_missing_argument, reported)):
                break
        return [*unread, *reported], words

    def _without_unknown(
        self, ctx: click.Context, inputs: list[str], with_values: bool
    ) -> tuple[list[click.UsageError], list[str]]:
        """Takes out of a call's words each option that cannot be read, and says why it cannot.

        Args:
            ctx: of the call.
            inputs: its words.
            with_values: take out what may be the value of such an option, too.
        """
        unread: list[click.UsageError] = []
        words = list(inputs)
        while True:
            left = list(words)
            try:
                self.make_parser(ctx).parse_args(args=left)
            except click.UsageError as error:
                unread.append(error)
                at = len(words) - len(left) - 1  # the parser takes from `left` what it has read
                has_own_value = "=" in words.pop(at)
                is_followed = at < len(words) and not words[at].startswith("-")
                if with_values and is_followed and not has_own_value:
                    del words[at]
            else:
                return unread, words

    def _faults_of_values(self, ctx: click.Context, words: list[str]) -> list[click.UsageError]:
        """What there is to say about each parameter, and about arguments too many."""
        options, rest, _ = self.make_parser(ctx).parse_args(args=list(words))
        reported: list[click.UsageError] = []
        for param in self.get_params(ctx):
            if param.is_eager:  # only prints
                continue
            try:
                _, rest = param.handle_parse_result(ctx, options, rest)
            except click.UsageError as error:
                reported.append(error)
        if rest:
            s = "s" if len(rest) > 1 else ""
            reported.append(
                click.UsageError(f"Got unexpected extra argument{s} ({' '.join(rest)})")
            )
        return reported

    def _refuse_with_files(
        self, ctx: click.Context, words: list[str], reported: list[click.UsageError]
    ) -> None:
        """Ends the command if it has something to say beside `reported`."""
        from skycell.cli.collector import ErrorCollector

        read = self.make_context(ctx.info_name, words, ctx.parent, resilient_parsing=True).params
        if self.validate is None:
            return
        collector = ErrorCollector()
        self.validate(collector, **read)
        if collector:
            collector.add(*reported)
            collector.refuse_if_any()


def _is_missing_argument(error: click.UsageError) -> bool:
    return isinstance(error, click.MissingParameter) and isinstance(error.param, click.Argument)
