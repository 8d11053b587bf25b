"""Interactions of a factorial study: the means at every pair of levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skycell.plots import theme
from skycell.plots.factorial_parts import (
    GAP,
    Explained,
    domain_of,
    edges,
    interval_row,
    legend_columns,
    level_labels,
    mean_words,
    tooltip,
    value_axis,
)
from skycell.plots.figure import Figure, NothingToDrawError
from skycell.plots.labels import factor, listed, name

if TYPE_CHECKING:
    from skycell.stats import Analysis
    from skycell.stats.findings import Interaction


_MOST_LINES = len(theme.PALETTE)
"""Levels that have a line each: as many as colours and shapes tell apart."""

_HEIGHT = 220
"""Of a panel, pixels."""


def interactions_figure(of: Explained) -> Figure:
    """Means of every pair of levels, one panel for each pair of factors.

    Lines that do not run alike are an interaction. Where both factors have more levels than lines
    can be told apart, the panel is a map of the means.

    Raises:
        NothingToDrawError: the model has no interactions.
    """
    analysis = of.analysis
    import altair as alt

    if not analysis.interactions:
        raise NothingToDrawError(
            f"the analysis of {analysis.response} has no interactions to draw: with two factors "
            "and one run per cell, their interaction serves as the error"
        )
    axis_title = of.title
    ends = [e for pair in analysis.interactions for c in pair.cells for e in edges(c.mean)]
    domain = domain_of(ends)
    means = [cell.mean.value for pair in analysis.interactions for cell in pair.cells]
    across = min(2, len(analysis.interactions))
    width = (theme.WIDTH - 3 * GAP * (across - 1)) / across
    panels = [
        _lines(pair, titles, axis_title, domain, width)
        if _has_lines(pair)
        else _map(pair, titles, axis_title, [min(means), max(means)], width)
        for pair in analysis.interactions
        for titles in [[factor(own, analysis.factor(own).unit) for own in pair.factors]]
    ]
    chart = alt.concat(
        *panels, columns=across, spacing={"row": GAP, "column": 3 * GAP}
    ).resolve_scale(color="independent", shape="independent", xOffset="independent")
    return of.figure(
        "interactions",
        "pairs of factors",
        chart=chart,
        caption=(
            of.explained,
            *_explained(analysis),
        ),
        description=". ".join(
            f"{listed(map(factor, pair.factors))}: "
            + "; ".join(
                f"{', '.join(map(name, cell.levels))} {cell.mean.value:.4g}" for cell in pair.cells
            )
            for pair in analysis.interactions
        ),
    )


def _explained(analysis: Analysis) -> list[str]:
    """What a caption says of the panels that the figure has."""
    with_lines = [_has_lines(pair) for pair in analysis.interactions]
    said = []
    if any(with_lines):
        said.append(
            "Point: mean at a pair of levels. Lines that are not parallel are an interaction."
        )
    if not all(with_lines):
        said.append(
            f"Colour: mean at a pair of levels, where both factors have more than {_MOST_LINES}."
        )
    if any(with_lines):
        said.append(mean_words(analysis))
    return said


def _has_lines(pair: Interaction) -> bool:
    return min(_counts(pair)) <= _MOST_LINES


def _counts(pair: Interaction) -> tuple[int, int]:
    """Levels of the first and of the second factor."""
    first, second = zip(*(cell.levels for cell in pair.cells), strict=True)
    return len(set(first)), len(set(second))


def _lines(
    pair: Interaction, titles: Sequence[str], axis_title: str, domain: list[float], width: float
) -> Any:
    """A line for each level of the factor that has fewer of them, if the second has too many."""
    import altair as alt

    along, by = (1, 0) if _counts(pair)[1] > _MOST_LINES else (0, 1)
    rows: list[dict[str, Any]] = [
        {"x": name(cell.levels[along]), "series": name(cell.levels[by])} | interval_row(cell.mean)
        for cell in pair.cells
    ]
    xs = list(dict.fromkeys(row["x"] for row in rows))
    series = list(dict.fromkeys(row["series"] for row in rows))
    legend = alt.Legend(symbolOpacity=1, columns=legend_columns(series, width))
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("x:N", sort=xs, title=titles[along], axis=level_labels(xs, width)),
        color=alt.Color(
            "series:N",
            sort=series,
            title=titles[by],
            scale=alt.Scale(domain=series, range=list(theme.PALETTE[: len(series)])),
            legend=legend,
        ),
    )
    for row in rows:
        row["aside"] = series.index(row["series"]) - (len(series) - 1) / 2
    most = 2.0 * len(series)
    aside = alt.XOffset("aside:Q", scale=alt.Scale(domain=[-most, most], zero=False))
    line = base.encode(y=value_axis("value", axis_title, domain, True))
    bars = base.mark_rule(strokeWidth=2, opacity=0.5).encode(
        y=value_axis("low", axis_title, domain, True), y2="high:Q", xOffset=aside
    )
    shape = alt.Shape(
        "series:N",
        sort=series,
        title=titles[by],
        scale=alt.Scale(domain=series, range=list(theme.SHAPES[: len(series)])),
        legend=legend,
    )
    dots = line.mark_point(filled=True, size=45, opacity=1).encode(
        xOffset=aside, shape=shape, tooltip=tooltip()
    )
    lines = line.mark_line(strokeWidth=1.2, opacity=0.6).encode(xOffset=aside)
    return alt.layer(bars, lines, dots).properties(width=width, height=_HEIGHT)


def _map(
    pair: Interaction, titles: Sequence[str], axis_title: str, domain: list[float], width: float
) -> Any:
    """A square for each pair of levels, whose colour is the mean."""
    import altair as alt

    rows: list[dict[str, Any]] = [
        {"x": name(cell.levels[0]), "series": name(cell.levels[1])} | interval_row(cell.mean)
        for cell in pair.cells
    ]
    xs = list(dict.fromkeys(row["x"] for row in rows))
    ys = list(dict.fromkeys(row["series"] for row in rows))
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_rect()
        .encode(
            x=alt.X("x:N", sort=xs, title=titles[0], axis=level_labels(xs, width)),
            y=alt.Y("series:N", sort=ys[::-1], title=titles[1]),
            color=alt.Color(
                "value:Q",
                title=axis_title,
                scale=alt.Scale(scheme="viridis", domain=domain),
                legend=alt.Legend(gradientLength=min(200, int(width)), tickCount=5),
            ),
            tooltip=tooltip(),
        )
        .properties(width=width, height=_HEIGHT)
    )
