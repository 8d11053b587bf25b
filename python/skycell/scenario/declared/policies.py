"""Policies in a scenario file.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from skycell.input.parameters import Parameters, param, when, word
from skycell.scenario.declared.types import (
    CellCount,
    CellsOfFrames,
    Coupling,
    Flag,
    FromZeroToOne,
    Interval,
    PacketOctets,
    PartOfOne,
    PerSecond,
    QueueCount,
    TimeOrNone,
    UpToEqualShare,
    VcAllowances,
    VcLevels,
)
from skycell.scenario.values.parameter_types import (
    AverageThreshold,
    DfbaZ,
    Threshold,
    ThresholdBelowCapacity,
    VcThresholds,
)
from skycell.scenario.values.rule_specs import (
    FieldSpec,
    Flattened,
    RuleSpec,
    kind_by_name,
)
from skycell.spec.declared.network import (
    CodelSpec,
    DfbaSpec,
    DropPrecedenceSpec,
    DualPi2Spec,
    DynamicEpdSpec,
    EpdSpec,
    FairBufferAllocationSpec,
    FqCodelSpec,
    FredSpec,
    HeadDropSpec,
    LinuxDualPi2Spec,
    McrSchedulingSpec,
    PieSpec,
    PmeEredSpec,
    PpdSpec,
    PriorityDropSpec,
    RedEcnSpec,
    RedPart,
    RedSpec,
    SelectiveDropSpec,
    SingleDropSpec,
    StaticThresholdSpec,
    TailDropSpec,
    VcPriorityDropSpec,
    VirtualQueueingSpec,
)


class TailDrop(Parameters):
    """Discards the cells that find the buffer full, whatever frame they belong to."""

    kind: Literal["tail_drop"] = param(..., "the policy")


class Ppd(Parameters):
    """Partial Packet Discard: once a cell of a frame is discarded, so is the rest of the frame."""

    kind: Literal["ppd"] = param(..., "the policy")


class Epd(Parameters):
    """Early Packet Discard: discards frames that begin while the queue is above a threshold."""

    kind: Literal["epd"] = param(..., "the policy")
    drop_threshold: Threshold = param(
        0.9,
        "occupancy above which EPD discards frames that begin",
        symbol="R",
        source="Ka Band Utilization Conference 1997, section 3 (R = 0.9 for Selective Drop)",
    )
    partial_discard: Flag = param(
        True,
        (
            "once a cell of a frame has been lost to a full buffer, the rest of the frame"
            " is discarded"
        ),
        source=(
            "choice: for EPD, as Romanow and Floyd do; ICCCN'97 section 5 does not say "
            "whether the rest of a packet that has begun is lost"
        ),
    )


class SelectiveDrop(Parameters):
    """Above a threshold, discards the frames of VCs that hold more than their fair share."""

    kind: Literal["selective_drop"] = param(..., "the policy")
    drop_threshold: Threshold = param(
        0.9,
        "occupancy above which Selective Drop may discard frames",
        symbol="R",
        source="Ka Band Utilization Conference 1997, section 3",
    )
    fairness_threshold: UpToEqualShare = param(
        0.8,
        ("fraction of its fair share of the buffer above which a VC's frames are discarded"),
        symbol="Z",
        source="Ka Band Utilization Conference 1997, section 3; ATM Forum 98-0876R1",
    )
    partial_discard: Flag = param(
        True,
        (
            "once a cell of a frame has been lost to a full buffer, the rest of the frame"
            " is discarded"
        ),
        source=(
            "choice: for EPD, as Romanow and Floyd do; ICCCN'97 section 5 does not say "
            "whether the rest of a packet that has begun is lost"
        ),
    )


class FairBufferAllocation(Parameters):
    """Like Selective Drop, with a share that shrinks as the buffer fills."""

    kind: Literal["fair_buffer_allocation"] = param(..., "the policy")
    drop_threshold: ThresholdBelowCapacity = param(
        0.9,
        ("occupancy above which Fair Buffer Allocation may discard frames; below the capacity"),
        symbol="R",
        source="as for Selective Drop: Ka Band Utilization Conference 1997, section 3",
    )
    fairness_threshold: UpToEqualShare = param(
        0.8,
        "scales the fraction of the fair share above which a VC's frames are discarded",
        symbol="Z",
        source="as for Selective Drop: Ka Band Utilization Conference 1997, section 3",
    )
    partial_discard: Flag = param(
        True,
        (
            "once a cell of a frame has been lost to a full buffer, the rest of the frame"
            " is discarded"
        ),
        source=(
            "choice: for EPD, as Romanow and Floyd do; ICCCN'97 section 5 does not say "
            "whether the rest of a packet that has begun is lost"
        ),
    )


class SingleDrop(Parameters):
    """Discards one frame of a VC each time its occupancy crosses the VC's threshold from below."""

    kind: Literal["single_drop"] = param(..., "the policy")
    thresholds: VcThresholds = param(
        ...,
        (
            "occupancy of each VC; when it is crossed, one of the VC's frames is "
            "discarded; by name of the VC, or a list in the order of the flows"
        ),
        symbol="r_i",
    )
    rearm_below: CellCount = param(
        "0 cells",
        (
            "how many cells the occupancy must fall below the threshold before a crossing"
            " counts again"
        ),
        source="choice: the journal version of the fifteen-TCP study counts every crossing",
    )


