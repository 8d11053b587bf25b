"""A run's spec, field by field as in Rust, whose documentation says what each means.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from skycell.spec.methods import NetworkMethods, PortMethods
from skycell.spec.part import U32, U64, SpecPart, left_out
from skycell.spec.parts import (
    AbrSpec,
    AdvertisedWindow,
    CcrFrom,
    CongestionSpec,
    CountSpec,
    CubicSpec,
    DelayedAckSpec,
    DfbaSpec,
    DfbaZ,
    DfbaZComplement,
    DfbaZComplementSquared,
    DfbaZFixed,
    DistributionConstant,
    DistributionExponential,
    DistributionSpec,
    DistributionUniform,
    DropPrecedenceSpec,
    DynamicEpdSpec,
    EcnUse,
    EfciSpec,
    EpdSpec,
    EricaPlusSpec,
    EricaSpec,
    Excess,
    FairBufferAllocationSpec,
    FifoSpec,
    FileClassSpec,
    FlowSpec,
    FredSpec,
    GcraSpec,
    GfrSpec,
    GuaranteedRateSpec,
    JitterSpec,
    LimitedSlowStartSpec,
    LossScript,
    McrSchedulingSpec,
    NewRenoSpec,
    NodeKind,
    NodeSpec,
    Nonconforming,
    OutsideLimits,
    PacketFraming,
    PageMoment,
    PartialAckRestarts,
    PartialAckWindow,
    PhaseAt,
    PhaseDrawn,
    PhaseSpec,
    PipeAtEntry,
    PipeRoom,
    PmeEredSpec,
    PolicingAction,
    PolicySpec,
    PpdSpec,
    PriorityDropSpec,
    QueueControlSpec,
    QueueCurve,
    QueueSpec,
    RateAlgorithmSpec,
    RecordSpec,
    RecoverySpec,
    RedPart,
    RedSpec,
    RenoCongestionSpec,
    RenoGrowth,
    RenoRecoverySpec,
    ReroutingSpec,
    RetransmitDelay,
    RetransmitDelayNone,
    RetransmitDelaySegments,
    RtoRestart,
    SackPartialAck,
    SackSpec,
    SchedulerSpec,
    ScheduleSpec,
    SelectiveDropSpec,
    ServiceClass,
    SingleDropSpec,
    SlowStartSpec,
    SourcePattern,
    SourcePatternConstant,
    SourcePatternOnOff,
    SourceSpec,
    SsthreshBasis,
    StandardSlowStartSpec,
    StartAt,
    StartDrawn,
    StartSpec,
    StaticThresholdSpec,
    StrictPrioritySpec,
    Tagging,
    TailDropSpec,
    TcpSpec,
    TickOrder,
    TickPhase,
    TickPhaseAt,
    TickPhaseDrawn,
    TraceKind,
    TrafficPersistent,
    TrafficSpec,
    TrafficTransfers,
    VanillaSpec,
    VcPriorityDropSpec,
    VcRoundRobinSpec,
    VcSpec,
    VirtualQueueingSpec,
    VirtualSpacingSpec,
    WebSpec,
    WeightedEricaPlusSpec,
    WeightedRoundRobinSpec,
)


class PortSpec(PortMethods, SpecPart):
    """An output port: its queues and how it serves them."""

    queues: tuple[QueueSpec, ...] = ()
    scheduler: SchedulerSpec
    frame_gap_ps: U64
    rate_algorithm: RateAlgorithmSpec | None = left_out(None)


class LinkSpec(SpecPart):
    """One direction of a link, with the output port that feeds it."""

    name: str
    from_: U32 = Field(alias="from")
    to: U32
    cell_time_ps: U64
    framing: PacketFraming | None = left_out(None)
    delay_ps: U64
    loss_ppb: U32 = left_out(0)
    schedule: ScheduleSpec | None = None
    port: PortSpec


class NetworkSpec(NetworkMethods, SpecPart):
    """One run: nodes, links with their output ports, VCs, flows, and what to record."""

    version: Literal[2] = 2
    seed: U64
    duration_ps: U64
    nodes: tuple[NodeSpec, ...] = ()
    links: tuple[LinkSpec, ...] = ()
    vcs: tuple[VcSpec, ...] = ()
    flows: tuple[FlowSpec, ...] = ()
    sources: tuple[SourceSpec, ...] = ()
    records: RecordSpec


__all__ = [
    "AbrSpec",
    "AdvertisedWindow",
    "CcrFrom",
    "CongestionSpec",
    "CountSpec",
    "CubicSpec",
    "DelayedAckSpec",
    "DfbaSpec",
    "DfbaZ",
    "DfbaZComplement",
    "DfbaZComplementSquared",
    "DfbaZFixed",
    "DistributionConstant",
    "DistributionExponential",
    "DistributionSpec",
    "DistributionUniform",
    "DropPrecedenceSpec",
    "DynamicEpdSpec",
    "EcnUse",
    "EfciSpec",
    "EpdSpec",
    "EricaPlusSpec",
    "EricaSpec",
    "Excess",
    "FairBufferAllocationSpec",
    "FifoSpec",
    "FileClassSpec",
    "FlowSpec",
    "FredSpec",
    "GcraSpec",
    "GfrSpec",
    "GuaranteedRateSpec",
    "JitterSpec",
    "LimitedSlowStartSpec",
    "LinkSpec",
    "LossScript",
    "McrSchedulingSpec",
    "NetworkSpec",
    "NewRenoSpec",
    "NodeKind",
    "NodeSpec",
    "Nonconforming",
    "OutsideLimits",
    "PacketFraming",
    "PageMoment",
    "PartialAckRestarts",
    "PartialAckWindow",
    "PhaseAt",
    "PhaseDrawn",
    "PhaseSpec",
    "PipeAtEntry",
    "PipeRoom",
    "PmeEredSpec",
    "PolicingAction",
    "PolicySpec",
    "PortSpec",
    "PpdSpec",
    "PriorityDropSpec",
    "QueueControlSpec",
    "QueueCurve",
    "QueueSpec",
    "RateAlgorithmSpec",
    "RecordSpec",
    "RecoverySpec",
    "RedPart",
    "RedSpec",
    "RenoCongestionSpec",
    "RenoGrowth",
    "RenoRecoverySpec",
    "ReroutingSpec",
    "RetransmitDelay",
    "RetransmitDelayNone",
    "RetransmitDelaySegments",
    "RtoRestart",
    "SackPartialAck",
    "SackSpec",
    "ScheduleSpec",
    "SchedulerSpec",
    "SelectiveDropSpec",
    "ServiceClass",
    "SingleDropSpec",
    "SlowStartSpec",
    "SourcePattern",
    "SourcePatternConstant",
    "SourcePatternOnOff",
    "SourceSpec",
    "SsthreshBasis",
    "StandardSlowStartSpec",
    "StartAt",
    "StartDrawn",
    "StartSpec",
    "StaticThresholdSpec",
    "StrictPrioritySpec",
    "Tagging",
    "TailDropSpec",
    "TcpSpec",
    "TickOrder",
    "TickPhase",
    "TickPhaseAt",
    "TickPhaseDrawn",
    "TraceKind",
    "TrafficPersistent",
    "TrafficSpec",
    "TrafficTransfers",
    "VanillaSpec",
    "VcPriorityDropSpec",
    "VcRoundRobinSpec",
    "VcSpec",
    "VirtualQueueingSpec",
    "VirtualSpacingSpec",
    "WebSpec",
    "WeightedEricaPlusSpec",
    "WeightedRoundRobinSpec",
]
