"""Links: rate, framing, delay, and the buffer of the port that feeds them."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, cast

from pydantic import Field

from skycell.input.parameters import Flag, Parameters, param
from skycell.input.quantities import CELL_BITS, PS_PER_SECOND, Dimension, Quantity, rounded
from skycell.scenario.declared.delays import AnyDelayVariation
from skycell.scenario.declared.framings import Framing
from skycell.scenario.declared.policer import Policer
from skycell.scenario.declared.policies import Policy
from skycell.scenario.declared.rate_algorithms import RateAlgorithm
from skycell.scenario.declared.schedulers import Scheduler
from skycell.scenario.declared.shaper import Shaper
from skycell.scenario.links import jitter
from skycell.scenario.links.classes import ClassQueue
from skycell.scenario.links.framing import overhead_of
from skycell.scenario.links.jitter import FrameJitter
from skycell.scenario.links.loss import FrameLoss
from skycell.scenario.links.receivers import Receiver
from skycell.scenario.links.schedule import Schedule
from skycell.scenario.values.link_values import Buffer as Buffer
from skycell.scenario.values.link_values import Delay as Delay
from skycell.scenario.values.link_values import FrameCheck as FrameCheck
from skycell.scenario.values.link_values import Mtu as Mtu
from skycell.scenario.values.link_values import Rate as Rate

RATE_MEANING = (
    "bit rate of the link, including framing; or the cells it carries per second; with gse the "
    "symbol rate"
)
FRAMING_MEANING = (
    "how packets go over the link, whole (ip, ethernet, ppp, custom, gse) or in ATM cells; 155.52 "
    "Mbit/s is 366 792 cells/s with none and 353 207 with sts3c, and sources write the same rate "
    "for both"
)
DELAY_MEANING = "propagation delay, one way"

BY_FLOW = param(
    False,
    "policies and scheduler see flows instead of VCs; at routers, which see IP packets",
    source="the papers' switches see VCs",
)

DelayVariation = Annotated[AnyDelayVariation, Field(discriminator="kind")]


class LinkKeys(Parameters):
    """What every link carries, and how far."""

    rate: Rate | None = param(..., RATE_MEANING)
    framing: Framing | None = param(
        None, FRAMING_MEANING, source="must be given, except with a rate in cells/s"
    )
    mtu: Mtu | None = param(
        None,
        "longest packet that the link carries; a segment with its headers must fit",
        source="no limit",
    )
    fragmentation: Flag = param(
        False,
        "packets longer than mtu go in fragments from here to their destination, which "
        "reassembles them; otherwise they are a fault",
        source="RFC 8900: hosts of today send nothing that has to be cut",
    )
    delay: Delay | None = param(..., DELAY_MEANING)
    delay_variation: DelayVariation | None = param(
        None,
        "variation of the delay from packet to packet, separate in each direction; delay is then "
        "the mean, with a table the least",
        source="a link that keeps its delay",
    )


class VaryingLinkKeys(LinkKeys):
    """A link that may change during the run, and lose frames."""

    rate: Rate = param(..., RATE_MEANING)
    delay: Delay | None = param(None, DELAY_MEANING, source="must be given, except with schedule")
    schedule: Schedule | None = param(
        None,
        "how the delay changes during the run, the same in both directions; instead of delay",
        source="a link whose ends do not move",
    )
    loss: FrameLoss = param(
        0,
        "probability that the link loses a frame, in each direction, or a model of losses in "
        "bursts; a series may have its own losses instead",
        source="a link without errors",
    )
    frame_check: FrameCheck = param(
        "frame",
        'octets at the beginning of a frame that its check covers; "header" covers the headers of '
        "the framing and of IP; a packet with bit errors after these octets reaches TCP's checksum",
        source="Ethernet and PPP: the whole frame",
    )


class PortKeys(Parameters):
    """The port of a switch or router that feeds a link."""

    buffer: Buffer = param(
        "unlimited",
        "buffer of the switch or router port that feeds the link",
        symbol="K",
        source="a port where nothing queues",
    )
    policy: Policy = param("tail_drop", "what the buffer accepts", source="plain UBR")
    classes: tuple[ClassQueue, ...] = param(
        [],
        "separate queues for some service classes, in order of preference",
        alias="class",
        source="one queue for everything",
    )
    scheduler: Scheduler | None = param(
        None,
        "which queue sends the next cell",
        source="fifo for one queue; strict_priority for several, as in ATM Forum 97-0424 with a "
        "guaranteed rate of 0",
    )
    by_flow: Flag = BY_FLOW
    shaper: Shaper | None = param(
        None,
        "token bucket that holds the packets of the port to a rate; they wait",
        source="as fast as the link",
    )
    policer: Policer | None = param(
        None,
        "token bucket to which the packets that arrive at the port have to conform",
        source="every packet",
    )
    rate_algorithm: RateAlgorithm | None = param(
        None, "rate algorithm of a switch port for ABR VCs", source="no feedback"
    )


class HostKeys(Parameters):
    """The ports of hosts that feed a link."""

    host_buffer: Buffer = param(
        "unlimited",
        'buffer of the host port that feeds the link, such as "1000 packets"; only if the link '
        "carries packets",
        source="a host that makes its TCPs wait",
    )
    host_policy: Policy = param(
        "tail_drop", "which packets that buffer accepts", source="a plain queue"
    )
    frame_jitter: FrameJitter = param(None, jitter.MEANING, source=jitter.SOURCE)


class AnyLink(HostKeys, PortKeys, VaryingLinkKeys):
    """All that a link between any two nodes may have."""

    ack_filter: Flag = param(
        False,
        "a newer acknowledgement of a connection replaces an older acknowledgement that waits; at "
        "routers, which see IP packets",
        source="RFC 3449, 5.2.1: an option",
    )
    receivers: tuple[Receiver, ...] = param(
        [],
        "nodes behind the link that receive it at another rate, as by a MODCOD of their own",
        source="all at the rate of the link",
    )


_AS_FORWARD = "as the forward direction"
_MOVES_AS_FORWARD = "as the forward direction, unless delay or schedule is given"


def _as_forward(key: str, meaning: str = "") -> Any:
    """A key of the link that is the forward direction's unless the file says it."""
    own = meaning or VaryingLinkKeys.model_fields[key].description or ""
    moves = key in ("delay", "schedule")
    return param(None, own, source=_MOVES_AS_FORWARD if moves else _AS_FORWARD)


