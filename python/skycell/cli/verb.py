"""A verb of the command line, which tells all faults of its parameters at once."""

from __future__ import annotations

import click


class Verb(click.Command):
    """A command whose faulty options and arguments are told together."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads what was given.

        Raises:
            click.UsageError: with every fault of a parameter, or with what keeps the command line
                from being read, such as an option that there is not.
        """
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as first:
            told = self._told(ctx, given)
            if len(told) < 2:
                raise
            raise click.UsageError("\nError: ".join(told), ctx) from first

    def _told(self, ctx: click.Context, args: list[str]) -> list[str]:
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
                told.append(error.format_message())
        return told
