"""Links that move, as a scenario file writes them: a series of delays, or a constellation."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from skycell.input.parameters import Flag, Parameters, ValueType, param, quantity, when
from skycell.input.quantities import DAY_PS, Dimension, Quantity, Refused
from skycell.scenario.declared.framings import Framing
from skycell.scenario.declared.policies import Policy
from skycell.scenario.declared.types import PartOfOne
from skycell.scenario.links.loss import FrameLoss
from skycell.scenario.values.link_values import Buffer, Rate

#: Steps of one link; a spec with more takes hundreds of megabytes.
MOST_STEPS = 1_000_000
#: Longest delay and interruption of a link, 1 day.
LONGEST_PS = DAY_PS
_LONGEST_TEXT = 1000


def _read_text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_TEXT:
        raise Refused("")
    return value


Text = Annotated[str, ValueType("a text of up to 1000 letters", _read_text, {"type": "string"})]
Moment = Annotated[Quantity, quantity(Dimension.TIME, high=10_000 * DAY_PS, example="20 min")]
Step = Annotated[
    Quantity, quantity(Dimension.TIME, low=1_000_000, high=LONGEST_PS, example="100 ms")
]
Interruption = Annotated[Quantity, quantity(Dimension.TIME, high=LONGEST_PS, example="50 ms")]


class OnboardSwitching(Parameters):
    """The ports of satellites that switch cells on board."""

    rate: Rate | None = param(
        None, "rate of the links that satellites feed", source="the rate of the ground's link"
    )
    framing: Framing | None = param(
        None,
        "framing of that rate; only with rate",
        source="the rate of the ground's link",
        when=when("rate"),
    )
    buffer: Buffer | None = param(
        None,
        "cells that each port of a satellite holds, including the one being sent",
        source="that of the ground's port",
    )
    policy: Policy | None = param(
        None, "which cells these buffers accept", source="that of the ground's port"
    )
    loss: FrameLoss = param(
        0,
        "loss of each link between satellites, in each direction, as `loss` of a link",
        source="links without errors",
    )
    down_loss: FrameLoss = param(
        0,
        "loss of each link from a satellite to the ground, as `loss` of a link",
        source="links without errors",
    )


class Schedule(Parameters):
    """How a link changes: `series`, `model`, or `constellation` with `from` and `to`."""

    series: Text | None = param(
        None,
        "a CSV file with time, delay and optionally path, rate, loss or availability, or a log of "
        "ping, fping, irtt, iperf3, mahimahi, RIPE Atlas or flent, relative to the scenario's "
        "folder; instead of constellation",
    )
    rtt_share: PartOfOne | None = param(
        None,
        "one-way delay as a part of a measured round trip",
        source="0.5: both ways alike",
        when=when("series"),
    )
    minimum_over: Step | None = param(
        None,
        "blocks of this time have the least delay measured in them, free of the queues in the rest",
        source="each sample has its own",
        when=when("series"),
    )
    phase: Interruption | None = param(
        None,
        "time in the series at which the first whole block of minimum_over begins",
        source="the first sample",
        when=when("series"),
    )
    stamp: Literal["sent", "answered"] | None = param(
        None,
        "moment that a time stamp of a log marks: sending the packet, or its answer",
        source="answered for ping and fping; in a table the more even pace of packets",
        when=when("series"),
    )
    direction: Literal["up", "down"] | None = param(
        None,
        "rates that are read from a file with both: up is what its host sent, down what it "
        "received",
        source="a file with both is a fault without it",
        when=when("series"),
    )
    missing: Literal["lost", "nothing"] | None = param(
        None,
        "meaning of rows that a table of answers lacks at the pace of its packets: lost packets, "
        "or nothing",
        source="lost, where the pace is even and no row is without an answer",
        when=when("series"),
    )
    gap: Literal["outage", "cut", "hold", "fault"] | None = param(
        None,
        "treatment of a time without samples in a log: an outage, cut out of the series, a time "
        "with the values from before, or a fault",
        source='"outage": nothing was measured',
        when=when("series"),
    )
    gap_over: Step | None = param(
        None,
        "longest time between two samples of a log that counts as no gap",
        source="5 times what 95 % of the times between samples stay within",
        when=when("series"),
    )
    lost: Literal["loss", "outage"] | None = param(
        None,
        "treatment of every packet of a log without an answer: a part of the loss of its block "
        "of time, or an outage until the next answer",
        source="the log: bursts of losses are outages or have their own loss, others are losses",
        when=when("series"),
    )
    loss_over: Step | None = param(
        None,
        "length of the blocks of time in which lost packets are counted, also packets lost in "
        "bursts",
        source='"10 s", for packets that are not lost in bursts',
        when=when("series"),
    )
    rate_over: Step | None = param(
        None,
        "length of the blocks of time in which mahimahi's packet opportunities are counted",
        source='"100 ms"',
        when=when("series"),
    )
    interval: Step | None = param(
        None,
        "time from one packet to the next of a ping that wrote no times",
        source='"1 s", as ping and fping have it',
        when=when("series"),
    )
    repeat: Flag | None = param(
        None,
        "whether the series begins again at its end",
        source="false, but true for mahimahi, which does so",
        when=when("series"),
    )
    model: Text | None = param(
        None,
        "a model from which each seed draws another series of the link, as `skycell trace fit` "
        "writes it, relative to the scenario's folder; instead of series and constellation",
    )
    constellation: Text | None = param(
        None,
        "a built-in constellation, or a constellation file relative to the scenario's "
        "folder; instead of series",
    )
    source: Text | None = param(
        None,
        "place where the path begins: a city, or latitude,longitude; with constellation",
        alias="from",
        when=when("constellation"),
    )
    target: Text | None = param(
        None,
        "place where the path ends; with constellation",
        alias="to",
        when=when("constellation"),
    )
    start: Moment = param(
        "0 s",
        "time in the series or of the constellation at which the run begins",
        source="its own beginning",
    )
    step: Step | None = param(
        None,
        "time from one delay of the constellation to the next; with constellation",
        source='"100 ms": a low satellite changes a delay by less than 7 us in that time',
        when=when("constellation"),
    )
    onboard_switching: OnboardSwitching | None = param(
        None,
        "satellites switch cells and have their own queues; with constellation",
        source="a path is one link without queues",
        when=when("constellation"),
    )
    interruption: Interruption = param(
        "0 s",
        "time after a handover in which no transmission begins",
        source="choice: a handover that was prepared",
    )
    handover_loses_cells: Flag = param(
        False,
        "whether the cells in flight at a handover are lost",
        source="choice: they arrive over the old path",
    )
