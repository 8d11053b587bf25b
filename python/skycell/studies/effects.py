"""Numbers of an analysis of variation: a row is measured on all cells of a factorial design.

Each replication is analysed for itself, with one run a cell and the error from the higher
interactions, as the publications do that print such tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from skycell.stats import Analysis, analyse
from skycell.studies.model import Level

_NAMES = {"buffer": "buffer_rtt_multiple"}
"""Factors that published tables call otherwise than the cells do."""

_Cell = tuple[tuple[str, Level], ...]


def effect_of(
    measure: str,
    cells: Sequence[Mapping[str, Level]],
    values: Sequence[float],
    factors: Mapping[str, Level],
    design: Sequence[str],
) -> float:
    """One number of the analysis of a design.

    Args:
        measure: one of `skycell.studies.model.EFFECT_MEASURES`, such as `efficiency_share`.
        cells: the cells of the design.
        values: the response in each.
        factors: of the row: `component` for a share, `factor` and `level` for an effect.
        design: the factors of the cells that make the design.
    """
    keys = tuple(tuple((name, cell[name]) for name in design) for cell in cells)
    return _MEASURE[measure.rpartition("_")[2]](_analysis(keys, tuple(values)), factors)


@lru_cache(maxsize=64)
def _analysis(cells: tuple[_Cell, ...], values: tuple[float, ...]) -> Analysis:
    rows = [{**dict(cell), "y": value} for cell, value in zip(cells, values, strict=True)]
    return analyse(rows, [name for name, _ in cells[0]], "y", level=0.9)


def _share(analysis: Analysis, factors: Mapping[str, Level]) -> float:
    wanted = {_NAMES.get(name, name) for name in str(factors["component"]).split("_x_")}
    (term,) = [term for term in analysis.variation if set(term.factors) == wanted]
    return 100 * term.share


def _effect(analysis: Analysis, factors: Mapping[str, Level]) -> float:
    level = str(factors["level"]).removesuffix("_rtt")
    factor = str(factors["factor"])
    levels = analysis.factor(_NAMES.get(factor, factor)).levels
    (found,) = [entry for entry in levels if str(entry.level) == level]
    return found.effect.value


def _error(analysis: Analysis, factors: Mapping[str, Level]) -> float:
    assert analysis.error.standard_error is not None  # one run a cell leaves higher interactions
    return analysis.error.standard_error


_MEASURE: dict[str, Callable[[Analysis, Mapping[str, Level]], float]] = {
    "share": _share,
    "effect": _effect,
    "error": _error,
}