class Dfba(Parameters):
    """Differential FBA: between two thresholds, discards frames of VCs above their share."""

    kind: Literal["dfba"] = param(..., "the policy")
    low_threshold: Threshold = param(
        0.5,
        "occupancy up to which every frame is accepted",
        symbol="L",
        source="Buffer Management for TCP over the ATM GFR Service, section 5",
    )
    high_threshold: Threshold = param(
        0.9,
        "occupancy from which every frame is discarded; above low_threshold",
        symbol="H",
        source="Buffer Management for TCP over the ATM GFR Service, section 5",
    )
    alpha: FromZeroToOne = param(
        0.5,
        (
            "weight, in the probability of discard, of the VC's excess over its share; "
            "the queue's length has the remaining weight"
        ),
        source="Buffer Management for TCP over the ATM GFR Service, section 5",
        when=when("drop_function", "linear"),
    )
    drop_function: Annotated[str, word("linear", "red")] = param(
        "linear",
        "function of the probability of discard between the thresholds",
        source="Buffer Management for TCP over the ATM GFR Service, section 4.2",
    )
    z: DfbaZ = param(
        1.0,
        (
            "scales the probability of discard; W_i / W is the VC's share. In a table by "
            "VC, a VC that is not named has 1"
        ),
        symbol="Z_i",
        source="Buffer Management for TCP over the ATM GFR Service, section 5 (in most cases)",
    )
    keep_last_cells: Flag = param(
        True,
        ("the last cell of a frame is accepted whenever there is room, even if its frame is lost"),
        source="Buffer Management for TCP over the ATM GFR Service, appendix, Figure 13",
    )


class PriorityDrop(Parameters):
    """Discards tagged frames above one threshold, and all frames above another."""

    kind: Literal["priority_drop"] = param(..., "the policy")
    tagged_threshold: Threshold = param(
        0.75,
        "occupancy above which tagged frames (CLP = 1) are discarded",
        symbol="LBO",
        source=(
            "Bonaventure, A simulation study of TCP with the GFR service category: 6144 of 8192"
        ),
    )
    drop_threshold: Threshold = param(
        0.875,
        "occupancy above which all frames are discarded; at least tagged_threshold",
        symbol="HBO",
        source=(
            "Bonaventure, A simulation study of TCP with the GFR service category: 7168 of 8192"
        ),
    )


class VcPriorityDrop(Parameters):
    """Discards tagged frames from one threshold on, from another all but those of short queues."""

    kind: Literal["vc_priority_drop"] = param(..., "the policy")
    tagged_threshold: Threshold = param(
        0.75,
        "occupancy from which tagged frames (CLP = 1) are discarded",
        symbol="LBO",
        source=(
            "choice: as for the FIFO switch of Bonaventure, A simulation study of TCP "
            "with the GFR service category, which leaves it open for WFQ"
        ),
    )
    drop_threshold: Threshold = param(
        0.875,
        (
            "occupancy from which frames are discarded if their VC has reached its own "
            "threshold; at least tagged_threshold"
        ),
        symbol="HBO",
        source=(
            "choice: as for the FIFO switch of Bonaventure, A simulation study of TCP "
            "with the GFR service category, which leaves it open for WFQ"
        ),
    )
    vc_threshold: VcAllowances = param(
        "MBS",
        (
            "occupancy of a VC with a GFR contract from which its frames are discarded "
            "above drop_threshold: cells, or the VC's MBS; 0 for a VC without a contract"
        ),
        symbol="T_i",
        source="Guerin and Heinanen (ATM96-1598), as described by Bonaventure, section 3",
    )


class Red(Parameters):
    """Random Early Detection: discards frames at random while the average queue is long."""

    kind: Literal["red"] = param(..., "the policy")
    min_threshold: AverageThreshold = param(
        0.2,
        "average queue below which nothing is discarded",
        symbol="min_th",
        source=("choice: max_th should be at least twice min_th (Floyd and Jacobson, section 6)"),
    )
    max_threshold: AverageThreshold = param(
        0.6,
        "average queue from which every frame is discarded; above min_threshold",
        symbol="max_th",
        source=("choice: max_th should be at least twice min_th (Floyd and Jacobson, section 6)"),
    )
    max_probability: PartOfOne = param(
        0.02,
        "probability of discard just below max_threshold",
        symbol="max_p",
        source="S. Floyd, V. Jacobson, Random Early Detection Gateways, 1993",
    )
    weight: PartOfOne = param(
        0.002,
        "weight of a new queue length in the average",
        symbol="w_q",
        source="S. Floyd, V. Jacobson, Random Early Detection Gateways, 1993",
    )


class Fred(Parameters):
    """Flow Random Early Drop: RED that spares VCs with little in the queue."""

    kind: Literal["fred"] = param(..., "the policy")
    min_threshold: AverageThreshold = param(
        0.2,
        "average queue below which nothing is discarded",
        symbol="min_th",
        source=("choice: max_th should be at least twice min_th (Floyd and Jacobson, section 6)"),
    )
    max_threshold: AverageThreshold = param(
        0.6,
        "average queue from which every frame is discarded; above min_threshold",
        symbol="max_th",
        source=("choice: max_th should be at least twice min_th (Floyd and Jacobson, section 6)"),
    )
    max_probability: PartOfOne = param(
        0.02,
        "probability of discard just below max_threshold",
        symbol="max_p",
        source="S. Floyd, V. Jacobson, Random Early Detection Gateways, 1993",
    )
    weight: PartOfOne = param(
        0.002,
        "weight of a new queue length in the average",
        symbol="w_q",
        source="S. Floyd, V. Jacobson, Random Early Detection Gateways, 1993",
    )
    protected_frames: CellsOfFrames = param(
        4,
        ("full frames that a VC may have in the buffer before its frames are discarded at random"),
        symbol="minq",
        source=("D. Lin, R. Morris, Dynamics of Random Early Detection, 1997: 4, small buffers 2"),
    )