class ReverseLink(PortKeys):
    """What the reverse direction of a congested link has of its own.

    The link itself is as the forward direction unless the file says otherwise. The port that feeds
    the link has nothing of the forward direction's.
    """

    rate: Rate | None = _as_forward("rate")
    framing: Framing | None = _as_forward("framing")
    mtu: Mtu | None = _as_forward("mtu")
    fragmentation: Flag | None = _as_forward("fragmentation")
    delay: Delay | None = _as_forward("delay")
    delay_variation: DelayVariation | None = _as_forward(
        "delay_variation",
        "variation of the delay from packet to packet; delay is then the mean, with a table the "
        "least",
    )
    schedule: Schedule | None = _as_forward(
        "schedule", "how the delay of this direction changes during the run; instead of delay"
    )
    loss: FrameLoss | None = _as_forward(
        "loss", "probability that this direction loses a frame, or a model of losses in bursts"
    )
    frame_check: FrameCheck | None = _as_forward("frame_check")
    buffer: Buffer = param(
        "unlimited",
        "buffer of the port that feeds this direction",
        symbol="K",
        source="choice: with data in one direction it holds only acknowledgements",
    )

    @property
    def own_keys(self) -> frozenset[str]:
        """The keys of the link itself that the file says."""
        keys = VaryingLinkKeys.model_fields
        return frozenset(key for key in keys if getattr(self, key) is not None)


class CongestedLink(PortKeys, VaryingLinkKeys):
    """A link whose switch ports have a limited buffer."""

    buffer: Buffer = param(
        ...,
        "buffer of the port that feeds the link, including the cell or packet being sent",
        symbol="K",
    )
    reverse: ReverseLink | None = param(
        None,
        "what the other direction has of its own",
        source="the same link, fed by a port where nothing queues",
    )

    @property
    def backward(self) -> CongestedLink:
        """The other direction, with all its keys.

        A delay or a schedule of its own stands in place of both of the forward direction's.
        """
        own = self.reverse or ReverseLink()
        keys: dict[str, Any] = {key: getattr(own, key) for key in own.own_keys}
        if own.own_keys & {"delay", "schedule"}:
            keys = {"delay": None, "schedule": None, **keys}
        port = {key: getattr(own, key) for key in PortKeys.model_fields}
        return self.model_copy(update={**keys, **port, "reverse": None})


class AccessLink(HostKeys, LinkKeys):
    """A link between a host and the network; its ports hold whatever arrives by default."""

    rate: Rate | None = param(None, RATE_MEANING, source="the bottleneck's rate")
    framing: Framing | None = param(None, FRAMING_MEANING, source="the bottleneck's framing")
    delay: Delay = param(..., DELAY_MEANING)


def delay_of(delay: Quantity | None) -> Quantity:
    """The delay of a link in a file whose schedules are resolved: there each link has one.

    A link whose schedule has a fault has none, and its plan is not gone on with.
    """
    return cast(Quantity, delay)


def payload_rate(rate: Quantity, framing: Framing | None) -> Fraction:
    """Rate at which a link carries cells, or that of a line of packets, bit/s.

    The framing is known to exist at the rate.

    >>> from skycell.scenario.declared.framings import Sts3c
    >>> from skycell.input.quantities import parse_quantity
    >>> payload_rate(parse_quantity("155.52 Mbit/s"), Sts3c(kind="sts3c"))
    Fraction(149760000, 1)
    """
    if rate.dimension is Dimension.CELL_RATE:
        return rate.amount * CELL_BITS
    return rate.amount * overhead_of(framing).carried if framing else rate.amount


@lru_cache(maxsize=1024)
def cell_time_ps(rate: Fraction) -> int:
    """Time of one cell at a payload rate in bit/s, in whole picoseconds, rounded half up.

    >>> cell_time_ps(Fraction(155_520_000))
    2726337
    """
    return rounded(CELL_BITS * PS_PER_SECOND / rate)
