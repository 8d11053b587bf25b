"""A run's spec, field by field as in Rust, whose documentation says what each means.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from skycell.spec.methods import NetworkMethods, PortMethods
from skycell.spec.part import U32, U64, SpecPart, left_out
from skycell.spec.parts import (
    AdvertisedWindow,
    CongestionControl,
    CountSpec,
    CwndGrowth,
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
    EpdSpec,
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
    LossScript,
    McrSchedulingSpec,
    MotionSpec,
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
    PmeEredSpec,
    PolicingAction,
    PolicySpec,
    PpdSpec,
    PriorityDropSpec,
    QueueSpec,
    RecordSpec,
    RedPart,
    RedSpec,
    ReroutingSpec,
    RtoRestart,
    SackPartialAck,
    SackPipeRoom,
    SackRetransmitDelay,
    SackRetransmitDelayNone,
    SackRetransmitDelaySegments,
    SchedulerSpec,
    SelectiveDropSpec,
    ServiceClass,
    SingleDropSpec,
    SlowStart,
    SourcePattern,
    SourcePatternConstant,
    SourcePatternOnOff,
    SourceSpec,
    SsthreshBasis,
    StartAt,
    StartDrawn,
    StartSpec,
    StaticThresholdSpec,
    StrictPrioritySpec,
    Tagging,
    TailDropSpec,
    TcpSpec,
    TcpVariant,
    TickOrder,
    TickPhase,
    TickPhaseAt,
    TickPhaseDrawn,
    TraceKind,
    TrafficPersistent,
    TrafficSpec,
    TrafficTransfers,
    VcPriorityDropSpec,
    VcRoundRobinSpec,
    VcSpec,
    VirtualQueueingSpec,
    VirtualSpacingSpec,
    WebSpec,
    WeightedRoundRobinSpec,
)


class PortSpec(PortMethods, SpecPart):
    """An output port: its queues and how it serves them."""

    queues: tuple[QueueSpec, ...] = ()
    scheduler: SchedulerSpec
    frame_gap_ps: U64


class LinkSpec(SpecPart):
    """One direction of a link, with the output port that feeds it."""

    name: str
    from_: U32 = Field(alias="from")
    to: U32
    cell_time_ps: U64
    framing: PacketFraming | None = left_out(None)
    delay_ps: U64
    motion: MotionSpec | None = None
    port: PortSpec


class NetworkSpec(NetworkMethods, SpecPart):
    """One run: nodes, links with their output ports, VCs, flows, and what to record."""

    version: Literal[1] = 1
    seed: U64
    duration_ps: U64
    nodes: tuple[NodeSpec, ...] = ()
    links: tuple[LinkSpec, ...] = ()
    vcs: tuple[VcSpec, ...] = ()
    flows: tuple[FlowSpec, ...] = ()
    sources: tuple[SourceSpec, ...] = ()
    records: RecordSpec


__all__ = [
    "AdvertisedWindow",
    "CongestionControl",
    "CountSpec",
    "CwndGrowth",
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
    "EpdSpec",
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
    "LinkSpec",
    "LossScript",
    "McrSchedulingSpec",
    "MotionSpec",
    "NetworkSpec",
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
    "PmeEredSpec",
    "PolicingAction",
    "PolicySpec",
    "PortSpec",
    "PpdSpec",
    "PriorityDropSpec",
    "QueueSpec",
    "RecordSpec",
    "RedPart",
    "RedSpec",
    "ReroutingSpec",
    "RtoRestart",
    "SackPartialAck",
    "SackPipeRoom",
    "SackRetransmitDelay",
    "SackRetransmitDelayNone",
    "SackRetransmitDelaySegments",
    "SchedulerSpec",
    "SelectiveDropSpec",
    "ServiceClass",
    "SingleDropSpec",
    "SlowStart",
    "SourcePattern",
    "SourcePatternConstant",
    "SourcePatternOnOff",
    "SourceSpec",
    "SsthreshBasis",
    "StartAt",
    "StartDrawn",
    "StartSpec",
    "StaticThresholdSpec",
    "StrictPrioritySpec",
    "Tagging",
    "TailDropSpec",
    "TcpSpec",
    "TcpVariant",
    "TickOrder",
    "TickPhase",
    "TickPhaseAt",
    "TickPhaseDrawn",
    "TraceKind",
    "TrafficPersistent",
    "TrafficSpec",
    "TrafficTransfers",
    "VcPriorityDropSpec",
    "VcRoundRobinSpec",
    "VcSpec",
    "VirtualQueueingSpec",
    "VirtualSpacingSpec",
    "WebSpec",
    "WeightedRoundRobinSpec",
]