class VirtualQueueing(Parameters):
    """Discards frames of VCs whose virtual queue, as under round robin, is above a threshold."""

    kind: Literal["virtual_queueing"] = param(..., "the policy")
    vc_threshold: Threshold = param(
        0.25,
        "virtual queue above which a VC's frames are discarded",
        source=(
            "choice: the documents we have give no value; with a quarter of the buffer, "
            "four VCs can fill it"
        ),
    )


class DynamicEpd(Parameters):
    """Virtual Queueing; the threshold is what VCs below their equal share leave to the others."""

    kind: Literal["dynamic_epd"] = param(..., "the policy")
    drop_threshold: Threshold = param(
        0.9,
        "cells that the VCs' virtual queues share",
        symbol="R",
        source="as for Selective Drop: Ka Band Utilization Conference 1997, section 3",
    )


class McrScheduling(Parameters):
    """Virtual Queueing under a server that gives each VC its MCR first."""

    kind: Literal["mcr_scheduling"] = param(..., "the policy")
    vc_threshold: Threshold = param(
        0.25,
        "virtual queue above which a VC's frames are discarded",
        source=(
            "choice: the documents we have give no value; with a quarter of the buffer, "
            "four VCs can fill it"
        ),
    )
    interval: Interval = param(
        "1 ms",
        "time after which MCRs are served",
        symbol="T",
        source="choice: a few hundred cells of a 155 Mbit/s link",
    )


class PmeEred(Parameters):
    """Marks frames of VCs below their MCR, and spares marked frames in RED."""

    kind: Literal["pme_ered"] = param(..., "the policy")
    min_threshold: AverageThreshold = param(
        0.2,
        "average queue below which nothing is discarded",
        symbol="min_th",
        source=("choice: max_th should be at least twice min_th (Floyd and Jacobson, section 6)"),
    )
    max_threshold: AverageThreshold = param(
        0.6,
        "average queue from which every frame is discarded; above min_threshold",
        symbol="max_th",
        source=("choice: max_th should be at least twice min_th (Floyd and Jacobson, section 6)"),
    )
    max_probability: PartOfOne = param(
        0.02,
        "probability of discard just below max_threshold",
        symbol="max_p",
        source="S. Floyd, V. Jacobson, Random Early Detection Gateways, 1993",
    )
    weight: PartOfOne = param(
        0.002,
        "weight of a new queue length in the average",
        symbol="w_q",
        source="S. Floyd, V. Jacobson, Random Early Detection Gateways, 1993",
    )
    interval: Interval = param(
        "10 ms",
        "time over which the rate of a VC is measured",
        source="choice: hundreds of frames, and no longer than a round trip",
    )
    step: PartOfOne = param(
        0.1,
        "change of the marking probability in an interval without any frame",
        source="choice: from never to always in ten intervals",
    )
    marked_part: FromZeroToOne = param(
        0.0,
        "fraction of RED's probability with which marked frames are discarded",
        source="choice: the guarantee first; marked frames are lost only to a full buffer",
    )


class StaticThreshold(Parameters):
    """Discards the frames of VCs above a threshold of their own, which stays as it is."""

    kind: Literal["static_threshold"] = param(..., "the policy")
    thresholds: VcThresholds = param(
        ...,
        (
            "occupancy of each VC above which its frames are discarded; by name of the "
            "VC, or a list in the order of the flows; a VC that is not named has none"
        ),
        symbol="T_i",
    )
    low_threshold: Threshold = param(
        "0 cells",
        "occupancy of the buffer up to which every frame is accepted",
        symbol="L",
        source=(
            "Buffer Management for TCP over the ATM GFR Service, section 4.3: the first "
            "scheme has none"
        ),
    )


class DropPrecedence(Parameters):
    """Discards frames above a threshold that is the lower, the higher their drop precedence."""

    kind: Literal["drop_precedence"] = param(..., "the policy")
    thresholds: Annotated[tuple[Threshold, ...], Field(min_length=1)] = param(
        ...,
        (
            "occupancies from the least to the greatest, one for each level: above the "
            "first, frames of the highest precedence are discarded, above the last every "
            "frame"
        ),
        symbol="R_1 to R_n",
    )
    precedence: VcLevels = param(
        {},
        (
            "drop precedence of each VC, from 1 for frames that are kept longest; 1 for a"
            " VC that is not named; tagged frames have the highest"
        ),
        source="RFC 2597 section 2: the lowest, as nobody has marked the VC",
    )


class Codel(Parameters):
    """Controlled Delay: discards or marks packets at the head that have waited for too long."""

    kind: Literal["codel"] = param(..., "the policy")
    target: Interval = param(
        "5 ms",
        "wait that may stand for longer than an interval",
        symbol="TARGET",
        source="RFC 8289, section 4.4: 5 to 10 % of the interval",
    )
    interval: Interval = param(
        "100 ms",
        ("for how long the wait may stand above target; of the order of the longest round trip"),
        symbol="INTERVAL",
        source=(
            "RFC 8289, section 4.3: round trips from 10 ms to 1 s; over GEO satellites "
            "more is better"
        ),
    )
    ce_threshold: TimeOrNone = param(
        "0 s",
        (
            "wait above which every packet that knows ECN is marked, whatever the control"
            " loop does; 0 s for none"
        ),
        symbol="ce_threshold",
        source=(
            "Linux 6.18, codel_impl.h: off unless set; RFC 8257, section 3.1, marks above"
            " one threshold"
        ),
    )


