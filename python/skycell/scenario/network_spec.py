"""`NetworkSpec`: one run, complete and explicit, in SI integers; the JSON form of `crates/spec`.

Field by field the same as the Rust structs, whose documentation says what each means. The canonical
text (sorted keys, no spaces) names a run: its SHA-256 is the spec's hash.
"""

from __future__ import annotations

import hashlib
from operator import index
from typing import Annotated, Literal

from pydantic import Field

from skycell.scenario.policy_spec import U32, U64, left_out
from skycell.scenario.policy_spec import DfbaSpec as DfbaSpec
from skycell.scenario.policy_spec import DynamicEpdSpec as DynamicEpdSpec
from skycell.scenario.policy_spec import EpdSpec as EpdSpec
from skycell.scenario.policy_spec import FairBufferAllocationSpec as FairBufferAllocationSpec
from skycell.scenario.policy_spec import FredSpec as FredSpec
from skycell.scenario.policy_spec import McrSchedulingSpec as McrSchedulingSpec
from skycell.scenario.policy_spec import PmeEredSpec as PmeEredSpec
from skycell.scenario.policy_spec import PolicySpec as PolicySpec
from skycell.scenario.policy_spec import PpdSpec as PpdSpec
from skycell.scenario.policy_spec import PriorityDropSpec as PriorityDropSpec
from skycell.scenario.policy_spec import RedPart as RedPart
from skycell.scenario.policy_spec import RedSpec as RedSpec
from skycell.scenario.policy_spec import SelectiveDropSpec as SelectiveDropSpec
from skycell.scenario.policy_spec import SingleDropSpec as SingleDropSpec
from skycell.scenario.policy_spec import SpecPart as _Part
from skycell.scenario.policy_spec import TailDropSpec as TailDropSpec
from skycell.scenario.policy_spec import VcPriorityDropSpec as VcPriorityDropSpec
from skycell.scenario.policy_spec import VirtualQueueingSpec as VirtualQueueingSpec
from skycell.scenario.policy_spec import ZComplementSpec as ZComplementSpec
from skycell.scenario.policy_spec import ZComplementSquaredSpec as ZComplementSquaredSpec
from skycell.scenario.policy_spec import ZFixedSpec as ZFixedSpec
from skycell.scenario.quantities import counted
from skycell.scenario.spec_text import canonical_json

WHOLE_PPB = 10**9
"""The whole in parts per billion, as shares of a link and losses are told."""


class NodeSpec(_Part):
    """A node and what it does with what arrives."""

    name: str
    kind: Literal["host", "router", "switch"]


ServiceClass = Literal["cbr", "rt_vbr", "nrt_vbr", "abr", "ubr", "gfr"]


class QueueSpec(_Part):
    """A queue; no class for all without a queue of their own, no capacity for no limit."""

    class_: ServiceClass | None = Field(default=None, alias="class")
    capacity_cells: U32 | None
    policy: PolicySpec


class FifoSpec(_Part):
    """One queue, served in the order of arrival."""

    kind: Literal["fifo"] = "fifo"


class StrictPrioritySpec(_Part):
    """The first queue that has cells."""

    kind: Literal["strict_priority"] = "strict_priority"


class GuaranteedRateSpec(_Part):
    """Each queue's share of the cells sent while it has cells; what is left goes by priority."""

    kind: Literal["guaranteed_rate"] = "guaranteed_rate"
    shares_ppb: tuple[U32, ...]


class WeightedRoundRobinSpec(_Part):
    """Serves one queue after the other, each up to its weight in cells."""

    kind: Literal["weighted_round_robin"] = "weighted_round_robin"
    weights: tuple[U32, ...]


class VcRoundRobinSpec(_Part):
    """A queue for each VC, in one buffer, VC after VC, each up to its weight in cells."""

    kind: Literal["vc_round_robin"] = "vc_round_robin"
    weights: tuple[U32, ...]


class VirtualSpacingSpec(_Part):
    """A queue for each VC, in one buffer, served by Virtual Spacing."""

    kind: Literal["virtual_spacing"] = "virtual_spacing"
    intervals_ps: tuple[U64, ...]


