"""Ports by their ids and names: those of links, and those of a constellation behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skycell.spec.columns import columns_of
from skycell.spec.declared.network import LinkSpec, NetworkSpec
from skycell.spec.values import kinds_as_links


def port_names(spec: NetworkSpec) -> list[str]:
    """Names of all ports by their ids."""
    links = [link.name for link in spec.links]
    return links if spec.sky is None else [*links, *_of_sky(spec)[0]]


def recorded_ports(spec: NetworkSpec) -> dict[int, LinkSpec]:
    """The ports that have a row in the records, by id and in the order of these rows.

    A port of a constellation has one if it is sampled. It stands as a link of delay 0, even if it
    has several links.
    """
    found = dict(enumerate(spec.links))
    first = len(found)
    sampled = [port for port in spec.records.sampled_ports if port >= first]
    if sampled:
        names, numbers = _of_sky(spec)
        kinds = kinds_as_links(spec)
        for port in sampled:
            kind = kinds[numbers[port - first]]
            found[port] = kind.model_copy(update={"name": names[port - first]})
    return found


def record_of_port(
    spec: NetworkSpec, records: Mapping[str, Any], name: str
) -> Mapping[str, Any] | None:
    """The row of a port, called as a file may call it; None without one."""
    rows: Sequence[Mapping[str, Any]] = records["ports"]
    by_name = {row["name"]: row for row in rows}
    if name not in by_name and spec.sky is not None:
        from skycell.orbit.port_names import port_called

        file = columns_of(spec)
        assert file is not None
        port = port_called(file, tuple(node.name for node in spec.nodes), _kinds(spec), name)
        name = name if port is None else _of_sky(spec)[0][port]
    return by_name.get(name)


def _kinds(spec: NetworkSpec) -> tuple[str, ...]:
    return tuple(kind.name for kind in spec.sky.kinds) if spec.sky else ()


def _of_sky(spec: NetworkSpec) -> tuple[list[str], list[int]]:
    """Names of the ports of the constellation, and the number of the kind of each."""
    from skycell.orbit.port_names import names_and_kinds

    file = columns_of(spec)
    assert file is not None
    return names_and_kinds(file, tuple(node.name for node in spec.nodes), _kinds(spec))
