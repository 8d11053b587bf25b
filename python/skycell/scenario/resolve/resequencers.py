"""Resequencers of VCs, in picoseconds and cells."""

from __future__ import annotations

from skycell.input.quantities import rounded
from skycell.scenario.resolve.abr import controls
from skycell.scenario.resolve.resolution import Resolution, each_once, part, places
from skycell.spec.declared.network import ResequencerSpec


@part
def resequencers(net: Resolution) -> dict[str, ResequencerSpec]:
    """Returns the resequencer of each VC that has one, by its name."""
    tables = net.file.resequencer

    def problem(vc: str) -> str:
        if allowed := net.plan.instead_of_vc(vc):
            return allowed
        if len(net.plan.vcs[vc].links) == 1 or vc in controls(net):
            return "a VC of cells that crosses a switch, and is not of class abr"
        return ""

    specs = [
        ResequencerSpec(hold_ps=rounded(table.hold.amount), capacity_cells=int(table.buffer.amount))
        for table in tables
    ]
    fitting = each_once(net, places("resequencer", "vcs", tables), "VC", problem)
    return {vc: specs[int(where[1])] for where, vc in fitting.items()}
