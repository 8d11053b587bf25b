"""Connection admission: whether each link carries what is promised to the VCs that cross it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from skycell.input.faults import Path, Verbatim
from skycell.input.parameters import meaning_of
from skycell.input.quantities import CELL_BITS, PS_PER_SECOND, show_amount
from skycell.scenario.declared.abr import Abr
from skycell.scenario.file.gfr import GfrContract
from skycell.scenario.file.sources import CbrSource, TraceSource, VbrSource, each_source
from skycell.scenario.resolve.abr import controls
from skycell.scenario.resolve.contracts import mcrs
from skycell.scenario.resolve.effective_bandwidth import OnOff, of_all
from skycell.scenario.resolve.lines import lines
from skycell.scenario.resolve.ports import ports
from skycell.scenario.resolve.resolution import Resolution, part
from skycell.scenario.resolve.sources import peak_of, sources
from skycell.scenario.values.cells import MILLICELLS, cells_per_second
from skycell.spec.declared.network import PortSpec, SourcePatternOnOff, SourceSpec
from skycell.spec.values import mean_ps

_VBR = ("rt_vbr", "nrt_vbr")

_OR_ALLOW = 'what the link carries; admission.overbooking = "allow" runs it unchanged'


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


@part
def link_uses(net: Resolution) -> dict[str, LinkUse]:
    """Returns what each link carries, and what is promised of it for the whole run.

    A source of class CBR is promised its rate for as long as it lasts, so its peak counts, and
    behind a policer that discards what it lets through. Of the classes of VBR on/off sources count
    as [admission] says, others with their rate; those of other classes may come to more, as they
    take turns or lose cells.
    """
    crossing = _crossings(net)
    reserved = dict.fromkeys(net.plan.links, Fraction(0))
    for vc, mcr in (_of_gfr(net) | _of_abr(net)).items():
        if vc in net.plan.vcs:
            for link in net.plan.vcs[vc].all_links:
                reserved[link] += mcr
    return {
        link: LinkUse(
            lines(net)[link].rate / CELL_BITS,
            net.file.admission.loss,
            ports(net)[link],
            crossing.get(link, ()),
            reserved[link],
        )
        for link in net.plan.links
    }


def _of_gfr(net: Resolution) -> dict[str, Fraction]:
    """Returns the MCR of each VC with a GFR contract, cells/s."""
    return {vc: Fraction(rate, MILLICELLS) for vc, rate in mcrs(net).items()}


def _of_abr(net: Resolution) -> dict[str, Fraction]:
    """Returns the MCR of each ABR VC, cells/s."""
    return {vc: Fraction(abr.mcr_millicells, MILLICELLS) for vc, abr in controls(net).items()}


def check_admission(net: Resolution) -> None:
    """Refuses what links cannot carry together: MCRs of GFR and ABR VCs, and what sources need."""
    if net.file.admission.overbooking == "allow":
        return
    vcs, gfr, abr = net.plan.vcs, _of_gfr(net), _of_abr(net)
    links_of = {vc: frozenset(vcs[vc].all_links) for vc in (*gfr, *abr) if vc in vcs}
    for link, use in link_uses(net).items():
        here = use.here
        cbr = [one for one in here if one.service == "cbr"]
        peaks, variable = use.needs()
        room = _Room(link, use.cells, peaks, variable)
        if len(cbr) > 1 and peaks > room.cells:
            got = f"{show_amount(int(peaks))} cells/s for {len(cbr)} sources across {link}"
            allowed = f"up to {show_amount(int(room.cells))} cells/s of class cbr, {_OR_ALLOW}"
            meaning = meaning_of(_field(CbrSource, "rate"))
            net.faults.add(("source",), Verbatim(got), allowed, meaning)
        elif len(here) > 1 and variable and peaks + variable > room.cells:
            _refuse_variable(net, room, len(here) - len(cbr))
        for where, meaning, promised in _promises(gfr, abr):
            crossing = [vc for vc in promised if link in links_of.get(vc, ())]
            total = sum(promised[vc] for vc in crossing)
            if crossing and total + peaks + variable > room.cells:
                which = crossing[0] if len(crossing) == 1 else f"{len(crossing)} VCs"
                got = f"{show_amount(int(total))} cells/s for {which} across {link}{room.beside}"
                allowed = f"up to {show_amount(int(room.cells))} cells/s, {_OR_ALLOW}"
                net.faults.add(where, Verbatim(got), allowed, meaning)
                break


def _field(model: Any, name: str) -> Any:
    return model.model_fields[name]


def _refuse_variable(net: Resolution, room: _Room, count: int) -> None:
    what = "effective bandwidth" if net.file.admission.loss else "peak rate"
    which = "1 source" if count == 1 else f"{count} sources"
    needed = show_amount(math.ceil(room.variable))
    got = f"{needed} cells/s, the {what} of {which} of VBR across {room.link}"
    if room.peaks:
        got += f", beside {show_amount(math.ceil(room.peaks))} of class cbr"
    allowed = f"up to {show_amount(int(room.cells))} cells/s, {_OR_ALLOW}"
    net.faults.add(("source",), Verbatim(got), allowed, meaning_of(_field(VbrSource, "peak_rate")))


def _promises(
    gfr: Mapping[str, Fraction], abr: Mapping[str, Fraction]
) -> Iterator[tuple[Path, str, Mapping[str, Fraction]]]:
    """MCRs by the table that promises them: of each alone, then of both together."""
    of_gfr = meaning_of(_field(GfrContract, "mcr"))
    of_abr = meaning_of(_field(Abr, "mcr"))
    yield ("gfr",), of_gfr, gfr
    yield ("abr",), of_abr, abr
    yield ("abr",), of_abr, {**gfr, **abr}


def _crossings(net: Resolution) -> dict[str, list[Crossing]]:
    """Returns, by link, the sources that are promised a rate and whose cells cross it."""
    specs = {source.name: source for source in sources(net)}
    policed = {
        name: cells_per_second(policer.pcr)
        for policer in net.file.policer
        if policer.pcr_action == "discard"
        for name in policer.vcs
    }
    crossing: dict[str, list[Crossing]] = {}
    for _, source in each_source(net.file.source, net.faults):
        vc = net.plan.vcs.get(source.name)
        # A list of packets has no rate that could be promised.
        if vc is None or isinstance(source, TraceSource) or vc.service not in ("cbr", *_VBR):
            continue
        peak = peak_of(net, source, vc.links)
        let_through = min(peak, policed.get(source.name, peak))
        for link in vc.all_links:
            is_first = link == vc.links[0]  # policed at the switch that it leads to
            here = peak if is_first else let_through
            one = Crossing(source.name, vc.service, here, _on_off(here, specs.get(source.name)))
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
