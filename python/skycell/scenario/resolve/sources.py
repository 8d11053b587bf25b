"""Cell sources and policers resolved: rates as intervals, times in picoseconds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

from skycell.input.faults import NOTHING, FaultCollector, Path, Verbatim
from skycell.input.quantities import (
    CELL_BITS,
    DAY_PS,
    PS_PER_SECOND,
    Dimension,
    Quantity,
    rounded,
    show_amount,
    show_time,
)
from skycell.scenario.file.calls import Calls
from skycell.scenario.file.sources import (
    PacedSource,
    PolicerParameters,
    Source,
    TraceSource,
    VbrSource,
    each_source,
)
from skycell.scenario.interpreter.parameters import distribution
from skycell.scenario.interpreter.place import Place
from skycell.scenario.packets.trace import PacketTrace
from skycell.scenario.resolve.context import context
from skycell.scenario.resolve.flows import starts
from skycell.scenario.resolve.lines import lines
from skycell.scenario.resolve.probes import probe_sources
from skycell.scenario.resolve.resolution import Resolution, each_once, part, places
from skycell.scenario.values.cells import aal5_cells_of, cells_per_second
from skycell.spec.declared.network import (
    ClpDrawn,
    ClpPattern,
    GcraSpec,
    PhaseAt,
    PhaseDrawn,
    SourcePatternConstant,
    SourcePatternOnOff,
    SourcePatternTrace,
    SourceSpec,
    StartSpec,
)
from skycell.spec.values import begin_ps, mean_ps

#: A phase further than this many cycles into the pattern would have to be walked to.
_MOST_CYCLES = 1000


@part
def sources(net: Resolution) -> tuple[SourceSpec, ...]:
    """Returns the sources of the file, and those of its probes; not those of calls."""
    specs = []
    begin = _starts(net)
    for here, source in (*each_source(net.file.source, net.faults), *net.plan.demand_sources):
        route = net.plan.datagrams.get(source.name, ())
        vcs = [net.plan.vcs[name] for name in route or (net.plan.sources[source.name],)]
        links = tuple(link for vc in vcs for link in vc.links)
        start = begin[source.name]
        pattern: SourcePatternConstant | SourcePatternOnOff | SourcePatternTrace
        if isinstance(source, TraceSource):
            pattern = _trace(net, source, net.packets[int(here[1])], start, here)
            packet, interval = max(pattern.octets), 0
            frame = aal5_cells_of(packet, llc_snap=True)
        elif source.packet_size is None:
            pattern = _pattern(net, source, here)
            packet, frame = 0, source.frame
            interval = interval_ps(net, source, links, here)
        else:
            pattern = _pattern(net, source, here)
            packet = int(source.packet_size.amount)
            frame = aal5_cells_of(packet, llc_snap=True)
            interval = _packet_interval_ps(net, source, packet, links, here)
        specs.append(
            SourceSpec(
                name=source.name,
                vc=net.vc_ids[vcs[0].name],
                datagram_route=tuple(net.vc_ids[name] for name in route),
                cell_interval_ps=interval,
                frame_cells=frame,
                datagram_octets=packet,
                pattern=pattern,
                start=start,
                clp=_clp(net, source, here),
            )
        )
    return (*specs, *probe_sources(net, len(specs)))


def _starts(net: Resolution) -> dict[str, StartSpec]:
    """When each source begins: those of a table together, or in their order."""
    written = each_source(net.file.source, FaultCollector(net.faults.file))
    found: dict[str, StartSpec] = {}
    listed = (*written, *net.plan.demand_sources)
    for (here, _), group in groupby(listed, key=lambda one: (one[0], id(one[1].start))):
        own = [source for _, source in group]
        names = [source.name for source in own]
        found |= starts(net, own[0].start, names, (*here, "start"))
    return found


def _clp(net: Resolution, source: Source, here: Path) -> ClpDrawn | ClpPattern | None:
    """Which of the frames, or packets in cells, of a source have CLP = 1."""
    if source.clp is None:
        return None
    file, plan = net.file, net.plan
    written = source.clp if isinstance(source.clp, str) else float(source.clp)
    route = plan.datagrams.get(source.name) or (plan.sources[source.name],)
    ruled = {vc: "gfr" for one in file.gfr for vc in one.vcs}
    ruled |= {vc: "abr" for one in file.abr for vc in one.vcs}
    service = ruled.get(route[0], plan.vcs[route[0]].service)
    packets = [link.name for link in plan.links_of(route) if link.carries_packets]
    allowed = None
    if packets:
        allowed = f"nothing where links carry packets, as {packets[0]} does: CLP is a bit of cells"
    elif len(route) > 1:
        allowed = "nothing over several VCs: the routers between them make new cells of a datagram"
    elif service in ("gfr", "abr"):
        allowed = f"nothing with class {service}, whose rules set CLP"
    if allowed is not None:
        net.faults.add((*here, "clp"), written, allowed)
    if isinstance(source.clp, str):
        return ClpPattern(bits=tuple(bit == "1" for bit in source.clp))
    return ClpDrawn(part_ppb=rounded(source.clp * 10**9))


def _trace(
    net: Resolution, source: TraceSource, packets: PacketTrace, start: StartSpec, here: Path
) -> SourcePatternTrace:
    duration_ps = context(net).duration_ps
    last = packets.times_ps[-1]
    period = None if source.period is None else rounded(source.period.amount)
    if source.period is not None and rounded(source.period.amount) < last:
        allowed = f"from {show_time(last)}, the last time in {source.file}"
        net.faults.add((*here, "period"), source.period.text, allowed)
    first = packets.times_ps[0] + begin_ps(start)
    if first >= duration_ps:
        got = Verbatim(f'"{source.file}", whose first packet would be sent at {show_time(first)}')
        allowed = f"a packet before the end of the run, {show_time(duration_ps)}"
        net.faults.add((*here, "file"), got, allowed)
    return SourcePatternTrace(times_ps=packets.times_ps, octets=packets.octets, period_ps=period)


@part
def policers(net: Resolution) -> dict[str, tuple[GcraSpec, ...]]:
    """Returns the buckets of each policed VC, by its name."""
    tables = net.file.policer

    def problem(vc: str) -> str:
        if allowed := net.plan.instead_of_vc(vc):
            return allowed
        is_direct = len(net.plan.vcs[vc].links) == 1
        return "a VC that crosses a switch, where it is policed" if is_direct else ""

    buckets = [_buckets(net, policer, ("policer", i)) for i, policer in enumerate(tables)]
    fitting = each_once(net, places("policer", "vcs", tables), "VC", problem)
    return {vc: buckets[int(where[1])] for where, vc in fitting.items()}


def _buckets(net: Resolution, policer: PolicerParameters, here: Path) -> tuple[GcraSpec, ...]:
    peak = cells_per_second(policer.pcr)
    cdvt = context(net).time_ps(policer.cdvt)
    increment = rounded(PS_PER_SECOND / peak)
    buckets = [GcraSpec(increment_ps=increment, limit_ps=cdvt, action=policer.pcr_action)]  # type: ignore[arg-type]
    if (policer.scr is None) != (policer.mbs is None):
        key = "mbs" if policer.mbs is None else "scr"
        net.faults.add((*here, key), NOTHING, "scr and mbs, or neither")
    elif policer.scr is not None and policer.mbs is not None:
        sustainable = cells_per_second(policer.scr)
        if sustainable > peak:
            allowed = f"up to pcr, {show_amount(int(peak))} cells/s"
            net.faults.add((*here, "scr"), policer.scr.text, allowed)
            return tuple(buckets)
        # Traffic Management 4.0, section 4.4.3; ATM Forum 98-0406:
        # BT = (MBS - 1)(1/SCR - 1/PCR).
        burst = rounded((policer.mbs - 1) * (1 / sustainable - 1 / peak) * PS_PER_SECOND)
        if burst + cdvt > DAY_PS:
            got = Verbatim(f"{show_amount(policer.mbs)}, a tolerance of {show_time(burst + cdvt)}")
            net.faults.add((*here, "mbs"), got, f"a tolerance up to {show_time(DAY_PS)}")
        buckets.append(
            GcraSpec(
                increment_ps=rounded(PS_PER_SECOND / sustainable),
                limit_ps=min(burst + cdvt, DAY_PS),
                action=_scr_action(net, policer, here),  # type: ignore[arg-type]
                clp0_only=policer.conformance != "vbr_1",
            )
        )
    return tuple(buckets)


def _scr_action(net: Resolution, policer: PolicerParameters, here: Path) -> str:
    """What happens to cells above SCR (Traffic Management 4.0, section 4.4)."""
    allowed = {
        "vbr_1": ("tag", "count", "discard"),
        "vbr_2": ("discard", "count"),
        "vbr_3": ("tag",),
    }[policer.conformance]
    action = policer.scr_action or allowed[0]
    if action not in allowed:
        words = " or ".join(f'"{word}"' for word in allowed)
        net.faults.add((*here, "scr_action"), action, f"{words} with {policer.conformance}")
    return action


def _key_of_peak(source: PacedSource | Calls) -> str:
    return "peak_rate" if isinstance(source, VbrSource) else "rate"


def peak_of(net: Resolution, source: PacedSource | Calls, links: Sequence[str]) -> Fraction:
    """Returns the rate of a source while it sends, cells/s; a part is one of the slowest link's."""
    value: Fraction | Quantity = getattr(source, _key_of_peak(source))
    if isinstance(value, Quantity):
        return cells_per_second(value)
    return min(lines(net)[link].rate for link in links) / CELL_BITS * value


