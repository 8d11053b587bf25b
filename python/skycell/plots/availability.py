"""What a carrier gives by availability: Es/N0, and the rate of IP of the MODCOD it can use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skycell.plots import theme
from skycell.plots.figure import Figure, Origin
from skycell.plots.labels import sentences

if TYPE_CHECKING:
    from skycell.link import AvailabilityCurve

_HEIGHT = 180


def availability_figure(curve: AvailabilityCurve) -> Figure:
    """Panels over availability: Es/N0, and IP rate by MODCOD; of a bit rate, Eb/N0 alone."""
    import altair as alt

    from skycell.version import version

    is_coded = curve.mean_ip_bps is not None
    ratio = "Es/N0 (dB)" if is_coded else "Eb/N0 (dB)"
    rows = [
        {
            "exceeded": 100 - point.availability,
            "ratio": point.ratio_db,
            "mbps": (point.ip_bps or 0) / 1e6,
        }
        for point in curve.drawn
    ]
    chart: Any = _panel(rows, "ratio", ratio, "linear")
    if is_coded:
        steps = _panel(rows, "mbps", "IP (Mbit/s)", "step-before")
        chart = alt.vconcat(chart, steps + _names(curve), spacing=16)
    first, last = curve.drawn[0].availability, curve.drawn[-1].availability
    mean = f"Mean over the year: {(curve.mean_ip_bps or 0) / 1e6:.1f} Mbit/s." if is_coded else ""
    return Figure(
        name="availability",
        title=f"{curve.title}: what it gives over a year",
        subtitle="In the weather that is exceeded for the rest of the year",
        chart=chart,
        caption=sentences(
            "The axis is logarithmic in the part of the year with worse weather.",
            "Each step is the highest MODCOD with the file's margin." if is_coded else "",
            mean,
        ),
        origin=Origin("link budget", version()),
        description=(
            f"{ratio} of {curve.title} falls from {curve.drawn[0].ratio_db:.1f} at {first:g} % of "
            f"the year to {curve.drawn[-1].ratio_db:.1f} at {last:g} %. {mean}"
        ),
    )


def _x() -> Any:
    import altair as alt

    return alt.X(
        "exceeded:Q",
        title="Availability (%)",
        scale=alt.Scale(type="log", reverse=True, nice=False),
        axis=alt.Axis(
            values=[50, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001],
            labelExpr="format(100 - datum.value, '.6~g')",
            labelOverlap=True,
        ),
    )


def _panel(rows: list[dict[str, Any]], key: str, title: str, interpolate: Any) -> Any:
    import altair as alt

    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(strokeWidth=2, interpolate=interpolate)
        .encode(x=_x(), y=alt.Y(f"{key}:Q", title=title))
        .properties(width=theme.WIDTH, height=_HEIGHT)
    )


def _names(curve: AvailabilityCurve) -> Any:
    """MODCODs where they are first used, as weather worsens."""
    import altair as alt

    rows, last = [], None
    for point in curve.drawn:
        if point.modcod != last:
            last = point.modcod
            rate = (point.ip_bps or 0) / 1e6
            rows.append({"exceeded": 100 - point.availability, "mbps": rate, "name": last or ""})
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_text(align="left", dx=3, dy=-6, fontSize=10, color=theme.MUTED)
        .encode(x=_x(), y="mbps:Q", text="name:N")
    )
