"""The figures of one run, by kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from skycell.input.parameters import Parameters, symbol_of
from skycell.input.quantities import PS_PER_SECOND
from skycell.metrics import abr_rates, throughputs_bps
from skycell.metrics.ceiling import CELL_OCTETS
from skycell.metrics.classes import OTHER_CLASSES
from skycell.metrics.network import units_in_words
from skycell.metrics.queues import octet_ms
from skycell.metrics.recorded_ports import port_names, recorded_ports
from skycell.metrics.run_rows import MANY, sojourn_rows
from skycell.plots.abr import acr_over_time, fair_share_over_time, overload_over_time
from skycell.plots.discards import MOST_BARS, discards_by_reason
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.panels import DATASET, MAX_PANELS, TimeRange, choose
from skycell.plots.queue import Levels, queue_over_time, vc_queue_over_time
from skycell.plots.rate import rate_over_time
from skycell.plots.round_trip import rtt_over_time
from skycell.plots.sequence import sequence_over_time
from skycell.plots.share import share_over_time
from skycell.plots.sky_globe import sky_globe_figure
from skycell.plots.sky_map import map_figure, refuse_without_tables
from skycell.plots.sky_pairs import rtt_of_paths, spread_of_pairs, with_path_changes
from skycell.plots.sojourn import sojourn_of_ports
from skycell.plots.throughput import throughput_of_flows
from skycell.plots.window import cwnd_over_time
from skycell.records.sky import PATHS
from skycell.records.sky_pairs import (
    pair_of_flow,
    pairs_of,
    path_changes_ps,
    rtt_course,
    sky_pairs,
    way_back,
    ways_of_flow,
)
from skycell.scenario.declared.policies import POLICIES
from skycell.scenario.values.rule_specs import FieldSpec, Flattened, Parameter

if TYPE_CHECKING:
    import polars as pl

    from skycell.records.result import RunResult
    from skycell.spec.declared.network import LinkSpec, NetworkSpec, PolicySpec

TRACE_OF = {
    "cwnd": "cwnd",
    "sequence": "sequence",
    "rate": "sequence",
    "rtt": "sequence",
    "queue": "queue",
    "vc-queue": "vc_queue",
    "share": "service",
    "acr": "acr",
    "fair-share": "rate_control",
    "overload": "rate_control",
    "sojourn": None,
    "discards": None,
    "throughput": None,
    "map": None,
    "globe": None,
    "path": None,
    "pairs": None,
}
"""Kinds of figures of a run, with the trace that each needs; some draw what is counted anyway."""

TRACES_BESIDE = {"rtt": ("discards",)}
"""Traces that a kind of figure shows too if the run kept them."""

CHOICES_OF = {
    "cwnd": ("flow", "from", "to"),
    "sequence": ("flow", "from", "to"),
    "rate": ("flow", "from", "to"),
    "rtt": ("flow", "from", "to"),
    "queue": ("port", "unit", "from", "to"),
    "vc-queue": ("flow", "port", "from", "to"),
    "share": ("port", "from", "to"),
    "acr": ("flow", "port", "from", "to"),
    "fair-share": ("port", "from", "to"),
    "overload": ("port", "from", "to"),
    "sojourn": ("flow", "port"),
    "discards": ("flow",),
    "throughput": (),
    "map": ("time",),
    "globe": ("time",),
    "path": ("flow", "from", "to"),
    "pairs": (),
}
"""What of a run may be chosen for each kind: flows, a port, times."""

UNITS = ("octets", "ms")
"""In which queues can be drawn beside what ports hold."""

_OF_A_SECOND = ("map", "globe")
_OF_SKY = ("map", "globe", "path", "pairs")
_OF_FLOWS = ("cwnd", "sequence", "rate", "rtt", "throughput")


def origin_of(result: RunResult) -> Origin:
    """What the captions of a run's figures say about it."""
    return Origin(result.engine, result.version, (result.spec_hash,), result.seed)


