"""What VCs with an MCR are due at the congested link, and what they got."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skycell.input.quantities import PS_PER_SECOND
from skycell.metrics import fairness_index
from skycell.spec.network import LinkSpec, NetworkSpec
from skycell.spec.parts import VcSpec

PAYLOAD_BITS = 48 * 8
"""Bits of a cell that the tables of the DFBA papers count of an MCR."""

IJSC_PART = 0.9
"""What IJSC Table 3 expects of it: 6.91 of 7.68 Mbit/s and so on; no segment size gives that."""


@dataclass(frozen=True)
class GuaranteedVc:
    """A VC with an MCR, and the flows that it carries over the congested link."""

    vc: int
    mcr_cells_per_s: float
    flows: tuple[int, ...]

    @property
    def mcr_mbps(self) -> float:
        """MCR as the tables have it: 48 octets a cell, Mbit/s.

        >>> round(GuaranteedVc(0, 20_000.0, ()).mcr_mbps, 2)
        7.68
        """
        return self.mcr_cells_per_s * PAYLOAD_BITS / 1e6


def guaranteed_vcs(spec: NetworkSpec, congested: LinkSpec) -> tuple[GuaranteedVc, ...]:
    """The VCs with an MCR that cross the congested link, in the order of their ids."""
    across = spec.links.index(congested)
    return tuple(
        GuaranteedVc(vc, mcr, flows_on(spec, vc))
        for vc, entry in enumerate(spec.vcs)
        if across in entry.path and (mcr := _mcr_cells_per_s(entry))
    )


def flows_by_edge(spec: NetworkSpec) -> tuple[tuple[int, ...], ...]:
    """The flows behind each edge router: those whose data leaves their first router by one link.

    A flow that meets no router counts alone.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for i, flow in enumerate(spec.flows):
        crosses_router = len(flow.forward) > 1
        key = spec.vcs[flow.forward[1]].path[:1] if crosses_router else (-1, i)
        groups.setdefault(key, []).append(i)
    return tuple(map(tuple, groups.values()))


def flows_on(spec: NetworkSpec, vc: int) -> tuple[int, ...]:
    """The flows whose data a VC carries."""
    return tuple(i for i, flow in enumerate(spec.flows) if vc in flow.forward)


def _mcr_cells_per_s(vc: VcSpec) -> float:
    """MCR of a VC of class gfr or abr; 0 where nothing is promised."""
    if vc.gfr is not None:
        # A contract has 1/MCR in whole picoseconds, which tells MCRs to a tenth of a cell.
        return round(PS_PER_SECOND / vc.gfr.mcr_interval_ps, 1)
    return vc.abr.mcr_millicells / 1000 if vc.abr is not None else 0.0


def throughput_mbps(rates_bps: Sequence[float], vc: GuaranteedVc) -> float:
    """Throughput of all flows on a VC together, Mbit/s."""
    return sum(rates_bps[flow] for flow in vc.flows) / 1e6


def shortfall(rates_bps: Sequence[float], vcs: Sequence[GuaranteedVc]) -> float:
    """Part of the guaranteed rate that VCs did not get; what others got beyond theirs is no help.

    Args:
        rates_bps: throughput of every flow, bit/s.
        vcs: the VCs; at least one.

    >>> vcs = [GuaranteedVc(0, 10_000.0, (0,)), GuaranteedVc(1, 10_000.0, (1,))]
    >>> round(shortfall([1.92e6, 9.9e6], vcs), 3)  # 3.84 Mbit/s each: VC 0 lacks half of its own
    0.25
    """
    missing = [max(0.0, vc.mcr_mbps - throughput_mbps(rates_bps, vc)) for vc in vcs]
    return sum(missing) / sum(vc.mcr_mbps for vc in vcs)


def fairness_of_groups(rates_bps: Sequence[float], groups: Sequence[Sequence[int]]) -> float | None:
    """Jain's index of what all flows of each group got together, equal parts being fair.

    None where nothing was delivered.

    >>> fairness_of_groups([1e6, 3e6, 4e6], [(0, 1), (2,)])
    1.0
    """
    got = [sum(rates_bps[flow] for flow in flows) for flows in groups]
    return fairness_index(got) if any(got) else None


def excess_fairness(rates_bps: Sequence[float], vcs: Sequence[GuaranteedVc]) -> float | None:
    """Jain's index of what VCs got beyond their MCRs, equal parts being fair.

    None where no VC got more than its MCR.

    >>> vcs = [GuaranteedVc(0, 10_000.0, (0,)), GuaranteedVc(1, 20_000.0, (1,))]
    >>> excess_fairness([4.84e6, 1e6], vcs)  # VC 0 has all of it
    0.5
    """
    excess = [max(0.0, throughput_mbps(rates_bps, vc) - vc.mcr_mbps) for vc in vcs]
    return fairness_index(excess) if any(excess) else None


def mean_queue(summary: Mapping[str, Any], vc: GuaranteedVc) -> float:
    """Mean of the sampled occupancy of a VC, cells, at the port that samples it.

    Raises:
        ValueError: no port samples the VC.
    """
    for port in summary["ports"]:
        for queue in port["vc_queues"]:
            if queue["vc"] == vc.vc:
                return float(queue["mean"])
    raise ValueError(f"no port samples VC {vc.vc}")
