"""A verb of the command line: a class that declares its options once, checks them and runs.

The class of a verb, a `Call`, has a field per argument and option, and its docstring is the help.
`Verb` makes a command of it, which reports all faults of a call at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import click

from skycell.cli.collector import ErrorCollector, Unread

_SOUTHERN = re.compile(r"-[0-9.]+,")
"""A latitude and a longitude, which are a place and no option. A blank before it says so."""

_Group = TypeVar("_Group", bound="Options")


class _Field:
    """A field of `Options`: one parameter of the command line, which is read-only."""

    def __init__(self, make: Callable[[str], click.Parameter]) -> None:
        self._make = make
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, call: Options | None, owner: type) -> Any:
        return self if call is None else call.value(self._name)

    def __set__(self, call: Options, value: object) -> None:
        raise AttributeError(f"{self._name} is what the call says")

    def parameters(self) -> Iterator[click.Parameter]:
        yield self._make(self._name)


class _Shared:
    """A field of `Options` that holds further options, which several verbs have."""

    def __init__(self, kind: type[Options]) -> None:
        self._kind = kind

    def __get__(self, call: Options | None, owner: type) -> Any:
        return self if call is None else call.as_(self._kind)

    def __set__(self, call: Options, value: object) -> None:
        raise AttributeError("options are what the call says")

    def parameters(self) -> Iterator[click.Parameter]:
        yield from self._kind.parameters()


def option(*names: str, **of_click: Any) -> Any:
    """A field that an option fills.

    Args:
        *names: of the option, such as `--out`.
        **of_click: what `click.Option` takes.
    """
    return _Field(lambda name: click.Option([name, *names], **of_click))


def argument(**of_click: Any) -> Any:
    """A field that an argument fills; `of_click` is what `click.Argument` takes."""
    return _Field(lambda name: click.Argument([name], **of_click))


def shared(kind: type[_Group]) -> _Group:
    """A field for options that several verbs have; their help stands at its place."""
    return _Shared(kind)  # type: ignore[return-value]


class Options:
    """Values of some options of a call, by the names of their fields."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        """Takes the values that could be read; each other one raises `Unread` when it is used."""
        self._values = values

    def value(self, name: str) -> Any:
        """The value of a field.

        Raises:
            Unread: it was given and could not be read.
        """
        try:
            return self._values[name]
        except KeyError:
            raise Unread(name) from None

    def as_(self, kind: type[_Group]) -> _Group:
        """The same values as other options."""
        return kind(self._values)

    @classmethod
    def parameters(cls) -> Iterator[click.Parameter]:
        """The parameters of all fields, in their order."""
        for field in vars(cls).values():
            if isinstance(field, _Field | _Shared):
                yield from field.parameters()


class Call(Options):
    """One call of a verb: its options and arguments, and what the verb does with them.

    A subclass has a field per parameter, made by `option`, `argument` or `shared`. Its docstring is
    the help of the verb.
    """

    def check(self, collector: ErrorCollector) -> Any:
        """Notes every fault of the call before anything is done; a step of `collector` for each.

        Returns what has been read on the way, which `run` is given.
        """

    def run(self, found: Any) -> None:
        """Does what the verb is for, with what `check` found. There is no fault."""
        raise NotImplementedError

    def refuse(self, collector: ErrorCollector) -> None:
        """Ends the call where `check` has noted a fault."""
        collector.refuse_if_any()


class Verb(click.Command):
    """A command whose faulty options and arguments are reported together."""

    #: Of the help: before one example, and before several.
    _EXAMPLE, _EXAMPLES = "\b\nExample:  ", "\b\nExamples:\n  "

    def __init__(
        self,
        kind: type[Call],
        *examples: str,
        short_help: str | None = None,
        context_settings: dict[str, Any] | None = None,
    ) -> None:
        """Makes a command of the class of a verb.

        Args:
            kind: the class, which is called as the verb is, with Call behind it or without.
            *examples: calls, one line each.
            short_help: the line in the list of a group of verbs.
            context_settings: those of click.
        """
        super().__init__(
            kind.__name__.removesuffix("Call").lower(),
            context_settings=context_settings,
            params=list(kind.parameters()),
            help=kind.__doc__,
            epilog=(self._EXAMPLES if len(examples) > 1 else self._EXAMPLE) + "\n  ".join(examples),
            short_help=short_help,
        )
        self._kind = kind

    def invoke(self, ctx: click.Context) -> None:
        """Checks the call and carries it out.

        Raises:
            ScenarioFaults: every fault says what is allowed.
            click.UsageError: the only fault is one of the command's use.
            click.exceptions.Exit: there are both, and they are reported; with code 2.
        """
        ctx.invoke(self._carry_out, self._kind(ctx.params))

    def _carry_out(self, call: Call) -> None:
        collector = ErrorCollector()
        found = call.check(collector)
        call.refuse(collector)
        call.run(found)

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
                # Two options that exclude each other have the same fault.
                if error.format_message() not in (known.format_message() for known in reported):
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
        unread = {
            error.param.name
            for error in reported
            if isinstance(error, click.BadParameter) and error.param is not None
        }
        read = self.make_context(ctx.info_name, words, ctx.parent, resilient_parsing=True).params
        collector = ErrorCollector()
        with collector.step():
            self._kind({name: read[name] for name in read if name not in unread}).check(collector)
        if collector:
            collector.add(*reported)
            collector.refuse_if_any()


def _is_missing_argument(error: click.UsageError) -> bool:
    return isinstance(error, click.MissingParameter) and isinstance(error.param, click.Argument)
