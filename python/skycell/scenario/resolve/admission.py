"""Connection admission: whether each link carries what is promised to the VCs that cross it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from skycell.input.faults import FaultCollector, Path, Verbatim
from skycell.input.parameters import meaning_of
from skycell.input.quantities import CELL_BITS, PS_PER_SECOND, show_amount
from skycell.scenario.declared.abr import Abr
from skycell.scenario.file.gfr import GfrContract
from skycell.scenario.file.scenario_file import ScenarioFile
from skycell.scenario.file.sources import CbrSource, TraceSource, VbrSource, each_source
from skycell.scenario.plan.plan import Plan
from skycell.scenario.resolve.effective_bandwidth import OnOff, of_all
from skycell.scenario.resolve.sources import peak_of
from skycell.scenario.values.cells import cells_per_second
from skycell.spec.network import PortSpec, SourcePatternOnOff, SourceSpec
from skycell.spec.values import mean_ps

_VBR = ("rt_vbr", "nrt_vbr")

_OR_ALLOW = 'what the link carries; admission.overbooking = "allow" runs it as it stands'


class Crossing(NamedTuple):
    """A source at a link: its class, and what it sends there, cells/s; None if it has a fault."""

    name: str
    service: str
    peak: Fraction
    on_off: OnOff | None


@dataclass(frozen=True)
class LinkUse:
    """What a link carries, and what is promised of it for the whole run.

    Attributes:
        cells: what it carries, cells/s.
        loss: part of the time in which buffers of classes of VBR may overflow.
        port: what feeds it; None with a fault.
        here: the sources across it.
        reserved: MCRs of VCs across it, cells/s.
    """

    cells: Fraction
    loss: float
    port: PortSpec | None
    here: Sequence[Crossing]
    reserved: Fraction

    def needs(self, more: Sequence[Crossing] = ()) -> tuple[Fraction, Fraction]:
        """What sources need, with others beside them: peaks of class cbr, and those of VBR."""
        here = [*self.here, *more]
        peaks = sum((one.peak for one in here if one.service == "cbr"), Fraction(0))
        return peaks, self._variable([one for one in here if one.service in _VBR])

    def has_room_for(self, more: Sequence[Crossing]) -> bool:
        """Whether it carries others beside what is promised."""
        return sum(self.needs(more)) + self.reserved <= self.cells

    def _variable(self, crossing: Sequence[Crossing]) -> Fraction:
        """What sources of VBR need of it, each class at the buffer of its queue."""
        if not crossing or self.port is None:
            return Fraction(0)
        if not self.loss:
            return sum((one.peak for one in crossing), Fraction(0))
        by_buffer: dict[float, list[OnOff]] = {}
        for one in crossing:
            if one.on_off is None:
                continue
            queues = (queue for queue in self.port.queues if queue.class_ == one.service)
            queue = next(queues, self.port.default_queue)
            capacity = math.inf if queue.capacity_cells is None else queue.capacity_cells
            by_buffer.setdefault(capacity, []).append(one.on_off)
        needed = (of_all(those, buffer, self.loss) for buffer, those in by_buffer.items())
        return Fraction(sum(needed))


@dataclass(frozen=True)
class _Room:
    """What a link carries, and what the sources across it are promised of that, cells/s."""

    link: str
    cells: Fraction
    peaks: Fraction
    variable: Fraction

    @property
    def beside(self) -> str:
        """What sources have, in words, behind what else there is."""
        parts = [
            f"{show_amount(math.ceil(rate))} of {which}"
            for rate, which in (
                (self.peaks, "class cbr"),
                (self.variable, "classes rt_vbr and nrt_vbr"),
            )
            if rate
        ]
        return f", beside {' and '.join(parts)}" if parts else ""


def link_uses(
    file: ScenarioFile,
    plan: Plan,
    rates: Mapping[str, Fraction],
    ports: Mapping[str, PortSpec | None],
    sources: Sequence[SourceSpec],
    mcrs: Mapping[str, Fraction],
    faults: FaultCollector,
) -> dict[str, LinkUse]:
    """What each link carries, and what is promised of it for the whole run.

    A source of class CBR is promised its rate for as long as it lasts, so its peak counts, and
    behind a policer that discards what it lets through. Of the classes of VBR on/off sources count
    as [admission] says, others with their rate; those of other classes may come to more, as they
    take turns or lose cells.

    Args:
        file: with the sources and policers.
        plan: the network.
        rates: payload rate of each link, bit/s.
        ports: what feeds each link; None for one with a fault.
        sources: resolved, in the order of the file.
        mcrs: MCR of VCs with one, cells/s; some may be no VC of the network.
        faults: where they go.
    """
    crossing = _crossings(file, plan, rates, {one.name: one for one in sources}, faults)
    reserved = dict.fromkeys(plan.links, Fraction(0))
    for vc in mcrs.keys() & plan.vcs.keys():
        for link in plan.vcs[vc].links:
            reserved[link] += mcrs[vc]
    return {
        link: LinkUse(
            rates[link] / CELL_BITS,
            file.admission.loss,
            ports[link],
            crossing.get(link, ()),
            reserved[link],
        )
        for link in plan.links
    }


def check_admission(
    file: ScenarioFile,
    plan: Plan,
    uses: Mapping[str, LinkUse],
    gfr: Mapping[str, Fraction],
    abr: Mapping[str, Fraction],
    faults: FaultCollector,
) -> None:
    """Refuses what links cannot carry together: MCRs of GFR and ABR VCs, and what sources need.

    Args:
        file: with the sources.
        plan: the network.
        uses: what is promised of each link.
        gfr: MCR of each VC with a GFR contract, cells/s; some may be no VC of the network.
        abr: the same of ABR VCs.
        faults: where they go.
    """
    if file.admission.overbooking == "allow":
        return
    links_of = {vc: frozenset(plan.vcs[vc].links) for vc in (*gfr, *abr) if vc in plan.vcs}
    for link, use in uses.items():
        here = use.here
        cbr = [one for one in here if one.service == "cbr"]
        peaks, variable = use.needs()
        room = _Room(link, use.cells, peaks, variable)
        if len(cbr) > 1 and peaks > room.cells:
            got = f"{show_amount(int(peaks))} cells/s for {len(cbr)} sources across {link}"
            allowed = f"up to {show_amount(int(room.cells))} cells/s of class cbr, {_OR_ALLOW}"
            faults.add(("source",), Verbatim(got), allowed, meaning_of(_field(CbrSource, "rate")))
        elif len(here) > 1 and variable and peaks + variable > room.cells:
            _refuse_variable(file, room, len(here) - len(cbr), faults)
        for where, meaning, promised in _promises(gfr, abr):
            vcs = [vc for vc in promised if link in links_of.get(vc, ())]
            total = sum(promised[vc] for vc in vcs)
            if vcs and total + peaks + variable > room.cells:
                which = vcs[0] if len(vcs) == 1 else f"{len(vcs)} VCs"
                got = f"{show_amount(int(total))} cells/s for {which} across {link}{room.beside}"
                allowed = f"up to {show_amount(int(room.cells))} cells/s, {_OR_ALLOW}"
                faults.add(where, Verbatim(got), allowed, meaning)
                break


def _field(model: Any, name: str) -> Any:
    return model.model_fields[name]


def _refuse_variable(file: ScenarioFile, room: _Room, count: int, faults: FaultCollector) -> None:
    what = "effective bandwidth" if file.admission.loss else "peak rate"
    which = "1 source" if count == 1 else f"{count} sources"
    needed = show_amount(math.ceil(room.variable))
    got = f"{needed} cells/s, the {what} of {which} of VBR across {room.link}"
    if room.peaks:
        got += f", beside {show_amount(math.ceil(room.peaks))} of class cbr"
    allowed = f"up to {show_amount(int(room.cells))} cells/s, {_OR_ALLOW}"
    faults.add(("source",), Verbatim(got), allowed, meaning_of(_field(VbrSource, "peak_rate")))


def _promises(
    gfr: Mapping[str, Fraction], abr: Mapping[str, Fraction]
) -> Iterator[tuple[Path, str, Mapping[str, Fraction]]]:
    """MCRs by the table that promises them: of each alone, then of both together."""
    of_gfr = meaning_of(_field(GfrContract, "mcr"))
    of_abr = meaning_of(_field(Abr, "mcr"))
    yield ("gfr",), of_gfr, gfr
    yield ("abr",), of_abr, abr
    yield ("abr",), of_abr, {**gfr, **abr}


def _crossings(
    file: ScenarioFile,
    plan: Plan,
    rates: Mapping[str, Fraction],
    sources: Mapping[str, SourceSpec],
    faults: FaultCollector,
) -> dict[str, list[Crossing]]:
    """By link: the sources that are promised a rate and whose cells cross it."""
    policed = {
        name: cells_per_second(policer.pcr)
        for policer in file.policer
        if policer.pcr_action == "discard"
        for name in policer.vcs
    }
    crossing: dict[str, list[Crossing]] = {}
    for _, source in each_source(file.source, faults):
        vc = plan.vcs.get(source.name)
        # A list of packets has no rate that could be promised.
        if vc is None or isinstance(source, TraceSource) or vc.service not in ("cbr", *_VBR):
            continue
        peak = peak_of(source, vc.links, rates)
        let_through = min(peak, policed.get(source.name, peak))
        for link in vc.all_links:
            is_first = link == vc.links[0]  # policed at the switch that it leads to
            here = peak if is_first else let_through
            one = Crossing(source.name, vc.service, here, _on_off(here, sources.get(source.name)))
            crossing.setdefault(link, []).append(one)
    return crossing


def _on_off(peak: Fraction, source: SourceSpec | None) -> OnOff | None:
    if source is None:
        return None
    if isinstance(source.pattern, SourcePatternOnOff):
        times = mean_ps(source.pattern.on), mean_ps(source.pattern.off)
        on_s, off_s = (time / PS_PER_SECOND for time in times)
        return OnOff(float(peak), on_s, off_s)
    return OnOff(float(peak), 1.0, 0.0)
