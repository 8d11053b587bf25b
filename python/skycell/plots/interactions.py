"""Interactions of a factorial study: the means at every pair of levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skycell.plots import theme
from skycell.plots.factorial_parts import (
    GAP,
    domain_of,
    edges,
    explained_response,
    factor_title,
    interval_row,
    level_labels,
    mean_words,
    response_title,
    slug,
    tooltip,
    value_axis,
)
from skycell.plots.figure import Figure, FigureOrigin, NothingToDrawError
from skycell.plots.labels import factor, listed, name

if TYPE_CHECKING:
    import altair as alt

    from skycell.stats import Analysis


def interactions_figure(
    analysis: Analysis, origin: FigureOrigin, *, study: str, unit: str = "1"
) -> Figure:
    """Means of every pair of levels, one panel for each pair of factors.

    Lines that do not run alike are an interaction.

    Args:
        analysis: of the response.
        origin: the runs.
        study: what the study is about, for the line below the title.
        unit: of the response.

    Raises:
        NothingToDrawError: the model has no interactions.
    """
    import altair as alt

    if not analysis.interactions:
        raise NothingToDrawError(
            f"the analysis of {analysis.response} has no interactions to draw: with two factors "
            "and one run per cell, their interaction serves as the error"
        )
    axis_title = response_title(analysis.response, unit)
    ends = [e for pair in analysis.interactions for c in pair.cells for e in edges(c.mean)]
    domain = domain_of(ends)
    across = min(2, len(analysis.interactions))
    width = (theme.WIDTH - 3 * GAP * (across - 1)) / across
    panels = []
    for pair in analysis.interactions:
        along, by = (factor_title(analysis.factor(own)) for own in pair.factors)
        rows: list[dict[str, Any]] = [
            {"x": name(cell.levels[0]), "series": name(cell.levels[1])} | interval_row(cell.mean)
            for cell in pair.cells
        ]
        xs = list(dict.fromkeys(row["x"] for row in rows))
        series = list(dict.fromkeys(row["series"] for row in rows))
        base = alt.Chart(alt.InlineData(values=rows)).encode(
            x=alt.X("x:N", sort=xs, title=along, axis=level_labels(xs, width)),
            color=_series_colour(series, by),
        )
        for row in rows:
            row["aside"] = series.index(row["series"]) - (len(series) - 1) / 2
        most = 2.0 * len(series)
        aside = alt.XOffset("aside:Q", scale=alt.Scale(domain=[-most, most], zero=False))
        line = base.encode(y=value_axis("value", axis_title, domain, True))
        bars = base.mark_rule(strokeWidth=2, opacity=0.5).encode(
            y=value_axis("low", axis_title, domain, True), y2="high:Q", xOffset=aside
        )
        dots = line.mark_point(filled=True, size=45, opacity=1).encode(
            xOffset=aside, shape=_series_shape(series, by), tooltip=tooltip()
        )
        lines = line.mark_line(strokeWidth=1.2, opacity=0.6).encode(xOffset=aside)
        panels.append(alt.layer(bars, lines, dots).properties(width=width, height=220))
    chart = alt.concat(
        *panels, columns=across, spacing={"row": GAP, "column": 3 * GAP}
    ).resolve_scale(color="independent", shape="independent", xOffset="independent")
    return Figure(
        name=slug("interactions", analysis.response),
        title=f"{response_title(analysis.response)}: pairs of factors",
        subtitle=study,
        chart=chart,
        caption=(
            explained_response(analysis, unit),
            "Point: mean at a pair of levels. Lines that are not parallel are an interaction.",
            mean_words(analysis),
        ),
        origin=origin,
        description=". ".join(
            f"{listed(map(factor, pair.factors))}: "
            + "; ".join(
                f"{', '.join(map(name, cell.levels))} {cell.mean.value:.4g}" for cell in pair.cells
            )
            for pair in analysis.interactions
        ),
    )


def _series_colour(series: Sequence[str], title: str) -> alt.Color:
    import altair as alt

    # Past six, colours repeat and shapes go on telling the lines apart.
    colours = [theme.PALETTE[place % len(theme.PALETTE)] for place in range(len(series))]
    return alt.Color(
        "series:N",
        sort=list(series),
        title=title,
        scale=alt.Scale(domain=series, range=colours),
        legend=alt.Legend(symbolOpacity=1),
    )


def _series_shape(series: Sequence[str], title: str) -> alt.Shape:
    import altair as alt

    count = len(theme.SHAPES)
    shapes = [theme.SHAPES[(place + place // count) % count] for place in range(len(series))]
    return alt.Shape(
        "series:N",
        sort=list(series),
        title=title,
        scale=alt.Scale(domain=series, range=shapes),
        legend=alt.Legend(symbolOpacity=1),
    )
