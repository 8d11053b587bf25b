"""One picture of some runs: window, rate, round trips and queue over one axis of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND
from skycell.metrics.queues import octet_ms
from skycell.metrics.recorded_ports import port_names
from skycell.metrics.round_trips import round_trips
from skycell.plots import theme
from skycell.plots.decimation import decimate

if TYPE_CHECKING:
    import polars as pl

    from skycell.lab.runs import LabRun
    from skycell.records.result import RunResult

MOST_LINES = len(theme.PALETTE)
"""Flows of one run that have a line each, in a colour of their own."""
MOST_RUNS = 4
"""Runs that are drawn together."""
_COLUMNS = 700
_HEIGHT = 150
_SENT, _SENT_AGAIN = 0, 1
_STEPS = 200
"""Intervals that a rate is the mean of, over a whole run."""


def picture(runs: Sequence[LabRun], width: int) -> dict[str, Any]:
    """The picture of one run, a line a flow; or of several, a colour a run.

    Args:
        runs: with results, up to 4; the first flows of each are drawn.
        width: of the panels, pixels.

    Returns:
        A Vega-Lite specification. Dragging and turning the wheel on one panel move the time of all.
    """
    import altair as alt
    import polars as pl

    several = len(runs) > 1
    panels: list[_Panel] = []
    colours = [f"{run.number}: {run.title}" for run in runs]
    first = runs[0].result
    assert first is not None
    names = [flow.name for flow in first.spec.flows[:MOST_LINES]]
    for title, field, flows, rows_of in (
        ("Congestion window (kB)", "kb", names, _windows),
        ("Rate sent (Mbit/s)", "mbps", names, _rates),
        ("Round-trip time (ms)", "rtt_ms", names, _round_trips),
        ("Wait in the fullest queue (ms)", "wait_ms", (), _waits),
    ):
        rows: list[pl.DataFrame] = []
        for run in runs:
            assert run.result is not None
            found = rows_of(run.result)
            if found is not None:
                label = pl.lit(f"{run.number}: {run.title}") if several else pl.col("line")
                rows.append(
                    found.with_columns(
                        colour=label, line=pl.format("{} {}", pl.lit(run.number), "line")
                    )
                )
        if rows:
            panels.append(_Panel(title, field, pl.concat(rows), colours if several else flows))
    last_s = max(run.duration_ps for run in runs) / PS_PER_SECOND
    legend = "run" if several else "flow"
    charts = [
        panel.chart(last_s, legend).properties(name=panel.field, width=width) for panel in panels
    ]
    chart = alt.vconcat(*charts).resolve_scale(color="independent")
    zoom = {
        "name": "zoom",
        "select": {"type": "interval", "encodings": ["x"]},
        "bind": "scales",
        "views": [panel.field for panel in panels],
    }
    config = {**theme.config(), "padding": 4}
    return {**chart.to_dict(), "params": [zoom], "config": config}


@dataclass(frozen=True)
class _Panel:
    """A part of the picture: `line`, `colour`, `time_s` and the values of each row."""

    title: str
    field: str
    rows: pl.DataFrame
    colours: Sequence[str]

    def chart(self, last_s: float, legend: str) -> Any:
        import altair as alt

        colours = self.colours or self.rows["colour"].unique(maintain_order=True).to_list()
        scale = alt.Scale(domain=colours, range=list(theme.PALETTE[: len(colours)]))
        shown: Any = alt.Color("colour:N", title=legend, scale=scale)
        if len(colours) == 1:
            shown = alt.value(theme.PALETTE[0])
        return (
            alt.Chart(alt.InlineData(values=self.rows.to_dicts()))
            .mark_line(clip=True, strokeWidth=1.2, interpolate="step-after")
            .encode(
                x=alt.X(
                    "time_s:Q",
                    title="Time (s)",
                    scale=alt.Scale(domain=[0, last_s], nice=False),
                ),
                y=alt.Y(f"{self.field}:Q", title=self.title),
                color=shown,
                detail="line:N",
            )
            .properties(height=_HEIGHT)
        )


def _thinned(trace: pl.DataFrame, result: RunResult, key: str, value: str) -> pl.DataFrame:
    return decimate(
        trace,
        from_ps=0,
        to_ps=result.spec.duration_ps,
        columns=_COLUMNS,
        values=[value],
        keys=[key],
    ).frame


def _first_flows(trace: pl.DataFrame, result: RunResult) -> pl.DataFrame:
    import polars as pl

    names = [flow.name for flow in result.spec.flows]
    own = trace.filter(pl.col("flow") < MOST_LINES)
    table = pl.DataFrame(
        {"flow": range(len(names)), "line": names}, schema_overrides={"flow": own.schema["flow"]}
    )
    return own.join(table, on="flow", maintain_order="left")


def _windows(result: RunResult) -> pl.DataFrame | None:
    import polars as pl

    trace = result.traces.get("cwnd")
    if trace is None or trace.is_empty():
        return None
    shown = _first_flows(_thinned(trace, result, "flow", "cwnd"), result)
    return shown.select("line", time_s=pl.col("time_ps") / PS_PER_SECOND, kb=pl.col("cwnd") / 1000)


def _rates(result: RunResult) -> pl.DataFrame | None:
    import polars as pl

    trace = result.traces.get("sequence")
    if trace is None or trace.is_empty():
        return None
    step_ps = max(result.spec.duration_ps // _STEPS, 1)
    sent = trace.filter(pl.col("event").is_in([_SENT, _SENT_AGAIN]))
    rates = (
        _first_flows(sent, result)
        .group_by("line", step=pl.col("time_ps") // step_ps, maintain_order=True)
        .agg(pl.col("length").sum().cast(pl.Float64))
        .sort("line", "step")
    )
    return rates.select(
        "line",
        time_s=(pl.col("step") * step_ps + step_ps // 2) / PS_PER_SECOND,
        mbps=pl.col("length") * 8 / (step_ps / PS_PER_SECOND) / 1e6,
    )


def _round_trips(result: RunResult) -> pl.DataFrame | None:
    import polars as pl

    trace = result.traces.get("sequence")
    if trace is None or trace.is_empty():
        return None
    samples = _thinned(round_trips(trace), result, "flow", "rtt_ps")
    if samples.is_empty():
        return None
    return _first_flows(samples, result).select(
        "line",
        time_s=pl.col("time_ps") / PS_PER_SECOND,
        rtt_ms=pl.col("rtt_ps") / PS_PER_MS,
    )


def _waits(result: RunResult) -> pl.DataFrame | None:
    import polars as pl

    trace = result.traces.get("queue")
    if trace is None or trace.is_empty():
        return None
    spec = result.spec
    factors = {port: octet_ms(spec, port) for port in trace["port"].unique().to_list()}
    times = trace.with_columns(
        wait_ms=pl.col("octets") * pl.col("port").replace_strict(factors, return_dtype=pl.Float64)
    )
    fullest = (
        times.group_by("port").agg(pl.col("wait_ms").sum()).sort("wait_ms", "port")["port"][-1]
    )
    own = _thinned(times.filter(pl.col("port") == fullest), result, "port", "wait_ms")
    return own.select(
        "wait_ms",
        line=pl.lit(port_names(spec)[fullest]),
        time_s=pl.col("time_ps") / PS_PER_SECOND,
    ).select("line", "time_s", "wait_ms")
