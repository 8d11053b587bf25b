"""Limits of hosts' ports: only hosts have them, and only on links of packets."""

from __future__ import annotations

from skycell.input.faults import FaultCollector, Path
from skycell.scenario.links.keys import HostKeys
from skycell.scenario.plan.plan import UNLIMITED, Plan, plain_port


def refuse_host_port(link: HostKeys, path: Path, faults: FaultCollector) -> None:
    """Notes the limit of a host's port for a link that no host feeds, if it is given."""
    _note(str(link.host_buffer), link.host_policy.kind, path, "no host feeds this link", faults)


def check_host_ports(plan: Plan, faults: FaultCollector) -> None:
    """Notes limits of hosts' ports that feed links of cells, once for each table.

    Ports of stations have the buffer of `ground`, as those of satellites do.
    """
    if plan.sky is not None:
        return
    noted = set()
    for link in plan.links.values():
        is_host = plan.nodes[link.source] == "host"
        if is_host and not link.takes_all_in and not link.carries_packets:
            if link.path not in noted:
                why = "on a link of cells a host's port holds everything that TCP sends"
                _note(str(link.port.buffer), link.port.policy.kind, link.path, why, faults)
            noted.add(link.path)


def _note(buffer: str, policy: str, path: Path, why: str, faults: FaultCollector) -> None:
    for key, got, plain in (
        ("host_buffer", buffer, UNLIMITED),
        ("host_policy", policy, plain_port().policy.kind),
    ):
        if got != plain:
            faults.add((*path, key), got, f'"{plain}": {why}')
