"""Parts of a run's spec as in Rust, whose documentation says what each field means.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from msgspec import field

from skycell.spec.part import U32, U64, SpecPart, left_out

NodeKind = Literal["host", "router", "switch"]

LoopCoupling = Literal["minimum", "both", "acr", "link", "queue"]


class VsVdSpec(SpecPart):
    """A switch at which the control loops of ABR VCs are cut."""

    coupling: LoopCoupling
    target_ps: U64
    drain_limit: float


class NodeSpec(SpecPart):
    """A node and what it does with what arrives."""

    name: str
    kind: NodeKind
    vs_vd: VsVdSpec | None = left_out(default=None)


class PacketFraming(SpecPart):
    """How a link carries packets. A link without it carries ATM cells."""

    rate_millibps: U64
    overhead_octets: U32
    least_octets: U32
    unit_octets: U32
    line_octets: U32
    fragment_octets: U32 | None = left_out(default=None)
    checked_octets: U32 | None = left_out(default=None)


class GilbertElliottSpec(SpecPart):
    """Loses frames in bursts: a good and a bad state, which may change after each frame."""

    kind: ClassVar[Literal["gilbert_elliott"]] = "gilbert_elliott"
    good_to_bad: float
    bad_to_good: float
    loss_in_good: float
    loss_in_bad: float


class LossBurstsSpec(SpecPart):
    """Loses what comes in bursts that last a time, whatever is sent in it."""

    kind: ClassVar[Literal["loss_bursts"]] = "loss_bursts"
    gap_ps: U64
    length_ps: U64
    loss: float


class PeriodicLossesSpec(SpecPart):
    """Loses what comes in the same part of each period."""

    kind: ClassVar[Literal["periodic_losses"]] = "periodic_losses"
    period_ps: U64
    length_ps: U64
    phase_ps: U64
    loss: float


class BitErrorsSpec(SpecPart):
    """Bits are wrong at random, each with the same probability."""

    kind: ClassVar[Literal["bit_errors"]] = "bit_errors"
    ber: float


class GilbertElliottBitsSpec(SpecPart):
    """Bits are wrong in bursts: a good and a bad state, which may change after each bit."""

    kind: ClassVar[Literal["gilbert_elliott_bits"]] = "gilbert_elliott_bits"
    good_to_bad: float
    bad_to_good: float
    errors_in_good: float
    errors_in_bad: float


BurstLengths = Literal["fixed", "geometric"]


class ErrorBurstsSpec(SpecPart):
    """Bits are wrong in bursts of a length and density."""

    kind: ClassVar[Literal["error_bursts"]] = "error_bursts"
    ber: float
    length_bits: U64
    density: float
    lengths: BurstLengths


class ErrorTraceSpec(SpecPart):
    """Bits are wrong that a list names."""

    kind: ClassVar[Literal["error_trace"]] = "error_trace"
    errors: tuple[U64, ...] = ()


ChannelSpec = (
    GilbertElliottSpec
    | LossBurstsSpec
    | PeriodicLossesSpec
    | BitErrorsSpec
    | GilbertElliottBitsSpec
    | ErrorBurstsSpec
    | ErrorTraceSpec
)


class VariationPart(SpecPart):
    """The parameters that all distributions share."""

    correlation: float
    reorder: bool


class UniformDelaySpec(SpecPart):
    """The delay is uniform over its mean minus and plus the spread."""

    kind: ClassVar[Literal["uniform"]] = "uniform"
    spread_ps: U64
    part: VariationPart


class NormalDelaySpec(SpecPart):
    """The delay is normal about its mean, cut at four spreads to either side."""

    kind: ClassVar[Literal["normal"]] = "normal"
    spread_ps: U64
    part: VariationPart


class ParetoDelaySpec(SpecPart):
    """The delay has a long tail: Pareto with a shape of 3, from 0.577 spreads below its mean."""

    kind: ClassVar[Literal["pareto"]] = "pareto"
    spread_ps: U64
    part: VariationPart


class TableDelaySpec(SpecPart):
    """A packet takes the link's delay and one of some further times, all as likely."""

    kind: ClassVar[Literal["table"]] = "table"
    values_ps: tuple[U64, ...] = ()
    part: VariationPart


DelayVariationSpec = UniformDelaySpec | NormalDelaySpec | ParetoDelaySpec | TableDelaySpec


class ScheduleSpec(SpecPart):
    """The delay of a link over time, in steps, and perhaps its rate and what it loses."""

    times_ps: tuple[U64, ...] = ()
    delays_ps: tuple[U64 | None, ...] = ()
    paths: tuple[U32, ...] = ()
    cell_times_ps: tuple[U64, ...] = ()
    rates_millibps: tuple[U64, ...] = left_out(default=())
    losses_ppb: tuple[U32, ...] = ()
    to: tuple[U32, ...] = ()
    interruption_ps: U64
    handover_loses_cells: bool


class ReceiverSpec(SpecPart):
    """A receiver of the packets of some VCs, which go at its own rate."""

    vcs: tuple[U32, ...] = ()
    times_ps: tuple[U64, ...] = ()
    rates_millibps: tuple[U64 | None, ...] = ()


ServiceClass = Literal["cbr", "rt_vbr", "nrt_vbr", "abr", "ubr", "gfr"]


class TailDropSpec(SpecPart):
    """Discards the cells that find the buffer full, whatever frame they belong to."""

    kind: ClassVar[Literal["tail_drop"]] = "tail_drop"


class PpdSpec(SpecPart):
    """Partial Packet Discard: once a cell of a frame is discarded, so is the rest of the frame."""

    kind: ClassVar[Literal["ppd"]] = "ppd"


