"""The findings of an analysis in sentences."""

from __future__ import annotations

from collections.abc import Iterable

from skycell.input.quantities import counted
from skycell.stats.findings import (
    BLOCK,
    ERROR,
    HIGHER,
    INTERACTION,
    MAIN,
    FactorEffects,
    Findings,
)
from skycell.stats.table import Level, level_name

_DOUBT = 0.01
"""p below which residuals are called not normal, or not of one spread."""


def summary(analysis: Findings) -> list[str]:
    """What an analysis finds: where the variation is, which factors matter, which levels differ."""
    if not analysis.varies:
        return [f"{analysis.response} is the same in all {analysis.runs} runs: nothing matters."]
    sentences = [_allocation(analysis)]
    if analysis.error.source == "none":
        sentences.append(
            "No run is left to estimate an error from, so nothing says whether this is chance: add "
            "replications."
        )
    else:
        sentences += [_shown(analysis), *(_levels(analysis, f) for f in analysis.factors)]
        sentences += [*_together(analysis), _beyond(analysis)]
    sentences += [error_sentence(analysis), *_residuals(analysis), *analysis.notes]
    return [sentence for sentence in sentences if sentence]


def percent(share: float) -> str:
    """A part of the variation in per cent, with the digits that tell.

    >>> percent(0.575), percent(0.0034), percent(0.00004)
    ('57.5 %', '0.34 %', 'below 0.01 %')
    """
    value = 100 * share
    if 0 < value < 0.01:
        return "below 0.01 %"
    return f"{value:.1f} %" if value >= 1 or value == 0 else f"{value:.2f} %"


def at_level(level: float) -> str:
    """A confidence level in per cent.

    >>> at_level(0.9), at_level(0.995)
    ('90 %', '99.5 %')
    """
    return f"{100 * level:.10g} %"


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _allocation(analysis: Findings) -> str:
    mains = sorted((r for r in analysis.variation if r.kind == MAIN), key=lambda r: -r.share)
    beside = sorted(
        (r for r in analysis.variation if r.kind == INTERACTION), key=lambda r: -r.share
    )
    first, *others = mains
    text = f"{first.name} explains {percent(first.share)} of the variation of {analysis.response}"
    if others:
        text += f", {_listed(f'{row.name} {percent(row.share)}' for row in others)}"
    if beside:
        together = sum(row.share for row in beside)
        text += f"; interactions {percent(together)}"
        if len(beside) > 1:
            text += f" (most of it {beside[0].name}, {percent(beside[0].share)})"
        elif beside:
            text += f" ({beside[0].name})"
    blocks = next(
        (row.name.removesuffix(" (block)") for row in analysis.variation if row.kind == BLOCK), ""
    )
    rest = {BLOCK: f"the {blocks}", HIGHER: "higher interactions", ERROR: "the error"}
    for row in analysis.variation:
        if row.kind in rest:
            text += f"; {rest[row.kind]} {percent(row.share)}"
    return f"{text}."


def _shown(analysis: Findings) -> str:
    tested = [
        row for row in analysis.variation if row.kind in {MAIN, INTERACTION} and row.p is not None
    ]
    matter = [row.name for row in tested if row.p is not None and row.p < 1 - analysis.level]
    others = [row.name for row in tested if row.name not in matter]
    level = at_level(analysis.level)
    if not matter:
        return f"At {level} confidence no factor matters: all differences can be chance."
    text = f"At {level} confidence {_listed(matter)} {'matters' if len(matter) == 1 else 'matter'}"
    return f"{text}; {_listed(others)} cannot be told from chance." if others else f"{text}."