def interval_ps(
    net: Resolution, source: PacedSource | Calls, links: tuple[str, ...], here: Path
) -> int:
    """Returns the time from one cell of a source to the next while it sends, picoseconds.

    It may be shorter than a link on its way takes for a cell: the rest waits there, or is dropped.
    """
    key = _key_of_peak(source)
    peak = peak_of(net, source, links)
    interval = rounded(PS_PER_SECOND / peak)
    if interval > DAY_PS:
        got = Verbatim(f"a cell every {show_time(interval)}")
        net.faults.add((*here, key), got, f"at least one cell in {show_time(DAY_PS)}")
    return min(interval, DAY_PS)


def _packet_interval_ps(
    net: Resolution, source: PacedSource, packet: int, links: tuple[str, ...], here: Path
) -> int:
    """Time from one packet of `packet` octets to the next, which a link may be slower than."""
    key = _key_of_peak(source)
    value: Fraction | Quantity = getattr(source, key)
    if not isinstance(value, Quantity):
        peak = min(lines(net)[link].packets_per_s(packet) for link in links) * value
    elif value.dimension is Dimension.BIT_RATE:
        peak = value.amount / (8 * packet)
    else:
        allowed = "a rate in bits: with packet_size a source sends IP packets, not cells"
        net.faults.add((*here, key), value.text, allowed)
        return DAY_PS
    interval = rounded(PS_PER_SECOND / peak)
    if interval > DAY_PS:
        got = Verbatim(f"a packet every {show_time(interval)}")
        net.faults.add((*here, key), got, f"at least one packet in {show_time(DAY_PS)}")
    return min(interval, DAY_PS)


def _pattern(
    net: Resolution, source: PacedSource, here: Path
) -> SourcePatternConstant | SourcePatternOnOff:
    if not isinstance(source, VbrSource):
        return SourcePatternConstant()
    on, off = (
        distribution(times, Place((*here, key), net.faults, context=context(net)), DAY_PS)
        for key, times in (("on", source.on), ("off", source.off))
    )
    longest_on, cycle = mean_ps(on), mean_ps(on) + mean_ps(off)
    if longest_on == 0:
        net.faults.add((*here, "on"), Verbatim("no time"), "above 0")
    if source.phase == "drawn":
        return SourcePatternOnOff(on=on, off=off, phase=PhaseDrawn(below_ps=max(1, cycle)))
    assert isinstance(source.phase, Quantity)
    phase = context(net).time_up_to(DAY_PS, source.phase, (*here, "phase"), net.faults)
    if phase > _MOST_CYCLES * cycle:
        allowed = f"up to {_MOST_CYCLES} cycles, {show_time(_MOST_CYCLES * cycle)}"
        net.faults.add((*here, "phase"), source.phase.text, allowed)
    return SourcePatternOnOff(on=on, off=off, phase=PhaseAt(offset_ps=phase))