class EpdSpec(SpecPart):
    """Early Packet Discard: discards frames that begin while the queue is above a threshold."""

    kind: ClassVar[Literal["epd"]] = "epd"
    threshold_cells: U32
    partial_discard: bool


class SelectiveDropSpec(SpecPart):
    """Above a threshold, discards the frames of VCs that hold more than their fair share."""

    kind: ClassVar[Literal["selective_drop"]] = "selective_drop"
    threshold_cells: U32
    fairness_threshold: float
    partial_discard: bool


class FairBufferAllocationSpec(SpecPart):
    """Like Selective Drop, with a share that shrinks as the buffer fills."""

    kind: ClassVar[Literal["fair_buffer_allocation"]] = "fair_buffer_allocation"
    threshold_cells: U32
    fairness_threshold: float
    partial_discard: bool


class SingleDropSpec(SpecPart):
    """Discards one frame of a VC each time its occupancy crosses the VC's threshold from below."""

    kind: ClassVar[Literal["single_drop"]] = "single_drop"
    thresholds_cells: tuple[U32 | None, ...] = ()
    rearm_below_cells: U32


DfbaDropFunction = Literal["linear", "red"]


class DfbaZFixed(SpecPart):
    """The same for all VCs."""

    kind: ClassVar[Literal["fixed"]] = "fixed"
    value: float


class DfbaZComplement(SpecPart):
    """1 - W_i / W."""

    kind: ClassVar[Literal["complement"]] = "complement"


class DfbaZComplementSquared(SpecPart):
    """(1 - W_i / W)^2."""

    kind: ClassVar[Literal["complement_squared"]] = "complement_squared"


class DfbaZByVc(SpecPart):
    """Of each VC."""

    kind: ClassVar[Literal["by_vc"]] = "by_vc"
    values: tuple[float, ...] = ()


DfbaZ = DfbaZFixed | DfbaZComplement | DfbaZComplementSquared | DfbaZByVc


class DfbaSpec(SpecPart):
    """Differential FBA: between two thresholds, discards frames of VCs above their share."""

    kind: ClassVar[Literal["dfba"]] = "dfba"
    low_cells: U32
    high_cells: U32
    alpha: float
    drop_function: DfbaDropFunction = left_out(default="linear")
    mcr_millicells: tuple[U64, ...] = ()
    z: DfbaZ
    keeps_last_cells: bool


class PriorityDropSpec(SpecPart):
    """Discards tagged frames above one threshold, and all frames above another."""

    kind: ClassVar[Literal["priority_drop"]] = "priority_drop"
    tagged_cells: U32
    threshold_cells: U32


class VcPriorityDropSpec(SpecPart):
    """Discards tagged frames from one threshold on, from another all but those of short queues."""

    kind: ClassVar[Literal["vc_priority_drop"]] = "vc_priority_drop"
    tagged_cells: U32
    threshold_cells: U32
    vc_thresholds_cells: tuple[U32, ...] = ()


class RedPart(SpecPart):
    """Random Early Detection: discards frames at random while the average queue is long."""

    min_cells: U32
    max_cells: U32
    max_p: float
    weight: float
    frame_ps: U64


class FredSpec(SpecPart):
    """Flow Random Early Drop: RED that spares VCs with little in the queue."""

    kind: ClassVar[Literal["fred"]] = "fred"
    red: RedPart
    min_queue_cells: U32
    frame_cells: U32


class VirtualQueueingSpec(SpecPart):
    """Discards frames of VCs whose virtual queue, as under round robin, is above a threshold."""

    kind: ClassVar[Literal["virtual_queueing"]] = "virtual_queueing"
    threshold_cells: U32


class DynamicEpdSpec(SpecPart):
    """Virtual Queueing; the threshold is what VCs below their equal share leave to the others."""

    kind: ClassVar[Literal["dynamic_epd"]] = "dynamic_epd"
    threshold_cells: U32


class McrSchedulingSpec(SpecPart):
    """Virtual Queueing under a server that gives each VC its MCR first."""

    kind: ClassVar[Literal["mcr_scheduling"]] = "mcr_scheduling"
    threshold_cells: U32
    interval_ps: U64
    mcr_millicells: tuple[U64, ...] = ()


class PmeEredSpec(SpecPart):
    """Marks frames of VCs below their MCR, and spares marked frames in RED."""

    kind: ClassVar[Literal["pme_ered"]] = "pme_ered"
    red: RedPart
    interval_ps: U64
    step: float
    marked_part: float
    mcr_millicells: tuple[U64, ...] = ()


class StaticThresholdSpec(SpecPart):
    """Discards the frames of VCs above a threshold of their own, which stays as it is."""

    kind: ClassVar[Literal["static_threshold"]] = "static_threshold"
    thresholds_cells: tuple[U32 | None, ...] = ()
    low_cells: U32


class DropPrecedenceSpec(SpecPart):
    """Discards frames above a threshold that is the lower, the higher their drop precedence."""

    kind: ClassVar[Literal["drop_precedence"]] = "drop_precedence"
    thresholds_cells: tuple[U32, ...] = ()
    precedence: tuple[U32, ...] = ()


class CodelSpec(SpecPart):
    """Controlled Delay: discards or marks packets at the head that have waited for too long."""

    kind: ClassVar[Literal["codel"]] = "codel"
    target_ps: U64
    interval_ps: U64
    ce_threshold_ps: U64 = left_out(default=0)


class HeadDropSpec(SpecPart):
    """Gives a packet that finds the buffer full the place of the one that has waited longest."""

    kind: ClassVar[Literal["head_drop"]] = "head_drop"


