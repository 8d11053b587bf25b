"""Ports of a constellation by the names that a file gives them."""

from __future__ import annotations

from skycell.input.faults import did_you_mean
from skycell.scenario.plan.sky_spread import BETWEEN, DOWN, TERRESTRIAL, UP
from skycell.scenario.resolve.resolution import Resolution
from skycell.spec.columns import columns_with

_KINDS = (BETWEEN, UP, DOWN, TERRESTRIAL)


def sky_port_id(net: Resolution, name: str) -> int | None:
    """The id of a port in the spec; None without such a port."""
    from skycell.orbit.port_names import port_called

    assert net.plan.sky is not None
    port = port_called(columns_with(net.plan.sky.columns), tuple(net.plan.nodes), _KINDS, name)
    return None if port is None else len(net.link_ids) + port


def a_sky_port(net: Resolution, name: str) -> str:
    """What may stand in place of a name that is no port's."""
    from skycell.orbit.port_names import names_and_kinds

    assert net.plan.sky is not None
    file = columns_with(net.plan.sky.columns)
    known, _ = names_and_kinds(file, tuple(net.plan.nodes), _KINDS)
    hint = did_you_mean(name, known)
    example = "" if hint else f", such as {net.plan.sky.stations[0]}>{UP}"
    ports = "a port of the constellation, node>kind, or the link from>to that it feeds"
    return f"{ports}{example}{hint}"
