"""Keys of a scenario file that have no effect beside what else it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skycell.input.faults import FaultCollector
from skycell.input.idle_keys import IdleKey, idle_below
from skycell.scenario.file.idle_tcp_keys import idle_beside_rules
from skycell.scenario.file.scenario_file import ScenarioFile


def idle_keys(written: Mapping[str, Any], file: ScenarioFile) -> list[IdleKey]:
    """The keys without effect that a file says itself.

    Args:
        written: what the file says itself.
        file: the same with presets and defaults filled in.
    """
    own = {key: value for key, value in written.items() if key != "tcp"}
    # The common TCP parameters are also those of flows and proxies with some of their own.
    tables = file.traffic if isinstance(file.traffic, tuple) else ()
    own_tcp = [(i, getattr(table, "tcp", None)) for i, table in enumerate(tables)]
    others = [
        *(flow.tcp for flow in file.flow),
        *(pep.tcp for pep in file.pep),
        *(tcp for _, tcp in own_tcp),
    ]
    tcps = [file.tcp, *(tcp for tcp in others if tcp is not None)]
    common = written.get("tcp")
    found = [*idle_below(own, [file], ()), *idle_below(common, tcps, ("tcp",))]
    found += idle_beside_rules(common, tcps, ("tcp",))
    of_flows = [("flow", i, flow.tcp) for i, flow in enumerate(file.flow)]
    of_peps = [("pep", i, pep.tcp) for i, pep in enumerate(file.pep)]
    of_traffic = [("traffic", i, tcp) for i, tcp in own_tcp]
    for key, i, tcp in (*of_flows, *of_peps, *of_traffic):
        if tcp is not None:
            found += idle_beside_rules(written[key][i].get("tcp"), [tcp], (key, i, "tcp"))
    return found


def note_idle_keys(written: Mapping[str, Any], file: ScenarioFile, faults: FaultCollector) -> None:
    """Notes the keys without effect, but for those that a value from outside has put out of it.

    A file that is varied (`--set tcp.recovery=reno`) may say what it needs without that.
    """
    for idle in idle_keys(written, file):
        is_own = not any(map(faults.is_from_outside, idle.deciding))
        if faults.is_from_outside(idle.path) or is_own:
            faults.add(idle.path, idle.got, idle.why)
