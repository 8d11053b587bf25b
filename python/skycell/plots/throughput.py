"""How the throughput of a run is spread over its flows, however many they are."""

from __future__ import annotations

from collections.abc import Sequence

from skycell.input.quantities import counted
from skycell.plots import theme
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.labels import sentences

MOST_STEPS = 500
"""Steps of the curve, more than which an eye does not tell apart; of fewer flows each is a step."""


def steps_of(ordered: Sequence[float]) -> list[tuple[float, float]]:
    """Values, and the percentage of all that are as great or less, from 0 to 100 %.

    >>> steps_of([2.0, 3.0])
    [(2.0, 0.0), (2.0, 50.0), (3.0, 100.0)]
    """
    count = len(ordered)
    steps = min(count, MOST_STEPS)
    # The last value of each step, so that the curve is exact where it turns and ends at 100 %.
    last = [(step + 1) * count // steps for step in range(steps)]
    return [(ordered[0], 0.0), *((ordered[own - 1], 100 * own / count) for own in last)]


def throughput_of_flows(rates_bps: Sequence[float], origin: Origin) -> Figure:
    """The part of the flows that got a throughput or less, over that throughput.

    Args:
        rates_bps: of each flow, bit/s.
        origin: the run.

    Raises:
        NothingToDrawError: there are no flows.
    """
    import altair as alt

    if not rates_bps:
        raise NothingToDrawError("throughput shows flows, and the run has none")
    ordered = sorted(rate / 1e6 for rate in rates_bps)
    flows = len(ordered)
    rows = [{"mbps": value, "percent": percent} for value, percent in steps_of(ordered)]
    steps = len(rows) - 1
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=2, color=theme.PALETTE[0])
        .encode(
            x=alt.X("mbps:Q", title="Throughput (Mbit/s)", axis=alt.Axis(tickCount=8)),
            y=alt.Y(
                "percent:Q",
                title="Flows with this or less (%)",
                scale=alt.Scale(domain=[0, 100], nice=False),
                axis=alt.Axis(tickCount=5),
            ),
            order="percent:Q",
            tooltip=[
                alt.Tooltip("mbps:Q", title="Mbit/s", format=".4~g"),
                alt.Tooltip("percent:Q", title="flows with this or less, %", format=".3~g"),
            ],
        )
        .properties(width=theme.WIDTH - 60, height=260)
    )
    middle = ordered[(flows - 1) // 2]
    caption = sentences(
        "Octets delivered in order, divided by the simulated time, of each flow.",
        f"{counted(flows, 'flow')}: smallest {ordered[0]:.4g}, median {middle:.4g}, largest "
        f"{ordered[-1]:.4g} Mbit/s.",
        f"Drawn: {steps} steps of {flows / steps:.3g} flows each." if steps < flows else None,
    )
    return Figure(
        name="throughput",
        title="Throughput of the flows",
        chart=chart,
        caption=caption,
        origin=origin,
        description=(
            f"A curve that rises from 0 to 100 % of {counted(flows, 'flow')} between "
            f"{ordered[0]:.4g} and {ordered[-1]:.4g} Mbit/s, with 50 % at {middle:.4g} Mbit/s."
        ),
    )
