"""A satellite beam as a scenario file writes it: one carrier out, the terminals' links back."""

from __future__ import annotations

from typing import Annotated, Literal

from skycell.input.parameters import Flag, Parameters, param, whole_number, word
from skycell.scenario.declared.framings import Framing
from skycell.scenario.declared.policer import Policer
from skycell.scenario.declared.policies import Policy
from skycell.scenario.declared.shaper import Shaper
from skycell.scenario.declared.tcp import Tcp
from skycell.scenario.file.peps import PepBuffer
from skycell.scenario.file.topology import MOST_FLOWS
from skycell.scenario.file.uplinks import UplinkKeys
from skycell.scenario.links.keys import (
    DELAY_MEANING,
    FRAMING_MEANING,
    RATE_MEANING,
    AccessLink,
    Buffer,
    Delay,
    FrameCheck,
    Mtu,
    PortKeys,
    Rate,
)
from skycell.scenario.links.loss import FrameLoss
from skycell.scenario.links.receivers import ReceiverRate

Terminals = Annotated[int, whole_number(1, MOST_FLOWS)]


class Servers(AccessLink):
    """Hosts behind the gateway, and the links between them and the gateway."""

    count: Terminals = param(
        1, "number of the hosts, to which terminals belong in turn", source="choice: one"
    )
    rate: Rate = param("10 Gbit/s", RATE_MEANING, source="choice: no bottleneck")
    framing: Framing = param("ip", FRAMING_MEANING, source="choice: the packets alone")
    delay: Delay = param(..., DELAY_MEANING)


class Lan(AccessLink):
    """The link between a terminal and the host behind it."""

    rate: Rate = param("1 Gbit/s", RATE_MEANING, source="choice: no bottleneck")
    framing: Framing = param("ip", FRAMING_MEANING, source="choice: the packets alone")
    delay: Delay = param("0 s", DELAY_MEANING, source="choice: they stand side by side")


class TerminalsAt(ReceiverRate):
    """Terminals that receive the carrier at another rate than its own."""

    terminals: Terminals = param(
        ..., "number of the terminals: the next ones behind those of the tables before"
    )


class CarrierKeys(PortKeys):
    """What a carrier is, and the port before it."""

    rate: Rate = param(..., RATE_MEANING)
    framing: Framing | None = param(
        None, FRAMING_MEANING, source="must be given, except with a rate in cells/s"
    )
    loss: FrameLoss = param(
        0,
        "probability that it loses a frame, or a model of losses in bursts",
        source="a carrier without errors",
    )
    frame_check: FrameCheck = param(
        "frame",
        "octets at the beginning of a frame that its check covers",
        source="the whole frame",
    )


class Forward(CarrierKeys):
    """The carrier from the gateway that all terminals share, and the gateway's port before it."""

    mtu: Mtu | None = param(
        None,
        "longest packet that it carries; a segment with its headers must fit",
        source="no limit",
    )
    fragmentation: Flag = param(
        False, "packets longer than mtu go in fragments", source="RFC 8900: nothing has to be cut"
    )
    buffer: Buffer = param(..., "buffer of the gateway's port before the carrier", symbol="K")
    receivers: tuple[TerminalsAt, ...] = param(
        [],
        "terminals that receive it at another rate, as by a MODCOD of their own",
        source="all receive it at its own",
    )


class Return(CarrierKeys):
    """The link of each terminal back to the gateway, and the terminal's port before it."""

    uplink: UplinkKeys | None = param(
        None,
        "slots that the terminals share, which carry cells, as [[uplink]] has them",
        source="each terminal has its rate to itself",
    )


class Service(Parameters):
    """A queue at the gateway for each terminal, which holds it to the rate that it pays for."""

    shaper: Shaper | None = param(
        None, "token bucket of the terminal; what exceeds it waits", source="nothing waits"
    )
    policer: Policer | None = param(
        None,
        "token bucket of the terminal; what exceeds it is discarded or marked",
        source="nothing is discarded",
    )
    buffer: Buffer = param("unlimited", "buffer of that queue", source="choice: it loses nothing")
    policy: Policy = param("tail_drop", "what the buffer accepts", source="a plain queue")


class BeamPep(Parameters):
    """Proxies that split each TCP connection over the beam (RFC 3135)."""

    at: tuple[Annotated[str, word("gateway", "terminal")], ...] = param(
        ["gateway"], "where proxies are", source="choice: as most satellite networks have"
    )
    buffer: PepBuffer = param(
        ...,
        "most octets that a proxy may hold of each connection; at least the receiver window "
        "before it",
    )
    tcp: Tcp | None = param(
        None,
        "TCP parameters of the connections behind a proxy that differ; the others are as in [tcp]",
        source="as in [tcp]",
    )


class Beam(Parameters):
    """Servers - gateway - satellite - terminals: one carrier out, a link of each terminal back.

    The satellite bends the pipe: the packets of all terminals wait before the carrier at the
    gateway. Each terminal has one host behind it, which is called `user` with its number, and one
    flow from a server to that host.
    """

    kind: Literal["beam"] = param(..., "the topology")
    terminals: Terminals = param(..., "terminals, each with a host behind it", symbol="N")
    delay: Delay = param(
        ..., "propagation delay from the gateway over the satellite to a terminal, one way"
    )
    servers: Servers = param(..., "hosts that send data, behind the gateway")
    forward: Forward = param(..., "the carrier from the gateway to all terminals")
    backward: Return = param(..., "the link from each terminal to the gateway", alias="return")
    lan: Lan = param({}, "the links between terminals and their hosts", source="no bottleneck")
    service: Service | None = param(
        None, "rate that each terminal pays for", source="as much as the carrier leaves it"
    )
    pep: BeamPep | None = param(
        None, "proxies that split connections", source="TCP from end to end"
    )
