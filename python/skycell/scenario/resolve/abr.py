"""The rate control of ABR VCs: whether a network can hold them to it, and it in integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from skycell.input.faults import FaultCollector, did_you_mean
from skycell.input.quantities import CELL_BITS, Quantity, rounded, show_amount
from skycell.scenario.declared.abr import ABR
from skycell.scenario.declared.rules import Declares
from skycell.scenario.declared.vs_vd import VS_VD
from skycell.scenario.file.abr import AbrControl
from skycell.scenario.file.vs_vd import VsVdSwitches
from skycell.scenario.plan.plan import Plan, PlannedVc
from skycell.scenario.resolve.contracts import MILLICELLS
from skycell.scenario.resolve.lines import Line
from skycell.scenario.values.cells import cells_per_second
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
        link_rate = self.lines[links[0]].rate / CELL_BITS
        values: dict[str, Any] = {
            "return_vc": back_id,
            "frtt_ps": sum(self.delays_ps[link] for link in (*links, *self.plan.vcs[back].links)),
        }
        for one in ABR.parameters:
            if not isinstance(one, Declares) or one.key is None:
                continue
            value = getattr(control, one.key)
            if value == "link rate":
                values[one.field] = int(link_rate * MILLICELLS)
            elif value == "pcr":
                values[one.field] = values["pcr_millicells"]
            else:
                values[one.field] = _RESOLVERS.get(one.type, _as_written)(value)
            if one.at_most and values[one.field] > values[one.at_most]:
                most = show_amount(values[one.at_most] // MILLICELLS)
                self.faults.add(("abr", i, one.key), str(value), f"up to pcr, {most} cells/s")
        return AbrSpec(**values)


def resolve_vs_vd(
    tables: tuple[VsVdSwitches, ...], plan: Plan, faults: FaultCollector
) -> dict[str, VsVdSpec]:
    """How each switch that cuts control loops couples them, by its name."""
    found = {}
    for i, table in enumerate(tables):
        values = {
            one.field: _RESOLVERS.get(one.type, _as_written)(getattr(table, one.key))
            for one in VS_VD.parameters
            if isinstance(one, Declares) and one.key is not None
        }
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
                found[node] = VsVdSpec(**values)
    return found


def _as_written(value: Any) -> Any:
    return value


def _rate(value: Quantity) -> int:
    return int(cells_per_second(value) * MILLICELLS)


_RESOLVERS: dict[str, Callable[[Any], Any]] = {
    "PeakCellRate": _rate,
    "RateUpToPeak": _rate,
    "CellRateOrNone": _rate,
    "CellsInFlight": lambda value: int(value.amount),
    "Interval": lambda value: rounded(value.amount),
}
