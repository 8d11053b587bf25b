"""The figures that a study lists: from its rows to curves and trade-offs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from skycell.metrics import tcp_share
from skycell.metrics.ceiling import CELL_BITS
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.words import level
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
        axes = Axes(
            series=wanted.series,
            x=wanted.x,
            y=wanted.metric,
            colour=wanted.colour,
            column=wanted.column,
            row=wanted.row,
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
        figure_name=wanted.id,
    )


def reserved_mbps(mcr_cells_per_s: float, of: Reserved) -> float:
    """What users can get of an MCR, Mbit/s: its cells filled with segments of a size.

    >>> round(reserved_mbps(100_000, Reserved(mss=9140, timestamps=True)), 2)
    38.08
    """
    share = tcp_share(of.mss, llc_snap=of.llc_snap, timestamps=of.timestamps)
    return mcr_cells_per_s * CELL_BITS * share / MBIT


def _reference(
    wanted: StudyFigure, rows: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, list[tuple[float, float]]], str]:
    """Dashed lines of a figure, and what they are."""
    if wanted.reserved is not None:
        xs = sorted({float(row["factors"][wanted.x]) for row in rows})
        line = [(x, reserved_mbps(x, wanted.reserved)) for x in xs]
        size = wanted.reserved.mss
        return {"": line}, f"what the MCR reserves, in segments of {size} octets"
    if not wanted.proportional:
        return {}, ""
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        label = level(wanted.series, row["factors"][wanted.series])
        lines.setdefault(label, []).append((float(row["factors"][wanted.x]), row["mean"]))
    slopes = {
        label: sum(y for _, y in points) / sum(x for x, _ in points)
        for label, points in lines.items()
    }
    divided = {
        label: [(x, x * slopes[label]) for x, _ in sorted(points)]
        for label, points in lines.items()
    }
    return divided, "the same sum, divided in proportion"
