"""Pairs of stations over a constellation: what each got, and its path and delay over time."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import PS_PER_SECOND
from skycell.metrics import throughputs_bps
from skycell.records.sky import DELAYS, PATHS, ROUND_TRIPS

if TYPE_CHECKING:
    import polars as pl

    from skycell.spec.declared.network import NetworkSpec

PS_PER_MS = 10**9

LOST_AS = {
    "no_route": ("no_route",),
    "link_gone": ("out_of_range",),
    "in_flight": ("handover",),
    "hop_limit": ("hop_limit",),
    "on_links": ("drawn", "header", "misinserted", "check"),
}
"""Columns of packets that a pair lost outside of queues, with the keys of a VC's record."""

Course = tuple[list[float], list[float]]
"""Times in seconds, ascending, and a value at each; two equal times are a jump."""


def pair_of_flow(spec: NetworkSpec, flow: str) -> str:
    """The pair (from>to) of a connection or a probe, by its name; of several paths its own."""
    return ways_of_flow(spec, flow)[0]


def ways_of_flow(spec: NetworkSpec, flow: str) -> tuple[str, str]:
    """The pair (from>to) of a connection or a probe, and that of its answers."""
    (found,) = (each for each in spec.connections if each.name == flow)
    return spec.vcs[found.forward[0]].name, spec.vcs[found.reverse[0]].name


def way_back(spec: NetworkSpec, pair: str) -> str:
    """The pair on which the first connection of a pair has its answers; else the opposite one."""
    backs = (
        spec.vcs[each.reverse[0]].name
        for each in spec.connections
        if spec.vcs[each.forward[0]].name == pair
    )
    return next(backs, opposite(pair))


def pairs_of(spec: NetworkSpec) -> list[str]:
    """The pairs (from>to) that have connections, sources or probes, each once."""
    first = [each.forward[0] for each in spec.connections]
    vcs = (*first, *(source.vc for source in spec.sources))
    return list(dict.fromkeys(spec.vcs[vc].name for vc in vcs))


def opposite(pair: str) -> str:
    """The pair in the opposite direction, with the same number of the path.

    >>> opposite("paris>tokyo"), opposite("paris>tokyo, path 2")
    ('tokyo>paris', 'tokyo>paris, path 2')
    """
    ends, *path = pair.rsplit(", path ", 1)
    source, target = ends.split(">")
    return f"{target}>{source}" + "".join(f", path {number}" for number in path)


def sky_pairs(
    spec: NetworkSpec, records: Mapping[str, Any], traces: Mapping[str, Any]
) -> pl.DataFrame:
    """The pairs that have connections or sources, a row each.

    Columns: `pair` (from>to), `mbps` that all of its connections and sources together got
    (connections: of TCP payload in order); `round_trips` that its connections timed (one data
    segment of each at a time), and `rtt_least_ms`, `rtt_p50_ms` and `rtt_p99_ms` of them;
    `offered`, `delivered` and `dropped` (in queues) of all packets from>to, acknowledgements of
    the opposite pair included, and those lost as in `LOST_AS`; and those of `_path_columns`.
    """
    import polars as pl

    bps: dict[int, float] = {}
    for flow, rate in zip(spec.flows, throughputs_bps(records), strict=True):
        bps[flow.forward[0]] = bps.get(flow.forward[0], 0.0) + rate
    seconds = records["duration_ps"] / PS_PER_SECOND
    for source, counted in zip(spec.sources, records["sources"], strict=True):
        rate = 8 * counted["octets_delivered"] / seconds
        bps[source.vc] = bps.get(source.vc, 0.0) + rate
    counts = [records["vcs"][vc] for vc in bps]
    rows = pl.DataFrame(
        {
            "vc": list(bps),
            "pair": [spec.vcs[vc].name for vc in bps],
            "mbps": [rate / 1e6 for rate in bps.values()],
            "offered": [own["cells_offered"] for own in counts],
            "delivered": [own["cells_delivered"] for own in counts],
            "dropped": [sum(own["cells_discarded"].values()) for own in counts],
            **{
                column: [sum(own["cells_lost"].get(key, 0) for key in keys) for own in counts]
                for column, keys in LOST_AS.items()
            },
        },
        schema={
            "vc": pl.UInt32,
            "pair": pl.String,
            "mbps": pl.Float64,
            **dict.fromkeys(("offered", "delivered", "dropped", *LOST_AS), pl.Int64),
        },
    )
    times: pl.DataFrame = traces[ROUND_TRIPS]
    timed = times.select(
        "vc",
        round_trips="timed",
        rtt_least_ms=pl.col("least_ps") / PS_PER_MS,
        rtt_p50_ms=pl.col("p50_ps") / PS_PER_MS,
        rtt_p99_ms=pl.col("p99_ps") / PS_PER_MS,
    )
    rows = rows.join(timed, on="vc", how="left", maintain_order="left").drop("vc")
    for table in _path_columns(traces):
        rows = rows.join(table, on="pair", how="left", maintain_order="left")
    return rows


