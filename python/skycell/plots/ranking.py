"""Options in the order of a response, with intervals of what they are behind the best."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skycell.plots import theme
from skycell.plots.factorial_parts import slug
from skycell.plots.figure import Figure, FigureOrigin, NothingToDrawError
from skycell.plots.labels import described, lowered, metric

if TYPE_CHECKING:
    from skycell.experiment.ranking import Ranking

MOST_OPTIONS = 56
"""As many rows as a page of A4 has room for, which is 1123 pixels high."""
_STEP = 19
_VERDICTS = ("best", "not told apart", "worse")


def ranking_figure(
    ranking: Ranking, origin: FigureOrigin, *, unit: str, title: str, subject: str = ""
) -> Figure:
    """A row an option: its mean, and the interval of its difference to the best mean.

    Args:
        ranking: the options, the best first.
        origin: the runs.
        unit: of the response.
        title: what was asked.
        subject: the port that the response is of; empty if it is of none.

    Raises:
        NothingToDrawError: there are more options than are read as one figure.
    """
    import altair as alt

    if len(ranking.ranked) > MOST_OPTIONS:
        raise NothingToDrawError(
            f"{len(ranking.ranked)} options, and at most {MOST_OPTIONS} are one figure"
        )
    best = ranking.ranked[0].values[ranking.aim.response]
    assert best is not None
    rows = []
    for at, option in enumerate(ranking.ranked):
        verdict = _VERDICTS[2 if option.is_worse else bool(at)]
        rows.append(
            {
                "option": described(option.levels),
                "mean": best + option.difference,
                "low": best + option.low,
                "high": best + option.high,
                "verdict": verdict,
            }
        )
    response = metric(ranking.aim.response, unit, subject)
    names = [described(option.levels) for option in ranking.ranked]
    y = alt.Y("option:N", sort=names, title=None, axis=alt.Axis(labelLimit=0, grid=True))
    colour = alt.Color(
        "verdict:N",
        scale=alt.Scale(
            domain=list(_VERDICTS), range=[theme.PALETTE[2], theme.PALETTE[0], theme.MUTED]
        ),
        legend=alt.Legend(title=None, orient="top"),
    )
    shape = alt.Shape(
        "verdict:N", scale=alt.Scale(domain=list(_VERDICTS), range=list(theme.SHAPES[:3]))
    )
    base = alt.Chart(alt.InlineData(values=rows))
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=response, scale=alt.Scale(zero=False)),
        x2="high:Q",
        y=y,
        color=colour,
    )
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=alt.X("mean:Q", title=response, scale=alt.Scale(zero=False)),
        y=y,
        color=colour,
        shape=shape,
        tooltip=["option:N", "mean:Q", "low:Q", "high:Q", "verdict:N"],
    )
    summary = f"{len(ranking.best)} of {len(rows)} options are not told apart from the best mean"
    return Figure(
        name=slug("ranking", "by", ranking.aim.response),
        title=f"Options by {lowered(metric(ranking.aim.response, subject=subject))}",
        subtitle=title,
        chart=alt.layer(bars, points).properties(width=theme.WIDTH - 120, height=_STEP * len(rows)),
        caption=(
            f"Point: mean of {ranking.replications} replications.",
            "Bar: the best mean plus the interval of the difference to it, seed by seed.",
            f"All bars hold together with {ranking.confidence:.0%} (Bonferroni).",
            f"{summary}.",
        ),
        origin=origin,
        description=f"{summary}; the best: {names[0]}",
    )
