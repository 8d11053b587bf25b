"""What codes leave of the bits and segments of a link, over Eb/N0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skycell.plots import theme
from skycell.plots.figure import Figure, Origin
from skycell.plots.labels import sentences

if TYPE_CHECKING:
    from skycell.metrics.coding_curves import CodingCurves

_LEAST = 1e-10
_APART = 72
_HEIGHT = 300
_PANELS = {"ber": "Wrong bits behind the decoder", "frame_loss": "Full segments lost"}


def coding_figure(curves: CodingCurves) -> Figure:
    """Two panels over Eb/N0: residual bit error ratio, and loss of full segments, by code."""
    import altair as alt

    from skycell.version import version

    codes = list(dict.fromkeys(point.code for point in curves.points))
    own = [curves.own] if curves.own is not None else []
    rows = [
        {"code": point.code, "x": point.eb_n0_db, "ber": point.ber, "frame_loss": point.frame_loss}
        for point in curves.points
    ]
    marks = [
        {"x": point.eb_n0_db, "ber": max(point.ber, _LEAST), "frame_loss": point.frame_loss}
        for point in own
    ]
    rules = [{"x": x, "modcod": modcod} for modcod, x in curves.thresholds.items()]
    colour = alt.Color(
        "code:N",
        title=None,
        scale=alt.Scale(domain=codes, range=list(theme.PALETTE[: len(codes)])),
        legend=alt.Legend(symbolType="stroke", symbolStrokeWidth=2.5, columns=3),
    )
    width = (theme.WIDTH - _APART) / 2
    panels = [
        _panel(key, title, rows, rules, marks, colour).properties(width=width, height=_HEIGHT)
        for key, title in _PANELS.items()
    ]
    carried = f"{curves.octets} octets of IP, {curves.on_line} of the line with {curves.framing}"
    if curves.framing == "cells":
        carried = f"{curves.octets} octets of IP in {curves.on_line // 53} cells"
    return Figure(
        name="coding",
        title=f"{curves.link}: what codes leave over Eb/N0",
        subtitle=f"A full segment: {carried}",
        chart=alt.hconcat(*panels, spacing=_APART - 48),
        caption=sentences(
            "Eb/N0: energy of a user's bit over the density of the noise, an ideal demodulator.",
            "A line begins where its formula holds.",
            "Dashed: thresholds of DVB-S2, from which on a packet in 10\u2077 is lost.",
            f"Diamond: the link itself, {own[0].code} at {own[0].eb_n0_db:.2f} dB." if own else "",
        ),
        origin=Origin("coding", version(), (curves.spec_hash,)),
        description=_description(curves, codes),
    )


def _panel(
    key: str,
    title: str,
    rows: list[dict[str, Any]],
    rules: list[dict[str, Any]],
    marks: list[dict[str, Any]],
    colour: Any,
) -> Any:
    import altair as alt

    drawn = [row for row in rows if row[key] >= _LEAST]
    x = alt.X(
        "x:Q",
        title="Eb/N0 (dB)",
        scale=alt.Scale(domain=[0, 12], nice=False),
        axis=alt.Axis(values=list(range(0, 13, 2)), grid=True, labelFlush=False),
    )
    y = alt.Y(
        f"{key}:Q",
        title=title,
        scale=alt.Scale(type="log", domain=[_LEAST, 1], nice=False, clamp=True),
        axis=alt.Axis(
            values=[10.0**-power for power in range(0, 11, 2)],
            labelExpr="datum.value == 1 ? '1' : format(datum.value, '.0e')",
        ),
    )
    lines = (
        alt.Chart(alt.InlineData(values=drawn))
        .mark_line(strokeWidth=2, clip=True)
        .encode(x=x, y=y, color=colour)
    )
    dashed = (
        alt.Chart(alt.InlineData(values=rules))
        .mark_rule(strokeDash=[4, 3], color=theme.MUTED, strokeWidth=1)
        .encode(x="x:Q")
    )
    names = (
        alt.Chart(alt.InlineData(values=rules))
        .mark_text(angle=315, align="left", dx=2, fontSize=10, color=theme.MUTED)
        .encode(x="x:Q", y=alt.value(-4), text="modcod:N")
    )
    layers = [dashed, names, lines]
    if marks:
        layers.append(
            alt.Chart(alt.InlineData(values=marks))
            .mark_point(shape="diamond", filled=True, size=110, color=theme.INK, opacity=1)
            .encode(x=x, y=y)
        )
    return alt.layer(*layers)


def _description(curves: CodingCurves, codes: list[str]) -> str:
    """Of each code the least Eb/N0 at which fewer than one segment in 10^4 is lost."""
    reached_by = []
    for code in codes:
        ratios = [
            point.eb_n0_db
            for point in curves.points
            if point.code == code and point.frame_loss < 1e-4
        ]
        if ratios:
            reached_by.append(f"{code} from {min(ratios):g} dB")
    return (
        f"Residual bit errors and loss of full segments of {curves.link} over Eb/N0. Fewer than "
        f"one segment in 10 000 is lost: {', '.join(reached_by)}."
    )
