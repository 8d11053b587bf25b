"""Rate control of VCs, and switches that cut its loops."""

from __future__ import annotations

from skycell.input.faults import did_you_mean
from skycell.scenario.declared.abr import ABR
from skycell.scenario.declared.vs_vd import VS_VD
from skycell.scenario.file.abr import AbrControl
from skycell.scenario.interpreter.place import Place
from skycell.scenario.interpreter.rules import resolve
from skycell.scenario.plan.plan import PlannedVc
from skycell.scenario.resolve.contracts import contracts
from skycell.scenario.resolve.lines import delays_ps, lines
from skycell.scenario.resolve.resolution import Resolution, each_once, part, places
from skycell.spec.declared.network import AbrSpec, VsVdSpec

#: Nodes that a VC visits, and from when on, in picoseconds.
_Way = tuple[int, tuple[str, ...]]


@part
def controls(net: Resolution) -> dict[str, AbrSpec]:
    """Returns the rate control of each VC that has one, by its name."""
    found = {}
    for vc, (i, control) in _by_vc(net).items():
        back = _other_way(net, vc)
        if vc in contracts(net):
            allowed = "a VC without [[gfr]]: an ABR VC has mcr here"
            net.faults.add(("abr", i, "vcs"), vc, allowed)
        elif back is not None:
            found[vc] = _spec(net, i, control, vc, back)
    return found


def _by_vc(net: Resolution) -> dict[str, tuple[int, AbrControl]]:
    """Returns the table of each VC: its own, or else that of the VC the other way."""

    def problem(vc: str) -> str:
        if allowed := net.plan.instead_of_vc(vc):
            return allowed
        if any(lines(net)[link].packets for link in net.plan.vcs[vc].links):
            return "a VC of cells"
        if _other_way(net, vc) is None:
            return "a VC with a second VC back over the same nodes, for its RM cells"
        return ""

    tables = net.file.abr
    fitting = each_once(net, places("abr", "vcs", tables), "VC", problem)
    named = {vc: (int(where[1]), tables[int(where[1])]) for where, vc in fitting.items()}
    for vc, control_of in list(named.items()):
        back = _other_way(net, vc)
        assert back is not None
        named.setdefault(back, control_of)
    return named


def _other_way(net: Resolution, name: str) -> str | None:
    """Returns the VC back over the same nodes; of several the one with its place among its own."""
    by_nodes = _vcs_by_nodes(net)
    nodes = _nodes(net, net.plan.vcs[name])
    back = by_nodes.get(tuple((since, way[::-1]) for since, way in nodes), [])
    place = by_nodes[nodes].index(name)
    return back[place] if place < len(back) else None


@part
def _vcs_by_nodes(net: Resolution) -> dict[tuple[_Way, ...], list[str]]:
    """Returns the VCs that visit the same nodes at all times, in their order."""
    found: dict[tuple[_Way, ...], list[str]] = {}
    for name, vc in net.plan.vcs.items():
        found.setdefault(_nodes(net, vc), []).append(name)
    return found


def _nodes(net: Resolution, vc: PlannedVc) -> tuple[_Way, ...]:
    """Returns the nodes of each way of a VC, with the time from which on it holds.

    A link up to satellites leads to another node than its own end: the next link says to which.
    """
    ways = ((0, vc.links), *(vc.rerouting.ways if vc.rerouting else ()))
    planned = [(since, [net.plan.links[link] for link in way]) for since, way in ways]
    return tuple(
        (since, (*(link.source for link in links), links[-1].target)) for since, links in planned
    )


def _spec(net: Resolution, i: int, control: AbrControl, vc: str, back: str) -> AbrSpec:
    links = net.plan.vcs[vc].links
    frtt_ps = sum(delays_ps(net)[link] for link in (*links, *net.plan.vcs[back].links))
    place = Place(("abr", i), net.faults, line=lines(net)[links[0]])
    spec: AbrSpec = resolve(ABR, control, place, return_vc=net.vc_ids[back], frtt_ps=frtt_ps)
    return spec


@part
def vs_vds(net: Resolution) -> dict[str, VsVdSpec]:
    """Returns how each switch that cuts control loops couples them, by its name."""
    nodes, tables = net.plan.nodes, net.file.vs_vd

    def problem(node: str) -> str:
        if node not in nodes:
            return f"a switch of the topology{did_you_mean(node, nodes)}"
        if nodes[node] != "switch":
            return f"a switch: {node} is a {nodes[node]}, where VCs end"
        return ""

    specs: list[VsVdSpec] = [
        resolve(VS_VD, table, Place(("vs_vd", i), net.faults)) for i, table in enumerate(tables)
    ]
    fitting = each_once(net, places("vs_vd", "nodes", tables), "switch", problem)
    return {node: specs[int(where[1])] for where, node in fitting.items()}