class RedEcnSpec(SpecPart):
    """RED that marks packets whose transport knows ECN where it would draw for a discard."""

    kind: ClassVar[Literal["red_ecn"]] = "red_ecn"
    red: RedPart
    gentle: bool
    mark_above: bool = left_out(default=False)


class PieSpec(SpecPart):
    """Discards or marks packets that come, at random, so that the wait comes to a target."""

    kind: ClassVar[Literal["pie"]] = "pie"
    target_ps: U64
    update_ps: U64
    burst_ps: U64
    mark_below: float


class FqCodelSpec(SpecPart):
    """A queue under CoDel for each flow, served in turn, flows that have just begun first."""

    kind: ClassVar[Literal["fq_codel"]] = "fq_codel"
    target_ps: U64
    interval_ps: U64
    quantum_octets: U32
    queues: U32
    ce_threshold_ps: U64 = left_out(default=0)
    ce_threshold_ect1_ps: U64 = left_out(default=0)


class DualPi2Spec(SpecPart):
    """Two queues with coupled signals: a short one for scalable senders beside the classic one."""

    kind: ClassVar[Literal["dual_pi2"]] = "dual_pi2"
    target_ps: U64
    rtt_max_ps: U64
    coupling: U32
    ramp_from_ps: U64
    ramp_to_ps: U64
    shift_ps: U64


class LinuxDualPi2Spec(SpecPart):
    """DualPI2 by Linux's rules: random marks, a step, weighted round robin of both queues."""

    kind: ClassVar[Literal["linux_dual_pi2"]] = "linux_dual_pi2"
    target_ps: U64
    update_ps: U64
    alpha: float
    beta: float
    coupling: U32
    step_ps: U64
    classic_part: float
    drop_overload: bool


class RedSpec(RedPart):
    """`RedPart`, as a kind."""

    kind: ClassVar[Literal["red"]] = "red"


PolicySpec = (
    TailDropSpec
    | PpdSpec
    | EpdSpec
    | SelectiveDropSpec
    | FairBufferAllocationSpec
    | SingleDropSpec
    | DfbaSpec
    | PriorityDropSpec
    | VcPriorityDropSpec
    | RedSpec
    | FredSpec
    | VirtualQueueingSpec
    | DynamicEpdSpec
    | McrSchedulingSpec
    | PmeEredSpec
    | StaticThresholdSpec
    | DropPrecedenceSpec
    | CodelSpec
    | HeadDropSpec
    | RedEcnSpec
    | PieSpec
    | FqCodelSpec
    | DualPi2Spec
    | LinuxDualPi2Spec
)


class QueueSpec(SpecPart):
    """A queue of an output port."""

    class_: ServiceClass | None = field(name="class", default=None)
    capacity_cells: U32 | None = None
    counts_octets: bool = left_out(default=False)
    by_flow: bool = left_out(default=False)
    policy: PolicySpec


class FifoSpec(SpecPart):
    """One queue, served in the order of arrival."""

    kind: ClassVar[Literal["fifo"]] = "fifo"


class StrictPrioritySpec(SpecPart):
    """The first queue that has cells, in the order of the file, the default queue last."""

    kind: ClassVar[Literal["strict_priority"]] = "strict_priority"


class GuaranteedRateSpec(SpecPart):
    """Each class's share of the cells while it has cells to send; the rest goes by priority."""

    kind: ClassVar[Literal["guaranteed_rate"]] = "guaranteed_rate"
    shares_ppb: tuple[U32, ...] = ()


class WeightedRoundRobinSpec(SpecPart):
    """Serves one queue after the other, each up to its weight in cells."""

    kind: ClassVar[Literal["weighted_round_robin"]] = "weighted_round_robin"
    weights: tuple[U32, ...] = ()


class VirtualSpacingSpec(SpecPart):
    """A queue for each VC, in one buffer, served in proportion to the VCs' MCRs."""

    kind: ClassVar[Literal["virtual_spacing"]] = "virtual_spacing"
    intervals_ps: tuple[U64, ...] = ()


class VcRoundRobinSpec(SpecPart):
    """A queue for each VC, in one buffer, served in turn, a cell at a time."""

    kind: ClassVar[Literal["vc_round_robin"]] = "vc_round_robin"
    weights: tuple[U32, ...] = ()


class DeficitRoundRobinSpec(SpecPart):
    """Serves the flows, or VCs, of a buffer of packets one after the other, each by octets."""

    kind: ClassVar[Literal["deficit_round_robin"]] = "deficit_round_robin"
    quantum_octets: U32


SchedulerSpec = (
    FifoSpec
    | StrictPrioritySpec
    | GuaranteedRateSpec
    | WeightedRoundRobinSpec
    | VirtualSpacingSpec
    | VcRoundRobinSpec
    | DeficitRoundRobinSpec
)


class EfciSpec(SpecPart):
    """Marks data cells while the queue is long; the destination makes CI of the mark."""

    kind: ClassVar[Literal["efci"]] = "efci"
    high_cells: U32
    low_cells: U32
    becn_millicells: U64 = left_out(default=0)


MarkedRmCells = Literal["backward", "forward", "both"]


class RelativeRateSpec(SpecPart):
    """Sets NI in RM cells while the queue grows, and CI while it is long."""

    kind: ClassVar[Literal["relative_rate"]] = "relative_rate"
    high_cells: U32
    low_cells: U32
    ni_cells: U32
    rm_cells: MarkedRmCells
    becn_millicells: U64 = left_out(default=0)


CcrFrom = Literal["rm_cell", "measured"]


