"""The figures that a study lists: from its rows to curves and trade-offs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from skycell.input.quantities import CELL_BITS
from skycell.metrics import tcp_share
from skycell.plots.curves import ReferenceLine, label
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.labels import level
from skycell.plots.values import POINT
from skycell.studies.figures import Reserved, StudyFigure

MBIT = 1e6


def listed_figure(
    wanted: StudyFigure, rows: Sequence[Mapping[str, Any]], origin: Origin
) -> Figure | None:
    """A figure that a study lists; none where nothing of it was measured.

    Args:
        wanted: what goes where.
        rows: as in ``Reproduction.as_dict``, of any tables.
        origin: the runs.
    """
    from skycell.plots.curves import curves
    from skycell.plots.trade_off import Axes, trade_off

    own = [row for row in rows if row["mean"] is not None and wanted.has(row)]
    if not own:
        return None
    hashes = dict.fromkeys(name for row in own for name in row["specs"])
    origin = replace(origin, spec_hashes=tuple(hashes))
    if wanted.printed_as and any(row["published"] is not None for row in own):
        origin = replace(origin, source=wanted.printed_as)
    if wanted.kind == "trade_off":
        if wanted.points:
            own = [_with_point(row, (wanted.series, *wanted.points)) for row in own]
        axes = Axes(
            series=POINT if wanted.points else wanted.series,
            x=wanted.x,
            y=wanted.metric,
            colour=wanted.colour,
            column=wanted.column,
            row=wanted.row,
            group=wanted.group,
        )
        try:
            return trade_off(own, origin, axes, title=wanted.title, figure_name=wanted.id)
        except NothingToDrawError:
            return None
    reference, meaning = _reference(wanted, own)
    return curves(
        own,
        origin,
        title=wanted.title,
        x=wanted.x,
        series=wanted.series,
        column=wanted.column,
        reference=reference,
        meaning=meaning,
        x_step=wanted.x_step,
        x_name=wanted.x_name,
        own="y" if wanted.own_axes else None,
        figure_name=wanted.id,
        subtitle=f"{wanted.printed_as}, redrawn" if wanted.printed_as else None,
    )


def _with_point(row: Mapping[str, Any], points: Sequence[str]) -> dict[str, Any]:
    """The row with the factor `POINT`: its levels of several factors, in words."""
    factors = row["factors"]
    named = ", ".join(level(key, factors[key]) for key in points)
    return {**row, "factors": {**factors, POINT: named}}


def reserved_mbps(mcr_cells_per_s: float, of: Reserved) -> float:
    """What users can get of an MCR, Mbit/s: its cells filled with segments of a size.

    >>> round(reserved_mbps(100_000, Reserved(mss=9140, timestamps=True)), 2)
    38.08
    """
    share = tcp_share(of.mss, llc_snap=of.llc_snap, timestamps=of.timestamps)
    return mcr_cells_per_s * CELL_BITS * share / MBIT


def _reference(
    wanted: StudyFigure, rows: Sequence[Mapping[str, Any]]
) -> tuple[list[ReferenceLine], str]:
    """Dashed lines of a figure, and what they are."""
    panels: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        panels.setdefault(label(row, wanted.column), []).append(row)
    lines = []
    for panel, own in panels.items():
        if wanted.reserved is not None:
            xs = sorted({float(row["factors"][wanted.x]) * wanted.x_step for row in own})
            points = tuple((x, reserved_mbps(x, wanted.reserved)) for x in xs)
            lines.append(ReferenceLine(panel, "", points))
        if wanted.proportional:
            lines += [
                ReferenceLine(panel, series, _in_proportion(wanted, own, series))
                for series in dict.fromkeys(label(row, wanted.series) for row in own)
            ]
    if wanted.reserved is not None:
        return lines, f"what the MCR reserves, in segments of {wanted.reserved.mss} octets"
    return lines, "the same sum, divided in proportion" if lines else ""


def _in_proportion(
    wanted: StudyFigure, rows: Sequence[Mapping[str, Any]], series: str
) -> tuple[tuple[float, float], ...]:
    """The line through the origin whose values have the sum of a series."""
    own = [row for row in rows if label(row, wanted.series) == series]
    xs = sorted(float(row["factors"][wanted.x]) * wanted.x_step for row in own)
    slope = sum(float(row["mean"]) for row in own) / sum(xs)
    return tuple((x, slope * x) for x in xs)