class HeadDrop(Parameters):
    """Gives a packet that finds the buffer full the place of the one that has waited longest."""

    kind: Literal["head_drop"] = param(..., "the policy")


class RedEcn(Parameters):
    """RED that marks packets whose transport knows ECN where it would draw for a discard."""

    kind: Literal["red_ecn"] = param(..., "the policy")
    min_threshold: AverageThreshold = param(
        0.2,
        "average queue below which nothing is discarded",
        symbol="min_th",
        source=("choice: max_th should be at least twice min_th (Floyd and Jacobson, section 6)"),
    )
    max_threshold: AverageThreshold = param(
        0.6,
        "average queue from which every frame is discarded; above min_threshold",
        symbol="max_th",
        source=("choice: max_th should be at least twice min_th (Floyd and Jacobson, section 6)"),
    )
    max_probability: PartOfOne = param(
        0.02,
        "probability of discard just below max_threshold",
        symbol="max_p",
        source="S. Floyd, V. Jacobson, Random Early Detection Gateways, 1993",
    )
    weight: PartOfOne = param(
        0.002,
        "weight of a new queue length in the average",
        symbol="w_q",
        source="S. Floyd, V. Jacobson, Random Early Detection Gateways, 1993",
    )
    gentle: Flag = param(
        True,
        (
            "if true, the probability grows on from max_threshold to twice that, instead "
            "of jumping to 1"
        ),
        source="S. Floyd, Recommendation on using the gentle_ variant of RED, 2000",
    )
    mark_above: Flag = param(
        False,
        (
            "if true, packets that use ECN are marked where all others are discarded, "
            "above the thresholds"
        ),
        source=(
            "RFC 3168, section 7: a router may drop them. Linux's RED marks them unless "
            "it has `harddrop`"
        ),
    )


class Pie(Parameters):
    """Discards or marks packets that come, at random, so that the wait comes to a target."""

    kind: Literal["pie"] = param(..., "the policy")
    target: Interval = param(
        "15 ms",
        "wait that the controller aims at",
        symbol="QDELAY_REF",
        source="RFC 8033, section 4.2",
    )
    update: Interval = param(
        "15 ms",
        "time between updates of the probability",
        symbol="T_UPDATE",
        source="RFC 8033, section 4.2",
    )
    burst: Interval = param(
        "150 ms",
        "how long a burst is let through after a time without congestion",
        symbol="MAX_BURST",
        source="RFC 8033, section 4.4",
    )
    mark_below: PartOfOne = param(
        0.1,
        (
            "probability up to which packets that know ECN are marked, and above which "
            "they are discarded"
        ),
        symbol="mark_ecnth",
        source="RFC 8033, section 5.1: 10 %",
    )


class FqCodel(Parameters):
    """A queue under CoDel for each flow, served in turn, flows that have just begun first."""

    kind: Literal["fq_codel"] = param(..., "the policy")
    target: Interval = param(
        "5 ms",
        "wait in a queue that may stand for longer than an interval",
        symbol="TARGET",
        source="RFC 8290, section 5.2.2",
    )
    interval: Interval = param(
        "100 ms",
        ("for how long the wait may stand above target; of the order of the longest round trip"),
        symbol="INTERVAL",
        source="RFC 8290, section 5.2.1; over GEO satellites more is better",
    )
    quantum: PacketOctets = param(
        "1514 B",
        "octets that a queue may send in a round",
        source="RFC 8290, section 5.2.4: the MTU of Ethernet with its header",
    )
    queues: QueueCount = param(
        1024,
        ("queues over which a hash spreads the flows; 0 for one of its own for each flow"),
        source="RFC 8290, section 5.2.5",
    )
    ce_threshold: TimeOrNone = param(
        "0 s",
        (
            "wait above which every packet that knows ECN is marked, whatever the control"
            " loop does; 0 s for none"
        ),
        symbol="ce_threshold",
        source="Linux 6.18, sch_fq_codel.c: off unless set",
    )
    ce_threshold_ect1: TimeOrNone = param(
        "0 s",
        ("the same for packets with ECT(1) alone, which scalable senders (L4S) send; 0 s for none"),
        source="Linux 6.18, sch_fq_codel.c: ce_threshold with ce_threshold_selector 0x01/0x03",
    )


class DualPi2(Parameters):
    """Two queues with coupled signals: a short one for scalable senders beside the classic one."""

    kind: Literal["dual_pi2"] = param(..., "the policy")
    target: Interval = param(
        "15 ms",
        "wait of classic packets that the controller aims at",
        symbol="target",
        source="RFC 9332, appendix A.1",
    )
    rtt_max: Interval = param(
        "100 ms",
        "longest round trip that the controller is to be stable with",
        symbol="RTT_max",
        source="RFC 9332, appendix A.1",
    )
    coupling: Coupling = param(
        2,
        (
            "ratio of the probability of marks of scalable senders to the root of that of"
            " classic ones"
        ),
        symbol="k",
        source="RFC 9332, appendix A.1",
    )
    ramp_from: Interval = param(
        "800 us",
        ("wait above which packets of scalable senders are marked for the sake of their own queue"),
        symbol="minTh",
        source="RFC 9332, appendix A.1",
    )
    ramp_to: Interval = param(
        "1200 us",
        "wait from which all of them are",
        symbol="maxTh",
        source="RFC 9332, appendix A.1: minTh and a range of 400 us",
    )
    shift: Interval = param(
        "30 ms",
        (
            "by how much longer a classic packet has to have waited to go before one of a"
            " scalable sender"
        ),
        symbol="tshift",
        source="choice: twice the target",
    )


