"""What VCs with an MCR are due at the congested link, and what they got."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skycell.scenario.contracts import MILLICELLS
from skycell.scenario.network_spec import DfbaSpec, LinkSpec, NetworkSpec

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
    """The VCs with an MCR at the port of the congested link, in the order of their ids."""
    policy = congested.port.policy
    if not isinstance(policy, DfbaSpec):
        return ()
    return tuple(
        GuaranteedVc(
            vc,
            mcr / MILLICELLS,
            tuple(i for i, flow in enumerate(spec.flows) if vc in flow.forward),
        )
        for vc, mcr in enumerate(policy.mcr_millicells)
        if mcr > 0
    )


def throughput_mbps(rates_bps: Sequence[float], vc: GuaranteedVc) -> float:
    """Throughput of all flows on a VC together, Mbit/s."""
    return sum(rates_bps[flow] for flow in vc.flows) / 1e6


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
