"""Elevation of satellites above places over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skycell.input.quantities import PS_PER_SECOND, counted, show_time
from skycell.plots import theme
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.labels import place_name, sentences

if TYPE_CHECKING:
    from skycell.orbit import Sights

MOST_PLACES = 6
"""Panels of one figure."""
MOST_NAMED = len(theme.PALETTE)
"""Satellites that have a colour of their own each; of more, lines have one colour and no legend."""


def elevation_figure(title: str, sights: Sights) -> Figure:
    """Elevation above the horizon over time, a line a satellite, a panel a place.

    Args:
        title: the constellation's.
        sights: where satellites stand; of more than six places the first six are drawn.

    Raises:
        NothingToDrawError: no satellite is above the horizon at any of the moments.
    """
    import altair as alt
    import polars as pl

    from skycell.version import version

    places = sights.places[:MOST_PLACES]
    rows = sights.table().filter(pl.col("elevation_deg") >= 0, pl.col("place").is_in(places))
    if rows.is_empty():
        raise NothingToDrawError("no satellite is above the horizon at any of the moments")
    # A line ends where its satellite sets: it rises again as another one.
    step_ps = sights.times_ps[1] - sights.times_ps[0] if len(sights.times_ps) > 1 else 1
    rows = rows.with_columns(
        time_s=pl.col("time_ps") / PS_PER_SECOND,
        place=pl.col("place").replace_strict({name: place_name(name) for name in places}),
        rise=(pl.col("time_ps").diff() != step_ps).fill_null(True).cum_sum(),
    )
    names = rows["satellite"].unique(maintain_order=True).to_list()
    colour: dict[str, Any] = {"color": alt.value(theme.PALETTE[0])}
    if 1 < len(names) <= MOST_NAMED:
        colour = {"color": alt.Color("satellite:N", title="satellite", sort=names)}
    kept = rows.select("time_s", "elevation_deg", "satellite", "place", "rise").to_dicts()
    chart: Any = (
        alt.Chart(alt.InlineData(values=kept))
        .mark_line()
        .encode(
            x=alt.X("time_s:Q", title="Time (s)", scale=alt.Scale(nice=False)),
            y=alt.Y("elevation_deg:Q", title="Elevation (degrees)"),
            detail=["satellite:N", "rise:N"],
            **colour,
        )
        .properties(width=theme.WIDTH, height=280 if len(places) == 1 else 150)
    )
    if len(places) > 1:
        order = [place_name(name) for name in places]
        chart = chart.facet(
            row=alt.Row("place:N", title=None, sort=order, header=alt.Header(labelOrient="top"))
        )
    more = len(sights.places) - len(places)
    where = place_name(places[0]) if len(places) == 1 else f"{len(places)} places"
    return Figure(
        name="elevation",
        title=f"Satellites above {where}",
        subtitle=title,
        chart=chart,
        caption=sentences(
            f"Elevation above the horizon, every {show_time(step_ps)}."
            if len(sights.times_ps) > 1
            else "",
            "The elevation mask is not drawn.",
            f"{counted(more, 'more place')} not drawn." if more else "",
        ),
        origin=Origin("orbit", version()),
        description=f"{counted(len(names), 'satellite')} above {where}: elevation over time.",
    )
