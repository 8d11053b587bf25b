"""Bounds on losses and delays: whether there is something to hold against them."""

from __future__ import annotations

from collections.abc import Sequence

from skycell.input.faults import NOTHING, FaultCollector
from skycell.input.parameters import meaning_of
from skycell.scenario.file.qos import QosTargets
from skycell.scenario.plan.plan import Plan


def check_qos(
    targets: Sequence[QosTargets],
    delay_vcs: Sequence[str] | None,
    plan: Plan,
    faults: FaultCollector,
) -> None:
    """Refuses bounds of no VC, tables without a bound, and bounds on delays nobody measures.

    Args:
        targets: as the file has them.
        delay_vcs: the VCs whose delays the file measures; None if it leaves that open.
        plan: the network.
        faults: where they go.
    """
    meaning = meaning_of(QosTargets.model_fields["vcs"])
    for i, one in enumerate(targets):
        if not any(bound is not None for bound in one.bounds):
            allowed = "a profile, or a bound in clr, ctd or cdv"
            faults.add(("qos", i, "profile"), NOTHING, allowed, "what the VCs may suffer")
        for k, name in enumerate(one.vcs):
            where = ("qos", i, "vcs", k)
            if name not in plan.vcs:
                faults.add(where, name, plan.a_vc(name), meaning)
            elif name in one.vcs[:k]:
                faults.add(where, name, "each VC once", meaning)
            elif one.asks_for_delays and any(
                link.carries_packets for link in plan.links_of([name])
            ):
                allowed = (
                    "a VC of cells, or a bound on losses alone: how long packets wait is recorded "
                    "at every port of packets"
                )
                faults.add(where, name, allowed, meaning)
            elif one.asks_for_delays and delay_vcs is not None and name not in delay_vcs:
                allowed = "a VC in records.delay_vcs, or a bound on losses alone"
                faults.add(where, name, allowed, meaning)


def vcs_with_delays(targets: Sequence[QosTargets], plan: Plan) -> set[str]:
    """The VCs of cells whose delays are bounded, which are measured unless the file says others."""
    return {
        name
        for one in targets
        if one.asks_for_delays
        for name in one.vcs
        if name in plan.vcs and not any(link.carries_packets for link in plan.links_of([name]))
    }
