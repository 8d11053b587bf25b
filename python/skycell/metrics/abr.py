"""The rates that are fair for ABR VCs."""

from __future__ import annotations

from skycell.input.quantities import CELL_BITS
from skycell.metrics.ceiling import carried_bps
from skycell.metrics.max_min import max_min_rates
from skycell.metrics.network import taken_bps
from skycell.spec.declared.network import NetworkSpec

#: Rates of a contract are counted in thousandths of a cell a second.
_MILLICELLS = 1000


def abr_rates(spec: NetworkSpec) -> dict[int, float]:
    """Rates of ABR VCs that are weighted max-min fair beyond their MCRs, cells/s by VC id.

    Each VC counts as if it had something to send all the time, RM cells included, and gets at most
    its PCR. Of a link they share what the sources of other VCs leave in the mean.

    Source: ATM Forum 98-0408 (arXiv cs/9809040), section 2; without MCRs and with equal weights
    max-min fairness.
    """
    vcs = {place: vc.abr for place, vc in enumerate(spec.vcs) if vc.abr is not None}
    taken = taken_bps(spec, [source for source in spec.sources if source.vc not in vcs])
    routes = [spec.vcs[place].path for place in vcs]
    left: dict[int, float] = {}
    for link in {link for route in routes for link in route}:
        carried = carried_bps(
            spec.links[link],
            spec.duration_ps,
            taken.get(link, 0.0),
            from_ps=spec.measure_from_ps,
        )
        of_abr = carried / CELL_BITS
        promised = sum(
            abr.mcr_millicells / _MILLICELLS
            for abr, route in zip(vcs.values(), routes, strict=True)
            if link in route
        )
        left[link] = max(0.0, of_abr - promised)
    beyond = max_min_rates(
        routes,
        left,
        [(abr.pcr_millicells - abr.mcr_millicells) / _MILLICELLS for abr in vcs.values()],
        [abr.weight for abr in vcs.values()],
    )
    return {
        place: abr.mcr_millicells / _MILLICELLS + rate
        for (place, abr), rate in zip(vcs.items(), beyond, strict=True)
    }