class LinuxDualPi2(Parameters):
    """DualPI2 by Linux's rules: random marks, a step, weighted round robin of both queues."""

    kind: Literal["linux_dual_pi2"] = param(..., "the policy")
    target: Interval = param(
        "15 ms",
        "wait that the controller aims at",
        symbol="target",
        source="Linux 6.17, dualpi2_reset_default",
    )
    update: Interval = param(
        "16 ms",
        "time between two updates of the probability",
        symbol="tupdate",
        source="Linux 6.17, dualpi2_reset_default",
    )
    alpha: PerSecond = param(
        0.16015625,
        "gain of the difference between wait and target, per second",
        symbol="alpha",
        source=(
            "Linux 6.17, dualpi2_reset_default: 41 / 256; 10 dB of margin at a round trip of 100 ms"
        ),
    )
    beta: PerSecond = param(
        3.19921875,
        "gain of the growth of the wait since the last update, per second",
        symbol="beta",
        source="Linux 6.17, dualpi2_reset_default: 819 / 256",
    )
    coupling: Coupling = param(
        2,
        (
            "ratio of the probability of marks of scalable senders to the root of that of"
            " classic ones"
        ),
        symbol="coupling_factor",
        source="Linux 6.17, dualpi2_reset_default",
    )
    step: Interval = param(
        "1 ms",
        "wait above which every packet of a scalable sender is marked",
        symbol="step_thresh",
        source="Linux 6.17, dualpi2_reset_default",
    )
    classic_part: FromZeroToOne = param(
        0.1,
        "part of the link that the classic queue gets while both queues have packets",
        symbol="c_protection",
        source="Linux 6.17, dualpi2_reset_default: 10 %",
    )
    drop_overload: Flag = param(
        True,
        (
            "if true, packets are discarded under overload, marks or not, instead of "
            "being marked until the buffer is full"
        ),
        symbol="drop_overload",
        source="Linux 6.17, dualpi2_reset_default",
    )


AnyPolicy = (
    TailDrop
    | Ppd
    | Epd
    | SelectiveDrop
    | FairBufferAllocation
    | SingleDrop
    | Dfba
    | PriorityDrop
    | VcPriorityDrop
    | Red
    | Fred
    | VirtualQueueing
    | DynamicEpd
    | McrScheduling
    | PmeEred
    | StaticThreshold
    | DropPrecedence
    | Codel
    | HeadDrop
    | RedEcn
    | Pie
    | FqCodel
    | DualPi2
    | LinuxDualPi2
)
#: Those that need no more than their name.
_Names = Literal[
    "tail_drop",
    "ppd",
    "epd",
    "selective_drop",
    "fair_buffer_allocation",
    "dfba",
    "priority_drop",
    "vc_priority_drop",
    "red",
    "fred",
    "virtual_queueing",
    "dynamic_epd",
    "mcr_scheduling",
    "pme_ered",
    "codel",
    "head_drop",
    "red_ecn",
    "pie",
    "fq_codel",
    "dual_pi2",
    "linux_dual_pi2",
]
Policy = Annotated[
    Annotated[AnyPolicy, Field(discriminator="kind")],
    BeforeValidator(kind_by_name, json_schema_input_type=AnyPolicy | _Names),
]

