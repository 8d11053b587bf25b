"""Ports of a network of columns by their names."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from skycell.orbit.columns import Columns


def port_called(
    file: Path, nodes: tuple[str, ...], kinds: tuple[str, ...], name: str
) -> int | None:
    """The port of a constellation with a name, counted within it; None without one.

    Args:
        file: its columns.
        nodes: names of its nodes.
        kinds: names of its kinds of ports.
        name: of the port, or node>kind of the only port of that kind of a node, or from>to of the
            link that it feeds, if it feeds others too.
    """
    names, numbers = names_and_kinds(file, nodes, kinds)
    if name in names:
        return names.index(name)
    source, _, target = name.partition(">")
    if source not in nodes:
        return None
    columns = _columns(file)
    own = columns.link_from == nodes.index(source)
    if target in kinds:
        kind = kinds.index(target)
        fed = {int(port) for port in columns.link_port[own] if numbers[port] == kind}
    elif target in nodes:
        own &= columns.link_to == nodes.index(target)
        fed = {int(port) for port in columns.link_port[own]}
    else:
        fed = set()
    return fed.pop() if len(fed) == 1 else None


@lru_cache(maxsize=4)
def names_and_kinds(
    file: Path, nodes: tuple[str, ...], kinds: tuple[str, ...]
) -> tuple[list[str], list[int]]:
    """Name of each port, and the number of its kind."""
    columns = _columns(file)
    return columns.port_names(nodes, kinds), columns.port_kind.tolist()


@lru_cache(maxsize=1)
def _columns(file: Path) -> Columns:
    return Columns(file.read_bytes())