SchedulerSpec = Annotated[
    FifoSpec
    | StrictPrioritySpec
    | GuaranteedRateSpec
    | WeightedRoundRobinSpec
    | VcRoundRobinSpec
    | VirtualSpacingSpec,
    Field(discriminator="kind"),
]


class PortSpec(_Part):
    """An output port: its queues and how it serves them."""

    queues: tuple[QueueSpec, ...]
    scheduler: SchedulerSpec = FifoSpec()
    frame_gap_ps: U64

    @classmethod
    def fifo(cls, capacity_cells: int | None, policy: PolicySpec, frame_gap_ps: int) -> PortSpec:
        """A port with one queue for everything."""
        queue = QueueSpec(capacity_cells=capacity_cells, policy=policy)
        return cls(queues=(queue,), frame_gap_ps=frame_gap_ps)

    @property
    def default_queue(self) -> QueueSpec:
        """The queue of the classes without one of their own; the last one if there is none."""
        return next((queue for queue in self.queues if queue.class_ is None), self.queues[-1])

    @property
    def capacity_cells(self) -> int | None:
        """Size of the default queue's buffer; none for no limit."""
        return self.default_queue.capacity_cells

    @property
    def is_limited(self) -> bool:
        """Whether one of its queues has a limit."""
        return any(queue.capacity_cells is not None for queue in self.queues)

    @property
    def policy(self) -> PolicySpec:
        """What the default queue takes in."""
        return self.default_queue.policy


class MotionSpec(_Part):
    """A link that changes, in steps; a change of path is a handover."""

    times_ps: tuple[U64, ...]
    delays_ps: tuple[U64 | None, ...]
    paths: tuple[U32, ...]
    cell_times_ps: tuple[U64, ...] = ()
    losses_ppb: tuple[U32, ...] = ()
    to: tuple[U32, ...] = ()
    interruption_ps: U64 = 0
    handover_loses_cells: bool = False


class LinkSpec(_Part):
    """One direction of a link, with the output port that feeds it."""

    name: str
    from_: U32 = Field(alias="from")
    to: U32
    cell_time_ps: U64
    delay_ps: U64
    motion: MotionSpec | None = None
    port: PortSpec


class GcraSpec(_Part):
    """A bucket of the policer at the first switch."""

    increment_ps: U64
    limit_ps: U64
    action: Literal["count", "tag", "discard"]


class GfrSpec(_Part):
    """GFR contract of a VC."""

    mcr_interval_ps: U64
    pcr_interval_ps: U64
    burst_tolerance_ps: U64
    mfs_cells: U32
    tagging: Literal["none", "network", "adapter"]
    excess: Literal["pass", "discard"] = "pass"
    nonconforming: Literal["count", "discard"] = "count"
    window_ps: U64
    window_step_ps: U64


class ReroutingSpec(_Part):
    """The paths that a VC takes after its first one."""

    times_ps: tuple[U64, ...]
    paths: tuple[tuple[U32, ...], ...]
    loses_cells: bool = False


class VcSpec(_Part):
    """A virtual channel over link ids."""

    name: str
    path: tuple[U32, ...]
    class_: ServiceClass = Field(default="ubr", alias="class")
    policing: tuple[GcraSpec, ...] = ()
    gfr: GfrSpec | None = None
    #: The form has no such key for a VC that keeps its path.
    rerouting: ReroutingSpec | None = left_out(None)


class TickPhaseAt(_Part):
    """The first tick falls at a given time."""

    kind: Literal["at"] = "at"
    offset_ps: U64


class TickPhaseDrawn(_Part):
    """The first tick is drawn over one tick."""

    kind: Literal["drawn"] = "drawn"


class RetransmitDelayNone(_Part):
    """A hole is resent as soon as pipe allows."""

    kind: Literal["none"] = "none"


class RetransmitDelaySegments(_Part):
    """A hole is resent once so many segments above it were SACKed."""

    kind: Literal["segments"] = "segments"
    count: U32


class DelayedAckSpec(_Part):
    """When the receiver holds acknowledgements back."""

    timeout_ps: U64
    every_segments: U32