POLICIES: dict[str, RuleSpec] = {
    "tail_drop": RuleSpec(
        TailDrop,
        TailDropSpec,
        (),
        facts={
            "class": "–",
            "discards": "deterministic",
            "label": "tail drop",
            "source": "plain UBR",
            "threshold": "–",
        },
    ),
    "ppd": RuleSpec(
        Ppd,
        PpdSpec,
        (),
        facts={
            "class": "SA-ST",
            "discards": "deterministic",
            "fairness": "none",
            "label": "PPD",
            "source": "Romanow, Floyd: Dynamics of TCP Traffic over ATM Networks, 1995",
            "threshold": "static",
        },
    ),
    "epd": RuleSpec(
        Epd,
        EpdSpec,
        (
            FieldSpec("threshold_cells", "drop_threshold", "Threshold"),
            FieldSpec("partial_discard", "partial_discard", "Flag"),
        ),
        facts={
            "class": "SA-ST",
            "discards": "deterministic",
            "fairness": "none",
            "label": "EPD",
            "source": "Romanow, Floyd: Dynamics of TCP Traffic over ATM Networks, 1995",
            "threshold": "static",
        },
    ),
    "selective_drop": RuleSpec(
        SelectiveDrop,
        SelectiveDropSpec,
        (
            FieldSpec("threshold_cells", "drop_threshold", "Threshold"),
            FieldSpec("fairness_threshold", "fairness_threshold", "UpToEqualShare"),
            FieldSpec("partial_discard", "partial_discard", "Flag"),
        ),
        facts={
            "class": "MA-ST",
            "discards": "deterministic",
            "fairness": "equal allocation",
            "label": "Selective Drop",
            "source": "Goyal, Jain et al.: ICCCN'97",
            "threshold": "dynamic",
        },
    ),
    "fair_buffer_allocation": RuleSpec(
        FairBufferAllocation,
        FairBufferAllocationSpec,
        (
            FieldSpec("threshold_cells", "drop_threshold", "ThresholdBelowCapacity"),
            FieldSpec("fairness_threshold", "fairness_threshold", "UpToEqualShare"),
            FieldSpec("partial_discard", "partial_discard", "Flag"),
        ),
        facts={
            "class": "MA-ST",
            "discards": "deterministic",
            "fairness": "equal allocation",
            "label": "FBA",
            "source": "Heinanen, Kilkki, as described in Goyal, Jain et al.: ICCCN'97",
            "threshold": "dynamic",
        },
    ),
    "single_drop": RuleSpec(
        SingleDrop,
        SingleDropSpec,
        (
            FieldSpec("thresholds_cells", "thresholds", "VcThresholds"),
            FieldSpec("rearm_below_cells", "rearm_below", "CellCount", below="thresholds_cells"),
        ),
        facts={
            "chosen": "occupancy looked at when a frame begins",
            "class": "MA-MT",
            "discards": "deterministic",
            "label": "single drop",
            "source": (
                "Goyal, Jain, Fahmy, Vandalore: Buffer Management for TCP over the ATM GFR "
                "Service, 1999"
            ),
            "threshold": "static",
        },
    ),
    "dfba": RuleSpec(
        Dfba,
        DfbaSpec,
        (
            FieldSpec("low_cells", "low_threshold", "Threshold", below="high_cells"),
            FieldSpec("high_cells", "high_threshold", "Threshold"),
            FieldSpec("alpha", "alpha", "FromZeroToOne"),
            FieldSpec("drop_function", "drop_function", "word"),
            FieldSpec("mcr_millicells", None, "McrByVc"),
            FieldSpec("z", "z", "DfbaZ"),
            FieldSpec("keeps_last_cells", "keep_last_cells", "Flag"),
        ),
        facts={
            "class": "MA-MT",
            "discards": "probabilistic",
            "fairness": "MCR guarantee",
            "label": "DFBA",
            "sees_tags": True,
            "source": (
                "Goyal, Jain, Fahmy, Vandalore: Buffer Management for TCP over the ATM GFR "
                "Service, 1999"
            ),
            "threshold": "dynamic",
        },
    ),
    "priority_drop": RuleSpec(
        PriorityDrop,
        PriorityDropSpec,
        (
            FieldSpec("tagged_cells", "tagged_threshold", "Threshold", at_most="threshold_cells"),
            FieldSpec("threshold_cells", "drop_threshold", "Threshold"),
        ),
        facts={
            "class": "SA-MT",
            "discards": "deterministic",
            "label": "LBO/HBO",
            "sees_tags": True,
            "source": (
                "Goyal, Jain, Fahmy, Vandalore: Buffer Management for TCP over the ATM GFR "
                "Service, 1999; Bonaventure: A simulation study of TCP with the GFR service "
                "category (LBO, HBO)"
            ),
            "threshold": "static",
        },
    ),
    "vc_priority_drop": RuleSpec(
        VcPriorityDrop,
        VcPriorityDropSpec,
        (
            FieldSpec("tagged_cells", "tagged_threshold", "Threshold", at_most="threshold_cells"),
            FieldSpec("threshold_cells", "drop_threshold", "Threshold"),
            FieldSpec("vc_thresholds_cells", "vc_threshold", "VcAllowances"),
        ),
        facts={
            "class": "MA-MT",
            "discards": "deterministic",
            "label": "LBO/HBO/T_i",
            "sees_tags": True,
            "source": (
                "Guerin, Heinanen: ATM Forum 96-1598, as described in Bonaventure: A "
                "simulation study of TCP with the GFR service category (LBO, HBO, T_i)"
            ),
            "threshold": "static",
        },
    ),
    "red": RuleSpec(
        Red,
        RedSpec,
        (
            FieldSpec("min_cells", "min_threshold", "AverageThreshold", below="max_cells"),
            FieldSpec("max_cells", "max_threshold", "AverageThreshold"),
            FieldSpec("max_p", "max_probability", "PartOfOne"),
            FieldSpec("weight", "weight", "PartOfOne"),
            FieldSpec("frame_ps", None, "FrameTime"),
        ),
        facts={
            "chosen": "thresholds; queue in cells, averaged once a frame",
            "class": "SA-ST",
            "discards": "probabilistic",
            "fairness": "equal allocation in limited cases",
            "label": "RED",
            "source": (
                "Floyd, Jacobson: Random Early Detection Gateways for Congestion Avoidance, 1993"
            ),
            "threshold": "static",
        },
    ),
    "fred": RuleSpec(
        Fred,
        FredSpec,
        (
            Flattened(
                "red",
                RedPart,
                (
                    FieldSpec("min_cells", "min_threshold", "AverageThreshold", below="max_cells"),
                    FieldSpec("max_cells", "max_threshold", "AverageThreshold"),
                    FieldSpec("max_p", "max_probability", "PartOfOne"),
                    FieldSpec("weight", "weight", "PartOfOne"),
                    FieldSpec("frame_ps", None, "FrameTime"),
                ),
            ),
            FieldSpec("min_queue_cells", "protected_frames", "CellsOfFrames"),
            FieldSpec("frame_cells", None, "FrameCells"),
        ),
        facts={
            "chosen": "thresholds; average updated only at frames that begin",
            "class": "MA-ST",
            "discards": "probabilistic",
            "fairness": "equal allocation",
            "label": "FRED",
            "source": "Lin, Morris: Dynamics of Random Early Detection, 1997",
            "threshold": "dynamic",
        },
    ),
    "virtual_queueing": RuleSpec(
        VirtualQueueing,
        VirtualQueueingSpec,
        (FieldSpec("threshold_cells", "vc_threshold", "Threshold"),),
        facts={
            "chosen": "threshold",
            "class": "MA-ST",
            "discards": "deterministic",
            "label": "VQ",
            "source": (
                "Siu, Wu, Ren: Virtual Queuing Techniques for UBR+ Service in ATM, "
                "Globecom'97; Wu, Siu, Ren: Improved Virtual Queuing and Dynamic EPD "
                "Techniques, ICNP'97; as described in Goyal, Jain, Fahmy, Vandalore: Buffer "
                "Management for TCP over the ATM GFR Service, 1999"
            ),
            "threshold": "static",
        },
    ),
    "dynamic_epd": RuleSpec(
        DynamicEpd,
        DynamicEpdSpec,
        (FieldSpec("threshold_cells", "drop_threshold", "Threshold"),),
        facts={
            "chosen": "how the threshold is divided among VCs above their equal share",
            "class": "MA-ST",
            "discards": "deterministic",
            "fairness": "equal allocation",
            "label": "VQ + Dynamic EPD",
            "source": (
                "Wu, Siu, Ren: Improved Virtual Queuing and Dynamic EPD Techniques, ICNP'97; "
                "as described in Goyal, Jain, Fahmy, Vandalore: Buffer Management for TCP "
                "over the ATM GFR Service, 1999"
            ),
            "threshold": "dynamic",
        },
    ),
    "mcr_scheduling": RuleSpec(
        McrScheduling,
        McrSchedulingSpec,
        (
            FieldSpec("threshold_cells", "vc_threshold", "Threshold"),
            FieldSpec("interval_ps", "interval", "Interval"),
            FieldSpec("mcr_millicells", None, "McrByVc"),
        ),
        facts={
            "chosen": (
                "threshold, interval; a VC without cells saves up nothing; what MCRs leave is"
                " served in turn"
            ),
            "class": "MA-MT",
            "discards": "deterministic",
            "fairness": "MCR guarantee",
            "label": "VQ + MCR scheduling",
            "source": (
                "Siu, Wu, Ren: Virtual Queuing Techniques for UBR+ Service in ATM, "
                "Globecom'97; as described in Goyal, Jain, Fahmy, Vandalore: Buffer "
                "Management for TCP over the ATM GFR Service, 1999"
            ),
            "threshold": "dynamic",
        },
    ),
    "pme_ered": RuleSpec(
        PmeEred,
        PmeEredSpec,
        (
            Flattened(
                "red",
                RedPart,
                (
                    FieldSpec("min_cells", "min_threshold", "AverageThreshold", below="max_cells"),
                    FieldSpec("max_cells", "max_threshold", "AverageThreshold"),
                    FieldSpec("max_p", "max_probability", "PartOfOne"),
                    FieldSpec("weight", "weight", "PartOfOne"),
                    FieldSpec("frame_ps", None, "FrameTime"),
                ),
            ),
            FieldSpec("interval_ps", "interval", "Interval"),
            FieldSpec("step", "step", "PartOfOne"),
            FieldSpec("marked_part", "marked_part", "FromZeroToOne"),
            FieldSpec("mcr_millicells", None, "McrByVc"),
        ),
        facts={
            "chosen": (
                "interval, step in proportion to the shortfall, marked frames lost only to a "
                "full buffer"
            ),
            "class": "MA-MT",
            "discards": "probabilistic",
            "fairness": "MCR guarantee",
            "label": "PME + ERED",
            "sees_tags": True,
            "source": (
                "Feng, Kandlur, Saha, Shin: CSE-TR-349-97, 1997; as described in Goyal, Jain,"
                " Fahmy, Vandalore: Buffer Management for TCP over the ATM GFR Service, 1999"
            ),
            "threshold": "static",
        },
    ),
    "static_threshold": RuleSpec(
        StaticThreshold,
        StaticThresholdSpec,
        (
            FieldSpec("thresholds_cells", "thresholds", "VcThresholds"),
            FieldSpec("low_cells", "low_threshold", "Threshold"),
        ),
        facts={
            "class": "MA-MT",
            "discards": "deterministic",
            "label": "static thresholds",
            "source": (
                "Goyal, Jain, Fahmy, Vandalore: Buffer Management for TCP over the ATM GFR "
                "Service, 1999"
            ),
            "threshold": "static",
        },
    ),
    "drop_precedence": RuleSpec(
        DropPrecedence,
        DropPrecedenceSpec,
        (
            FieldSpec(
                "thresholds_cells", "thresholds", "Threshold", is_list=True, is_ascending=True
            ),
            FieldSpec("precedence", "precedence", "VcLevels"),
        ),
        facts={
            "chosen": "levels numbered as in RFC 2597, given for each VC",
            "class": "SA-MT",
            "discards": "deterministic",
            "label": "drop precedence",
            "sees_tags": True,
            "source": (
                "Goyal, Jain, Fahmy, Vandalore: Buffer Management for TCP over the ATM GFR "
                "Service, 1999"
            ),
            "threshold": "static",
        },
    ),
    "codel": RuleSpec(
        Codel,
        CodelSpec,
        (
            FieldSpec("target_ps", "target", "Interval", below="interval_ps"),
            FieldSpec("interval_ps", "interval", "Interval"),
            FieldSpec("ce_threshold_ps", "ce_threshold", "TimeOrNone"),
        ),
        facts={
            "chosen": "largest packet so far as MTU",
            "class": "SA-ST",
            "discards": "deterministic",
            "label": "CoDel",
            "needs": "packets",
            "source": "Nichols, Jacobson, McGregor, Iyengar: RFC 8289",
            "threshold": "dynamic",
        },
    ),
    "head_drop": RuleSpec(
        HeadDrop,
        HeadDropSpec,
        (),
        facts={
            "chosen": "the packet under transmission stays",
            "class": "SA-ST",
            "discards": "deterministic",
            "label": "head drop",
            "needs": "packets",
            "source": (
                "Lakshman, Neidhardt, Ott: The Drop from Front Strategy in TCP and in TCP "
                "over ATM, 1996"
            ),
            "threshold": "static",
        },
    ),
    "red_ecn": RuleSpec(
        RedEcn,
        RedEcnSpec,
        (
            Flattened(
                "red",
                RedPart,
                (
                    FieldSpec("min_cells", "min_threshold", "AverageThreshold", below="max_cells"),
                    FieldSpec("max_cells", "max_threshold", "AverageThreshold"),
                    FieldSpec("max_p", "max_probability", "PartOfOne"),
                    FieldSpec("weight", "weight", "PartOfOne"),
                    FieldSpec("frame_ps", None, "FrameTime"),
                ),
            ),
            FieldSpec("gentle", "gentle", "Flag"),
            FieldSpec("mark_above", "mark_above", "Flag"),
        ),
        facts={
            "chosen": "thresholds",
            "class": "SA-ST",
            "discards": "probabilistic",
            "label": "RED with ECN",
            "needs": "packets",
            "source": (
                "Floyd, Jacobson: Random Early Detection Gateways for Congestion Avoidance, "
                "1993; Ramakrishnan, Floyd, Black: RFC 3168"
            ),
            "threshold": "static",
        },
    ),
    "pie": RuleSpec(
        Pie,
        PieSpec,
        (
            FieldSpec("target_ps", "target", "Interval"),
            FieldSpec("update_ps", "update", "Interval"),
            FieldSpec("burst_ps", "burst", "Interval"),
            FieldSpec("mark_below", "mark_below", "PartOfOne"),
        ),
        facts={
            "chosen": (
                "wait measured by time stamps; largest packet so far as mean packet; active "
                "from the start"
            ),
            "class": "SA-ST",
            "discards": "probabilistic",
            "label": "PIE",
            "needs": "packets",
            "source": "Pan, Natarajan, Baker, White: RFC 8033",
            "threshold": "dynamic",
        },
    ),
    "fq_codel": RuleSpec(
        FqCodel,
        FqCodelSpec,
        (
            FieldSpec("target_ps", "target", "Interval", below="interval_ps"),
            FieldSpec("interval_ps", "interval", "Interval"),
            FieldSpec("quantum_octets", "quantum", "PacketOctets"),
            FieldSpec("queues", "queues", "QueueCount"),
            FieldSpec("ce_threshold_ps", "ce_threshold", "TimeOrNone"),
            FieldSpec("ce_threshold_ect1_ps", "ce_threshold_ect1", "TimeOrNone"),
        ),
        facts={
            "chosen": "one packet at a time from the fattest queue",
            "class": "MA-ST",
            "discards": "deterministic",
            "label": "FQ-CoDel",
            "needs": "packets",
            "source": "Hoeiland-Joergensen, McKenney, Taht, Gettys, Dumazet: RFC 8290",
            "threshold": "dynamic",
        },
    ),
    "dual_pi2": RuleSpec(
        DualPi2,
        DualPi2Spec,
        (
            FieldSpec("target_ps", "target", "Interval"),
            FieldSpec("rtt_max_ps", "rtt_max", "Interval"),
            FieldSpec("coupling", "coupling", "Coupling"),
            FieldSpec("ramp_from_ps", "ramp_from", "Interval", below="ramp_to_ps"),
            FieldSpec("ramp_to_ps", "ramp_to", "Interval"),
            FieldSpec("shift_ps", "shift", "Interval"),
        ),
        facts={
            "chosen": "wait of the packet sent last of either queue; shift of the scheduler",
            "class": "SA-ST",
            "discards": "deterministic",
            "label": "DualPI2",
            "needs": "packets",
            "source": "De Schepper, Briscoe, White: RFC 9332",
            "threshold": "dynamic",
        },
    ),
    "linux_dual_pi2": RuleSpec(
        LinuxDualPi2,
        LinuxDualPi2Spec,
        (
            FieldSpec("target_ps", "target", "Interval"),
            FieldSpec("update_ps", "update", "Interval"),
            FieldSpec("alpha", "alpha", "PerSecond"),
            FieldSpec("beta", "beta", "PerSecond"),
            FieldSpec("coupling", "coupling", "Coupling"),
            FieldSpec("step_ps", "step", "Interval"),
            FieldSpec("classic_part", "classic_part", "FromZeroToOne"),
            FieldSpec("drop_overload", "drop_overload", "Flag"),
        ),
        facts={
            "chosen": (
                "real numbers for the kernel's fixed point; first update one period after the start"
            ),
            "class": "SA-ST",
            "discards": "probabilistic",
            "label": "DualPI2 (Linux)",
            "needs": "packets",
            "source": "Linux 6.17, net/sched/sch_dualpi2.c; De Schepper, Briscoe, White: RFC 9332",
            "threshold": "dynamic",
        },
    ),
}
"""What each policy declares, by its kind."""