def run_figure(
    result: RunResult,
    kind: str,
    *,
    flows: Sequence[str] | None = None,
    port: str | None = None,
    unit: str | None = None,
    from_ps: int = 0,
    to_ps: int | None = None,
    reserved_mbps: float | None = None,
    time_ps: int | None = None,
) -> Figure:
    """One figure of a run.

    Args:
        result: the run.
        kind: a key of :data:`TRACE_OF`.
        flows: names of the flows to draw, or whose VCs to draw; None for the first six.
        port: name of the port for the kinds ``queue``, ``vc-queue``, ``share``, ``acr``,
            ``fair-share``, ``overload`` and ``sojourn``; when None all that there are, for
            ``vc-queue`` and ``share`` the first one, and for ``acr`` where the VCs begin.
        unit: of ``queue``: ``octets``, or ``ms`` that the line needs for these; what the ports
            hold when None.
        from_ps: start of the range of time, picoseconds.
        to_ps: end of the range, picoseconds; the end of the run when None.
        reserved_mbps: for ``rate``, a rate to draw as a dashed line, Mbit/s.
        time_ps: for ``map`` and ``globe``, a time in the second to draw, picoseconds; the second
            in which most was sent when None.

    Raises:
        NothingToDrawError: the run kept no such trace, or nothing of what was asked for, or the
            range of time is none.
        ValueError: there is no such kind.
    """
    if kind not in TRACE_OF:
        raise ValueError(f"no figure of a run is called {kind}; there are {', '.join(TRACE_OF)}")
    origin = origin_of(result)
    spec = result.spec
    refuse_without_flows(spec, kind)
    refuse_unknown_flows(spec, flows or ())
    refuse_without_classes(spec, kind)
    refuse_without_sky(spec, kind)
    if kind in _OF_A_SECOND:
        draw = map_figure if kind == "map" else sky_globe_figure
        return draw(result, origin, None if time_ps is None else time_ps // PS_PER_SECOND)
    if kind == "discards":
        return _discards(result, origin, flows)
    if kind == "sojourn":
        rows = sojourn_rows(spec, result.records)
        ways = {f"{flow}.{way}" for flow in flows or () for way in ("forward", "reverse")}
        return sojourn_of_ports(
            [row for row in rows if port in (None, row.port) and (not ways or row.part in ways)],
            origin,
        )
    if kind == "throughput":
        return throughput_of_flows(throughputs_bps(result.records), origin)
    if kind == "pairs":
        refuse_without_tables(result)
        return spread_of_pairs(sky_pairs(spec, result.records, result.traces), origin)
    span = range_of(spec, from_ps, to_ps)
    if kind == "path":
        return _paths(result, span, origin, flows)
    figure = _over_time(result, kind, span, flows, port, unit, reserved_mbps)
    return _with_changes(result, figure, span) if kind in _OF_FLOWS else figure


def _over_time(
    result: RunResult,
    kind: str,
    span: TimeRange,
    flows: Sequence[str] | None,
    port: str | None,
    unit: str | None,
    reserved_mbps: float | None,
) -> Figure:
    """The figure of a trace."""
    spec, origin = result.spec, origin_of(result)
    trace = _trace(result, kind)
    names = [flow.name for flow in spec.connections]
    match kind:
        case "cwnd":
            return cwnd_over_time(trace, names, span, origin, flows=flows)
        case "sequence":
            return sequence_over_time(trace, names, span, origin, flows=flows)
        case "rate":
            return rate_over_time(
                trace, names, span, origin, flows=flows, reserved_mbps=reserved_mbps
            )
        case "rtt":
            return _rtt(result, trace, names, span, flows)
        case "queue":
            ports = port_names(spec)
            wanted = None if port is None else [port]
            sampled = trace["port"].unique().to_list()
            unit = unit or _units_of(spec, sampled if port is None else [port])
            return queue_over_time(
                _in_unit(spec, trace, unit),
                ports,
                span,
                origin,
                levels=levels_of(spec, unit),
                ports=wanted,
                unit=unit,
            )
        case "share":
            return _share(spec, trace, span, origin, port)
        case "acr":
            return _acr(spec, trace, span, origin, flows, port)
        case "fair-share" | "overload":
            ports = [link.name for link in spec.links]
            draw = fair_share_over_time if kind == "fair-share" else overload_over_time
            return draw(trace, ports, span, origin, ports=None if port is None else [port])
        case _:
            return _vc_queue(spec, trace, span, origin, flows, port)


def figures_of_run(result: RunResult) -> list[Figure]:
    """Every figure that a run's traces and counters give, those of nothing left out.

    The map is not among them: a report has it second by second. How throughput is spread is among
    them where there are too many flows to tell each.
    """
    figures = []
    for kind, trace in TRACE_OF.items():
        if kind == "throughput" and len(result.spec.flows) <= MANY:
            continue
        if kind not in _OF_A_SECOND and (trace is None or trace in result.traces):
            try:
                figures.append(run_figure(result, kind))
            except NothingToDrawError:
                continue
    return figures


def usual_kind(spec: NetworkSpec) -> str:
    """The kind that shows most of what a run is about: senders, or a queue where there are none."""
    return "cwnd" if spec.flows else "queue"


def refuse_without_flows(spec: NetworkSpec, kind: str) -> None:
    """Raises `NothingToDrawError` for a kind that shows flows of a run that has none."""
    if kind in _OF_FLOWS and not spec.flows:
        absent = _OF_FLOWS if spec.sky is not None else (*_OF_FLOWS, *_OF_SKY)
        others = ", ".join(other for other in TRACE_OF if other not in absent)
        raise NothingToDrawError(f"{kind} shows flows, and the run has none; it has {others}")


def refuse_without_classes(spec: NetworkSpec, kind: str) -> None:
    """Raises `NothingToDrawError` for the shares of classes where no port tells classes apart."""
    if kind == "share" and not any(len(link.port.queues) > 1 for link in spec.links):
        raise NothingToDrawError(
            "share shows the classes of a port, and no port has a queue for one"
        )


def refuse_without_sky(spec: NetworkSpec, kind: str) -> None:
    """Raises `NothingToDrawError` for a kind that shows a constellation of a run that has none."""
    if kind in _OF_SKY and spec.sky is None:
        raise NothingToDrawError(
            f'{kind} shows a topology of the kind "constellation", and the run has another one'
        )


def refuse_unknown_flows(spec: NetworkSpec, flows: Sequence[str]) -> None:
    """Raises `NothingToDrawError` for flows that a run does not have."""
    known = [flow.name for flow in spec.connections]
    unknown = [name for name in flows if name not in known]
    if unknown:
        reported = f"the run has no flow {', '.join(unknown)}; it has {_first(known) or 'none'}"
        raise NothingToDrawError(reported)


def refuse_unknown_port(spec: NetworkSpec, port: str) -> None:
    """Raises `NothingToDrawError` for a port that a run does not have."""
    recorded = recorded_ports(spec).values()
    known = [link.name for link in recorded]
    if port not in known:
        limited = [link.name for link in recorded if link.port.is_limited]
        raise NothingToDrawError(f"the run has no port {port}; it has {_first(limited or known)}")


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (" and so on" if len(names) > 8 else "")


def range_of(spec: NetworkSpec, from_ps: int, to_ps: int | None) -> TimeRange:
    """The range of time of a figure, to the end of the run at most.

    Raises:
        NothingToDrawError: it begins when the run has ended, or ends before it begins.
    """
    end = spec.duration_ps
    if from_ps >= end:
        shown = f"{from_ps / PS_PER_SECOND:g} s"
        raise NothingToDrawError(f"the run ends at {end / PS_PER_SECOND:g} s, before {shown}")
    return TimeRange(from_ps, end if to_ps is None else min(to_ps, end))


def levels_of(spec: NetworkSpec, unit: str = "") -> dict[str, Levels]:
    """Buffer and thresholds of each port, by the port's name, in a unit of `run_figure`."""
    return {
        link.name: Levels(
            link.port.capacity_cells,
            _thresholds_of(link.port.policy),
            len(link.port.queues),
            _level_factor(spec, place, link, unit),
        )
        for place, link in recorded_ports(spec).items()
    }


def _level_factor(spec: NetworkSpec, place: int, link: LinkSpec, unit: str) -> float | None:
    """How much of the unit one of what a port's buffer counts is; None where that differs."""
    counts_octets = link.port.default_queue.counts_octets
    if unit not in UNITS:
        return None if counts_octets else 1
    if link.framing is not None and not counts_octets:
        return None
    octets = 1 if counts_octets else CELL_OCTETS
    return octets if unit == "octets" else octets * octet_ms(spec, place)


def _in_unit(spec: NetworkSpec, trace: pl.DataFrame, unit: str) -> pl.DataFrame:
    """The trace with its lengths in a unit of `run_figure`.

    Raises:
        NothingToDrawError: it has no octets, as traces of earlier versions have none.
    """
    import polars as pl

    if unit not in UNITS:
        return trace
    if "octets" not in trace.columns:
        raise NothingToDrawError("the queue trace is of a version that kept no octets")
    if unit == "octets":
        return trace.with_columns(cells=pl.col("octets"))
    factors = {place: octet_ms(spec, place) for place in trace["port"].unique().to_list()}
    return trace.with_columns(
        cells=pl.col("octets") * pl.col("port").replace_strict(factors, return_dtype=pl.Float64)
    )


def _thresholds_of(policy: PolicySpec) -> dict[str, int]:
    """Thresholds of a policy that are lengths of the queue, by their symbols."""
    rule = POLICIES[policy.kind]
    return dict(_thresholds(rule.parameters, rule.written, policy))


def _thresholds(
    parameters: Sequence[Parameter], written: type[Parameters], spec: object
) -> Iterator[tuple[str, int]]:
    for parameter in parameters:
        value = getattr(spec, parameter.field)
        if isinstance(parameter, Flattened):
            yield from _thresholds(parameter.parameters, written, value)
        elif not isinstance(parameter, FieldSpec) or parameter.key is None:
            continue
        elif "Threshold" in parameter.type and isinstance(value, int):
            symbol = symbol_of(written.model_fields[parameter.key])
            if parameter.type == "AverageThreshold":
                yield f"{symbol} of the average", value
            elif symbol:
                yield f"threshold {symbol}" if len(symbol) == 1 else symbol, value


def _units_of(spec: NetworkSpec, ports: Sequence[int | str]) -> str:
    """What ports hold, given by place or name."""
    places = recorded_ports(spec).items()
    return units_in_words(link for place, link in places if place in ports or link.name in ports)


def _trace(result: RunResult, kind: str) -> pl.DataFrame:
    trace = TRACE_OF[kind]
    if trace is None or trace not in result.traces:
        raise NothingToDrawError(
            f"the run kept no {trace} trace; ask for it with `skycell run --trace {trace}`, or "
            f'with `traces = ["{trace}"]` in the table `records` of the scenario'
        )
    if result.traces[trace].is_empty():
        raise NothingToDrawError(f"the run's {trace} trace is empty")
    return result.traces[trace]


def _paths(
    result: RunResult, span: TimeRange, origin: Origin, flows: Sequence[str] | None
) -> Figure:
    refuse_without_tables(result)
    spec, traces = result.spec, result.traces
    known = pairs_of(spec) if flows is None else [pair_of_flow(spec, flow) for flow in flows]
    # One of two opposite pairs, which have the same round trip.
    pairs: dict[str, None] = {}
    for pair in known:
        if way_back(spec, pair) not in pairs:
            pairs[pair] = None
    wanted = None if flows is None else list(pairs)
    panels = choose(range(len(pairs)), list(pairs), wanted, noun="pair")
    shown = panels.names.values()
    backs = {pair: way_back(spec, pair) for pair in shown}
    courses = {pair: rtt_course(traces, pair, back) for pair, back in backs.items()}
    changes = {pair: path_changes_ps(traces, pair, back) for pair, back in backs.items()}
    return rtt_of_paths(panels, courses, changes, span, origin)


def _with_changes(result: RunResult, figure: Figure, span: TimeRange) -> Figure:
    """The figure with the changes of each flow's path, if it goes over a constellation."""
    if result.spec.sky is None or PATHS not in result.traces:
        return figure
    shown = dict.fromkeys(row["panel"] for row in figure.datasets[DATASET])
    changes = {
        name: path_changes_ps(result.traces, *ways_of_flow(result.spec, name)) for name in shown
    }
    return with_path_changes(figure, changes, span)


def _discards(result: RunResult, origin: Origin, flows: Sequence[str] | None) -> Figure:
    vcs_of = {spec.name: {*spec.forward, *spec.reverse} for spec in result.spec.connections}
    wanted = None if flows is None else set().union(*(vcs_of[name] for name in flows))
    rows = [
        {"name": vc["name"], "offered": vc["cells_offered"], "discarded": vc["cells_discarded"]}
        for number, vc in enumerate(result.records["vcs"])
        if wanted is None or number in wanted
    ]
    most = MOST_BARS if flows is None else None
    unit = units_in_words(result.spec.carriers)
    return discards_by_reason(rows, origin, most=most, unit=unit)


def _vc_queue(
    spec: NetworkSpec,
    trace: pl.DataFrame,
    span: TimeRange,
    origin: Origin,
    flows: Sequence[str] | None,
    port: str | None,
) -> Figure:
    link, part = _of_one_port(spec, trace, "VC queue", port)
    vcs = [vc.name for vc in spec.vcs]
    wanted = None
    if flows is not None:
        own = {
            vc for flow in spec.flows if flow.name in flows for vc in flow.forward + flow.reverse
        }
        wanted = [vcs[vc] for vc in part["vc"].unique().sort() if vc in own]
    thresholds = getattr(spec.links[link].port.policy, "thresholds_cells", ())
    fed = spec.links[link]
    if fed.port.default_queue.counts_octets:
        thresholds = ()  # which are no levels of a length in packets
    limits = {vcs[vc]: cells for vc, cells in enumerate(thresholds) if cells is not None}
    return vc_queue_over_time(
        part, fed.name, vcs, span, origin, thresholds=limits, vcs=wanted, unit=units_in_words([fed])
    )


def _acr(
    spec: NetworkSpec,
    trace: pl.DataFrame,
    span: TimeRange,
    origin: Origin,
    flows: Sequence[str] | None,
    port: str | None,
) -> Figure:
    import polars as pl

    if port is None:
        first = [vc.path[0] for vc in spec.vcs]
        part = trace.filter(pl.col("port") == pl.col("vc").replace_strict(dict(enumerate(first))))
    else:
        _, part = _of_one_port(spec, trace, "ACR", port)
    of_data = [
        vc
        for flow in spec.flows
        if flows is None or flow.name in flows
        for vc in flow.forward
        if vc in part["vc"]
    ]
    wanted = [spec.vcs[vc].name for vc in of_data]
    return acr_over_time(
        part,
        [vc.name for vc in spec.vcs],
        span,
        origin,
        fair={spec.vcs[vc].name: rate for vc, rate in abr_rates(spec).items()},
        vcs=wanted if flows is not None else wanted[:MAX_PANELS] or None,
        port=port,
    )


def _rtt(
    result: RunResult,
    trace: pl.DataFrame,
    names: Sequence[str],
    span: TimeRange,
    flows: Sequence[str] | None,
) -> Figure:
    import polars as pl

    spec = result.spec
    discards = result.traces.get("discards")
    if discards is not None:
        of_data = [vc for flow in spec.connections for vc in flow.forward]
        discards = discards.filter(pl.col("vc").is_in(of_data))
    with_ecn = [flow.name for flow in spec.connections if flow.tcp.ecn != "off"]
    return rtt_over_time(
        trace, discards, names, span, origin_of(result), flows=flows, with_ecn=with_ecn
    )


def _share(
    spec: NetworkSpec, trace: pl.DataFrame, span: TimeRange, origin: Origin, port: str | None
) -> Figure:
    place, part = _of_one_port(spec, trace, "service", port)
    link = spec.links[place]
    if link.framing is not None:
        raise NothingToDrawError(f"share counts cells, and {link.name} carries packets of any size")
    names = [queue.class_ or OTHER_CLASSES for queue in link.port.queues]
    return share_over_time(part, link.name, names, link.cell_time_ps, span, origin)


def _of_one_port(
    spec: NetworkSpec, trace: pl.DataFrame, noun: str, port: str | None
) -> tuple[int, pl.DataFrame]:
    """A port that a trace holds, by its link's place, and its rows; the first one of no name."""
    import polars as pl

    sampled = {spec.links[link].name: link for link in trace["port"].unique().sort()}
    chosen = next(iter(sampled)) if port is None else port
    if chosen not in sampled:
        held = ", ".join(sampled)
        raise NothingToDrawError(f"the {noun} trace holds no port {chosen}; it holds {held}")
    return sampled[chosen], trace.filter(pl.col("port") == sampled[chosen])
