"""Who talks to whom over a constellation, and what they send, or groups of users: `[[traffic]]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from skycell.input.parameters import Parameters, number, param, whole_number
from skycell.scenario.declared.tcp import Tcp
from skycell.scenario.declared.traffic import Persistent, Traffic, Transfers, Web
from skycell.scenario.file.sources import PacketSize, PeakRate, Phase
from skycell.scenario.file.traffic import Start
from skycell.scenario.file.users import AnyUsers
from skycell.scenario.links.schedule import Text
from skycell.scenario.values.distributions import Times
from skycell.scenario.values.rule_specs import kind_or

Seed = Annotated[int, whole_number(0, 2**32 - 1)]
_SEED = param(
    1,
    "seed of the draw, apart from the run's: replications have the same pairs",
    source="choice",
)


class Permutation(Parameters):
    """Every station sends to one other, and every station is sent to by one."""

    kind: Literal["permutation"] = param(..., "the pairs")
    seed: Seed = _SEED


class ReciprocalPermutation(Parameters):
    """Stations are drawn into pairs, and both of a pair send to each other; an odd one is alone."""

    kind: Literal["reciprocal_permutation"] = param(..., "the pairs")
    seed: Seed = _SEED


class All(Parameters):
    """Every station sends to every other."""

    kind: Literal["all"] = param(..., "the pairs")


class To(Parameters):
    """Every other station sends to one."""

    kind: Literal["to"] = param(..., "the pairs")
    place: Text = param(..., "station that the others send to")


class Listed(Parameters):
    """Pairs one by one."""

    kind: Literal["list"] = param(..., "the pairs")
    pair: tuple[tuple[str, str], ...] = param(..., "pairs of stations, each [from, to]")


class Gravity(Parameters):
    """Pairs that are drawn by population and distance; a pair may be drawn again."""

    kind: Literal["gravity"] = param(..., "the pairs")
    draws: Annotated[int, whole_number(1, 10_000)] = param(..., "pairs that are drawn")
    distance_exponent: Annotated[float, number(low=0, high=10)] = param(
        1.0,
        "a pair with P and Q people, d km apart, has a weight of P Q / d to the power of this",
        source="Zipf, The P1 P2 / D hypothesis, 1946",
    )
    seed: Seed = _SEED


def _pairs_by_word(value: Any) -> Any:
    if isinstance(value, str):
        return {"kind": value}
    if isinstance(value, list | tuple):
        return {"kind": "list", "pair": value}
    if isinstance(value, Mapping) and "kind" not in value and "to" in value:
        return {"kind": "to", "place": value["to"], **{k: v for k, v in value.items() if k != "to"}}
    return value


_AnyPairs = Permutation | ReciprocalPermutation | All | To | Listed | Gravity
Pairs = Annotated[
    Annotated[_AnyPairs, Field(discriminator="kind")],
    BeforeValidator(
        _pairs_by_word,
        json_schema_input_type=_AnyPairs | Literal["permutation", "reciprocal_permutation", "all"],
    ),
]


class DemandKeys(Parameters):
    """Whose traffic it is."""

    pairs: Pairs = param(
        ...,
        "stations that send to each other: permutation, reciprocal_permutation, all, "
        '{ to = "place" }, gravity, or a list of [from, to]',
    )
    count: Annotated[int, whole_number(1, 1000)] = param(
        1, "connections or sources of each pair", source="one"
    )
    start: Start | None = param(None, "when they begin", source="as start says")


class ConnectionKeys(DemandKeys):
    """The TCP connections of pairs, named from>to, and from>to#2 and so on behind the first."""

    tcp: Tcp | None = param(None, "TCP parameters that differ; the others are as in [tcp]")


class PersistentDemand(ConnectionKeys, Persistent):
    """Each pair always has more to send."""


class TransfersDemand(ConnectionKeys, Transfers):
    """Each pair makes transfers of one size with idle times between them."""


class WebDemand(ConnectionKeys, Web):
    """The first of each pair sends pages that the second asks for."""


_PACKET_SIZE = param(
    "1500 B", "octets of the IP packets, headers included, as UDP sends them", source="Ethernet's"
)


class CbrDemand(DemandKeys):
    """Each pair sends datagrams at equal intervals."""

    kind: Literal["cbr"] = param(..., "the traffic")
    rate: PeakRate = param(..., "rate of the packets")
    packet_size: PacketSize = _PACKET_SIZE


class VbrDemand(DemandKeys):
    """Each pair sends datagrams at a rate for a time, and is silent for a time."""

    kind: Literal["vbr"] = param(..., "the traffic")
    peak_rate: PeakRate = param(..., "rate of the packets while it sends")
    on: Times = param(..., "length of a burst, up to 24 h")
    off: Times = param(..., "time from the end of a burst to the next, up to 24 h")
    phase: Phase = param(
        "drawn",
        "position in the first cycle, which starts with the on time; drawn is uniform over a mean "
        "cycle",
        source="choice: sources do not wait for each other",
    )
    packet_size: PacketSize = _PACKET_SIZE


class FileDemand(Parameters):
    """Transfers and datagrams of a table: a connection for each size, a source for each rate."""

    kind: Literal["file"] = param(..., "the traffic")
    file: Text = param(
        ...,
        "a CSV file with from, to, start, and size (of a transfer) or rate (of datagrams), each "
        "with its unit, relative to the scenario's folder",
    )
    tcp: Tcp | None = param(None, "TCP parameters that differ; the others are as in [tcp]")
    packet_size: PacketSize = _PACKET_SIZE


def _kind_of(value: Any) -> Any:
    if isinstance(value, Mapping) and "kind" not in value and "file" in value:
        return {"kind": "file", **value}
    if isinstance(value, Mapping) and "users" in value:
        return value  # users have a kind, of their own or of their preset
    return kind_or("persistent")(value)


_AnyDemand = PersistentDemand | TransfersDemand | WebDemand | CbrDemand | VbrDemand | FileDemand
Demand = Annotated[Annotated[_AnyDemand, Field(discriminator="kind")], BeforeValidator(_kind_of)]
DemandOrUsers = Annotated[
    Annotated[_AnyDemand | AnyUsers, Field(discriminator="kind")], BeforeValidator(_kind_of)
]
Connections = PersistentDemand | TransfersDemand | WebDemand
Paced = CbrDemand | VbrDemand


def _is_list(value: Any) -> str:
    return "list" if isinstance(value, list | tuple) else "one"


TrafficOrDemands = Annotated[
    Annotated[Traffic, Tag("one")] | Annotated[tuple[DemandOrUsers, ...], Tag("list")],
    Discriminator(_is_list),
]


def start_of(demand: Demand) -> Start | None:
    """When the users of a table begin, if the table says so; a file says it row by row."""
    return None if isinstance(demand, FileDemand) else demand.start
