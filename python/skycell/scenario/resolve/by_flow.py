"""Ports that count flows in place of VCs: where they can, and where that has an effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skycell.input.faults import Path, Verbatim
from skycell.scenario.declared.policies import POLICIES, Policy
from skycell.scenario.plan.plan import PlannedLink
from skycell.scenario.resolve.resolution import Resolution
from skycell.scenario.values.rule_specs import Choice, FieldSpec, Parameter

#: Types of parameters that have a value for each VC.
_OF_VCS = {"VcThresholds", "VcAllowances", "VcLevels", "McrByVc"}
#: In classes of policies: what they count is that of each VC, not of all together.
_OF_EACH = "MA"


def counts_flows(link: PlannedLink) -> bool:
    """Whether the port that feeds a link counts flows, and not VCs."""
    return link.port.by_flow and _counts_vcs(link)


def check_by_flow(net: Resolution, link: PlannedLink) -> None:
    """Notes `by_flow` of a port that sees no flows, or where nothing looks at them."""
    if not link.port.by_flow:
        return
    where = (*link.path, "by_flow")
    if net.plan.nodes[link.source] == "switch":
        allowed = f"false: {link.source} is a switch, which forwards cells and sees no flows"
        net.faults.add(where, True, allowed)
        return
    for path, policy in _policies(link):
        if _OF_VCS & {
            parameter.type for parameter in _parameters(POLICIES[policy.kind].parameters)
        }:
            got = Verbatim(f"{policy.kind}, with by_flow")
            allowed = "a policy without parameters of VCs, which flows do not have"
            net.faults.add(path, got, allowed)
    deciding = [*(path for path, _ in _policies(link)), (*link.path, "scheduler")]
    if not _counts_vcs(link) and not any(map(net.faults.is_from_outside, deciding)):
        kinds = dict.fromkeys(policy.kind for _, policy in _policies(link))
        allowed = f"false: {' and '.join(kinds)} distinguishes neither VCs nor flows"
        net.faults.add(where, True, allowed)


def _counts_vcs(link: PlannedLink) -> bool:
    classes = (str(POLICIES[policy.kind].facts["class"]) for _, policy in _policies(link))
    orders = link.port.scheduler is not None and link.port.scheduler.kind == "deficit_round_robin"
    return orders or any(of.startswith(_OF_EACH) for of in classes)


def _policies(link: PlannedLink) -> Iterator[tuple[Path, Policy]]:
    """The policies of a port, each with where it stands in the file."""
    for i, own in enumerate(link.port.classes):
        yield (*link.path, "class", i, "policy"), own.policy
    yield (*link.path, link.policy_key), link.port.policy


def _parameters(parameters: Sequence[Parameter]) -> Iterator[FieldSpec]:
    for parameter in parameters:
        if isinstance(parameter, FieldSpec):
            yield parameter
        elif not isinstance(parameter, Choice):
            yield from _parameters(parameter.parameters)
