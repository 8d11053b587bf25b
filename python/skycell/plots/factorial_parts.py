"""What the figures of a factorial study share: titles, intervals, axes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import counted
from skycell.plots.figure import Figure, FigureOrigin
from skycell.plots.labels import explained, metric
from skycell.stats.findings import BLOCK

if TYPE_CHECKING:
    import altair as alt

    from skycell.stats import Analysis
    from skycell.stats.findings import Estimate

GAP = 18
"""Between panels, pixels."""

_LETTER_WIDTH = 6.5
"""Of an axis label, pixels, on the average."""

_SYMBOL_WIDTH = 36
"""Of a symbol in a legend with the room around it, pixels."""

MOST_POINTS = 600
"""Runs that are drawn as a point each; of more, those that fall on one spot are drawn as one."""

_SPOT = 4
"""Side of a spot, pixels."""


@dataclass(frozen=True)
class Explained:
    """An analysis as figures show it.

    Attributes:
        analysis: of one response.
        origin: the runs.
        study: what the study is about, for the line below the title.
        unit: of the response.
    """

    analysis: Analysis
    origin: FigureOrigin
    study: str
    unit: str = "1"

    @property
    def title(self) -> str:
        """The response as an axis has it."""
        return metric(self.analysis.response, self.unit, self.analysis.subject)

    @property
    def explained(self) -> str:
        """What a caption says of the response."""
        return explained(self.analysis.response, self.unit, self.analysis.subject)

    def figure(
        self, kind: str, what: str, *, chart: Any, caption: tuple[str, ...], description: str
    ) -> Figure:
        """The figure of a kind, and what of the response it shows."""
        response = self.analysis.response
        return Figure(
            name=slug(kind, response),
            title=f"{metric(response, subject=self.analysis.subject)}: {what}",
            subtitle=self.study,
            chart=chart,
            caption=caption,
            origin=self.origin,
            description=description,
        )


def slug(*parts: str) -> str:
    """A name for files: letters, digits and hyphens."""
    return re.sub(r"[^A-Za-z0-9]+", "-", "-".join(parts)).strip("-")


def _level_words(analysis: Analysis) -> str:
    from skycell.stats.sentences import at_level

    return at_level(analysis.level)


def error_words(analysis: Analysis) -> str:
    """What a caption says of the intervals of effects."""
    error = analysis.error
    if error.standard_error is None:
        return "There is no error term, so there are no intervals."
    source = {
        "replications": "the replications",
        "higher interactions": "the higher interactions, with one run per cell",
    }[error.source]
    return (
        f"Bars: {_level_words(analysis)} intervals, with the error of {source} "
        f"({counted(error.degrees, 'degree')} of freedom)."
    )


def mean_words(analysis: Analysis) -> str:
    """What a caption says of the intervals of means: those of blocks move all means together."""
    block = next((row for row in analysis.variation if row.kind == BLOCK), None)
    if block is None or analysis.error.standard_error is None:
        return error_words(analysis)
    own = block.name.removesuffix(" (block)")
    return (
        f"{error_words(analysis)} They also include what runs with the same {own} share, which "
        "moves all means together: means with overlapping bars may still be told apart."
    )


def level_labels(xs: Sequence[str], width: float) -> alt.Axis:
    """An axis of levels: a word a line, turned where words are too long to stand side by side."""
    import altair as alt

    longest = max(len(word) for x in xs for word in x.split(" "))
    turned = _LETTER_WIDTH * (longest + 1) > width / len(xs)
    return alt.Axis(
        labelAngle=-40 if turned else 0,
        labelExpr="datum.label" if turned else "split(datum.label, ' ')",
        domain=True,
        ticks=False,
        labelLimit=160,
    )


def legend_columns(names: Sequence[str], width: float) -> int:
    """Columns of a horizontal legend that is no wider than its panel, at least one.

    >>> legend_columns(["Reno", "SACK"], 320), legend_columns(["a long name of a level"] * 5, 320)
    (5, 1)
    """
    return max(1, int(width / (_LETTER_WIDTH * max(map(len, names)) + _SYMBOL_WIDTH)))


def value_axis(field: str, title: str, domain: list[float], first: bool) -> alt.Y:
    """The vertical axis of a panel; only the first one has a title and labels."""
    import altair as alt

    axis = alt.Axis(tickCount=6) if first else alt.Axis(tickCount=6, labels=False)
    return alt.Y(
        f"{field}:Q",
        title=title if first else None,
        scale=alt.Scale(domain=domain, nice=False, zero=False),
        axis=axis,
    )


def interval_row(estimate: Estimate) -> dict[str, float]:
    """An estimate as a row of data; without an interval both ends are the estimate."""
    low, high = edges(estimate)
    return {"value": estimate.value, "low": low, "high": high}


def edges(estimate: Estimate) -> tuple[float, float]:
    """The ends of an interval, or twice the estimate where there is none."""
    if estimate.low is None or estimate.high is None:
        return estimate.value, estimate.value
    return estimate.low, estimate.high


def tooltip() -> list[Any]:
    """What a page shows under the pointer."""
    import altair as alt

    return [
        alt.Tooltip("x:N", title="level"),
        alt.Tooltip("value:Q", title="estimate", format=".4~g"),
        alt.Tooltip("low:Q", title="from", format=".4~g"),
        alt.Tooltip("high:Q", title="to", format=".4~g"),
    ]


def domain_of(values: Sequence[float]) -> list[float]:
    """A little more than the values take."""
    low, high = min(values), max(values)
    room = 0.06 * (high - low) or 0.5 * abs(high) or 0.5
    return [low - room, high + room]


def spots(
    rows: Sequence[dict[str, Any]], x: str, y: str, width: float, height: float
) -> list[dict[str, Any]]:
    """The first of the rows whose points fall on one spot of a panel; all rows if they are few.

    Args:
        rows: points of a panel.
        x: column that is drawn across.
        y: column that is drawn upwards.
        width: of the panel, pixels.
        height: of the panel, pixels.
    """
    if len(rows) <= MOST_POINTS:
        return list(rows)

    def placed(column: str, pixels: float) -> list[int]:
        values = [row[column] for row in rows]
        scale = pixels / _SPOT / ((max(values) - min(values)) or 1.0)
        return [int((value - min(values)) * scale) for value in values]

    found: dict[tuple[int, int], dict[str, Any]] = {}
    for row, *spot in zip(rows, placed(x, width), placed(y, height), strict=True):
        found.setdefault((spot[0], spot[1]), row)
    return list(found.values())
