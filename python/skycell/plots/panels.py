"""What the figures over time share: the range, the panels one above the other, the time axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skycell.input.quantities import PS_PER_SECOND
from skycell.plots import theme
from skycell.plots.figure import NothingToDrawError
from skycell.plots.labels import listed

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

MAX_PANELS = 6
"""Panels of a figure that was not asked for certain flows; the caption says who is left out."""

DATASET = "trace"
"""Name under which a figure over time holds its rows, thousands of them."""


@dataclass(frozen=True)
class TimeRange:
    """An interval of simulated time, picoseconds from the start of the run."""

    from_ps: int
    to_ps: int

    def __post_init__(self) -> None:
        if not 0 <= self.from_ps < self.to_ps:
            raise NothingToDrawError(
                "a figure begins at 0 s or later and ends after that, not "
                f"{self.from_ps / PS_PER_SECOND:g} s to {self.to_ps / PS_PER_SECOND:g} s"
            )

    def seconds(self) -> tuple[float, float]:
        """Both ends in seconds."""
        return self.from_ps / PS_PER_SECOND, self.to_ps / PS_PER_SECOND

    @property
    def in_words(self) -> str:
        """Both ends, such as ``0 to 2.5 s``."""
        start, end = self.seconds()
        return f"{start:g} to {end:g} s"


@dataclass(frozen=True)
class Panels:
    """Which lines a figure shows, one above the other.

    Attributes:
        names: what each panel is called, by id, in the order of the panels.
        left_out: how many there are beyond these.
        noun: what they are, in the singular.
    """

    names: Mapping[int, str]
    left_out: int
    noun: str

    @property
    def in_words(self) -> str:
        """What the panels are called, one after the other."""
        return ", ".join(self.names.values())

    def sentence(self) -> str | None:
        """What a caption says about those left out; None when all are there."""
        if not self.left_out:
            return None
        shown = listed(self.names.values())
        return f"Shown: {shown} of {self.left_out + len(self.names)} {self.noun}s."


def choose(
    present: Sequence[int],
    names: Sequence[str],
    wanted: Sequence[str] | None,
    *,
    noun: str,
    limit: int = MAX_PANELS,
) -> Panels:
    """Chooses the lines of a figure.

    Args:
        present: ids that the trace holds.
        names: names by id.
        wanted: names asked for; None for the first ``limit`` of those present.
        noun: what they are, for messages.
        limit: most panels when nothing was asked for.

    Raises:
        NothingToDrawError: a wanted name does not exist, or the trace holds nothing of it.
    """
    known = {identity: names[identity] for identity in sorted(present)}
    if not known:
        raise NothingToDrawError(f"the trace holds nothing of any {noun}")
    if wanted is None:
        shown = dict(list(known.items())[:limit])
        return Panels(shown, len(known) - len(shown), noun)
    by_name = {name: identity for identity, name in known.items()}
    missing = [name for name in wanted if name not in by_name]
    if missing:
        raise NothingToDrawError(
            f"the trace holds no {noun} called {listed(missing)}; it holds {listed(by_name)}"
        )
    shown = {by_name[name]: name for name in dict.fromkeys(wanted)}
    return Panels(shown, len(known) - len(shown), noun)


def time_axis(span: TimeRange) -> alt.X:
    """The horizontal axis of a figure over time, in seconds."""
    import altair as alt

    return alt.X(
        "time_s:Q",
        title="Time (s)",
        scale=alt.Scale(domain=list(span.seconds()), nice=False, clamp=False),
        axis=alt.Axis(tickCount=10),
    )


def panel_height(panels: Panels, height: int) -> int:
    """Height of each panel, pixels, where a single one is ``height`` high."""
    count = len(panels.names)
    return height if count == 1 else max(92, min(height, 480 // count))


def stacked(layers: Sequence[alt.Chart], panels: Panels, *, height: int) -> alt.TopLevelMixin:
    """Layers drawn once for each panel, with a common time axis at the bottom.

    Args:
        layers: charts without data; that is the dataset ``DATASET`` of their figure, each row with
            the name of its panel in ``panel``.
        panels: the order of the panels.
        height: height of a single panel; several are lower.
    """
    import altair as alt

    data = alt.NamedData(name=DATASET)
    if len(panels.names) == 1:
        single = alt.layer(*layers, data=data)
        return single.properties(width=theme.WIDTH, height=height)
    return (
        alt.layer(*layers)
        .properties(width=theme.WIDTH, height=panel_height(panels, height))
        .facet(
            data=data,
            row=alt.Row(
                "panel:N",
                title=None,
                sort=list(panels.names.values()),
                header=alt.Header(labelOrient="top", labelAnchor="start", labelPadding=6),
            ),
            spacing=14,
        )
    )


def with_panel_names(frame: pl.DataFrame, key: str, panels: Panels) -> pl.DataFrame:
    """Adds the column ``panel`` (a name) and ``time_s``, and leaves only rows of the panels."""
    import polars as pl

    return frame.filter(pl.col(key).is_in(list(panels.names))).with_columns(
        pl.col(key).replace_strict(dict(panels.names), return_dtype=pl.String).alias("panel"),
        (pl.col("time_ps") / PS_PER_SECOND).alias("time_s"),
    )
