"""`--x`, `--series` and `--facet`: which factor goes where in a figure or a table."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import NAME
from skycell.cli.verb import Options, option

if TYPE_CHECKING:
    from skycell.plots.values import Axes


class AxesOptions(Options):
    """Places of factors in a figure or a table."""

    x: str | None = option(
        "--x",
        type=NAME,
        metavar="FACTOR",
        help="Factor along the axis of a figure, down the rows of a table; in a figure also a "
        "second response.",
    )
    series: str | None = option(
        "--series",
        type=NAME,
        metavar="FACTOR",
        help="Factor whose levels are lines of a figure, columns of a table.",
    )
    facet: tuple[str, ...] = option(
        "--facet",
        type=NAME,
        multiple=True,
        metavar="FACTOR",
        help="Factor with a panel or table for each level; may be repeated. Factors "
        "without a place follow.",
    )

    @property
    def are_chosen(self) -> bool:
        """Whether a factor has been given a place."""
        return bool(self.x or self.series or self.facet)

    def chosen(
        self, collector: ErrorCollector, factors: Collection[str], responses: Collection[str] = ()
    ) -> Axes | None:
        """The axes that were asked for; none where none were. Tries each of them for itself.

        A factor without a place gets the first that is free of x and series.

        Args:
            collector: of what is wrong with them.
            factors: that there are.
            responses: what may stand along the axis, too.
        """
        from skycell.plots.values import Axes

        if not self.are_chosen:
            return None
        x, series = self.x, self.series
        known = {"--x": [*factors, *responses], "--series": factors, "--facet": factors}
        inputs = [("--x", x), ("--series", series), *(("--facet", name) for name in self.facet)]
        for name_of, name in inputs:
            with collector.step():
                if name is not None and name not in known[name_of]:
                    there = ", ".join(known[name_of])
                    raise click.BadParameter(
                        f"{name}: there are {there}", param_hint=f"'{name_of}'"
                    )
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
        return Axes(x or "", series or "", self.facet)
