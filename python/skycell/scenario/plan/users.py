"""Tables of traffic that a file may have: pairs over a constellation, else groups of users."""

from __future__ import annotations

from skycell.input.faults import FaultCollector, Verbatim
from skycell.scenario.file.constellation import ConstellationNetwork
from skycell.scenario.file.scenario_file import ScenarioFile
from skycell.scenario.file.users import AnyUsers

USERS_KINDS = "asks, bulk, call, pages, video"
"""Kinds of traffic with users."""


_TRACES_OF_FLOWS = ("cwnd", "sequence", "discards", "transfers", "deliveries", "files")


def users_of(file: ScenarioFile) -> tuple[AnyUsers, ...]:
    """The groups of users of a file."""
    tables = file.traffic if isinstance(file.traffic, tuple) else ()
    return tuple(table for table in tables if isinstance(table, AnyUsers))


def refuse_tables_of_others(file: ScenarioFile, faults: FaultCollector) -> None:
    """Notes tables of traffic that the topology has no place for; raises `ScenarioFaults`."""
    tables = file.traffic if isinstance(file.traffic, tuple) else ()
    known = len(faults.faults)
    is_sky = isinstance(file.topology, ConstellationNetwork)
    if not tables and isinstance(file.traffic, tuple) and not is_sky:
        allowed = "a table [traffic], or one or more tables [[traffic]] with users"
        faults.add(("traffic",), Verbatim("an empty list"), allowed)
    for i, table in enumerate(tables):
        if isinstance(table, AnyUsers) == is_sky:
            allowed = (
                "a table with pairs: users go to pairs of hosts, and a constellation has stations"
                if is_sky
                else f"a table with users, of kind {USERS_KINDS}: pairs of stations are those of "
                'a topology "constellation"'
            )
            faults.add(("traffic", i, "kind"), table.kind, allowed)
    if users_of(file):
        _refuse_beside_users(file, faults)
    if len(faults.faults) > known:
        faults.raise_if_any()


def _refuse_beside_users(file: ScenarioFile, faults: FaultCollector) -> None:
    """Notes what is of the connections of flows, which a topology with users does not have."""
    meaning = "with [[traffic]] of users the topology's flows are pairs of hosts for users"
    allowed = "nothing beside groups of users"
    if file.flow:
        faults.add(("flow", 0), Verbatim("[[flow]]"), allowed, meaning)
    for i, classifier in enumerate(file.classifier):
        for k, rule in enumerate(classifier.rule):
            if rule.protocol is not None:
                where = ("classifier", i, "rule", k, "protocol")
                both = "connections and datagrams of users take the same VCs"
                faults.add(where, rule.protocol, f"{allowed}: {both}")
    for i, trace in enumerate(file.records.traces):
        if trace in _TRACES_OF_FLOWS:
            faults.add(("records", "traces", i), trace, "traces of ports: users have no flows")
    if file.records.flow_ports:
        got = list(file.records.flow_ports)
        faults.add(("records", "flow_ports"), got, "nothing beside groups of users", meaning)
    if file.loss.transmissions or file.loss.at_cwnd is not None:
        faults.add(("loss",), Verbatim("[loss]"), allowed, meaning)
