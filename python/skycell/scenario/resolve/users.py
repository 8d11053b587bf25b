"""Groups of users resolved to integers: applications, TCP parameters, routes, start times."""

from __future__ import annotations

from skycell.input.faults import Path, Verbatim
from skycell.scenario.declared.applications import APPLICATIONS
from skycell.scenario.file.traffic import Staggered, Start, Together
from skycell.scenario.file.users import AnyUsers, AsksUsers, PagesUsers, VideoUsers
from skycell.scenario.interpreter.place import Place
from skycell.scenario.interpreter.rules import resolve
from skycell.scenario.links.jitter import Sender
from skycell.scenario.plan.users import users_of
from skycell.scenario.resolve.context import context
from skycell.scenario.resolve.flows import starts
from skycell.scenario.resolve.peps import peps
from skycell.scenario.resolve.resolution import Resolution, part
from skycell.scenario.resolve.tcp import tcps_of_users
from skycell.spec.declared.network import (
    StartAt,
    StartDrawn,
    UserGroupSpec,
    UserRouteSpec,
    UsersSpec,
)


@part
def users(net: Resolution) -> UsersSpec | None:
    """Returns the groups of users, and their routes; None where there are none."""
    tables = users_of(net.file)
    if not tables:
        return None
    _refuse_host_times(net)
    routes = tuple(
        UserRouteSpec(
            forward=tuple(net.vc_ids[vc] for vc in flow.forward),
            reverse=tuple(net.vc_ids[vc] for vc in flow.reverse),
            peps=peps(net).get(name, ()),
        )
        for name, flow in net.plan.flows.items()
    )
    if not routes:
        allowed = "a topology with a pair of hosts or more"
        net.faults.add(("traffic", 0, "users"), tables[0].users, allowed)
        return None
    groups, first, names = [], 0, dict[str, None]()
    for i, table in enumerate(tables):
        here: Path = ("traffic", i)
        name = table.name or _name_of(table, names)
        if name in names:
            net.faults.add((*here, "name"), name, "each name once among the groups")
        names[name] = None
        _check(net, table, here)
        start, every_ps = _start(net, table, here)
        spec = resolve(
            APPLICATIONS[table.kind], table, Place(here, net.faults, context=context(net))
        )
        if spec is not None:
            group = UserGroupSpec(
                name=name,
                count=table.users,
                first_route=first % len(routes),
                tcp=tcps_of_users(net)[i],
                app=spec,
                start=start,
                every_ps=every_ps,
            )
            groups.append(group)
        first += table.users
    return UsersSpec(routes=routes, groups=tuple(groups))


def _name_of(table: AnyUsers, taken: dict[str, None]) -> str:
    """The kind, and a number where the kind has another group."""
    number = 1
    while (name := table.kind if number == 1 else f"{table.kind}{number}") in taken:
        number += 1
    return name


def _start(net: Resolution, table: AnyUsers, here: Path) -> tuple[StartAt | StartDrawn, int]:
    """When the first user begins, and by how much each other begins later than the one before."""
    written: Start = net.file.start if table.start is None else table.start
    path: Path = ("start",) if table.start is None else (*here, "start")
    if isinstance(written, Staggered):
        at = Together.model_construct(kind="together", at=written.first)
        first = starts(net, at, ["first"], path)["first"]
        every_ps = context(net).time_ps(written.every)
        last_ps = getattr(first, "time_ps", 0) + (table.users - 1) * every_ps
        if last_ps >= context(net).duration_ps:
            got = Verbatim(f"{written.every}, for {table.users} users")
            net.faults.add((*path, "every"), got, "starts before the end of the run")
        return first, every_ps
    return starts(net, written, ["first"], path)["first"], 0


def _check(net: Resolution, table: AnyUsers, here: Path) -> None:
    """Notes values that do not go together."""

    def ascending(key: str, values: list[int], count: int | None = None) -> None:
        is_short = count is not None and len(values) != count
        if is_short or not values or values != sorted(set(values)):
            how_many = "at least one value" if count is None else f"{count} values"
            allowed = f"{how_many}, each above the one before"
            net.faults.add((*here, key), [str(value) for value in getattr(table, key)], allowed)

    if isinstance(table, VideoUsers):
        ascending("ladder", [int(rate.amount * 1000) for rate in table.ladder])
        segments = max(table.start_segments, table.resume_segments, 2)
        if table.buffer.amount < segments * table.segment.amount:
            allowed = f"at least {segments} segments, so that it can play"
            net.faults.add((*here, "buffer"), table.buffer.text, allowed)
        if table.choice == "bola" and table.bola_least.amount >= table.buffer.amount:
            allowed = f"below buffer, {table.buffer}"
            net.faults.add((*here, "bola_least"), str(table.bola_least), allowed)
    if isinstance(table, PagesUsers):
        ascending("requests", list(table.requests), 5)
        ascending("page_size", [int(size.amount) for size in table.page_size], 5)
    is_never_again = isinstance(table, AsksUsers) and table.again is None
    if is_never_again and "repeats" in table.model_fields_set:
        net.faults.add((*here, "repeats"), getattr(table, "repeats", None), "nothing without again")


def _refuse_host_times(net: Resolution) -> None:
    """Notes processing times of hosts, which are drawn flow by flow."""
    noted = set()
    for link in net.plan.links.values():
        is_host = net.plan.nodes.get(link.source) == "host"
        if is_host and isinstance(link.jitter, Sender) and link.path not in noted:
            noted.add(link.path)
            got = Verbatim("processing times of hosts")
            allowed = "nothing beside groups of users: these times are drawn flow by flow"
            net.faults.add((*link.path, "frame_jitter"), got, allowed)
