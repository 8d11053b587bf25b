"""Keys of a scenario file that have no effect beside what else it says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skycell.input.faults import FaultCollector, Path
from skycell.input.idle_keys import IdleKey, idle_below
from skycell.scenario.declared.tcp import Tcp
from skycell.scenario.file.beam import Beam
from skycell.scenario.file.idle_tcp_keys import idle_beside_rules
from skycell.scenario.file.scenario_file import WrittenFile


def idle_keys(written: Mapping[str, Any], file: WrittenFile) -> list[IdleKey]:
    """The keys without effect that a file says itself.

    Args:
        written: what the file says itself.
        file: the same with presets and defaults filled in.
    """
    own = {key: value for key, value in written.items() if key != "tcp"}
    # The common TCP parameters are also those of tables with some of their own.
    of_tables = list(_tcp_of_tables(written, file))
    tcps = [file.tcp, *(tcp for _, _, tcp in of_tables)]
    common = written.get("tcp")
    found = [*idle_below(own, [file], ()), *idle_below(common, tcps, ("tcp",))]
    found += idle_beside_rules(common, tcps, ("tcp",))
    for path, stated, tcp in of_tables:
        found += idle_beside_rules(stated, [tcp], path)
    return found


def _tcp_of_tables(
    written: Mapping[str, Any], file: WrittenFile
) -> Iterator[tuple[Path, Any, Tcp]]:
    """TCP parameters of flows, proxies and users: where they stand, as stated, and all of them."""
    traffic = file.traffic if isinstance(file.traffic, tuple) else ()
    lists: dict[str, tuple[Any, ...]] = {"flow": file.flow, "pep": file.pep, "traffic": traffic}
    for key, tables in lists.items():
        for i, table in enumerate(tables):
            tcp = getattr(table, "tcp", None)
            if tcp is not None:
                yield (key, i, "tcp"), written[key][i].get("tcp"), tcp
    beam = file.topology
    if isinstance(beam, Beam) and beam.pep is not None and beam.pep.tcp is not None:
        yield ("topology", "pep", "tcp"), written["topology"]["pep"].get("tcp"), beam.pep.tcp


def note_idle_keys(written: Mapping[str, Any], file: WrittenFile, faults: FaultCollector) -> None:
    """Notes the keys without effect, but for those that a value from outside has put out of it.

    A file that is varied (`--set tcp.recovery=reno`) may say what it needs without that.
    """
    for idle in idle_keys(written, file):
        is_own = not any(map(faults.is_from_outside, idle.deciding))
        if faults.is_from_outside(idle.path) or is_own:
            faults.add(idle.path, idle.got, idle.why)
