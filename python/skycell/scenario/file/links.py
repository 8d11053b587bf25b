"""Links: rate, framing, delay, and the buffer of the port that feeds them."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Annotated, cast

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
from skycell.scenario.file import jitter
from skycell.scenario.file.classes import (
    BY_FLOW_MEANING,
    BY_FLOW_SOURCE,
    CLASS_MEANING,
    CLASS_SOURCE,
    POLICER_MEANING,
    POLICER_SOURCE,
    RATE_ALGORITHM_MEANING,
    RATE_ALGORITHM_SOURCE,
    SCHEDULER_MEANING,
    SCHEDULER_SOURCE,
    SHAPER_MEANING,
    SHAPER_SOURCE,
    ClassQueue,
)
from skycell.scenario.file.framing import overhead_of
from skycell.scenario.file.jitter import FrameJitter
from skycell.scenario.file.loss import FrameLoss
from skycell.scenario.file.schedule import Schedule
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
NO_FRAMING = "must be given, except with a rate in cells/s"
MTU_MEANING = "longest packet that the link carries; a segment with its headers must fit"
NO_MTU = "no limit"
FRAGMENTATION_MEANING = (
    "longer packets than mtu go in fragments from there on and are put together where they end; "
    "else they are a fault"
)
NO_FRAGMENTATION = "RFC 8900: hosts of today send nothing that has to be cut"
HOST_BUFFER_MEANING = (
    'what the port of a host that feeds the link holds, such as "1000 packets"; only where the '
    "link carries packets"
)
HOST_BUFFER_SOURCE = "a host that makes its TCPs wait"
HOST_POLICY_MEANING = "what that buffer accepts"
HOST_POLICY_SOURCE = "a plain queue"
DELAY_MEANING = "propagation delay, one way"
DELAY_OR_SCHEDULE = "must be given, except with schedule"
FRAME_CHECK_MEANING = (
    'octets of a frame, from its beginning, that its check covers; "header" are those of the '
    "framing and of the IP header; a packet with bit errors behind them goes on to TCP's checksum"
)
FRAME_CHECK_SOURCE = "Ethernet and PPP: the whole frame"
SCHEDULE_MEANING = (
    "how the delay changes during the run, the same in both directions; instead of delay"
)
SCHEDULE_SOURCE = "a link whose ends do not move"
LOSS_MEANING = (
    "probability that the link loses a frame, in each direction, or how its losses come in bursts; "
    "a series may have losses of its own instead"
)
LOSS_SOURCE = "a link without errors"


DELAY_VARIATION_MEANING = (
    "how the delay varies from packet to packet, in each direction by itself; delay is the mean "
    "then, with a table the least"
)
DELAY_VARIATION_SOURCE = "a link that keeps its delay"
DelayVariation = Annotated[AnyDelayVariation, Field(discriminator="kind")]


class CongestedLink(Parameters):
    """A link whose switch ports have a limited buffer."""

    rate: Rate = param(..., RATE_MEANING)
    framing: Framing | None = param(None, FRAMING_MEANING, source=NO_FRAMING)
    mtu: Mtu | None = param(None, MTU_MEANING, source=NO_MTU)
    fragmentation: Flag = param(False, FRAGMENTATION_MEANING, source=NO_FRAGMENTATION)
    delay: Delay | None = param(None, DELAY_MEANING, source=DELAY_OR_SCHEDULE)
    delay_variation: DelayVariation | None = param(
        None, DELAY_VARIATION_MEANING, source=DELAY_VARIATION_SOURCE
    )
    schedule: Schedule | None = param(None, SCHEDULE_MEANING, source=SCHEDULE_SOURCE)
    loss: FrameLoss = param(0, LOSS_MEANING, source=LOSS_SOURCE)
    frame_check: FrameCheck = param("frame", FRAME_CHECK_MEANING, source=FRAME_CHECK_SOURCE)
    buffer: Buffer = param(
        ...,
        "what the port feeding the link holds, including the cell or packet being sent",
        symbol="K",
    )
    policy: Policy = param("tail_drop", "what the buffer accepts", source="plain UBR")
    classes: tuple[ClassQueue, ...] = param([], CLASS_MEANING, alias="class", source=CLASS_SOURCE)
    scheduler: Scheduler | None = param(None, SCHEDULER_MEANING, source=SCHEDULER_SOURCE)
    by_flow: Flag = param(False, BY_FLOW_MEANING, source=BY_FLOW_SOURCE)
    shaper: Shaper | None = param(None, SHAPER_MEANING, source=SHAPER_SOURCE)
    policer: Policer | None = param(None, POLICER_MEANING, source=POLICER_SOURCE)
    rate_algorithm: RateAlgorithm | None = param(
        None, RATE_ALGORITHM_MEANING, source=RATE_ALGORITHM_SOURCE
    )
    reverse_buffer: Buffer = param(
        "unlimited",
        "the same for the other direction",
        source="choice: with data in one direction it holds only acknowledgements",
    )
    reverse_policy: Policy = param(
        "tail_drop", "what the buffer for the other direction accepts", source="plain UBR"
    )


class AccessLink(Parameters):
    """A link between a host and the network; its ports hold whatever arrives by default."""

    rate: Rate | None = param(None, RATE_MEANING, source="the bottleneck's rate")
    framing: Framing | None = param(None, FRAMING_MEANING, source="the bottleneck's framing")
    mtu: Mtu | None = param(None, MTU_MEANING, source=NO_MTU)
    fragmentation: Flag = param(False, FRAGMENTATION_MEANING, source=NO_FRAGMENTATION)
    delay: Delay = param(..., DELAY_MEANING)
    delay_variation: DelayVariation | None = param(
        None, DELAY_VARIATION_MEANING, source=DELAY_VARIATION_SOURCE
    )
    host_buffer: Buffer = param("unlimited", HOST_BUFFER_MEANING, source=HOST_BUFFER_SOURCE)
    host_policy: Policy = param("tail_drop", HOST_POLICY_MEANING, source=HOST_POLICY_SOURCE)
    frame_jitter: FrameJitter = param(None, jitter.MEANING, source=jitter.SOURCE)


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
