"""A measure by the factors of an experiment, as somebody arranges them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skycell.plots import theme
from skycell.plots.factorial_parts import slug
from skycell.plots.figure import Figure, FigureOrigin, NothingToDrawError
from skycell.plots.labels import described, listed, lowered, metric, name, title_of

MOST_ABREAST = 3
"""Panels with named points that stand side by side; more stand one above the other."""

MOST_PANELS = 12
"""More are not read as one figure."""


@dataclass(frozen=True)
class Axes:
    """Which factor goes where; an empty text is none.

    Attributes:
        x: along the horizontal axis, or down the rows of a table; in a figure also a measure.
        series: told apart by colour, or across the columns of a table.
        facet: of the panels, or of the tables.
    """

    x: str
    series: str = ""
    facet: tuple[str, ...] = ()

    def others(self, factors: Sequence[str]) -> tuple[str, ...]:
        """The factors of panels: those named, then all that have no other place."""
        rest = (key for key in factors if key not in (self.x, self.series, *self.facet))
        return (*self.facet, *rest)


def usual_axes(factors: Mapping[str, Sequence[Any]]) -> Axes:
    """Where factors go if nobody says: numbers along the axis, few levels told apart by colour.

    >>> usual_axes({"policy": ("epd", "red"), "buffer": (0.5, 1.0), "tcp": ("reno", "sack")})
    Axes(x='buffer', series='policy', facet=())
    """
    names = list(factors)
    x = next((key for key in names if all(map(_is_number, factors[key]))), names[0])
    rest = (key for key in names if key != x and len(factors[key]) <= len(theme.PALETTE))
    return Axes(x, next(rest, ""))


def varying(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The factors that tell rows apart."""
    names = rows[0]["factors"]
    return [key for key in names if len({repr(row["factors"].get(key)) for row in rows}) > 1]


def values_figure(
    rows: Sequence[Mapping[str, Any]],
    origin: FigureOrigin,
    axes: Axes,
    measure: str,
    *,
    study: str,
    units: Mapping[str, str] | None = None,
) -> Figure:
    """The figure of a measure, whatever its factors are.

    Over a factor with numbers it has lines, over one with names dots, and over another measure a
    point for each combination of levels. Factors without a place have a panel for each level.

    Args:
        rows: as in `Value.as_dict`, of this measure, and of that along the axis.
        origin: the runs.
        axes: what goes where.
        measure: up the vertical axis.
        study: what the experiment is about.
        units: what the levels of a factor are counted in.

    Raises:
        NothingToDrawError: there are no values, or more panels or series than can be told apart.
    """
    from skycell.plots.comparison import Layout, comparison
    from skycell.plots.curves import curves
    from skycell.plots.trade_off import Axes as TradeOff
    from skycell.plots.trade_off import trade_off

    own: Sequence[Mapping[str, Any]] = [
        row for row in rows if row["mean"] is not None and row["metric"] in (measure, axes.x)
    ]
    if not own:
        raise NothingToDrawError(f"no run has a value of {measure}")
    factors = varying(own)
    is_of_two = axes.x not in own[0]["factors"]
    file = slug(measure, "by", axes.x)
    titles = {row["metric"]: title_of(row, with_unit=False) for row in own}
    across = lowered(titles.get(axes.x, metric(axes.x))) if is_of_two else axes.x
    title = f"{titles.get(measure, metric(measure))} by {across}"
    if is_of_two:
        others = axes.others(factors)[len(axes.facet) :]
        panels = axes.facet
        # Without other factors the series itself names the points.
        points, lines = (others, axes.series) if others else ((axes.series,), "")
        own = [
            {**row, "factors": {**row["factors"], POINT: _point(row, points, units or {})}}
            for row in _in_panels(own, panels, units or {})
        ]
        side_by_side = len({row["factors"].get(PANEL) for row in own}) <= MOST_ABREAST
        where = {"column" if side_by_side else "row": PANEL if panels else ""}
        placed = TradeOff(POINT, axes.x, measure, lines=lines, **where)
        return trade_off(own, origin, placed, title=title, figure_name=file, subtitle=study)
    panels = axes.others(factors)
    own = _in_panels(own, panels, units or {})
    _refuse_too_many(own, axes, panels)
    if all(_is_number(row["factors"][axes.x]) for row in own):
        return curves(
            own,
            origin,
            title=title,
            x=axes.x,
            series=axes.series,
            column=PANEL if panels else "",
            unit=(units or {}).get(axes.x, ""),
            figure_name=file,
            subtitle=study,
        )
    layout = Layout(axes.x, axes.series or None, None, (PANEL,) if panels else ())
    return comparison(own, origin, title=title, layout=layout, subtitle=study)


PANEL, POINT = "panel", "point"
"""Factors that stand for all factors of panels, and for all of points."""


def _in_panels(
    rows: Sequence[Mapping[str, Any]], panels: Sequence[str], units: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The rows with the factor `PANEL`, where there are panels."""
    found = []
    for row in rows:
        own = {key: row["factors"][key] for key in panels}
        placed = {PANEL: described(own, units)} if panels else {}
        found.append({**row, "factors": {**row["factors"], **placed}})
    return found


def _point(row: Mapping[str, Any], points: Sequence[str], units: Mapping[str, str]) -> str:
    """What stands beside a point: its levels, of one factor without the factor's name."""
    if len(points) > 1:
        return described({key: row["factors"][key] for key in points}, units)
    return " ".join(f"{name(row['factors'][key])} {units.get(key, '')}" for key in points).rstrip()


def _refuse_too_many(rows: Sequence[Mapping[str, Any]], axes: Axes, panels: Sequence[str]) -> None:
    lines = {repr(row["factors"].get(axes.series)) for row in rows}
    if len(lines) > len(theme.PALETTE):
        raise NothingToDrawError(
            f"{axes.series} has {len(lines)} levels, and {len(theme.PALETTE)} lines can be told "
            "apart: make it the facet, or leave rows out with --where"
        )
    count = len({row["factors"][PANEL] for row in rows}) if panels else 1
    if count > MOST_PANELS:
        raise NothingToDrawError(
            f"{listed(panels)} would have {count} panels, at most {MOST_PANELS} are one figure: "
            "leave rows out with --where"
        )


def _is_number(level: object) -> bool:
    return isinstance(level, int | float) and not isinstance(level, bool)
