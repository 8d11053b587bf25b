"""What the delay over a constellation is made of: D = t_t + t_up + t_i + t_down + t_s + t_q.

The terms, and the bound on the last of them (a queue delays by at most its buffer over its rate),
are those of NASA/CR-1999-209158, part III.A.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from skycell.scenario.file.processing import SATELLITES
from skycell.scenario.plan.onboard_switching import satellite_node
from skycell.scenario.sky_paths import SkyPath
from skycell.scenario.values.cells import frame_cells_of, packet_octets_of
from skycell.spec.declared.network import FlowSpec, LinkSpec, NetworkSpec
from skycell.spec.steps import Hops
from skycell.spec.values import as_received, packet_time_ps

#: A term over the run: least, mean over time and most, in picoseconds.
Spread = dict[str, float]


def delay_terms(
    spec: NetworkSpec,
    records: Mapping[str, Any],
    paths: Sequence[SkyPath],
    processing: Mapping[str, int] = MappingProxyType({}),
) -> list[dict[str, Any]]:
    """The terms of the delay of each flow whose data cross a path over a constellation.

    Args:
        spec: of the run.
        records: that it left.
        paths: what its links over constellations stand for.
        processing: what nodes take before a cell is in their port, picoseconds, by name.

    Returns:
        For each such flow, times in picoseconds: `transmission_ps` (t_t, of a full segment over the
        slowest link, for each VC on its way), `up_ps`, `between_ps` and `down_ps` (t_up, t_i,
        t_down), `switching_ps` (t_s: a cell time at each other port,
        and the processing times of nodes), `access_ps` (propagation on
        all other links), `queueing_ps` (t_q: what the mean delay of its segments has beyond all
        these), `total_ps` (D, as measured) and `bound` (the buffering bound, None where it does not
        hold: ports that share their rate between queues, ports of packets, and paths that are
        interrupted). Where the flow crosses uplinks that terminals share, `media_access_ps` is
        their access delay, of all frames of their terminals: mean, median, 99 % and most. It is a
        part of t_q.
    """
    found = []
    for number, flow in enumerate(spec.flows):
        legs = [
            [as_received(spec.links[link], vc) for link in spec.vcs[vc].path] for vc in flow.forward
        ]
        crossed = [
            (path, name in path.backward)
            for leg in legs
            for name in (link.name for link in leg)
            for path in paths
            if name in (*path.forward, *path.backward)
        ]
        if crossed:
            found.append(_terms_of_flow(spec, records, number, flow, legs, crossed, processing))
    return found


def _terms_of_flow(
    spec: NetworkSpec,
    records: Mapping[str, Any],
    number: int,
    flow: FlowSpec,
    legs: list[list[LinkSpec]],
    crossed: list[tuple[SkyPath, bool]],
    processing: Mapping[str, int],
) -> dict[str, Any]:
    def taken_ps(link: LinkSpec) -> int:
        return processing.get(spec.nodes[link.to].name, 0)

    over_sky = {name for path, _ in crossed for name in (*path.forward, *path.backward)}
    satellites = {
        satellite_node(name)
        for path, _ in crossed
        for hops in path.hops
        if path.is_on_board and hops
        for name in hops.satellites
    }
    fed_ids = {i for i, link in enumerate(spec.links) if spec.nodes[link.from_].name in satellites}
    fed = [spec.links[i] for i in fed_ids]
    ground = [[link for link in leg if link not in fed] for leg in legs]
    frame = frame_cells_of(flow.tcp.mss, flow.tcp.llc_snap, flow.tcp.timestamps)
    packet = packet_octets_of(flow.tcp.mss, flow.tcp.timestamps)
    packets_ps = sum(
        packet_time_ps(link.framing, packet) for leg in legs for link in leg if link.framing
    )
    on_board_ps = fed[0].cell_time_ps if fed else 0
    slowest = [
        max(
            *(link.cell_time_ps for link in leg),
            on_board_ps if any(link.name in over_sky for link in leg) else 0,
        )
        for leg in ground
    ]
    rest = sum(link.cell_time_ps for leg in ground for link in leg) - sum(slowest)
    # Of the links to nodes on the ground; satellites add theirs with their cell times.
    rest += sum(taken_ps(link) for leg in legs for link in leg)
    satellite_ps = on_board_ps + processing.get(SATELLITES, 0)
    switching = _total(
        _spread(path, _on_board_ps(satellite_ps if path.is_on_board else 0)) for path, _ in crossed
    )
    up, between, down = (
        _total(_spread(path, _part(part, backward)) for path, backward in crossed)
        for part in ("up", "between", "down")
    )
    counts = _total(_spread(path, lambda hops: len(hops.satellites)) for path, _ in crossed)
    transmission_ps = frame * sum(slowest) + packets_ps
    access_ps = sum(
        link.delay_ps - taken_ps(link)
        for leg in ground
        for link in leg
        if link.name not in over_sky
    )
    switching = {key: value + rest for key, value in switching.items()}
    fixed = _total([up, between, down, switching])
    fixed = {key: value + transmission_ps + access_ps for key, value in fixed.items()}
    record = records["flows"][number]
    has_delay = bool(record["segments_received"])
    first = crossed[0][0]
    return {
        "flow": flow.name,
        "constellation": first.constellation,
        "from": first.source,
        "to": first.target,
        "satellites": {key: counts[key] for key in ("least", "most")},
        "transmission_ps": transmission_ps,
        "up_ps": up,
        "between_ps": between,
        "down_ps": down,
        "switching_ps": switching,
        "access_ps": access_ps,
        "queueing_ps": record["delay_mean_ps"] - fixed["mean"] if has_delay else None,
        "total_ps": {
            "least": record["delay_min_ps"],
            "mean": record["delay_mean_ps"],
            "most": record["delay_max_ps"],
        }
        if has_delay
        else None,
        "bound": _bound(spec, records, flow, fixed["most"], crossed) if has_delay else None,
        **_media_access(spec, records, flow),
    }


#: Figures of the access delay by their names in records of uplinks.
_WAITS = {"mean": "mean_ps", "median": "p50_ps", "p99": "p99_ps", "most": "max_ps"}


def _media_access(
    spec: NetworkSpec, records: Mapping[str, Any], flow: FlowSpec
) -> dict[str, Spread]:
    """What frames wait for access to uplinks that a flow crosses; nothing if it crosses none.

    Means of several add up, and the other figures then are bounds.
    """
    crossed = {link for vc in flow.forward for link in spec.vcs[vc].path}
    waits = [
        record["access_delay"]
        for uplink, record in zip(spec.uplinks, records.get("uplinks", ()), strict=True)
        if crossed & set(uplink.links) and record["access_delay"]["cells"]
    ]
    if not waits:
        return {}
    return {
        "media_access_ps": {name: sum(wait[key] for wait in waits) for name, key in _WAITS.items()}
    }


def _on_board_ps(cell_time_ps: int) -> Callable[[Hops], int]:
    return lambda hops: len(hops.satellites) * cell_time_ps


def _part(part: str, backward: bool) -> Callable[[Hops], int]:
    ends = {"up": -1, "down": 0} if backward else {"up": 0, "down": -1}
    if part == "between":
        return lambda hops: sum(hops.links_ps[1:-1])
    return lambda hops: hops.links_ps[ends[part]]


def _spread(path: SkyPath, value: Callable[[Hops], float]) -> Spread:
    ends = pairwise((*path.times_ps, path.end_ps))
    rows = [
        (value(hops), end - begin)
        for hops, (begin, end) in zip(path.hops, ends, strict=True)
        if hops is not None
    ]
    values = [value for value, _ in rows]
    mean = sum(value * weight for value, weight in rows) / sum(weight for _, weight in rows)
    return {"least": min(values), "mean": mean, "most": max(values)}


def _total(parts: Any) -> Spread:
    listed = list(parts)
    return {key: sum(part[key] for part in listed) for key in ("least", "mean", "most")}


def _bound(
    spec: NetworkSpec,
    records: Mapping[str, Any],
    flow: FlowSpec,
    fixed_ps: float,
    crossed: list[tuple[SkyPath, bool]],
) -> dict[str, Any] | None:
    """The buffering bound, and whether the largest delay kept to it.

    A port of a limited buffer adds what the buffer holds; one without a limit, such as a host's,
    what it held at most. A cell that turns into a new path meets ports of both, so all count.
    """
    ways: dict[int, None] = {}
    for vc in (spec.vcs[vc] for vc in flow.forward):
        later = vc.rerouting.paths if vc.rerouting else ()
        ways |= dict.fromkeys((*vc.path, *(link for path in later for link in path)))
    ports = [(spec.links[link], records["ports"][link]) for link in ways]
    if any(path.is_interrupted for path, _ in crossed):
        return None
    if any(link.port.scheduler.kind != "fifo" or link.framing for link, _ in ports):
        return None
    limited = other = 0
    for link, port in ports:
        capacity = link.port.capacity_cells
        if capacity is not None:
            limited += capacity * link.cell_time_ps
        else:
            other += port["queue"]["max"] * (link.cell_time_ps + link.port.frame_gap_ps)
    most = records["flows"][spec.flows.index(flow)]["delay_max_ps"]
    points = sum(link.port.capacity_cells is not None for link, _ in ports)
    total = fixed_ps + limited + other
    return {
        "points": points,
        "queueing_ps": limited,
        "total_ps": total,
        "holds": most <= total,
    }
