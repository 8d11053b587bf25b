"""What drives a link over time: its delay, its rate and its losses, one above the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND
from skycell.plots import theme
from skycell.plots.decimation import decimate
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.labels import sentences

if TYPE_CHECKING:
    from skycell.spec.steps import Steps

_HEIGHT = 130
_TITLES = {
    "delay": "One-way delay (ms)",
    "rate": "Rate (Mbit/s)",
    "loss": "Loss of frames (%)",
}


def link_over_time(steps: Steps, name: str, form: str) -> Figure:
    """Step lines of what a file makes of a link; nothing is drawn where there is no path.

    Args:
        steps: of a line of packets, so that rates are thousandths of a bit/s.
        name: of the file.
        form: of the file, for the line below the title.

    Raises:
        NothingToDrawError: the steps have no length, or no path at any time.
    """
    import altair as alt

    from skycell.version import version

    end_ps = steps.times_ps[-1]
    if not end_ps or all(delay is None for delay in steps.delays_ps):
        raise NothingToDrawError("the file has one moment only, or no path at any")
    charts: list[Any] = []
    thinned = None
    domain = [0, end_ps / PS_PER_SECOND]
    values_of = _values(steps)
    for at, (kind, values) in enumerate(values_of.items()):
        rows, note = _lines(steps, values)
        thinned = thinned or note
        is_last = at + 1 == len(values_of)
        charts.append(
            alt.Chart(alt.InlineData(values=rows))
            .mark_line(interpolate="step-after", color=theme.PALETTE[at])
            .encode(
                x=alt.X(
                    "time_s:Q",
                    title="Time (s)" if is_last else None,
                    scale=alt.Scale(nice=False, domain=domain),
                    axis=alt.Axis(labels=is_last),
                ),
                y=alt.Y("value:Q", title=_TITLES[kind], scale=alt.Scale(zero=kind != "delay")),
                detail="interval:N",
            )
            .properties(width=theme.WIDTH, height=_HEIGHT)
        )
    has_gaps = any(delay is None for delay in steps.delays_ps)
    return Figure(
        name="link",
        title=f"{name}: the link over time",
        subtitle=form,
        chart=alt.vconcat(*charts, spacing=12),
        caption=sentences(
            "What the file makes of a link, each value until the next.",
            "Gaps are times without a path." if has_gaps else "",
            thinned,
        ),
        origin=Origin("series", version()),
        description=f"{', '.join(values_of)} of a link over {domain[1]:g} s, from {name}.",
    )


def _values(steps: Steps) -> dict[str, list[float | None]]:
    """What changes, in the units of the axes; the delay always."""
    is_up = [delay is not None for delay in steps.delays_ps]
    found = {"delay": [None if ps is None else ps / PS_PER_MS for ps in steps.delays_ps]}
    if steps.rates:
        rates = zip(steps.rates, is_up, strict=True)
        found["rate"] = [rate / 1e9 if up else None for rate, up in rates]
    if steps.losses_ppb:
        losses = zip(steps.losses_ppb, is_up, strict=True)
        found["loss"] = [loss / 1e7 if up else None for loss, up in losses]
    return found


def _lines(steps: Steps, values: list[float | None]) -> tuple[list[dict[str, Any]], str | None]:
    """Points of the step lines; an interval goes on to the moment at which the path ends."""
    import polars as pl

    rows: list[tuple[int, float, int]] = []
    interval = 0
    before = None
    for at, value in zip(steps.times_ps, values, strict=True):
        if value is not None:
            rows.append((at, value, interval))
        elif before is not None:
            rows.append((at, before, interval))
            interval += 1
        before = value
    schema = {"time_ps": pl.Int64, "value": pl.Float64, "interval": pl.UInt32}
    table = pl.DataFrame(rows, schema=schema, orient="row")
    thinned = decimate(
        table,
        from_ps=0,
        to_ps=steps.times_ps[-1],
        columns=theme.WIDTH,
        values=["value"],
        keys=["interval"],
    )
    table = thinned.frame.with_columns((pl.col("time_ps") / PS_PER_SECOND).alias("time_s"))
    return table.select("time_s", "value", "interval").to_dicts(), thinned.sentence()
