"""How long packets stayed in ports."""

from __future__ import annotations

from collections.abc import Sequence

from skycell.metrics.run_rows import SOJOURN_HEADS, SojournRow
from skycell.plots import theme
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.labels import grouped, sentences

MOST_ROWS = 40
"""Rows that a figure has, those in which packets stayed longest at most."""

_SHOWN = ("median", "90 %", "95 %", "99 %", "99.9 %", "largest")


def sojourn_of_ports(rows: Sequence[SojournRow], origin: Origin) -> Figure:
    """A row for each port of packets, class or flow, with percentiles of how long they stayed.

    Args:
        rows: ports, and what of them.
        origin: the run.

    Raises:
        NothingToDrawError: there is no port of packets with a limited buffer that sent any.
    """
    import altair as alt

    used = [row for row in rows if row.largest is not None]
    if not used:
        raise NothingToDrawError(
            "no port of packets with a limited buffer has sent any; sojourn shows how long packets "
            "stayed in those, and with records.flow_ports flow by flow"
        )
    used.sort(key=lambda row: row.largest or 0.0, reverse=True)
    shown = used[:MOST_ROWS]
    order = {row.port: place for place, row in reversed(list(enumerate(shown)))}
    shown.sort(key=lambda row: (order[row.port], row.part != ""))
    values = [
        {"port": row.name, "part": head, "order": SOJOURN_HEADS.index(head), "ms": time}
        for row in shown
        for head, time in zip(SOJOURN_HEADS, row.times_ms, strict=True)
        if head in _SHOWN
    ]
    base = alt.Chart(alt.InlineData(values=values)).encode(
        y=alt.Y(
            "port:N", title=None, sort=[row.name for row in shown], axis=alt.Axis(labelLimit=260)
        ),
    )
    span = base.mark_rule(color=theme.MUTED).encode(x="min(ms):Q", x2="max(ms):Q")
    marks = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X(
            "ms:Q", title="Sojourn time (ms)", scale=alt.Scale(zero=True), axis=alt.Axis(grid=True)
        ),
        color=alt.Color(
            "part:N",
            title=None,
            scale=alt.Scale(domain=list(_SHOWN), range=list(theme.PALETTE[: len(_SHOWN)])),
        ),
        tooltip=[
            alt.Tooltip("port:N", title="port"),
            alt.Tooltip("part:N", title="of the packets"),
            alt.Tooltip("ms:Q", title="ms at most", format=".3f"),
        ],
    )
    longest = used[0]
    return Figure(
        name="sojourn",
        title="How long packets stayed in a port" if len(shown) == 1 else "How long packets stayed",
        subtitle=longest.name if len(shown) == 1 else None,
        chart=alt.layer(span, marks).properties(
            width=theme.WIDTH - 60, height=max(90, 30 * len(shown))
        ),
        caption=sentences(
            "From a packet's arrival to the departure of its last bit, of the packets that left: "
            "what half of them, 90 %, 95 %, 99 % and 99.9 % did not exceed, and the largest.",
            "Percentiles are from a histogram, at most 1/128 too large.",
            f"Shown: of {grouped(len(used))} rows, the {len(shown)} with the longest stays."
            if len(shown) < len(used)
            else None,
        ),
        origin=origin,
        description=(
            f"Percentiles of the sojourn time in {len(shown)} rows; at {longest.name} the median "
            f"is {longest.p50:.3f} ms, 99 % are below {longest.p99:.3f} ms, and the largest is "
            f"{longest.largest:.3f} ms."
        ),
    )
