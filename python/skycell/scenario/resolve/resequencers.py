"""Resequencers of VCs, in picoseconds and cells."""

from __future__ import annotations

from collections.abc import Container, Sequence

from skycell.input.faults import FaultCollector
from skycell.input.quantities import rounded
from skycell.scenario.file.resequencer import Resequencer
from skycell.scenario.plan.plan import Plan
from skycell.spec.network import ResequencerSpec


def resolve_resequencers(
    tables: Sequence[Resequencer], plan: Plan, abr: Container[str], faults: FaultCollector
) -> dict[str, ResequencerSpec]:
    """The resequencer of each VC that has one, by its name.

    Args:
        tables: as the file has them.
        plan: the network.
        abr: the VCs of class abr.
        faults: where names that cannot have one go.
    """
    found: dict[str, ResequencerSpec] = {}
    for i, one in enumerate(tables):
        spec = ResequencerSpec(
            hold_ps=rounded(one.hold.amount), capacity_cells=int(one.buffer.amount)
        )
        for k, name in enumerate(one.vcs):
            where = ("resequencer", i, "vcs", k)
            if name not in plan.vcs:
                faults.add(where, name, plan.a_vc(name))
            elif name in found:
                faults.add(where, name, "each VC once")
            elif len(plan.vcs[name].links) == 1 or name in abr:
                allowed = "a VC of cells that crosses a switch, and is not of class abr"
                faults.add(where, name, allowed)
            found[name] = spec
    return found
