"""VCs of one flow or source alone, from each host or router on its way to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skycell.scenario.plan.plan import Plan


def own_vcs(plan: Plan, name: str, nodes: Sequence[str], service: str) -> list[str]:
    """A VC for each stretch between hosts and routers on a path."""
    stretches = list(_stretches(plan, nodes))
    if len(stretches) == 1:
        return [plan.add_vc(_unused(plan, name), stretches[0], service)]
    return [
        plan.add_vc(_unused(plan, f"{name}{k}"), stretch, service)
        for k, stretch in enumerate(stretches, 1)
    ]


def _unused(plan: Plan, name: str) -> str:
    """`name`, or with primes when a given VC has it already."""
    while name in plan.vcs:
        name += "'"
    return name


def _stretches(plan: Plan, nodes: Sequence[str]) -> Iterator[list[str]]:
    stretch = [nodes[0]]
    for node in nodes[1:]:
        stretch.append(node)
        if plan.nodes[node] != "switch":
            yield stretch
            stretch = [node]