class EricaSpec(SpecPart):
    """Gives each VC an equal share of a target, or more if that ends the overload."""

    kind: ClassVar[Literal["erica"]] = "erica"
    target_utilization: float
    interval_ps: U64
    interval_cells: U32
    delta: float
    ccr_from: CcrFrom
    becn_millicells: U64 = left_out(default=0)


QueueCurve = Literal["hyperbolic", "inverse_hyperbolic", "linear", "step"]


class QueueControlSpec(SpecPart):
    """f(Q): above 1 while the queueing delay is short, below 1 while it is long."""

    curve: QueueCurve
    target_ps: U64
    upper_ps: U64
    a: float
    b: float
    slope: float
    step: float
    drain_limit: float


class EricaPlusSpec(SpecPart):
    """ERICA with a target that follows the queue: all of the link while its delay is as wanted."""

    kind: ClassVar[Literal["erica_plus"]] = "erica_plus"
    queue: QueueControlSpec
    interval_ps: U64
    interval_cells: U32
    delta: float
    ccr_from: CcrFrom
    becn_millicells: U64 = left_out(default=0)


class WeightedEricaPlusSpec(SpecPart):
    """ERICA+ that gives each VC its MCR and of the rest a part by its weight."""

    kind: ClassVar[Literal["weighted_erica_plus"]] = "weighted_erica_plus"
    queue: QueueControlSpec
    interval_ps: U64
    interval_cells: U32
    ccr_from: CcrFrom
    becn_millicells: U64 = left_out(default=0)


RateAlgorithmSpec = EfciSpec | RelativeRateSpec | EricaSpec | EricaPlusSpec | WeightedEricaPlusSpec


class TokenBucketSpec(SpecPart):
    """A token bucket before the link of a port of packets, which delays them."""

    rate_millibps: U64
    burst_octets: U32
    peak_millibps: U64 | None = left_out(default=None)


ExcessAction = Literal["discard", "mark"]


class PacketPolicerSpec(SpecPart):
    """A token bucket to which the packets that come to a port have to conform."""

    rate_millibps: U64
    burst_octets: U32
    peak_millibps: U64 | None = left_out(default=None)
    excess: ExcessAction


class ByLabelSpec(SpecPart):
    """A VC of packets without a path, which nodes of the sky send on by label."""

    from_: U32 = field(name="from")
    label: U32


PolicingAction = Literal["count", "tag", "discard"]


class GcraSpec(SpecPart):
    """A bucket of the Generic Cell Rate Algorithm, which polices a VC at the first switch."""

    increment_ps: U64
    limit_ps: U64
    action: PolicingAction
    clp0_only: bool = left_out(default=False)


Tagging = Literal["none", "network", "adapter"]

Excess = Literal["pass", "discard"]

Nonconforming = Literal["count", "discard"]


class GfrSpec(SpecPart):
    """GFR contract of a VC, rates as intervals between cells."""

    mcr_interval_ps: U64
    pcr_interval_ps: U64
    burst_tolerance_ps: U64
    mfs_cells: U32
    tagging: Tagging
    excess: Excess
    nonconforming: Nonconforming
    window_ps: U64
    window_step_ps: U64


class AbrSpec(SpecPart):
    """The parameters of an ABR VC's source and destination."""

    return_vc: U32
    pcr_millicells: U64
    mcr_millicells: U64
    icr_millicells: U64
    tbe_cells: U32
    frtt_ps: U64
    nrm: U32
    mrm: U32
    trm_ps: U64
    rif: float
    rdf: float
    cdf: float
    adtf_ps: U64
    tcr_millicells: U64
    use_it_or_lose_it: bool
    turns_out_of_rate: bool
    destination_millicells: U64
    weight: float


class ReroutingSpec(SpecPart):
    """The paths that a VC takes after its first one."""

    times_ps: tuple[U64, ...] = ()
    paths: tuple[tuple[U32, ...], ...] = ()
    loses_cells: bool


class ResequencerSpec(SpecPart):
    """A resequencer at the end of a VC."""

    hold_ps: U64
    capacity_cells: U32


class VcSpec(SpecPart):
    """A virtual channel: one direction, over given links, from one AAL5 end point to another."""

    name: str
    path: tuple[U32, ...] = ()
    by_label: ByLabelSpec | None = left_out(default=None)
    class_: ServiceClass = field(name="class")
    policing: tuple[GcraSpec, ...] = ()
    gfr: GfrSpec | None = None
    abr: AbrSpec | None = left_out(default=None)
    rerouting: ReroutingSpec | None = left_out(default=None)
    resequencer: ResequencerSpec | None = left_out(default=None)


class VanillaSpec(SpecPart):
    """Slow start and congestion avoidance alone: losses are found by timeout only."""

    kind: ClassVar[Literal["vanilla"]] = "vanilla"


class TahoeSpec(SpecPart):
    """Fast retransmit, from where slow start goes on as after a timeout."""

    kind: ClassVar[Literal["tahoe"]] = "tahoe"
    dup_ack_threshold: U32
    avoid_multiple_fast_retransmits: bool


class RenoRecoverySpec(SpecPart):
    """Fast retransmit and fast recovery, which the first ACK of new data ends."""

    kind: ClassVar[Literal["reno"]] = "reno"
    dup_ack_threshold: U32
    avoid_multiple_fast_retransmits: bool


PartialAckWindow = Literal["keep", "ssthresh", "deflate"]

PartialAckRestarts = Literal["every", "first", "none"]


class NewRenoSpec(SpecPart):
    """Fast retransmit and a recovery that lasts until everything sent before it is acknowledged."""

    kind: ClassVar[Literal["new_reno"]] = "new_reno"
    dup_ack_threshold: U32
    partial_ack_window: PartialAckWindow
    partial_ack_restarts: PartialAckRestarts
    flywheel: bool
    avoid_multiple_fast_retransmits: bool


