"""How large the traces of a run may grow, from rates, windows and duration, before it is run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from skycell.input.quantities import PS_PER_SECOND, show_amount
from skycell.spec.declared.network import FlowSpec, LinkSpec, NetworkSpec, PortKindSpec

NOTED_OCTETS = 2**30
"""Of all traces together: 1 GiB. A run keeps its traces in memory until it ends."""

_CELL_BITS = 424
_ROW_OCTETS = {
    "cwnd": 28,
    "sequence": 25,
    "deliveries": 20,
    "queue": 24,
    "service": 28,
    "vc_queue": 20,
}
"""Of a row, by its columns in `crates/records/src/traces.rs`.

The other traces have a row for an event that no rate foresees, such as a drop or a transfer.
"""
_ROWS_OF_A_SEGMENT = {"cwnd": 1, "sequence": 2, "deliveries": 1}
"""Data and its ACK; a change of the window by each ACK."""


def trace_rows(spec: NetworkSpec) -> Mapping[str, int]:
    """The rows that each trace of a run may have at most, about, by its name.

    Each flow is taken to fill the link of which it has the least share with whole segments, or its
    window at the delay of its path, whichever is less. What is sent again is left out.
    """
    segments = _segments(spec)
    records = spec.records
    samples = spec.duration_ps // records.sample_every_ps if records.sample_every_ps else 0
    vcs = [set(vc.path) for vc in spec.vcs]
    queues = sum(1 for port in records.vc_sampled_ports for path in vcs if port in path)
    of_samples = {
        "queue": samples * len(records.sampled_ports),
        "service": samples * queues,
        "vc_queue": samples * queues,
    }
    return {
        name: of_samples.get(name, segments * _ROWS_OF_A_SEGMENT.get(name, 0))
        for name in records.traces
        if name in _ROW_OCTETS
    }


def note_on_traces(spec: NetworkSpec) -> Iterator[str]:
    """A sentence where the traces may grow beyond `NOTED_OCTETS`."""
    rows = trace_rows(spec)
    octets = {name: count * _ROW_OCTETS[name] for name, count in rows.items()}
    total = sum(octets.values())
    if total <= NOTED_OCTETS:
        return
    largest = max(octets, key=lambda name: octets[name])
    seconds = show_amount(spec.duration_ps / PS_PER_SECOND)
    yield (
        f"records.traces: rates and windows allow traces of about {total / 1e9:.1f} GB in "
        f"{seconds} s, which memory has to hold until the run ends; {largest} alone may have "
        f"{rows[largest] / 1e6:.0f} million rows. A shorter run.duration, or fewer traces, need "
        f"less."
    )


def _segments(spec: NetworkSpec) -> int:
    """The segments of all flows together, whole ones."""
    of_links: dict[int, float] = {}
    of_flows: dict[int, float] = defaultdict(float)
    of_sky = 0.0
    paths = [[link for vc in flow.forward for link in spec.vcs[vc].path] for flow in spec.flows]
    shared = Counter(link for links in paths for link in set(links))
    for flow, links in zip(spec.flows, paths, strict=True):
        if not links and spec.sky is not None:  # over links that change: as if it were alone
            rate = min(map(_bps, spec.sky.kinds))
            most = rate / 8 * (spec.duration_ps / PS_PER_SECOND) / max(flow.tcp.mss, 1)
            of_sky += min(most, _by_traffic(flow) / max(flow.tcp.mss, 1))
            continue
        slowest = min(links, key=lambda link: _bps(spec.links[link]) / shared[link])
        mss = max(flow.tcp.mss, 1)
        most = _bps(spec.links[slowest]) / 8 * (spec.duration_ps / PS_PER_SECOND) / mss
        of_links[slowest] = max(most, of_links.get(slowest, 0))
        of_flows[slowest] += min(most, _by_window(spec, flow) / mss, _by_traffic(flow) / mss)
    return round(of_sky + sum(min(of_flows[link], most) for link, most in of_links.items()))


def _bps(link: LinkSpec | PortKindSpec) -> float:
    if link.framing is not None:
        return link.framing.rate_millibps / 1000
    return _CELL_BITS * PS_PER_SECOND / max(link.cell_time_ps, 1)


def _by_window(spec: NetworkSpec, flow: FlowSpec) -> float:
    """Octets that a flow can send, by its window and the delay of its path without queues."""
    ways = (*flow.forward, *flow.reverse)
    delay_ps = sum(spec.links[link].delay_ps for vc in ways for link in spec.vcs[vc].path)
    if not delay_ps:
        return float("inf")
    return flow.tcp.rwnd * (spec.duration_ps / delay_ps + 1)


def _by_traffic(flow: FlowSpec) -> float:
    """Octets that a flow has to send."""
    traffic = flow.traffic
    if traffic.kind == "transfers" and traffic.count is not None:
        return float(traffic.size_octets * traffic.count)
    return float("inf")
