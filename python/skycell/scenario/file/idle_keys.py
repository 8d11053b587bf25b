"""Keys of a scenario file that have no effect beside what else it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skycell.input.faults import FaultCollector
from skycell.input.idle_keys import IdleKey, idle_below
from skycell.scenario.file.scenario_file import ScenarioFile


def idle_keys(written: Mapping[str, Any], file: ScenarioFile) -> list[IdleKey]:
    """The keys without effect that a file says itself.

    Args:
        written: what the file says itself.
        file: the same with presets and defaults filled in.
    """
    own = {key: value for key, value in written.items() if key != "tcp"}
    # The common TCP parameters are also those of flows and proxies with some of their own.
    others = [*(flow.tcp for flow in file.flow), *(pep.tcp for pep in file.pep)]
    tcps = [file.tcp, *(tcp for tcp in others if tcp is not None)]
    return [*idle_below(own, [file], ()), *idle_below(written.get("tcp"), tcps, ("tcp",))]


def note_idle_keys(written: Mapping[str, Any], file: ScenarioFile, faults: FaultCollector) -> None:
    """Notes the keys without effect, but for those that a value from outside has put out of it.

    A file that is varied (`--set tcp.recovery=reno`) may say what it needs without that.
    """
    for idle in idle_keys(written, file):
        deciding = ((*idle.path[:-1], other) for other in idle.others)
        if faults.is_from_outside(idle.path) or not any(map(faults.is_from_outside, deciding)):
            faults.add(idle.path, idle.got, idle.why, idle.meaning)
