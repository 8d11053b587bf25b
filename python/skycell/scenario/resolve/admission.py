"""Connection admission: whether each link carries what is promised to the VCs that cross it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from skycell.input.faults import FaultCollector, Path, Verbatim
from skycell.input.parameters import meaning_of
from skycell.input.quantities import CELL_BITS, show_amount
from skycell.scenario.declared.abr import Abr
from skycell.scenario.file.gfr import GfrContract
from skycell.scenario.file.scenario_file import ScenarioFile
from skycell.scenario.file.sources import CbrSource, TraceSource, each_source
from skycell.scenario.plan.plan import Plan
from skycell.scenario.resolve.sources import peak_of
from skycell.scenario.values.cells import cells_per_second


def check_admission(
    file: ScenarioFile,
    plan: Plan,
    rates: Mapping[str, Fraction],
    gfr: Mapping[str, Fraction],
    abr: Mapping[str, Fraction],
    faults: FaultCollector,
) -> None:
    """Refuses what links cannot carry together: MCRs of GFR and ABR VCs, and peaks of class CBR.

    A CBR source is promised its rate for as long as it lasts, so its peak counts, and behind a
    policer that discards what it lets through; sources of other classes may come to more, as they
    take turns or lose cells.

    Args:
        file: with the sources and policers.
        plan: the network.
        rates: payload rate of each link, bit/s.
        gfr: MCR of each VC with a GFR contract, cells/s; some may be no VC of the network.
        abr: the same of ABR VCs.
        faults: where they go.
    """
    constant = _constant_rates(file, plan, rates, faults)
    links_of = {vc: frozenset(plan.vcs[vc].links) for vc in (*gfr, *abr) if vc in plan.vcs}
    for link in plan.links:
        room = rates[link] / CELL_BITS
        cbr = constant.get(link, {})
        peaks = sum(cbr.values(), Fraction(0))
        if len(cbr) > 1 and peaks > room:
            got = f"{show_amount(int(peaks))} cells/s for {len(cbr)} sources across {link}"
            allowed = f"up to {show_amount(int(room))} cells/s of class cbr, what the link carries"
            meaning = meaning_of(CbrSource.model_fields["rate"])
            faults.add(("source",), Verbatim(got), allowed, meaning)
        for where, meaning, promised in _promises(gfr, abr):
            crossing = [vc for vc in promised if link in links_of.get(vc, ())]
            total = sum(promised[vc] for vc in crossing)
            if crossing and total + peaks > room:
                which = crossing[0] if len(crossing) == 1 else f"{len(crossing)} VCs"
                got = f"{show_amount(int(total))} cells/s for {which} across {link}"
                if peaks:
                    got += f", beside {show_amount(int(peaks))} of class cbr"
                allowed = f"up to {show_amount(int(room))} cells/s, what the link carries"
                faults.add(where, Verbatim(got), allowed, meaning)
                break


def _promises(
    gfr: Mapping[str, Fraction], abr: Mapping[str, Fraction]
) -> Iterator[tuple[Path, str, Mapping[str, Fraction]]]:
    """MCRs by the table that promises them: of each alone, then of both together."""
    of_gfr = meaning_of(GfrContract.model_fields["mcr"])
    of_abr = meaning_of(Abr.model_fields["mcr"])
    yield ("gfr",), of_gfr, gfr
    yield ("abr",), of_abr, abr
    yield ("abr",), of_abr, {**gfr, **abr}


def _constant_rates(
    file: ScenarioFile, plan: Plan, rates: Mapping[str, Fraction], faults: FaultCollector
) -> dict[str, dict[str, Fraction]]:
    """By link: the rate of each source of class CBR whose cells cross it, cells/s."""
    policed = {
        name: cells_per_second(policer.pcr)
        for policer in file.policer
        if policer.pcr_action == "discard"
        for name in policer.vcs
    }
    crossing: dict[str, dict[str, Fraction]] = {}
    for _, source in each_source(file.source, faults):
        vc = plan.vcs.get(source.name)
        # A list of packets has no rate that could be promised.
        if vc is None or isinstance(source, TraceSource):
            continue
        if vc.service == "cbr":
            peak = peak_of(source, vc.links, rates)
            let_through = min(peak, policed.get(source.name, peak))
            for link in vc.all_links:
                is_first = link == vc.links[0]  # policed at the switch that it leads to
                crossing.setdefault(link, {})[source.name] = peak if is_first else let_through
    return crossing
