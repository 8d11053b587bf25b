"""VCs of one flow or source alone, from each host or router on its way to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skycell.scenario.plan.plan import Plan


def segment_vcs(plan: Plan, name: str, nodes: Sequence[str], service: str) -> list[str]:
    """A VC for each segment between hosts and routers on a path."""
    segments = list(_segments(plan, nodes))
    if len(segments) == 1:
        return [plan.add_vc(_unused(plan, name), segments[0], service)]
    return [
        plan.add_vc(_unused(plan, f"{name}{k}"), segment, service)
        for k, segment in enumerate(segments, 1)
    ]


def _unused(plan: Plan, name: str) -> str:
    """`name`, or with primes when a given VC has it already."""
    while name in plan.vcs:
        name += "'"
    return name


def _segments(plan: Plan, nodes: Sequence[str]) -> Iterator[list[str]]:
    segment = [nodes[0]]
    for node in nodes[1:]:
        segment.append(node)
        if plan.nodes[node] != "switch":
            yield segment
            segment = [node]
