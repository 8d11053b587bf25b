"""Numbers of an analysis of variation: a row is measured on all cells of a factorial design.

Each replication is analysed for itself, with one run a cell and the error from the higher
interactions, as the publications do that print such tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from skycell.experiment.design import Level
from skycell.measures.measure import Measure
from skycell.stats import Analysis, analyse

_NAMES = {"buffer": "buffer_rtt_multiple"}
"""Factors that published tables call otherwise than the cells do."""

_Cell = tuple[tuple[str, Level], ...]
_Row = tuple[Analysis, Mapping[str, Level]]
"""The analysis of a design, and the factors of a row of its table."""


def effect_of(
    measure: str,
    cells: Sequence[Mapping[str, Level]],
    values: Sequence[float],
    factors: Mapping[str, Level],
    design: Sequence[str],
) -> float:
    """One number of the analysis of a design.

    Args:
        measure: one of `EFFECT_MEASURES`, such as `efficiency_share`.
        cells: the cells of the design.
        values: the response in each.
        factors: of the row: `component` for a share, `factor` and `level` for an effect.
        design: the factors of the cells that make the design.
    """
    keys = tuple(tuple((name, cell[name]) for name in design) for cell in cells)
    found = EFFECT_MEASURES[measure].measure((_analysis(keys, tuple(values)), factors))
    assert found is not None  # an analysis of a whole design has all of them
    return found


@lru_cache(maxsize=64)
def _analysis(cells: tuple[_Cell, ...], values: tuple[float, ...]) -> Analysis:
    rows = [{**dict(cell), "y": value} for cell, value in zip(cells, values, strict=True)]
    return analyse(rows, [name for name, _ in cells[0]], "y", level=0.9)


def _share(row: _Row) -> float:
    analysis, factors = row
    wanted = {_NAMES.get(name, name) for name in str(factors["component"]).split("_x_")}
    (term,) = [term for term in analysis.variation if set(term.factors) == wanted]
    return 100 * term.share


def _effect(row: _Row) -> float:
    analysis, factors = row
    level = str(factors["level"]).removesuffix("_rtt")
    factor = str(factors["factor"])
    levels = analysis.factor(_NAMES.get(factor, factor)).levels
    (found,) = [entry for entry in levels if str(entry.level) == level]
    return found.effect.value


def _error(row: _Row) -> float:
    analysis, _ = row
    assert analysis.error.standard_error is not None  # one run a cell leaves higher interactions
    return analysis.error.standard_error


@dataclass(frozen=True)
class EffectMeasure(Measure[_Row]):
    """What a table can say of all cells of a factorial design, and of which response."""

    response: str = ""


EFFECT_MEASURES: Mapping[str, EffectMeasure] = {
    f"{response}_{number}": EffectMeasure(unit, f"{meaning} {response}", measure, response=response)
    for response in ("efficiency", "max_min_fairness", "guarantee_shortfall", "excess_fairness")
    for number, unit, meaning, measure in (
        ("share", "%", "part of the row's component in the variation of", _share),
        ("effect", "1", "main effect of the row's level on", _effect),
        ("error", "1", "standard error of", _error),
    )
}
"""What a table can measure on all cells of a factorial design."""