def _path_columns(traces: Mapping[str, Any]) -> tuple[pl.DataFrame, ...]:
    """What pairs have of their paths.

    Columns: `delay_ms` (mean over the seconds that are kept), `least_delay_ms` and `most_delay_ms`
    of the path, `hops_least`, `hops_most`, and `changes` of the path. Columns of a pair that never
    has a path are null. Nothing if the paths are not among the tables, as of a run of a spec.
    """
    import polars as pl

    if PATHS not in traces:
        return ()
    paths, delays = traces[PATHS], traces[DELAYS]
    means = delays.group_by("pair").agg(delay_ms=pl.col("delay_ps").mean() / PS_PER_MS)
    every = pl.concat(
        [
            delays.select("pair", "delay_ps"),
            paths.select("pair", "delay_ps"),
            paths.select("pair", delay_ps="last_delay_ps"),
        ]
    )
    ends = every.group_by("pair").agg(
        least_delay_ms=pl.col("delay_ps").min() / PS_PER_MS,
        most_delay_ms=pl.col("delay_ps").max() / PS_PER_MS,
    )
    whole = pl.col("missing") == ""
    hops = paths.group_by("pair").agg(
        hops_least=pl.col("hops").filter(whole).min(),
        hops_most=pl.col("hops").filter(whole).max(),
        changes=pl.len() - 1,
    )
    return means, ends, hops


def path_changes_ps(traces: Mapping[str, Any], pair: str, back: str = "") -> list[int]:
    """When the path of a pair changes in one of its directions, ascending.

    `back` is the pair of the answers, if that is not the opposite one.
    """
    import polars as pl

    own = traces[PATHS].filter(pl.col("pair").is_in([pair, back or opposite(pair)]))
    return sorted(set(own.filter(pl.col("start_ps") > 0)["start_ps"].to_list()))


def rtt_course(traces: Mapping[str, Any], pair: str, back: str = "") -> list[Course]:
    """The delay of a pair's paths, there and back, in ms; a course for each time with both paths.

    Between the times that are kept it goes straight: these are each change of a path, and the
    seconds of the table of delays. `back` is the pair of the answers, if that is not the opposite
    one.
    """
    there, answers = (_delay_course(traces, each) for each in (pair, back or opposite(pair)))
    found: list[Course] = []
    for one in there:
        for other in answers:
            begin, end = max(one[0][0], other[0][0]), min(one[0][-1], other[0][-1])
            if begin < end:
                inner = {time for time in chain(one[0], other[0]) if begin < time < end}
                times = [begin, *sorted(inner), end]
                values = [_at(one, time) + _at(other, time) for time in times]
                if found and found[-1][0][-1] == begin:
                    found[-1][0].extend(times)
                    found[-1][1].extend(values)
                else:
                    found.append((times, values))
    return found


def _delay_course(traces: Mapping[str, Any], pair: str) -> list[Course]:
    """The delay of each path of a pair in ms, from its begin to its end."""
    import polars as pl

    kept = traces[DELAYS].filter((pl.col("pair") == pair) & pl.col("delay_ps").is_not_null())
    found: list[Course] = []
    whole = traces[PATHS].filter((pl.col("pair") == pair) & (pl.col("missing") == ""))
    for row in whole.iter_rows(named=True):
        at_ps = pl.col("second").cast(pl.UInt64) * PS_PER_SECOND
        inner = kept.filter((at_ps > row["start_ps"]) & (at_ps < row["end_ps"]))
        times = [row["start_ps"] / PS_PER_SECOND, *map(float, inner["second"].to_list())]
        delays = [row["delay_ps"], *inner["delay_ps"].to_list(), row["last_delay_ps"]]
        times.append(row["end_ps"] / PS_PER_SECOND)
        found.append((times, [delay / PS_PER_MS for delay in delays]))
    return found


def _at(course: Course, time_s: float) -> float:
    import numpy as np

    return float(np.interp(time_s, *course))