SackPartialAck = Literal["pipe_less_two", "pipe_less_one", "resends_two", "ends_recovery"]


class TcpSpec(_Part):
    """Both endpoints of a TCP connection."""

    variant: Literal["vanilla", "reno", "new_reno", "sack"]
    mss: U64
    llc_snap: bool
    rwnd: U64
    window_scaling: bool
    initial_cwnd: U64
    initial_ssthresh: U64
    max_cwnd: U64
    congestion_control: Literal["reno", "cubic"] = left_out("reno")
    cwnd_growth: Literal["float", "integer", "ack_counting"]
    slow_start_at_ssthresh: bool
    ssthresh_basis: Literal["cwnd", "window"]
    dup_ack_threshold: U32
    tick_ps: U64
    tick_phase: Annotated[TickPhaseAt | TickPhaseDrawn, Field(discriminator="kind")]
    tick_order: Literal["clock_first", "timers_first"]
    rto_min_ticks: U32
    rto_initial_ticks: U32
    rto_max_ticks: U32
    rto_max_backoff: U32
    rto_restart: Literal["on_ack", "on_send"]
    timestamps: bool
    pipe_at_entry: Literal["cwnd", "cwnd_less_three"]
    sack_partial_ack: SackPartialAck = left_out("pipe_less_two")
    sack_partial_ack_restarts: Literal["every", "first", "none"] = left_out("every")
    sack_pipe_room: Literal["segment", "any"] = left_out("segment")
    sack_retransmit_delay: Annotated[
        RetransmitDelayNone | RetransmitDelaySegments, Field(discriminator="kind")
    ]
    sack_max_blocks: U32
    partial_ack_window: Literal["keep", "ssthresh", "deflate"]
    partial_ack_first_restarts_only: bool
    flywheel: bool
    avoid_multiple_fast_retransmits: bool
    advertised_window: Literal["constant", "free_buffer"]
    delayed_ack: DelayedAckSpec | None
    nagle: bool
    sws_avoidance: bool
    idle_restart: bool
    handshake: bool


class PersistentSpec(_Part):
    """Always has more to send."""

    kind: Literal["persistent"] = "persistent"


class ConstantSpec(_Part):
    """Always the same time."""

    kind: Literal["constant"] = "constant"
    value_ps: U64


class UniformSpec(_Part):
    """Uniform over [low, high)."""

    kind: Literal["uniform"] = "uniform"
    low_ps: U64
    high_ps: U64


class ExponentialSpec(_Part):
    """Exponential."""

    kind: Literal["exponential"] = "exponential"
    mean_ps: U64


DistributionSpec = Annotated[
    ConstantSpec | UniformSpec | ExponentialSpec, Field(discriminator="kind")
]


def mean_ps(times: DistributionSpec) -> int:
    """Mean of a distribution of times, picoseconds."""
    if isinstance(times, ConstantSpec):
        return times.value_ps
    if isinstance(times, UniformSpec):
        return (times.low_ps + times.high_ps) // 2
    assert isinstance(times, ExponentialSpec)
    return times.mean_ps


class TransfersSpec(_Part):
    """Transfers of one size with idle times between them."""

    kind: Literal["transfers"] = "transfers"
    size_octets: U64
    count: U32 | None
    idle: DistributionSpec
    new_connection: bool


class CountSpec(_Part):
    """A Poisson count held between limits."""

    mean: float
    low: U32
    high: U32
    outside: Literal["clamp", "redraw"]


class FileClassSpec(_Part):
    """Files of one class, by size."""

    weight: float
    sizes_octets: tuple[U64, ...]


class WebSpec(_Part):
    """One client and its server on one persistent connection."""

    kind: Literal["web"] = "web"
    page_interval: DistributionSpec
    page_interval_from: Literal["first_request", "last_request", "last_answer"]
    pages: U32 | None
    requests: CountSpec
    gap: DistributionSpec
    request_octets: U64
    classes: tuple[FileClassSpec, ...]
    size: CountSpec


TrafficSpec = Annotated[PersistentSpec | TransfersSpec | WebSpec, Field(discriminator="kind")]


