"""The rate control of ABR VCs: whether a network can hold them to it, and it in integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skycell.input.faults import FaultCollector, did_you_mean
from skycell.scenario.declared.abr import ABR
from skycell.scenario.declared.vs_vd import VS_VD
from skycell.scenario.file.abr import AbrControl
from skycell.scenario.file.vs_vd import VsVdSwitches
from skycell.scenario.interpreter.place import Place
from skycell.scenario.interpreter.rules import resolve
from skycell.scenario.plan.plan import Plan, PlannedVc
from skycell.scenario.resolve.lines import Line
from skycell.spec.network import AbrSpec, VsVdSpec


@dataclass
class AbrResolver:
    """Resolves the rate control of VCs.

    Attributes:
        controls: as the file has them.
        plan: the network.
        lines: of each link.
        delays_ps: of each link.
        faults: where they go.
    """

    controls: tuple[AbrControl, ...]
    plan: Plan
    lines: Mapping[str, Line]
    delays_ps: Mapping[str, int]
    faults: FaultCollector

    def resolve(self, with_gfr: Mapping[str, Any]) -> dict[str, AbrSpec]:
        """The rate control of each VC that has one, by its name; `with_gfr` have a contract."""
        controls = self._by_vc()
        ids = {name: i for i, name in enumerate(self.plan.vcs)}
        found = {}
        for vc, (i, control) in controls.items():
            back = self._other_way(self.plan.vcs[vc])
            if vc in with_gfr:
                allowed = "a VC without [[gfr]]: an ABR VC has mcr here"
                self.faults.add(("abr", i, "vcs"), vc, allowed)
            elif back is not None:
                found[vc] = self._spec(i, control, vc, back, ids[back])
        return found

    def _by_vc(self) -> dict[str, tuple[int, AbrControl]]:
        """The table of each VC: its own, or else that of the VC the other way."""
        named: dict[str, tuple[int, AbrControl]] = {}
        for i, control in enumerate(self.controls):
            for k, vc in enumerate(control.vcs):
                where = ("abr", i, "vcs", k)
                if vc not in self.plan.vcs:
                    self.faults.add(where, vc, self.plan.a_vc(vc))
                elif vc in named:
                    self.faults.add(where, vc, "each VC once")
                elif any(self.lines[link].packets for link in self.plan.vcs[vc].links):
                    self.faults.add(where, vc, "a VC of cells")
                elif self._other_way(self.plan.vcs[vc]) is None:
                    allowed = "a VC with another one back over the same nodes, for its RM cells"
                    self.faults.add(where, vc, allowed)
                else:
                    named[vc] = (i, control)
        for vc, control_of in list(named.items()):
            back = self._other_way(self.plan.vcs[vc])
            assert back is not None
            named.setdefault(back, control_of)
        return named

    def _other_way(self, vc: PlannedVc) -> str | None:
        """The VC back over the same nodes; of several the one with its place among its own."""
        alike = [other.name for other in self.plan.vcs.values() if other.links == vc.links]
        way = tuple(">".join(reversed(link.split(">"))) for link in reversed(vc.links))
        back = [other.name for other in self.plan.vcs.values() if other.links == way]
        place = alike.index(vc.name)
        return back[place] if place < len(back) else None

    def _spec(self, i: int, control: AbrControl, vc: str, back: str, back_id: int) -> AbrSpec:
        links = self.plan.vcs[vc].links
        frtt_ps = sum(self.delays_ps[link] for link in (*links, *self.plan.vcs[back].links))
        place = Place(("abr", i), self.faults, line=self.lines[links[0]])
        spec: AbrSpec = resolve(ABR, control, place, return_vc=back_id, frtt_ps=frtt_ps)
        return spec


def resolve_vs_vd(
    tables: tuple[VsVdSwitches, ...], plan: Plan, faults: FaultCollector
) -> dict[str, VsVdSpec]:
    """How each switch that cuts control loops couples them, by its name."""
    found = {}
    for i, table in enumerate(tables):
        spec: VsVdSpec = resolve(VS_VD, table, Place(("vs_vd", i), faults))
        for k, node in enumerate(table.nodes):
            where = ("vs_vd", i, "nodes", k)
            if node not in plan.nodes:
                hint = did_you_mean(node, plan.nodes)
                faults.add(where, node, f"a switch of the topology{hint}")
            elif plan.nodes[node] != "switch":
                allowed = f"a switch: {node} is a {plan.nodes[node]}, where VCs end"
                faults.add(where, node, allowed)
            elif node in found:
                faults.add(where, node, "each switch once")
            else:
                found[node] = spec
    return found
