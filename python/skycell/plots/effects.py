"""Means and main effects of a factorial study, a panel for each factor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from skycell.plots import theme
from skycell.plots.factorial_parts import (
    GAP,
    MOST_POINTS,
    Explained,
    domain_of,
    edges,
    error_words,
    interval_row,
    level_labels,
    mean_words,
    tooltip,
    value_axis,
)
from skycell.plots.figure import Figure
from skycell.plots.labels import factor, grouped, listed, lowered, name

if TYPE_CHECKING:
    import altair as alt

    from skycell.stats import Analysis
    from skycell.stats.findings import Estimate, FactorEffects, LevelEffect


def response_figure(of: Explained) -> Figure:
    """The response by each factor: every run, and the means of the levels with their intervals."""
    analysis = of.analysis
    axis_title = of.title

    values = [residual.value for residual in analysis.residuals]
    values += [edge for f in analysis.factors for own in f.levels for edge in edges(own.mean)]
    domain = domain_of(values)

    def panel(place: int, own: FactorEffects, first: bool, width: float) -> Any:
        runs = _points if analysis.runs <= MOST_POINTS else _bands
        return [
            runs(analysis, place, own, domain).encode(
                x=_levels_axis(own, width),
                y=value_axis("run", axis_title, domain, first),
            ),
            *_marks(own, lambda level: level.mean, axis_title, domain, first, width),
        ]

    return of.figure(
        "response",
        "means of the levels",
        chart=_panels(analysis.factors, panel),
        caption=(
            of.explained,
            f"Grey: the {grouped(analysis.runs)} runs"
            + ("" if analysis.runs <= MOST_POINTS else f", as {_BANDS} bands: the darker, the more")
            + "; point: mean of a level.",
            mean_words(analysis),
        ),
        description=_reported(analysis, lambda level: level.mean, "mean"),
    )


_BANDS = 60
"""Equal parts of the vertical axis, in each of which many runs are counted."""


def _points(analysis: Analysis, place: int, own: FactorEffects, domain: list[float]) -> Any:
    """Every run at its level of the factor at ``place``, a little aside of the next."""
    import altair as alt

    levels = [level.level for level in own.levels]
    rows = [
        {
            "x": name(residual.levels[place]),
            "run": residual.value,
            "aside": ((index * 7919) % 101) / 101 - 0.5,
        }
        for index, residual in enumerate(analysis.residuals)
        if residual.levels[place] in levels
    ]
    chart = alt.Chart(alt.InlineData(values=rows)).mark_point(
        filled=True, size=14, opacity=0.35, color=theme.MUTED
    )
    return chart.encode(xOffset=alt.XOffset("aside:Q", scale=alt.Scale(domain=[-1.6, 1.6])))


def _bands(analysis: Analysis, place: int, own: FactorEffects, domain: list[float]) -> Any:
    """How many runs of each level of the factor at ``place`` lie in each band of the axis."""
    import altair as alt

    low, high = domain
    wide = (high - low) / _BANDS
    levels = [level.level for level in own.levels]
    counts = Counter(
        (residual.levels[place], int((residual.value - low) / wide))
        for residual in analysis.residuals
        if residual.levels[place] in levels
    )
    fullest: Counter[Any] = Counter()
    for (level, _), runs in counts.items():
        fullest[level] = max(fullest[level], runs)
    rows = [
        {
            "x": name(level),
            "run": low + band * wide,
            "to": low + (band + 1) * wide,
            "runs": runs,
            "part": runs / fullest[level],
        }
        for (level, band), runs in counts.items()
    ]
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(color=theme.MUTED, width={"band": 0.6})
        .encode(
            y2="to:Q",
            opacity=alt.Opacity(
                "part:Q", scale=alt.Scale(domain=[0, 1], range=[0.15, 0.8]), legend=None
            ),
            tooltip=[alt.Tooltip("runs:Q", title="runs")],
        )
    )


def main_effects_figure(of: Explained) -> Figure:
    """The main effect of every level, with its interval: a panel for each factor."""
    analysis = of.analysis
    import altair as alt

    axis_title = f"Effect on {lowered(of.title)}"
    ends = [edge for f in analysis.factors for own in f.levels for edge in edges(own.effect)]
    domain = domain_of([*ends, 0.0])

    def panel(place: int, own: FactorEffects, first: bool, width: float) -> Any:
        zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(strokeDash=[4, 3])
        return [
            zero.encode(y=value_axis("zero", axis_title, domain, first)),
            *_marks(own, lambda level: level.effect, axis_title, domain, first, width),
        ]

    return of.figure(
        "main-effects",
        "main effects",
        chart=_panels(analysis.factors, panel),
        caption=(
            of.explained,
            f"Point: mean of a level minus the overall mean, {analysis.mean.value:.4g}.",
            error_words(analysis),
        ),
        description=_reported(analysis, lambda level: level.effect, "effect"),
    )


def _panels(
    factors: Sequence[FactorEffects], panel: Callable[[int, FactorEffects, bool, float], list[Any]]
) -> Any:
    """A panel for each factor, side by side, as wide as it has levels."""
    import altair as alt

    weights = [len(own.levels) + 0.8 for own in factors]
    room = theme.WIDTH - GAP * (len(factors) - 1)
    charts = []
    for place, own in enumerate(factors):
        width = room * weights[place] / sum(weights)
        layers = panel(place, own, place == 0, width)
        charts.append(alt.layer(*layers).properties(width=width, height=240))
    return alt.hconcat(*charts, spacing=GAP) if len(charts) > 1 else charts[0]


def _marks(
    own: FactorEffects,
    estimate: Callable[[LevelEffect], Estimate],
    title: str,
    domain: list[float],
    first: bool,
    width: float,
) -> list[Any]:
    """Point and interval of every level of a factor."""
    import altair as alt

    rows = [{"x": name(level.level)} | interval_row(estimate(level)) for level in own.levels]
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=_levels_axis(own, width))
    return [
        base.mark_rule(strokeWidth=6, opacity=0.35, color=theme.PALETTE[0]).encode(
            y=value_axis("low", title, domain, first), y2="high:Q"
        ),
        base.mark_point(filled=True, size=36, opacity=1, color=theme.PALETTE[0]).encode(
            y=value_axis("value", title, domain, first), tooltip=tooltip()
        ),
    ]


def _levels_axis(own: FactorEffects, width: float) -> alt.X:
    import altair as alt

    xs = [name(level.level) for level in own.levels]
    return alt.X("x:N", sort=xs, title=factor(own.name, own.unit), axis=level_labels(xs, width))


def _reported(analysis: Analysis, estimate: Callable[[LevelEffect], Estimate], what: str) -> str:
    """The figure in words."""
    parts = []
    for own in analysis.factors:
        levels = [f"{name(level.level)} {estimate(level).value:.4g}" for level in own.levels]
        parts.append(f"{factor(own.name, own.unit)}: {what} {listed(levels)}")
    return ". ".join(parts) + "."
