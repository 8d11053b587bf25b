"""Uplinks that terminals share: whether the network has them, and they in integers."""

from __future__ import annotations

from typing import Any

from skycell.input.faults import Path, Verbatim, did_you_mean
from skycell.input.quantities import Quantity, rounded, show_amount, show_time
from skycell.scenario.declared.access import ACCESS
from skycell.scenario.declared.impairments import IMPAIRMENTS
from skycell.scenario.file.uplinks import LONGEST_PS, Uplink
from skycell.scenario.interpreter.place import Place
from skycell.scenario.interpreter.rules import resolve
from skycell.scenario.plan.patterns import listed, near
from skycell.scenario.plan.plan import PlannedLink
from skycell.scenario.resolve.abr import controls
from skycell.scenario.resolve.lines import lines
from skycell.scenario.resolve.resolution import Resolution, part
from skycell.spec.declared.network import UplinkSpec

_HOPS = {"ground": 4, "on_board": 2}
"""Hops of a request and its answer, by where the controller is."""


@part
def uplinks(net: Resolution) -> tuple[UplinkSpec, ...]:
    """Returns the uplinks of a file; those with a fault are left out."""
    taken: set[str] = set()
    found = []
    for i, uplink in enumerate(net.file.uplink):
        noted = len(net.faults.faults)
        links = _links(net, uplink, ("uplink", i), taken)
        if not links or len(net.faults.faults) > noted:
            continue
        spec = _spec(net, uplink, ("uplink", i), links, [net.link_ids[link.name] for link in links])
        _check_frame(net, uplink, ("uplink", i), len(links))
        found.append(spec)
    return tuple(found)


def _links(net: Resolution, uplink: Uplink, where: Path, taken: set[str]) -> list[PlannedLink]:
    if uplink.to not in net.plan.nodes:
        hint = did_you_mean(uplink.to, net.plan.nodes)
        net.faults.add((*where, "to"), uplink.to, f"a node of the topology{hint}")
        return []
    joined = [link for link in net.plan.links.values() if link.target == uplink.to]
    by_source = {link.source: link for link in joined}
    hosts = [link for link in joined if net.plan.nodes[link.source] == "host"]
    if uplink.terminals is None:
        if not hosts:
            allowed = "a node that hosts have links to, or terminals beside it"
            net.faults.add((*where, "to"), uplink.to, allowed)
        named = [(link.source, where) for link in hosts]
    else:
        of_list = listed(uplink.terminals, by_source)
        named = [(name, (*where, "terminals", k)) for k, name in of_list]
    links = []
    for terminal, path in named:
        link = by_source.get(terminal)
        problem = _problem(net, link, uplink, taken)
        if link is None:
            problem += near(terminal, by_source)
        if link is None or problem:
            net.faults.add(path, terminal, problem)
            continue
        taken.add(link.name)
        links.append(link)
    return links


def _problem(net: Resolution, link: PlannedLink | None, uplink: Uplink, taken: set[str]) -> str:
    """What a terminal's link would have to be instead; empty if it may be one."""
    if link is None:
        return f"a node with a link to {uplink.to}"
    if link.name in taken:
        return "each terminal once"
    if lines(net)[link.name].packets is not None:
        return "a node whose link carries cells: slots carry no packets"
    if link.name in net.plan.satellite_paths:
        return "a node whose link leads to one node: satellites on board would each have an uplink"
    if link.port.shaper is not None:
        return "a node without a shaper on the link: slots say when it sends"
    paced = (vc for vc in controls(net) if link.name in net.plan.vcs[vc].links)
    if vc := next(paced, None):
        return f"a node without ABR VCs: the rate of {vc} is controlled"
    return ""


def _spec(
    net: Resolution, uplink: Uplink, where: Path, links: list[PlannedLink], ids: list[int]
) -> UplinkSpec:
    cells_ps = max(_longest_cell_ps(net, link) for link in links) * uplink.slot_cells
    slot_ps = cells_ps if uplink.slot is None else rounded(uplink.slot.amount)
    if uplink.slot is not None and slot_ps < cells_ps:
        net.faults.add(
            (*where, "slot"),
            uplink.slot.text,
            f"from {show_time(cells_ps)}, the time of its cells on the slowest link",
        )
    longest_ps = max(rounded(link.delay.amount) for link in links)
    hop_ps = longest_ps if uplink.hop is None else rounded(uplink.hop.amount)
    here = Place(where, net.faults)
    access, impairments = uplink.access, uplink.impairments
    times = {
        "feedback": _time(uplink.feedback, 2 * hop_ps),
        "response": _time(uplink.response, _HOPS[uplink.controller] * hop_ps),
    }
    for key, time_ps in times.items():
        if time_ps > LONGEST_PS:
            got = Verbatim(f"{show_time(time_ps)}, of hops of {show_time(hop_ps)}")
            net.faults.add((*where, key), got, f"up to {show_time(LONGEST_PS)}")
    return UplinkSpec(
        name=uplink.to if where[1] == 0 else f"{uplink.to}-{where[1]}",
        links=tuple(ids),
        slot_ps=slot_ps,
        slot_cells=uplink.slot_cells,
        feedback_ps=times["feedback"],
        response_ps=times["response"],
        access=resolve(ACCESS[access.kind], access, here.inside(uplink, "access")),
        impairments=resolve(IMPAIRMENTS, impairments, here.inside(uplink, "impairments")),
    )


def _longest_cell_ps(net: Resolution, link: PlannedLink) -> int:
    """The time of a cell on a link, the longest of one whose rate changes."""
    schedule = net.schedules.schedules.get(link.table_of("schedule"))
    return max((lines(net)[link.name].cell_time_ps, *(schedule.cell_times_ps if schedule else ())))


def _check_frame(net: Resolution, uplink: Uplink, where: Path, terminals: int) -> None:
    """Refuses frames without room for what is in them."""
    access: Any = uplink.access
    needs: list[tuple[str, int, int]] = []
    if access.kind == "dama":
        needs.append(("request_slots", access.request_slots, access.frame_slots - 1))
        room = access.frame_slots - access.request_slots
        needs.append(("constant_slots", access.constant_slots * terminals, max(room, 0)))
    elif access.kind == "hybrid":
        needs.append(("contention_slots", access.contention_slots, access.frame_slots - 1))
    elif access.kind == "fixed_assignment":
        needs.append(("constant_slots", access.constant_slots * terminals, 65_536))
    for key, needed, room in needs:
        if needed > room:
            of_all = " in all" if key == "constant_slots" else ""
            got = Verbatim(f"{show_amount(needed)} slots{of_all}")
            allowed = f"at most {show_amount(room)} slots of a frame"
            net.faults.add((*where, "access", key), got, allowed)
            return


def _time(found: Quantity | None, otherwise_ps: int) -> int:
    return otherwise_ps if found is None else rounded(found.amount)
