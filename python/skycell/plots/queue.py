"""Queue length of output ports over time, as a whole and VC by VC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import show_time
from skycell.plots import theme
from skycell.plots.decimation import decimate, select
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.labels import grouped, sentences
from skycell.plots.panels import DATASET, TimeRange, choose, stacked, time_axis, with_panel_names

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Levels:
    """Lines across the figure of a port's queue.

    Attributes:
        capacity: K, the size of the buffer; None without limit.
        thresholds: lengths of the queue from which the policy discards, by what the figure
            calls them.
        queues: of the port. The sampled length is that of all together, to which the limits of
            one are no levels.
        factor: how much of what the figure shows one of these is; None where they are no levels
            of that, as octets are none of a length in packets.
    """

    capacity: int | None = None
    thresholds: Mapping[str, int] = field(default_factory=dict)
    queues: int = 1
    factor: float | None = 1

    def named(self) -> Mapping[str, float]:
        """The levels that exist, by what the figure calls them."""
        if self.queues > 1 or self.factor is None:
            return {}
        buffer = {} if self.capacity is None else {"buffer K": self.capacity}
        levels = {**buffer, **self.thresholds}
        return {name: level * self.factor for name, level in levels.items()}


def queue_over_time(
    trace: pl.DataFrame,
    port_names: Sequence[str],
    span: TimeRange,
    origin: Origin,
    *,
    levels: Mapping[str, Levels] | None = None,
    ports: Sequence[str] | None = None,
    unit: str = "cells",
) -> Figure:
    """The sampled queue length, one panel for each port, with its buffer and threshold.

    Args:
        trace: columns ``port`` (link id), ``time_ps`` and ``cells``, in order of time.
        port_names: names of the spec's links by id.
        span: the range of time to draw.
        origin: the run.
        levels: lines to draw across a port's panel, by the port's name.
        ports: names of the ports to draw; None for the first six.
        unit: what the ports hold, in which the column ``cells`` is.

    Raises:
        NothingToDrawError: the trace is empty, in that range, or for a wanted port.
    """
    import altair as alt

    if trace.is_empty():
        raise NothingToDrawError("the run kept no queue trace")
    panels = choose(trace["port"].unique().to_list(), port_names, ports, noun="port")
    by_port = levels or {}
    several = any(by_port[port].queues > 1 for port in panels.names.values() if port in by_port)
    rows, note, largest = _sampled(trace, "port", panels, span)
    marks: list[dict[str, Any]] = [
        {"panel": port, "level": level, "height": cells, "time_s": span.seconds()[1]}
        for port in panels.names.values()
        for level, cells in by_port.get(port, Levels()).named().items()
    ]
    top = max([largest, *(mark["height"] for mark in marks)])
    scale = alt.Scale(domain=[0, max(top, 1) * 1.06], nice=True)
    y = alt.Y("cells:Q", title=f"Queue ({unit})", scale=scale)
    line = (
        alt.Chart()
        .transform_filter("!isValid(datum.level)")
        .mark_line(color=theme.PALETTE[0])
        .encode(x=time_axis(span), y=y)
    )
    across = alt.Chart().transform_filter("isValid(datum.level)").encode(y="height:Q")
    layers = [line]
    if marks:
        rule = across.mark_rule(color=theme.MUTED, strokeDash=[5, 3])
        text: dict[str, Any] = {"align": "right", "baseline": "bottom", "dy": -3, "fontSize": 11}
        # The queue often ends where the names stand.
        halo: dict[str, Any] = {"stroke": theme.PAPER, "strokeWidth": 3, "strokeJoin": "round"}
        layers += [
            rule,
            *(
                across.mark_text(**text, **style).encode(x="time_s:Q", text="level:N")
                for style in (halo, {"color": theme.MUTED})
            ),
        ]
    held = "Milliseconds of the line's time" if unit == "ms" else unit.capitalize()
    one = "what is" if unit in ("octets", "ms") else "the one"
    caption = sentences(
        f"{held} in the port, including {one} being sent"
        + (", in all its queues; each of them has its own buffer." if several else "."),
        f"Sampled{_interval(trace)} after the departures and before the arrivals of an instant.",
        panels.sentence(),
        note,
    )
    return Figure(
        name="queue",
        title="Queue of an output port" if len(panels.names) == 1 else "Queues of output ports",
        subtitle=next(iter(panels.names.values())) if len(panels.names) == 1 else None,
        chart=stacked(layers, panels, height=280),
        datasets={DATASET: rows + marks},
        caption=caption,
        origin=origin,
        description=(
            f"Queue length over {span.in_words} at {panels.in_words}; "
            f"the largest sample is {_shown(largest)} {unit}."
        ),
    )


def _shown(amount: float) -> str:
    """A whole number in groups, or another to three places."""
    return grouped(int(amount)) if amount == int(amount) else f"{amount:.3f}"


def vc_queue_over_time(
    trace: pl.DataFrame,
    port_name: str,
    vc_names: Sequence[str],
    span: TimeRange,
    origin: Origin,
    *,
    thresholds: Mapping[str, int] | None = None,
    vcs: Sequence[str] | None = None,
    unit: str = "cells",
) -> Figure:
    """The sampled occupancy of each VC at one port, one panel for each VC.

    Args:
        trace: columns ``vc`` (id), ``time_ps`` and ``cells`` of one port, in order of time.
        port_name: name of the port.
        vc_names: names of the spec's VCs by id.
        span: the range of time to draw.
        origin: the run.
        thresholds: r_i, cells, by VC name, where the port's policy has them.
        vcs: names of the VCs to draw; None for the first six.
        unit: what the port holds.

    Raises:
        NothingToDrawError: the trace is empty, in that range, or for a wanted VC.
    """
    import altair as alt

    if trace.is_empty():
        raise NothingToDrawError(f"the run kept no VC queue trace at {port_name}")
    panels = choose(trace["vc"].unique().to_list(), vc_names, vcs, noun="VC")
    rows, note, largest = _sampled(trace, "vc", panels, span)
    marks: list[dict[str, Any]] = [
        {"panel": vc, "height": thresholds[vc]}
        for vc in panels.names.values()
        if thresholds and vc in thresholds
    ]
    top = max([largest, *(mark["height"] for mark in marks)])
    scale = alt.Scale(domain=[0, max(top, 1) * 1.04], nice=True)
    line = (
        alt.Chart()
        .transform_filter("isValid(datum.cells)")
        .mark_area(
            color=theme.PALETTE[0],
            fillOpacity=0.18,
            line={"strokeWidth": 1.2, "color": theme.PALETTE[0]},
        )
        .encode(x=time_axis(span), y=alt.Y("cells:Q", title=unit.capitalize(), scale=scale))
    )
    layers = [line]
    if marks:
        across = alt.Chart().transform_filter("isValid(datum.height)").encode(y="height:Q")
        layers.append(across.mark_rule(color=theme.MUTED, strokeDash=[5, 3]))
    caption = sentences(
        f"{unit.capitalize()} of each VC in the port, sampled{_interval(trace)}; "
        "all panels share one scale.",
        "Dashed: the VC's own threshold r." if marks else None,
        panels.sentence(),
        note,
    )
    return Figure(
        name="vc-queue",
        title="Occupancy of an output port, VC by VC",
        subtitle=port_name,
        chart=stacked(layers, panels, height=280),
        datasets={DATASET: rows + marks},
        caption=caption,
        origin=origin,
        description=(
            f"{unit.capitalize()} of {panels.in_words} at {port_name} over {span.in_words}; "
            f"the largest sample is {_shown(largest)} {unit}."
        ),
    )


def _interval(trace: pl.DataFrame) -> str:
    """From one sample to the next, in words; empty where there is one only."""
    times = trace["time_ps"].unique().sort()
    return f" every {show_time(times[1] - times[0])}" if len(times) > 1 else ""


def _sampled(
    trace: pl.DataFrame, key: str, panels: Any, span: TimeRange
) -> tuple[list[dict[str, Any]], str | None, float]:
    """Rows to draw, what the caption says about thinning, and the largest sample in the range."""
    import polars as pl

    shown = trace.filter(pl.col(key).is_in(list(panels.names)))
    part = select(shown, from_ps=span.from_ps, to_ps=span.to_ps)
    if part.is_empty():
        raise NothingToDrawError("no sample falls in that range of time")
    thinned = decimate(
        part,
        from_ps=span.from_ps,
        to_ps=span.to_ps,
        columns=theme.WIDTH,
        values=["cells"],
        keys=[key],
    )
    rows = with_panel_names(thinned.frame, key, panels).select("panel", "time_s", "cells")
    return rows.to_dicts(), thinned.sentence(), float(part["cells"].max())  # type: ignore[arg-type] # polars: any kind of value
