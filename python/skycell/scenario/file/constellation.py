"""A constellation as a topology: satellites and stations that forward packets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from skycell.input.faults import show_value
from skycell.input.parameters import (
    Flag,
    Parameters,
    ValueType,
    param,
    part,
    quantity,
    when,
    whole_number,
    word,
)
from skycell.input.quantities import DAY_PS, LONGEST_RUN_PS, Dimension, Quantity, Refused
from skycell.scenario.declared.framings import Framing
from skycell.scenario.links import jitter
from skycell.scenario.links.jitter import FrameJitter
from skycell.scenario.links.keys import RATE_MEANING, PortKeys
from skycell.scenario.links.loss import FrameLoss
from skycell.scenario.links.schedule import Moment, Text
from skycell.scenario.values.link_values import Buffer, Mtu, Rate

Step = Annotated[
    Quantity,
    quantity(Dimension.TIME, low=1_000_000, high=LONGEST_RUN_PS, example="100 ms"),
]
Precision = Annotated[
    Quantity,
    quantity(Dimension.TIME, low=1_000, high=LONGEST_RUN_PS, example="1 ns"),
]
GatewayDelay = Annotated[
    Quantity | Literal["distance"],
    quantity(
        Dimension.TIME,
        Dimension.DISTANCE,
        high=DAY_PS,
        words=["distance"],
        what="1 km is 5 us",
        example="4 ms",
    ),
]
_OutageTime = Annotated[
    Quantity, quantity(Dimension.TIME, above=0, high=LONGEST_RUN_PS, example="40 s")
]
Interruption = Annotated[
    Quantity, quantity(Dimension.TIME, low=0, high=LONGEST_RUN_PS, example="20 ms")
]
Waiting = Annotated[str, word("sent", "rerouted", "lost", "sent_if_routed", "turned")]
_WAITING = (
    "fate of a packet whose link or route has changed by the time that it leaves: sent over the "
    "old link, with the last delay known; rerouted by the route in force; lost if the link is "
    "gone; sent_if_routed, which loses it if its node has no route any more; or turned, which is "
    "rerouted by a port that pauses while it has no link, and then by the last route"
)


class SkyPort(PortKeys):
    """The ports of one kind of link of a constellation."""

    rate: Rate = param(..., RATE_MEANING)
    framing: Framing = param(
        ...,
        "how links carry packets (ip, ethernet, gse ...) or cells (none, sts3c ...); all carry the "
        "same",
    )
    mtu: Mtu | None = param(
        None,
        "longest packet that the links carry; a segment with its headers must fit",
        source="no limit",
    )
    buffer: Buffer = param(..., "buffer of each port, including the packet being sent", symbol="K")
    loss: FrameLoss = param(
        0,
        "probability that a link loses a packet, or a model of losses in bursts; each link draws "
        "by itself",
        source="links without errors",
    )
    ack_filter: Flag = param(
        False,
        "a newer acknowledgement of a connection replaces an older acknowledgement that waits",
        source="RFC 3449, 5.2.1: an option",
    )


class InterSatellitePort(SkyPort):
    """The ports between satellites, one for each link."""

    waiting: Waiting = param(
        "sent",
        _WAITING,
        source="Hypatia: the next hop is chosen as a packet joins a queue",
    )


class GroundPort(SkyPort):
    """The ports of links between stations and satellites; a station has one for all of them."""

    satellite_port: Annotated[str, word("shared", "per_station")] = param(
        "shared",
        "whether a satellite has one port for all stations, or one for each",
        source="Hypatia, algorithm_free_one_only_over_isls: one interface to the ground",
    )
    waiting: Waiting | None = param(
        None,
        _WAITING,
        source="rerouted at stations, which turn to another satellite; sent at satellites, as in "
        "Hypatia",
    )
    no_route: Annotated[str, word("lost", "waits")] = param(
        "lost",
        "fate of a packet that a station sends while it has no route: lost; or the packet waits in "
        "the station's port, and what comes behind it, until there is one",
        source="Hypatia: a packet without a next hop is dropped",
    )
    frame_jitter: FrameJitter = param(None, jitter.MEANING, source=jitter.SOURCE)


def _read_options(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise Refused("")
    return dict(value)


Options = Annotated[
    Any, ValueType("a table", _read_options, {"type": "object", "additionalProperties": {}})
]


def _read_places(value: Any) -> tuple[str, ...] | str:
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, list | tuple) and value:
        wrong = [one for one in value if not isinstance(one, str) or not one.strip()]
        if wrong:
            raise Refused(f"not {show_value(wrong[0])}")
        return tuple(value)
    raise Refused("")


Places = Annotated[
    Any,
    ValueType(
        "a built-in list of places, a CSV file of places relative to the scenario's folder, or a "
        'list of cities or points, such as ["new_york", "52.5,13.4"]',
        _read_places,
        {
            "anyOf": [
                {"type": "string", "examples": ["cities-100"]},
                {
                    "type": "array",
                    "items": {"type": "string"},
                    "minItems": 1,
                    "examples": [["new_york", "52.5,13.4"]],
                },
            ]
        },
    ),
]


class Gateways(SkyPort):
    """Places on the ground that forward packets, and their links with a point behind them."""

    places: Places = param(
        ..., "the places; each forwards packets, and may use every satellite that it sees"
    )
    to: Text = param(
        ..., "city or point behind them, which is a host; each gateway has a link with it"
    )
    delay: GatewayDelay = param(
        ...,
        "propagation delay of these links, one way; distance stands for that of a fibre along the "
        "surface",
    )
    waiting: Waiting = param(
        "sent",
        _WAITING,
        source="Hypatia: the next hop is chosen as a packet joins a queue",
    )
    frame_jitter: FrameJitter = param(None, jitter.MEANING, source=jitter.SOURCE)


class Looks(Parameters):
    """When delays and routes are taken anew."""

    every: Step = param(
        "100 ms",
        "time from one look at delays and routes to the next",
        source="Hypatia: a delay between satellites changes by less than 1 us in that time",
    )
    changes: Precision | None = param(
        None,
        "resolution to which the moments are looked for, between two looks, at which the path of a "
        "pair with traffic changes; each of them is a look of its own",
        source="paths change at looks",
    )


_LooksInWords = Annotated[
    Quantity | Literal["change"],
    quantity(
        Dimension.TIME, low=1_000_000, high=LONGEST_RUN_PS, words=["change"], example="100 ms"
    ),
]
_CHANGES = "1 ns"
"""Resolution of changes, as links whose schedule follows a constellation have it."""


def _looks_of(value: Any) -> Any:
    if value == "change":
        return {"changes": _CHANGES}
    return {"every": value} if isinstance(value, str) else value


class Routing(Parameters):
    """How nodes choose the next one."""

    by: Annotated[str, word("delay", "hops")] = param(
        "delay",
        "what a path has the least of; of equal paths that over the neighbour of the smallest "
        "number is taken",
        source="Hypatia: shortest paths by distance",
    )
    fstate: Text | None = param(
        None,
        "folder with fstate_*.txt of Hypatia, relative to the scenario's folder; instead of by",
        source="paths that are computed",
    )
    file: Text | None = param(
        None,
        "CSV or Parquet file with time (or time_ps), node, destination and next, each row in force "
        "until it is replaced; instead of by",
        source="paths that are computed",
    )
    python: Text | None = param(
        None,
        'a function of a file, such as "two_ways.py:next_hops", that is called for each step and '
        "returns the next hops; instead of by",
        source="paths that are computed",
    )
    options: Options = param({}, "values for that function", source="none", when=when("python"))
    paths: Annotated[int, whole_number(1, 64)] = param(
        1,
        "paths to each destination; a flow takes one of them, in each direction by a hash of its "
        "name",
        source="Hypatia: one path",
    )
    detour: Annotated[float, part("of the least delay")] | None = param(
        None,
        "part of the least delay by which the other paths may be longer; with by = hops they "
        "have as few hops instead",
        source="must be given with several paths by delay",
    )


def _routing_by(value: Any) -> Any:
    return {"by": value} if isinstance(value, str) else value


class Every(Parameters):
    """Outages that are drawn."""

    mean: _OutageTime = param(
        ..., "mean time from the end of an outage to the next; exponential, from the run's seed"
    )
    lasts: _OutageTime = param(..., "length of each outage")


class Outage(Parameters):
    """A satellite, a station or a link that is out of order for a time.

    Its links do not exist then, from the first step in the outage to the first one after it. Routes
    lead around them.
    """

    satellite: Text | None = param(
        None, 'name of a satellite, or "*" for each of them; or station or link instead'
    )
    station: Text | None = param(None, 'name of a station, or "*" for each of them')
    link: tuple[str, str] | None = param(None, "both ends of a link")
    at: Moment | None = param(None, "time of the run at which the outage begins; with lasts")
    lasts: _OutageTime | None = param(None, "length of the outage", when=when("at"))
    every: Every | None = param(None, "outages at times that are drawn; instead of at")


class Handover(Parameters):
    """What happens when a link ends."""

    in_flight: Annotated[str, word("arrives", "lost")] = param(
        "arrives", "fate of packets under way over a link that ends", source="Hypatia"
    )
    interruption: Interruption = param(
        "0 s",
        "time that a station needs to turn to a satellite; a new link to the ground carries "
        "nothing for so long, counted in whole steps",
        source="links that carry at once",
    )


class ConstellationNetwork(Parameters):
    """Satellites and stations on the ground, each a node that forwards packets by destination.

    Hosts are at the stations. Every link has a delay that moves with the satellites, and every port
    its own queue.
    """

    kind: Literal["constellation"] = param(..., "the topology")
    constellation: Text = param(
        ...,
        "a built-in constellation, or a file or folder relative to the scenario's folder, as "
        "`skycell orbit` reads them",
    )
    stations: Places = param(..., "places on the ground; each is a host")
    stations_relay: Flag = param(
        False,
        "whether stations forward packets of other stations",
        source="a terminal sends and receives its own packets",
    )
    relays: Places | None = param(
        None,
        "places on the ground that forward packets and are no source or destination; each may use "
        "every satellite that it sees",
        source="none",
    )
    gateways: Gateways | None = param(
        None, "places on the ground with links to a point behind them", source="none"
    )
    start: Moment = param(
        "0 s",
        "time of the constellation at which the run begins",
        source="its own beginning",
    )
    step: Annotated[
        Looks, BeforeValidator(_looks_of, json_schema_input_type=Looks | _LooksInWords)
    ] = param(
        {},
        'when delays and routes are taken anew: a time from one look to the next; "change" for '
        "changes of paths too; or a table",
        source="every 100 ms",
    )
    frozen: Flag = param(
        False, "delays and routes stay what they are as the run begins", source="satellites move"
    )
    inter_satellite: InterSatellitePort | None = param(
        None,
        "ports of the links between satellites",
        source="satellites without such links; if there are some, this or bent_pipe has to be "
        "given",
    )
    bent_pipe: Flag = param(
        False,
        "whether links between satellites are left out: a packet goes from the ground to a "
        "satellite and back to the ground",
        source="the links of the constellation are used",
    )
    ground: GroundPort = param(..., "ports of the links between stations and satellites")
    routing: Annotated[
        Routing,
        BeforeValidator(_routing_by, json_schema_input_type=Routing | Literal["delay", "hops"]),
    ] = param({}, "how nodes choose the next one", source="the least delay")
    outage: tuple[Outage, ...] = param(
        [], "satellites, stations and links that are out of order for a time", source="none"
    )
    handover: Handover = param({}, "what happens when a link ends", source="packets arrive")
    hop_limit: Annotated[int, whole_number(1, 255)] = param(
        64, "links that a packet may take", source="ns-3: a time to live of 64"
    )
