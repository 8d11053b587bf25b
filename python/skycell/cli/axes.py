"""`--x`, `--series` and `--facet`: which factor goes where in a figure or a table."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import NAME, Command

if TYPE_CHECKING:
    from skycell.plots.values import Axes


def axes_options(command: Command) -> Command:
    """Adds `--x`, `--series` and `--facet`, as `x`, `series` and `facet`."""
    for option in (
        click.option(
            "--facet",
            type=NAME,
            multiple=True,
            metavar="FACTOR",
            help="Factor with a panel or table for each level; may be repeated. Factors "
            "without a place follow.",
        ),
        click.option(
            "--series",
            type=NAME,
            metavar="FACTOR",
            help="Factor whose levels are lines of a figure, columns of a table.",
        ),
        click.option(
            "--x",
            type=NAME,
            metavar="FACTOR",
            help="Factor along the axis of a figure, down the rows of a table; in a figure also a "
            "second response.",
        ),
    ):
        command = option(command)
    return command


def chosen_axes(
    collector: ErrorCollector,
    factors: Collection[str],
    x: str | None,
    series: str | None,
    facet: Collection[str] | None,
    responses: Collection[str] = (),
) -> Axes | None:
    """The axes that were asked for; none where none were. Tries each of them for itself.

    Args:
        collector: of what is wrong with them.
        factors: that there are.
        x: name of a factor, or of one of `responses`.
        series: name of a factor; the first that has no other place if not given.
        facet: names of factors.
        responses: what may stand along the axis.
    """
    from skycell.plots.values import Axes

    facets = tuple(facet or ())
    if not (x or series or facets):
        return None
    known = {"--x": [*factors, *responses], "--series": factors, "--facet": factors}
    inputs = [("--x", x), ("--series", series), *(("--facet", name) for name in facets)]
    for option, name in inputs:
        with collector.step():
            if name is not None and name not in known[option]:
                there = ", ".join(known[option])
                raise click.BadParameter(f"{name}: there are {there}", param_hint=f"'{option}'")
    names = [name for _, name in inputs if name is not None]
    with collector.step():
        if len(set(names)) < len(names):
            raise click.UsageError("--x, --series and --facet: a factor has one place")
    left = [name for name in factors if name not in names]
    if x is None and left:
        x = left.pop(0)
    if series is None and left:
        series = left.pop(0)
    with collector.step():
        if x is None:
            raise click.UsageError("--series and --facet leave no factor for --x")
    return Axes(x or "", series or "", facets)
