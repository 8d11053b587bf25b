"""What a carrier gives by availability: Es/N0, and the rate of IP of the MODCOD it can use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skycell.plots import theme
from skycell.plots.figure import Figure, Origin
from skycell.plots.labels import sentences

if TYPE_CHECKING:
    from skycell.link import AvailabilityCurve

_HEIGHT = 180
_NAMED = 0.075
"""Part of the axis that a step needs for the name of its MODCOD."""


def availability_figure(curve: AvailabilityCurve) -> Figure:
    """Panels over availability: Es/N0, and IP rate by MODCOD; of a bit rate, Eb/N0 alone."""
    import altair as alt

    from skycell.version import version

    is_coded = curve.mean_ip_bps is not None
    ratio = "Es/N0 (dB)" if is_coded else "Eb/N0 (dB)"
    rows = [
        {
            "exceeded": _exceeded(point.availability),
            "ratio": point.ratio_db,
            "mbps": (point.ip_bps or 0) / 1e6,
        }
        for point in curve.drawn
    ]
    x = _x(rows[0]["exceeded"], rows[-1]["exceeded"])
    chart: Any = _panel(rows, x, "ratio", ratio, "linear")
    if is_coded:
        steps = _panel(rows, x, "mbps", "IP (Mbit/s)", "step-before")
        chart = alt.vconcat(chart, steps + _names(curve, x), spacing=16)
    first, last = curve.drawn[0].availability, curve.drawn[-1].availability
    mean = f"Mean over the year: {(curve.mean_ip_bps or 0) / 1e6:.1f} Mbit/s." if is_coded else ""
    return Figure(
        name="availability",
        title=f"{curve.title}: what it gives over a year",
        subtitle="In the weather that is exceeded for the rest of the year",
        chart=chart,
        caption=sentences(
            "The axis is logarithmic in the part of the year with worse weather.",
            "Each step is the highest MODCOD with the file's margin; wide ones have their names."
            if is_coded
            else "",
            mean,
        ),
        origin=Origin("link budget", version()),
        description=(
            f"{ratio} of {curve.title} falls from {curve.drawn[0].ratio_db:.1f} at {first:g} % of "
            f"the year to {curve.drawn[-1].ratio_db:.1f} at {last:g} %. {mean}"
        ),
    )


def _exceeded(availability: float) -> float:
    """Per cent of a year with worse weather, without the last digits of a difference."""
    return round(100 - availability, 9)


def _x(first: float, last: float) -> Any:
    import altair as alt

    return alt.X(
        "exceeded:Q",
        title="Availability (%)",
        scale=alt.Scale(type="log", domain=[first, last], nice=False),
        axis=alt.Axis(
            values=[50, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001],
            labelExpr="format(100 - datum.value, '.6~g')",
            labelOverlap=True,
        ),
    )


def _panel(rows: list[dict[str, Any]], x: Any, key: str, title: str, interpolate: Any) -> Any:
    import altair as alt

    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(strokeWidth=2, interpolate=interpolate)
        .encode(x=x, y=alt.Y(f"{key}:Q", title=title))
        .properties(width=theme.WIDTH, height=_HEIGHT)
    )


def _names(curve: AvailabilityCurve, x: Any) -> Any:
    """MODCODs where they are first used, as weather worsens, on steps that are wide enough."""
    import altair as alt

    begins = [
        i
        for i, point in enumerate(curve.drawn)
        if i == 0 or point.modcod != curve.drawn[i - 1].modcod
    ]
    ends = [*begins[1:], len(curve.drawn)]
    rows = [
        {
            "exceeded": _exceeded(curve.drawn[begin].availability),
            "mbps": (curve.drawn[begin].ip_bps or 0) / 1e6,
            "name": curve.drawn[begin].modcod or "outage",
        }
        for begin, end in zip(begins, ends, strict=True)
        if end - begin >= _NAMED * len(curve.drawn)
    ]
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_text(align="left", dx=3, dy=-6, fontSize=10, color=theme.MUTED)
        .encode(x=x, y="mbps:Q", text="name:N")
    )