def _levels(analysis: Findings, factor: FactorEffects) -> str:
    """The levels from high to low, and the pairs that cannot be told apart."""
    ordered = sorted(factor.levels, key=lambda level: -level.mean.value)
    unit = f" {factor.unit}" if factor.unit else ""
    means = ", ".join(
        f"{_number(level.mean.value)} with {level_name(level.level)}{unit}" for level in ordered
    )
    pairs = factor.alike()
    if not pairs:
        end = "all can be told apart" if len(ordered) > 2 else "they can be told apart"
    elif len(pairs) == len(factor.differences):
        end = "none can be told apart" if len(ordered) > 2 else "they cannot be told apart"
    else:
        end = f"cannot be told apart: {'; '.join(_pairs(pairs, [o.level for o in ordered]))}"
    return f"{factor.name}: {means}; {end}."


def _pairs(pairs: list[tuple[Level, Level]], ordered: list[Level]) -> list[str]:
    named = [sorted(pair, key=ordered.index) for pair in pairs]
    named.sort(key=lambda pair: [ordered.index(level) for level in pair])
    return [f"{level_name(first)} and {level_name(second)}" for first, second in named]


def _together(analysis: Findings) -> list[str]:
    """Interactions that matter more than a main effect of theirs."""
    share = {row.factors[0]: row.share for row in analysis.variation if row.kind == MAIN}
    found = []
    for row in analysis.variation:
        if row.kind != INTERACTION or row.p is None or row.p >= 1 - analysis.level:
            continue
        smaller = [name for name in row.factors if share[name] < row.share]
        if smaller:
            partner = {name: [f for f in row.factors if f != name] for name in smaller}
            name = min(smaller, key=lambda n: share[n])
            found.append(
                f"What {name} does depends on {_listed(partner[name])} more than it does by itself."
            )
    return found


def _beyond(analysis: Findings) -> str:
    """Interactions of more factors than the model's, where chance does not explain them."""
    row = next((row for row in analysis.variation if row.kind == HIGHER), None)
    if row is None or row.p is None or row.p >= 1 - analysis.level:
        return ""
    return (
        f"The higher interactions ({percent(row.share)}) are more than chance, too: what factors "
        "do together depends on others, and a model of a higher order names them."
    )


def error_sentence(analysis: Findings) -> str:
    """Where the error term comes from."""
    error = analysis.error
    if error.standard_error is None:
        return ""
    degrees = counted(error.degrees, "degree")
    size = f"standard error of a run {_number(error.standard_error)}, {degrees} of freedom"
    if error.source == "replications":
        return f"The error is that of the replications ({size})."
    return (
        f"With one run per cell the error is taken from the interactions {_left_out(analysis)} "
        f"({size}); if these are real, the intervals are too wide."
    )


def _left_out(analysis: Findings) -> str:
    """Which interactions are not in the model."""
    if analysis.design == "incomplete":
        return "beyond the model"
    least = 1 + max(len(row.factors) for row in analysis.variation)
    return f"of {least} factors{' or more' if least < len(analysis.factors) else ''}"


def _residuals(analysis: Findings) -> list[str]:
    found = analysis.diagnostics
    sentences = []
    if found.normality_p is not None and found.normality_p < _DOUBT:
        sentences.append(
            f"The residuals are not normal (Shapiro-Wilk p = {found.normality_p:.2g}): take the "
            "intervals as rough."
        )
    if found.spread_p is not None and found.spread_p < _DOUBT:
        sentences.append(
            f"The spread differs between the levels of {found.spread_factor} (Brown-Forsythe "
            f"p = {found.spread_p:.2g}): intervals are too narrow for some and too wide for others."
        )
    if found.largest:
        far = found.largest[0]
        cell = " ".join(
            f"{factor.name}={level_name(level)}"
            for factor, level in zip(analysis.factors, far.levels, strict=True)
        )
        more = f", the largest of {len(found.largest)}" if len(found.largest) > 1 else ""
        sentences.append(
            f"A run lies far from the model{more}: {cell} gave {_number(far.value)} where "
            f"{_number(far.fitted)} was expected."
        )
    return sentences


def _number(value: float) -> str:
    """A number with four significant digits, without exponent in the usual range.

    >>> _number(0.86373), _number(12345.6), _number(0.00001234)
    ('0.8637', '12346', '1.234e-05')
    """
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
