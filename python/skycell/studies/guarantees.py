"""Measures of VCs with an MCR: what they are due at the congested link, and what they got."""

from __future__ import annotations

from collections.abc import Sequence

from skycell.input.quantities import PS_PER_SECOND
from skycell.measures.flows import MBIT, throughput
from skycell.measures.measure import Measures
from skycell.metrics import fairness_index
from skycell.studies.guaranteed_vcs import PAYLOAD_BITS, GuaranteedVc
from skycell.studies.measured_run import Measured

GUARANTEES: Measures[Measured] = Measures()

IJSC_PART = 0.9
"""What IJSC Table 3 expects of it: 6.91 of 7.68 Mbit/s and so on; no segment size gives that."""


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


def fairness_of_excess(rates_bps: Sequence[float], vcs: Sequence[GuaranteedVc]) -> float | None:
    """Jain's index of what VCs got beyond their MCRs, equal parts being fair.

    None where no VC got more than its MCR.

    >>> vcs = [GuaranteedVc(0, 10_000.0, (0,)), GuaranteedVc(1, 20_000.0, (1,))]
    >>> fairness_of_excess([4.84e6, 1e6], vcs)  # VC 0 has all of it
    0.5
    """
    excess = [max(0.0, throughput_mbps(rates_bps, vc) - vc.mcr_mbps) for vc in vcs]
    return fairness_index(excess) if any(excess) else None


@GUARANTEES.declare("Mbit/s", "throughput of all flows of the row's VC", better="larger")
def vc_throughput(run: Measured) -> float:
    """Of the row's `vc`."""
    return throughput_mbps(run.rates_bps(), run.guaranteed_vc())


@GUARANTEES.declare("Mbit/s", "throughput of the row's VC beyond its MCR", better="larger")
def vc_excess(run: Measured) -> float:
    """Below zero if the VC got less than its MCR."""
    return vc_throughput(run) - run.guaranteed_vc().mcr_mbps


@GUARANTEES.declare(
    "1", "throughput of the row's VC beyond its MCR, as a part of that", better="larger"
)
def vc_excess_ratio(run: Measured) -> float:
    """Below zero if the VC got less than its MCR."""
    return vc_excess(run) / run.guaranteed_vc().mcr_mbps


@GUARANTEES.declare("Mbit/s", "what the row's VC is expected to get of its MCR")
def vc_expected(run: Measured) -> float:
    """An input of the run."""
    return IJSC_PART * run.guaranteed_vc().mcr_mbps


@GUARANTEES.declare("cells", "mean queue of the row's VC", better="smaller")
def vc_mean_queue(run: Measured) -> float:
    """At the port that samples the VC.

    Raises:
        ValueError: no port samples the VC.
    """
    vc = run.guaranteed_vc().vc
    for port in run.ports:
        for queue in port["vc_queues"]:
            if queue["vc"] == vc:
                return float(queue["mean"])
    raise ValueError(f"no port samples VC {vc}")


@GUARANTEES.declare("1", "part of all MCRs that their VCs did not get", better="smaller")
def guarantee_shortfall(run: Measured) -> float | None:
    """None if nothing is promised."""
    promised = run.facts.guaranteed
    return shortfall(run.rates_bps(), promised) if promised else None


@GUARANTEES.declare("1", "Jain's index of what VCs got beyond their MCRs", better="larger")
def excess_fairness(run: Measured) -> float | None:
    """None if no VC got more than its MCR."""
    return fairness_of_excess(run.rates_bps(), run.facts.guaranteed)


@GUARANTEES.declare(
    "1",
    "Jain's index of the throughputs of edge routers, each of all flows behind it",
    better="larger",
)
def edge_fairness(run: Measured) -> float | None:
    """None if nothing was delivered."""
    return fairness_of_groups(run.rates_bps(), run.facts.flows_by_edge)


@GUARANTEES.declare("Mbit/s", "sum of the MCRs")
def mcr_total(run: Measured) -> float:
    """An input of the run."""
    return sum(vc.mcr_mbps for vc in run.facts.guaranteed)


@GUARANTEES.declare("Mbit/s", "throughput of all flows beyond the sum of the MCRs", better="larger")
def excess_total(run: Measured) -> float:
    """Below zero if the flows together got less."""
    return throughput(run) - mcr_total(run)


@GUARANTEES.declare(
    "Mbit/s",
    "whole frames of VCs with a contract that carry no TCP, 48 octets a cell",
    better="larger",
)
def datagram_throughput(run: Measured) -> float:
    """Over the whole run."""
    without = {vc.vc for vc in run.facts.guaranteed if not vc.flows}
    cells = sum(vc["cells_whole"] for vc in run.summary["gfr_vcs"] if vc["vc"] in without)
    duration_s = run.summary["duration_ps"] / PS_PER_SECOND
    return float(cells * PAYLOAD_BITS / duration_s / MBIT)
