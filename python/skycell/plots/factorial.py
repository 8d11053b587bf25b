"""Every figure of a factorial study, by the name of its kind."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from skycell.plots.effects import main_effects_figure, response_figure
from skycell.plots.factorial_parts import Explained
from skycell.plots.figure import Figure, FigureOrigin, NothingToDrawError
from skycell.plots.interactions import interactions_figure
from skycell.plots.variation import allocation_figure, residuals_figure

if TYPE_CHECKING:
    from skycell.stats import Analysis

FACTORIAL_KINDS: dict[str, Callable[[Explained], Figure]] = {
    "response": response_figure,
    "allocation": allocation_figure,
    "main-effects": main_effects_figure,
    "interactions": interactions_figure,
    "residuals": residuals_figure,
}
"""Builders of figures, in the order in which a report shows them."""


def factorial_figures(
    analysis: Analysis, origin: FigureOrigin, *, study: str, unit: str = "1"
) -> list[Figure]:
    """All figures that an analysis has something for.

    Args:
        analysis: of one response.
        origin: the runs.
        study: what the study is about.
        unit: of the response.
    """
    figures = []
    for build in FACTORIAL_KINDS.values():
        with suppress(NothingToDrawError):
            figures.append(build(Explained(analysis, origin, study, unit)))
    return figures