PipeAtEntry = Literal["cwnd", "cwnd_less_three"]

SackPartialAck = Literal["pipe_less_two", "pipe_less_one", "resends_two", "ends_recovery"]

PipeRoom = Literal["segment", "any"]


class RetransmitDelayNone(SpecPart):
    """As soon as pipe allows."""

    kind: ClassVar[Literal["none"]] = "none"


class RetransmitDelaySegments(SpecPart):
    """Only once this many segments above the hole have been SACKed."""

    kind: ClassVar[Literal["segments"]] = "segments"
    count: U32


RetransmitDelay = RetransmitDelayNone | RetransmitDelaySegments


class SackSpec(SpecPart):
    """Fast retransmit and a recovery guided by selective acknowledgements: the pipe algorithm."""

    kind: ClassVar[Literal["sack"]] = "sack"
    dup_ack_threshold: U32
    pipe_at_entry: PipeAtEntry
    partial_ack: SackPartialAck
    partial_ack_restarts: PartialAckRestarts
    pipe_room: PipeRoom
    retransmit_delay: RetransmitDelay
    max_blocks: U32
    avoid_multiple_fast_retransmits: bool


class RackTlpSpec(SpecPart):
    """Losses by time of sending, a probe before any timeout, a scoreboard that outlives it."""

    kind: ClassVar[Literal["rack_tlp"]] = "rack_tlp"
    dup_ack_threshold: U32
    max_blocks: U32
    undo: bool = left_out(default=False)
    dsack: bool = left_out(default=False)
    tso_defer: bool = left_out(default=False)


RecoverySpec = VanillaSpec | TahoeSpec | RenoRecoverySpec | NewRenoSpec | SackSpec | RackTlpSpec

RenoGrowth = Literal["float", "integer", "ack_counting", "byte_counting", "segment_counting"]

SsthreshBasis = Literal["cwnd", "window"]


class RenoCongestionSpec(SpecPart):
    """A segment each round trip, and half at a loss."""

    kind: ClassVar[Literal["reno"]] = "reno"
    growth: RenoGrowth
    ssthresh_basis: SsthreshBasis


class CubicSpec(SpecPart):
    """A cubic function of the time since the last loss, and 0.7 at a loss."""

    kind: ClassVar[Literal["cubic"]] = "cubic"
    c: float
    fast_convergence: bool
    ssthresh_basis: SsthreshBasis


class LinuxCubicSpec(SpecPart):
    """CUBIC in whole segments, 5 % a round trip before the first loss."""

    kind: ClassVar[Literal["linux_cubic"]] = "linux_cubic"
    fast_convergence: bool
    tcp_friendliness: bool


class BbrSpec(SpecPart):
    """Paced by a model of the path: its bandwidth and its least round trip."""

    kind: ClassVar[Literal["bbr"]] = "bbr"


class Bbr3Spec(SpecPart):
    """Paced by a model of the path that losses bound: BBR version 3."""

    kind: ClassVar[Literal["bbr3"]] = "bbr3"


class DctcpSpec(SpecPart):
    """A segment each round trip; marks take half of their part of cwnd, a loss half of it all."""

    kind: ClassVar[Literal["dctcp"]] = "dctcp"
    gain: float


class PragueSpec(SpecPart):
    """DCTCP's response in packets with ECT(1); what is not marked goes on to make cwnd grow."""

    kind: ClassVar[Literal["prague"]] = "prague"
    gain: float


class VegasSpec(SpecPart):
    """By the length of round trips: a few segments of its own, alpha to beta, in the queue."""

    kind: ClassVar[Literal["vegas"]] = "vegas"
    alpha: U32
    beta: U32
    gamma: U32


class HighSpeedSpec(SpecPart):
    """Reno up to 38 segments; above, growth and cut depend on the window."""

    kind: ClassVar[Literal["high_speed"]] = "high_speed"


CongestionSpec = (
    RenoCongestionSpec
    | CubicSpec
    | LinuxCubicSpec
    | BbrSpec
    | Bbr3Spec
    | DctcpSpec
    | PragueSpec
    | VegasSpec
    | HighSpeedSpec
)


class StandardSlowStartSpec(SpecPart):
    """A segment for each ACK of new data."""

    kind: ClassVar[Literal["standard"]] = "standard"
    at_ssthresh: bool


class LimitedSlowStartSpec(SpecPart):
    """A segment for each ACK up to max_ssthresh, from there on half of that each round trip."""

    kind: ClassVar[Literal["limited"]] = "limited"
    max_ssthresh: U32
    at_ssthresh: bool


class ByteCountingSlowStartSpec(SpecPart):
    """An ACK adds what it acknowledges, so that delayed or thinned ACKs slow nothing down."""

    kind: ClassVar[Literal["byte_counting"]] = "byte_counting"
    limit: U32


class HyStartPlusPlusSpec(SpecPart):
    """Slow start that slows down as round trips get longer, and ends five round trips later."""

    kind: ClassVar[Literal["hystart_plus_plus"]] = "hystart_plus_plus"
    limit: U32


HyStartDetect = Literal["both", "train", "delay", "none"]


class HyStartSpec(SpecPart):
    """An ACK adds what it acknowledges, until a long train of ACKs or longer round trips."""

    kind: ClassVar[Literal["hystart"]] = "hystart"
    detect: HyStartDetect
    low_window: U32


SlowStartSpec = (
    StandardSlowStartSpec
    | LimitedSlowStartSpec
    | ByteCountingSlowStartSpec
    | HyStartPlusPlusSpec
    | HyStartSpec
)


class NoPacingSpec(SpecPart):
    """Segments leave as soon as the window lets them."""

    kind: ClassVar[Literal["off"]] = "off"


class PacedSpec(SpecPart):
    """Segments leave in bursts, at a rate that is a multiple of cwnd in a round trip."""

    kind: ClassVar[Literal["on"]] = "on"
    slow_start_ratio: float
    avoidance_ratio: float
    unpaced_segments: U32
    burst_segments: U32
    burst_time_ps: U64


PacingSpec = NoPacingSpec | PacedSpec


class TickPhaseAt(SpecPart):
    """The first tick falls at this time; picoseconds, below the tick."""

    kind: ClassVar[Literal["at"]] = "at"
    offset_ps: U64


class TickPhaseDrawn(SpecPart):
    """Uniform over one tick, drawn from the stream `host/<name>/tick` of the sending host."""

    kind: ClassVar[Literal["drawn"]] = "drawn"


TickPhase = TickPhaseAt | TickPhaseDrawn

TickOrder = Literal["clock_first", "timers_first"]

RttEstimator = Literal["jacobson", "linux"]

RtoRestart = Literal["on_ack", "on_send"]

AdvertisedWindow = Literal["constant", "free_buffer", "growing", "auto_tuned"]


class DelayedAckSpec(SpecPart):
    """When the receiver holds acknowledgements back (RFC 1122 4.2.3.2)."""

    timeout_ps: U64
    max_timeout_ps: U64 = left_out(default=0)
    every_segments: U32
    quick_segments: U32 = left_out(default=0)
    sack_timeout_ps: U64 = left_out(default=0)
    sack_segments: U32 = left_out(default=0)


NagleWaitsFor = Literal["any_data", "short_segment"]

CwndValidation = Literal["off", "halving", "pipe_ack"]

EcnUse = Literal["off", "classic", "accurate"]


class TcpSpec(SpecPart):
    """Both endpoints of a TCP connection."""

    recovery: RecoverySpec
    congestion: CongestionSpec
    slow_start: SlowStartSpec
    pacing: PacingSpec = left_out(default=NoPacingSpec())
    mss: U64
    llc_snap: bool
    rwnd: U64
    window_scaling: bool
    initial_cwnd: U64
    initial_ssthresh: U64
    max_cwnd: U64
    tick_ps: U64
    tick_phase: TickPhase
    tick_order: TickOrder
    rto_min_ticks: U32
    rtt_estimator: RttEstimator = left_out(default="jacobson")
    rto_initial_ticks: U32
    rto_max_ticks: U32
    rto_max_backoff: U32
    rto_restart: RtoRestart
    timestamps: bool
    advertised_window: AdvertisedWindow
    initial_rwnd: U64 = left_out(default=0)
    delayed_ack: DelayedAckSpec | None = None
    nagle: bool
    nagle_waits_for: NagleWaitsFor = left_out(default="any_data")
    sws_avoidance: bool
    idle_restart: bool
    cwnd_validation: CwndValidation = left_out(default="off")
    limited_transmit: bool = left_out(default=False)
    ecn: EcnUse = left_out(default="off")
    handshake: bool


class DistributionConstant(SpecPart):
    """Always the same."""

    kind: ClassVar[Literal["constant"]] = "constant"
    value_ps: U64


class DistributionUniform(SpecPart):
    """Uniform over [low, high)."""

    kind: ClassVar[Literal["uniform"]] = "uniform"
    low_ps: U64
    high_ps: U64


class DistributionExponential(SpecPart):
    """Exponential."""

    kind: ClassVar[Literal["exponential"]] = "exponential"
    mean_ps: U64


DistributionSpec = DistributionConstant | DistributionUniform | DistributionExponential

PageMoment = Literal["first_request", "last_request", "last_answer"]

OutsideLimits = Literal["clamp", "redraw"]


class CountSpec(SpecPart):
    """A Poisson count between two limits."""

    mean: float
    low: U32
    high: U32
    outside: OutsideLimits


class FileClassSpec(SpecPart):
    """Files whose sizes are small multiples of one step."""

    weight: float
    sizes_octets: tuple[U64, ...] = ()


class WebSpec(SpecPart):
    """One client and its server on one persistent connection (HTTP/1.1, pipelined)."""

    kind: ClassVar[Literal["web"]] = "web"
    page_interval: DistributionSpec
    page_interval_from: PageMoment
    pages: U32 | None = None
    requests: CountSpec
    gap: DistributionSpec
    request_octets: U64
    classes: tuple[FileClassSpec, ...] = ()
    index_first: bool = left_out(default=False)
    size: CountSpec


class TrafficPersistent(SpecPart):
    """Always has more to send."""

    kind: ClassVar[Literal["persistent"]] = "persistent"


class TrafficTransfers(SpecPart):
    """Transfers of one size with idle times between them."""

    kind: ClassVar[Literal["transfers"]] = "transfers"
    size_octets: U64
    count: U32 | None = None
    idle: DistributionSpec
    new_connection: bool


TrafficSpec = TrafficPersistent | TrafficTransfers | WebSpec


class StartAt(SpecPart):
    """At a given time."""

    kind: ClassVar[Literal["at"]] = "at"
    time_ps: U64


class StartDrawn(SpecPart):
    """Uniform over [from, to), drawn from the stream `flow/<name>/start`."""

    kind: ClassVar[Literal["drawn"]] = "drawn"
    from_ps: U64
    to_ps: U64


StartSpec = StartAt | StartDrawn


class LossScript(SpecPart):
    """Losses that the scenario prescribes for a flow's data segments: they never reach the port."""

    transmissions: tuple[U64, ...] = ()
    at_cwnd_octets: U64 | None = None


class JitterSpec(SpecPart):
    """How long a flow's ends take at most to hand a segment to the network interface."""

    data_ps: U64
    acks_ps: U64


class PepSpec(SpecPart):
    """A performance enhancing proxy at a router on a flow's path."""

    node: U32
    buffer_octets: U64
    tcp: TcpSpec


class FlowSpec(SpecPart):
    """A TCP connection between two hosts."""

    name: str
    forward: tuple[U32, ...] = ()
    reverse: tuple[U32, ...] = ()
    tcp: TcpSpec
    traffic: TrafficSpec
    start: StartSpec
    loss_script: LossScript
    jitter: JitterSpec = left_out(default=JitterSpec(acks_ps=0, data_ps=0))
    peps: tuple[PepSpec, ...] = left_out(default=())
    ipsec: bool = left_out(default=False)


class UserRouteSpec(SpecPart):
    """A route between a host of servers and a host of users."""

    forward: tuple[U32, ...] = ()
    reverse: tuple[U32, ...] = ()
    peps: tuple[PepSpec, ...] = left_out(default=())


class SizeConstant(SpecPart):
    """Always the same."""

    kind: ClassVar[Literal["constant"]] = "constant"
    octets: U32


class SizeExtreme(SpecPart):
    """Largest extreme value (Gumbel)."""

    kind: ClassVar[Literal["extreme"]] = "extreme"
    mode: float
    scale: float


SizeSpec = SizeConstant | SizeExtreme


class AsksSpec(SpecPart):
    """Requests and answers in datagrams, at times of the client's own."""

    kind: ClassVar[Literal["asks"]] = "asks"
    interval: DistributionSpec
    ask: SizeSpec
    answer: SizeSpec
    again_ps: U64 | None = None
    repeats: U32


class BulkSpec(SpecPart):
    """Downloads one after the other, each over a connection of its own."""

    kind: ClassVar[Literal["bulk"]] = "bulk"
    size_octets: U64
    count: U32 | None = None
    pause: DistributionSpec
    request_octets: U64


class CallSpec(SpecPart):
    """Calls: packets at equal times both ways, and a playout buffer at each end."""

    kind: ClassVar[Literal["call"]] = "call"
    packet_octets: U32
    interval_ps: U64
    playout_ps: U64
    ie: float
    bpl: float
    length: DistributionSpec
    pause: DistributionSpec
    count: U32 | None = None


class FilePartSpec(SpecPart):
    """Files of a type."""

    requests: float
    octets: float
    sigma: float
    wave: U32
    urgency: U32


Protocol = Literal["http1", "http2", "by_origin"]

Dns = Literal["server", "none"]


class PagesSpec(SpecPart):
    """Pages of the web as browsers load them."""

    kind: ClassVar[Literal["pages"]] = "pages"
    requests: tuple[U64, ...] = ()
    page_octets: tuple[U64, ...] = ()
    parts: tuple[FilePartSpec, ...] = ()
    origins: U32
    first_part: float
    protocol: Protocol
    http1_part: float
    connections: U32
    dns: Dns
    dns_ask_octets: U32
    dns_answer_octets: U32
    dns_again_ps: U64
    hello_octets: U64
    flight_octets: U64
    resumed_octets: U64
    finished_octets: U64
    resumed_part: float
    early_part: float
    request_octets: U64
    page_wait: DistributionSpec
    file_wait: DistributionSpec
    reading: DistributionSpec
    count: U32 | None = None


VideoChoice = Literal["rate", "bola", "bba"]


class VideoSpec(SpecPart):
    """Videos in segments: a client with a buffer chooses the rate of each from a ladder."""

    kind: ClassVar[Literal["video"]] = "video"
    ladder_millibps: tuple[U64, ...] = ()
    segment_ps: U64
    choice: VideoChoice
    rate_part: float
    rate_segments: U32
    bola_least_ps: U64
    bba_reservoir_ps: U64
    bba_cushion_ps: U64
    buffer_ps: U64
    start_segments: U32
    resume_segments: U32
    length: DistributionSpec
    pause: DistributionSpec
    count: U32 | None = None
    request_octets: U64


AppSpec = AsksSpec | BulkSpec | CallSpec | PagesSpec | VideoSpec


class UserGroupSpec(SpecPart):
    """Users who do the same. Each draws from the streams `user/<name>.<number>/...`."""

    name: str
    count: U32
    first_route: U32
    tcp: TcpSpec
    app: AppSpec
    start: StartSpec
    every_ps: U64 = left_out(default=0)


class UsersSpec(SpecPart):
    """All users of a run."""

    routes: tuple[UserRouteSpec, ...] = ()
    groups: tuple[UserGroupSpec, ...] = ()


class PhaseAt(SpecPart):
    """A given one."""

    kind: ClassVar[Literal["at"]] = "at"
    offset_ps: U64


class PhaseDrawn(SpecPart):
    """Uniform over [0, below), drawn from the stream `source/<name>/phase`."""

    kind: ClassVar[Literal["drawn"]] = "drawn"
    below_ps: U64


PhaseSpec = PhaseAt | PhaseDrawn


class SourcePatternConstant(SpecPart):
    """Always: constant bit rate."""

    kind: ClassVar[Literal["constant"]] = "constant"


class SourcePatternOnOff(SpecPart):
    """In bursts: a cell as an on time begins, and one after each interval that ends within it."""

    kind: ClassVar[Literal["on_off"]] = "on_off"
    on: DistributionSpec
    off: DistributionSpec
    phase: PhaseSpec


class SourcePatternTrace(SpecPart):
    """Packets of a list, each with a time and a length of its own, as datagrams."""

    kind: ClassVar[Literal["trace"]] = "trace"
    times_ps: tuple[U64, ...] = ()
    octets: tuple[U64, ...] = ()
    period_ps: U64 | None = None


class SourcePatternBursts(SpecPart):
    """In listed bursts: a cell as each begins, and one after each interval that ends within it."""

    kind: ClassVar[Literal["bursts"]] = "bursts"
    begins_ps: tuple[U64, ...] = ()
    lengths_ps: tuple[U64, ...] = ()


class SourcePatternEcho(SpecPart):
    """Answers each datagram of another source at once, as a host answers pings."""

    kind: ClassVar[Literal["echo"]] = "echo"
    of: U32


SourcePattern = (
    SourcePatternConstant
    | SourcePatternOnOff
    | SourcePatternTrace
    | SourcePatternBursts
    | SourcePatternEcho
)


class ClpDrawn(SpecPart):
    """Each by itself with one probability, drawn from the stream `source/<name>/clp`."""

    kind: ClassVar[Literal["drawn"]] = "drawn"
    part_ppb: U32


class ClpPattern(SpecPart):
    """By a list, over and over."""

    kind: ClassVar[Literal["pattern"]] = "pattern"
    bits: tuple[bool, ...] = ()


ClpSpec = ClpDrawn | ClpPattern


class SourceSpec(SpecPart):
    """A source of cells at the host where its VC begins."""

    name: str
    vc: U32
    datagram_route: tuple[U32, ...] = ()
    cell_interval_ps: U64
    frame_cells: U32
    datagram_octets: U64 = left_out(default=0)
    pattern: SourcePattern
    start: StartSpec
    clp: ClpSpec | None = left_out(default=None)


AlohaBackoff = Literal["fixed", "binary_exponential", "pseudo_bayesian"]


class SlottedAlohaSpec(SpecPart):
    """Slotted ALOHA: terminals send at random, and again at random after a collision."""

    kind: ClassVar[Literal["slotted_aloha"]] = "slotted_aloha"
    backoff: AlohaBackoff
    probability: float
    max_exponent: U32
    arrivals: float


class TreeSpec(SpecPart):
    """Tree collision resolution: groups that collide split in two until each burst is through."""

    kind: ClassVar[Literal["tree"]] = "tree"
    window_ps: U64
    skips_certain_collisions: bool


class SplittingSpec(SpecPart):
    """First-come first-serve splitting of intervals of arrival times."""

    kind: ClassVar[Literal["splitting"]] = "splitting"
    window_ps: U64


class FixedAssignmentSpec(SpecPart):
    """Fixed assignment (TDMA): each terminal has its own slots in each frame, used or not."""

    kind: ClassVar[Literal["fixed_assignment"]] = "fixed_assignment"
    constant_slots: U32


RequestCategory = Literal["none", "rate", "volume", "absolute_volume"]


class DamaSpec(SpecPart):
    """DAMA: terminals ask for slots, and a controller grants them frame by frame."""

    kind: ClassVar[Literal["dama"]] = "dama"
    frame_slots: U32
    request_slots: U32
    requests_per_slot: U32
    request: RequestCategory
    constant_slots: U32
    rate_timeout: U32
    free_capacity: bool


class HybridSpec(SpecPart):
    """Hybrid access: the first burst of a message contends and asks for the slots of the rest."""

    kind: ClassVar[Literal["hybrid"]] = "hybrid"
    frame_slots: U32
    contention_slots: U32
    arrivals: float


AccessSpec = (
    SlottedAlohaSpec | TreeSpec | SplittingSpec | FixedAssignmentSpec | DamaSpec | HybridSpec
)


class AccessImpairments(SpecPart):
    """The impairments of an uplink."""

    burst_errors: float
    false_collisions: float
    jammed: float
    jammed_from_ps: U64
    jammed_until_ps: U64


class UplinkSpec(SpecPart):
    """An uplink that terminals share: the ports of several links, which send in its slots only."""

    name: str
    links: tuple[U32, ...] = ()
    slot_ps: U64
    slot_cells: U32
    feedback_ps: U64
    response_ps: U64
    access: AccessSpec
    impairments: AccessImpairments = left_out(
        default=AccessImpairments(
            burst_errors=0.0, false_collisions=0.0, jammed=0.0, jammed_from_ps=0, jammed_until_ps=0
        )
    )


class CallsSpec(SpecPart):
    """The calls of a class: when each is asked for, and whether all its links have room for it."""

    name: str
    begins_ps: tuple[U64, ...] = ()
    lengths_ps: tuple[U64, ...] = ()
    blocked_at: tuple[U32 | None, ...] = ()
    are_again: tuple[bool, ...] = left_out(default=())


Waiting = Literal["sent", "rerouted", "lost", "sent_if_routed", "turned"]

TraceKind = Literal[
    "cwnd",
    "sequence",
    "queue",
    "vc_queue",
    "discards",
    "transfers",
    "deliveries",
    "service",
    "files",
    "acr",
    "rate_control",
]


class RecordSpec(SpecPart):
    """The records of a run beyond its counters."""

    sample_every_ps: U64
    sampled_ports: tuple[U32, ...] = ()
    vc_sampled_ports: tuple[U32, ...] = ()
    flow_ports: tuple[U32, ...] = left_out(default=())
    stay_ports: tuple[U32, ...] = left_out(default=())
    delay_vcs: tuple[U32, ...] = ()
    delay_sources: tuple[U32, ...] = left_out(default=())
    traces: tuple[TraceKind, ...] = ()
