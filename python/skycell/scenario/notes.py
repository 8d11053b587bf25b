"""Notes on a network: what is allowed, and may not be what its author meant or expects."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence

from skycell.input.quantities import (
    PS_PER_MS,
    PS_PER_SECOND,
    counted,
    show_amount,
    show_rate,
    show_time,
)
from skycell.scenario.declared.framings import Gse
from skycell.scenario.file.constellation import ConstellationNetwork, SkyPort
from skycell.scenario.file.topology import Graph, GraphLink, Topology
from skycell.scenario.links.framing import overhead_of
from skycell.scenario.links.keys import AccessLink, CongestedLink
from skycell.scenario.queue_notes import (
    notes_on_acknowledgements,
    notes_on_overload,
    notes_on_senders,
)
from skycell.scenario.sky_paths import SkyPath
from skycell.scenario.trace_sizes import note_on_traces
from skycell.scenario.values.cells import frame_cells_of
from skycell.spec.declared.network import LinkSpec, NetworkSpec, SourcePatternTrace, SourceSpec
from skycell.spec.values import begin_ps, paths_of

#: Ports and VCs that a note names.
_MOST_NAMES = 3
#: Time over which the peak rate of a list of packets is told: a user sees no shorter one.
_PEAK_PS = 100 * PS_PER_MS


def notes_on(spec: NetworkSpec, paths: Sequence[SkyPath] = ()) -> tuple[str, ...]:
    """What to know of a network before its results are read, a sentence or two each.

    A note is no fault: the network is simulated as it is written. There is one where cells of TCP
    packets are dropped or policed one by one, so that a part of a packet goes on, which no IP
    device does; where Reno has HyStart, as no TCP of Linux has; where hosts take long before they
    send and data meet acknowledgements; where a source is faster than a link on its way; where
    queues stand at senders and not at a limited port; where acknowledgements fill the reverse links
    before data fill the forward links; where satellites of its paths are left out
    or placed by old elements; on what a list of packets holds; and where traces may grow large.

    Args:
        spec: the network.
        paths: of its links over constellations.
    """
    frames = _longest_frames(spec)
    of_paths = dict.fromkeys(note for path in paths for note in path.notes)
    of_lists = (_packet_list(source, spec.duration_ps) for source in spec.sources)
    of_cells = (*_tail_drop(spec, frames), *_policers(spec, frames))
    of_queues = (*_overload(spec), *notes_on_senders(spec), *_acknowledgements(spec))
    of_tcp = (*_hystart(spec), *_jitter(spec))
    of_files = (*of_paths, *filter(None, of_lists))
    return (*of_cells, *of_tcp, *of_queues, *of_files, *note_on_traces(spec))


def notes_on_carriers(topology: Topology) -> tuple[str, ...]:
    """What each layer of the carriers of a file takes, one sentence each."""
    links: Iterable[CongestedLink | AccessLink | GraphLink | SkyPort]
    if isinstance(topology, ConstellationNetwork):
        ports = (topology.inter_satellite, topology.ground, topology.gateways)
        links = [port for port in ports if port is not None]
    elif isinstance(topology, Graph):
        links = topology.link
    else:
        links = (topology.bottleneck, topology.bottleneck.backward, topology.access)
    found = []
    for link in links:
        if not isinstance(link.framing, Gse) or link.rate is None:
            continue
        overhead = overhead_of(link.framing)
        if overhead.layers:
            *taken, (_, left) = overhead.layers.items()
            layers = ", ".join(f"{float(share):.1%} {name}" for name, share in taken)
            mbps = float(link.rate.amount * overhead.carried) / 1e6
            found.append(
                f"{link.rate} of {link.framing.modcod}: of the symbols {layers}; "
                f"{float(left):.1%}, {mbps:.2f} Mbit/s, are left for GSE packets."
            )
    return tuple(dict.fromkeys(found))


def _longest_frames(spec: NetworkSpec) -> Mapping[int, int]:
    """Cells of the longest TCP frame on each VC that carries some of several cells."""
    longest: dict[int, int] = {}
    for flow in spec.connections:
        tcp = flow.tcp
        answers = flow.traffic.request_octets if flow.traffic.kind == "web" else 0
        for vcs, octets in ((flow.forward, tcp.mss), (flow.reverse, min(answers, tcp.mss))):
            cells = frame_cells_of(octets, tcp.llc_snap, tcp.timestamps)
            longest |= {vc: max(cells, longest.get(vc, 0)) for vc in vcs}
    return {vc: cells for vc, cells in longest.items() if cells > 1}


def _tail_drop(spec: NetworkSpec, frames: Mapping[int, int]) -> Iterator[str]:
    found: dict[str, tuple[int, int]] = {}  # of each port: its buffer and its longest frame
    for vc, cells in frames.items():
        for link in map(spec.links.__getitem__, _links_of(spec, vc)):
            capacity = _dropping_cells(spec, link, spec.vcs[vc].class_)
            if capacity is not None:
                found[link.name] = capacity, max(cells, found.get(link.name, (0, 0))[1])
    if not found:
        return
    longest = max(cells for _, cells in found.values())
    less_one = {capacity - cells for capacity, cells in found.values()}
    threshold = "the buffer less one frame"
    if len(less_one) == 1 and min(less_one) > 0:
        threshold += f" ({show_amount(min(less_one))} cells)"
    yield (
        f"tail_drop at {_named('switch port', list(found))} drops cells, not packets: the rest "
        f"of a TCP packet of {longest} cells still takes up the link, although the packet is lost. "
        f"To drop whole packets, use a router in place of the switch, or epd with a drop_threshold "
        f"of {threshold}."
    )


def _links_of(spec: NetworkSpec, vc: int) -> Sequence[int]:
    """The links of all paths of a VC."""
    return list(dict.fromkeys(link for path in paths_of(spec.vcs[vc]) for link in path))


def _dropping_cells(spec: NetworkSpec, link: LinkSpec, service: str) -> int | None:
    """What a switch's queue for a service class holds, if it drops single cells when full."""
    if spec.nodes[link.from_].kind != "switch":
        return None
    own = (queue for queue in link.port.queues if queue.class_ == service)
    queue = next(own, link.port.default_queue)
    return queue.capacity_cells if queue.policy.kind == "tail_drop" else None


