"""The VCs with an MCR across the congested link, and the flows that they carry."""

from dataclasses import dataclass

from skycell.input.quantities import PS_PER_SECOND
from skycell.spec.declared.network import LinkSpec, NetworkSpec
from skycell.spec.declared.parts import VcSpec

PAYLOAD_BITS = 48 * 8
"""Bits of a cell that the tables of the DFBA papers count of an MCR."""


@dataclass(frozen=True)
class GuaranteedVc:
    """A VC with an MCR, and the flows that it carries over the congested link."""

    vc: int
    mcr_cells_per_s: float
    flows: tuple[int, ...]

    @property
    def mcr_mbps(self) -> float:
        """The MCR as the tables have it: 48 octets a cell, Mbit/s.

        >>> round(GuaranteedVc(0, 20_000.0, ()).mcr_mbps, 2)
        7.68
        """
        return self.mcr_cells_per_s * PAYLOAD_BITS / 1e6


def guaranteed_vcs(spec: NetworkSpec, congested: LinkSpec) -> tuple[GuaranteedVc, ...]:
    """Returns the VCs with an MCR that cross the congested link, in the order of their ids."""
    across = spec.links.index(congested)
    return tuple(
        GuaranteedVc(vc, mcr, flows_on(spec, vc))
        for vc, entry in enumerate(spec.vcs)
        if across in entry.path and (mcr := _mcr_cells_per_s(entry))
    )


def flows_by_edge(spec: NetworkSpec) -> tuple[tuple[int, ...], ...]:
    """Returns the flows behind each edge router: their data leave their first router by one link.

    A flow that meets no router counts alone.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for i, flow in enumerate(spec.flows):
        crosses_router = len(flow.forward) > 1
        key = spec.vcs[flow.forward[1]].path[:1] if crosses_router else (-1, i)
        groups.setdefault(key, []).append(i)
    return tuple(map(tuple, groups.values()))


def flows_on(spec: NetworkSpec, vc: int) -> tuple[int, ...]:
    """Returns the flows whose data a VC carries."""
    return tuple(i for i, flow in enumerate(spec.flows) if vc in flow.forward)


def _mcr_cells_per_s(vc: VcSpec) -> float:
    """MCR of a VC of class gfr or abr; 0 where nothing is promised."""
    if vc.gfr is not None:
        # A contract has 1/MCR in whole picoseconds, which tells MCRs to a tenth of a cell.
        return round(PS_PER_SECOND / vc.gfr.mcr_interval_ps, 1)
    return vc.abr.mcr_millicells / 1000 if vc.abr is not None else 0.0