class StartAt(_Part):
    """A flow begins at a given time."""

    kind: Literal["at"] = "at"
    time_ps: U64


class StartDrawn(_Part):
    """A flow begins uniformly over [from, to)."""

    kind: Literal["drawn"] = "drawn"
    from_ps: U64
    to_ps: U64


class LossScript(_Part):
    """Losses that the scenario prescribes."""

    transmissions: tuple[U64, ...]
    at_cwnd_octets: U64 | None


class JitterSpec(_Part):
    """Ends of the ranges of the processing times at a flow's source and destination."""

    data_ps: U64 = 0
    acks_ps: U64 = 0


class FlowSpec(_Part):
    """A TCP connection between two hosts."""

    name: str
    forward: tuple[U32, ...]
    reverse: tuple[U32, ...]
    tcp: TcpSpec
    traffic: TrafficSpec
    start: Annotated[StartAt | StartDrawn, Field(discriminator="kind")]
    loss_script: LossScript
    jitter: JitterSpec = left_out(JitterSpec())


class PhaseAt(_Part):
    """A given place in a cycle."""

    kind: Literal["at"] = "at"
    offset_ps: U64


class PhaseDrawn(_Part):
    """A place in a cycle drawn over [0, below)."""

    kind: Literal["drawn"] = "drawn"
    below_ps: U64


class ConstantPattern(_Part):
    """A source that always sends."""

    kind: Literal["constant"] = "constant"


class OnOffPattern(_Part):
    """A source that sends in bursts."""

    kind: Literal["on_off"] = "on_off"
    on: DistributionSpec
    off: DistributionSpec
    phase: Annotated[PhaseAt | PhaseDrawn, Field(discriminator="kind")]


class SourceSpec(_Part):
    """A source of cells at the host where its VC begins, or of datagrams over `datagram_route`."""

    name: str
    vc: U32
    datagram_route: tuple[U32, ...] = ()
    cell_interval_ps: U64
    frame_cells: U32
    pattern: Annotated[ConstantPattern | OnOffPattern, Field(discriminator="kind")]
    start: Annotated[StartAt | StartDrawn, Field(discriminator="kind")]


def route_of(source: SourceSpec) -> tuple[int, ...]:
    """The VCs that carry what a source sends."""
    return source.datagram_route or (source.vc,)


TraceKind = Literal[
    "cwnd", "sequence", "queue", "vc_queue", "discards", "transfers", "service", "files"
]


class RecordSpec(_Part):
    """What the run leaves beyond its counters."""

    sample_every_ps: U64
    sampled_ports: tuple[U32, ...]
    vc_sampled_ports: tuple[U32, ...]
    delay_vcs: tuple[U32, ...] = ()
    traces: tuple[TraceKind, ...]


class NetworkSpec(_Part):
    """One run: nodes, links with their output ports, VCs, flows, and what to record.

    `version` is the `SPEC_VERSION` of `crates/spec`.
    """

    version: Literal[1] = 1
    seed: U64
    duration_ps: U64
    nodes: tuple[NodeSpec, ...]
    links: tuple[LinkSpec, ...]
    vcs: tuple[VcSpec, ...]
    flows: tuple[FlowSpec, ...]
    sources: tuple[SourceSpec, ...] = ()
    records: RecordSpec

    def canonical_json(self) -> str:
        """The one text of this spec: sorted keys, no spaces."""
        return canonical_json(self)

    def hash(self) -> str:
        """SHA-256 of the canonical text, in hexadecimal."""
        return hashlib.sha256(self.canonical_json().encode()).hexdigest()

    @property
    def users_in_words(self) -> str:
        """How many flows there are; where there is none, how many cell sources."""
        if self.flows:
            return counted(len(self.flows), "flow")
        return counted(len(self.sources), "cell source")

    def with_seed(self, seed: int) -> NetworkSpec:
        """The same run with other draws.

        Raises:
            ValueError: the seed is out of range.
            TypeError: it is no whole number.
        """
        seed = index(seed)
        if not 0 <= seed < 2**64:
            raise ValueError(f"seed {seed}: must be a whole number from 0 to {2**64 - 1}")
        return self.model_copy(update={"seed": seed})