def _policers(spec: NetworkSpec, frames: Mapping[int, int]) -> Iterator[str]:
    policed = {
        spec.vcs[vc].name: cells
        for vc, cells in frames.items()
        if any(bucket.action == "discard" for bucket in spec.vcs[vc].policing)
    }
    if policed:
        yield (
            f"the policer of {_named('VC', list(policed))} discards cells, not packets: a TCP "
            f"packet of {max(policed.values())} cells is lost with any one of them, and its other "
            f'cells still count. A [[gfr]] contract with excess = "discard" holds a VC to a rate '
            f"by whole packets."
        )


#: A host's time from which two-way transfers differ from real ones (phase-effects.md).
_LONG_JITTER_PS = PS_PER_MS


def _jitter(spec: NetworkSpec) -> Iterator[str]:
    """Of flows whose hosts take long, and whose data meet acknowledgements of other flows."""
    acks: dict[int, set[str]] = {}
    for flow in spec.flows:
        for link in (link for vc in flow.reverse for link in _links_of(spec, vc)):
            acks.setdefault(link, set()).add(flow.name)
    found = {
        flow.name: flow.jitter.data_ps
        for flow in spec.flows
        if flow.jitter.data_ps > _LONG_JITTER_PS
        for link in (link for vc in flow.forward for link in _links_of(spec, vc))
        if acks.get(link, set()) - {flow.name}
    }
    if found:
        yield (
            f"hosts of {_named('flow', list(found))} take up to {show_time(max(found.values()))} "
            f"before each segment (frame_jitter), and their data meet acknowledgements of other "
            f"flows. The time breaks phase effects, but real hosts take about 20 us, and two-way "
            f'transfers depend on it. frame_jitter = "20 us" at the links of hosts shows by how '
            f"much."
        )


def _hystart(spec: NetworkSpec) -> Iterator[str]:
    """Of flows of Reno whose slow start is that of Linux's CUBIC, as with the stack `linux`."""
    found = [
        flow.name
        for flow in spec.connections
        if flow.tcp.congestion.kind == "reno"
        and flow.tcp.slow_start.kind == "hystart"
        and flow.tcp.slow_start.detect != "none"
    ]
    if found:
        yield (
            f"{_named('flow', found)}: Reno with HyStart is no TCP of Linux, where HyStart is a "
            f'part of CUBIC. Its Reno has congestion = {{ kind = "reno", growth = '
            f'"segment_counting" }} and slow_start = {{ kind = "hystart", detect = "none" }}.'
        )


def _overload(spec: NetworkSpec) -> Iterator[str]:
    """Sources faster than a link on their way."""
    for text, own in _by_text(notes_on_overload(spec)):
        each = "each " if len(own) > 1 else ""
        yield f"{_named('source', own)} {each}{text}"


def _acknowledgements(spec: NetworkSpec) -> Iterator[str]:
    """Flows whose acknowledgements fill a link before their data do."""
    for text, own in _by_text(notes_on_acknowledgements(spec)):
        yield f"{_named('flow', own)}: {text}"


def _by_text(notes: Iterable[tuple[str, str]]) -> Iterable[tuple[str, list[str]]]:
    """Notes with the same words, once, each with whom it is about."""
    names: dict[str, list[str]] = {}
    for name, text in notes:
        names.setdefault(text, []).append(name)
    return names.items()


def _packet_list(source: SourceSpec, duration_ps: int) -> str | None:
    """What the list of a source comes to: packets, octets, mean and peak rate."""
    pattern = source.pattern
    if not isinstance(pattern, SourcePatternTrace):
        return None
    times, octets = pattern.times_ps, pattern.octets
    text = f"{source.name} sends {counted(len(times), 'packet')}, {show_amount(sum(octets))} octets"
    span_ps = pattern.period_ps or times[-1] - times[0]
    text += f", every {show_time(span_ps)}" if pattern.period_ps else f" in {show_time(span_ps)}"
    late = len(times) - bisect_left(times, duration_ps - begin_ps(source.start))
    if late and pattern.period_ps is None:
        text += f" ({show_amount(late)} of them after the end of the run)"
    if span_ps < _PEAK_PS:
        return f"{text}."
    # By the last packet of each window: what came in the time before it, itself included.
    first = within = peak = 0
    for time, size in zip(times, octets, strict=True):
        within += size
        while times[first] <= time - _PEAK_PS:
            within -= octets[first]
            first += 1
        peak = max(peak, within)
    mean_bps = 8 * sum(octets) * PS_PER_SECOND // span_ps
    peak_bps = 8 * peak * PS_PER_SECOND // _PEAK_PS
    return (
        f"{text}: {show_rate(mean_bps)} in the mean, and up to {show_rate(peak_bps)} within "
        f"{show_time(_PEAK_PS)}, as IP packets."
    )


def _named(noun: str, names: Sequence[str]) -> str:
    """Names behind what they are, and how many more there are.

    >>> _named("VC", ["a"]), _named("VC", ["a", "b", "c", "d", "e"])
    ('VC a', 'VCs a, b, c and 2 more')
    """
    shown = f"{noun}{'s' if len(names) > 1 else ''} {', '.join(names[:_MOST_NAMES])}"
    more = len(names) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown
