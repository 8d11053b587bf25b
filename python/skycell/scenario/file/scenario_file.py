"""A scenario file as it is written: the sections and what each may say."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from skycell.input.parameters import (
    Flag,
    NamePatterns,
    Parameters,
    param,
    quantity,
    whole_number,
    word,
)
from skycell.input.quantities import LONGEST_RUN_PS, Dimension, Quantity
from skycell.scenario.declared.tcp import Tcp
from skycell.scenario.declared.traffic import Traffic
from skycell.scenario.file.abr import AbrControl
from skycell.scenario.file.admission import Admission
from skycell.scenario.file.beam import Beam
from skycell.scenario.file.calls import Calls
from skycell.scenario.file.classifier import Classifier, CodePoint, Label, PortNumber
from skycell.scenario.file.demand import TrafficOrDemands
from skycell.scenario.file.gfr import GfrContract
from skycell.scenario.file.peps import Pep
from skycell.scenario.file.probe import Probe
from skycell.scenario.file.processing import Processing
from skycell.scenario.file.qos import QosTargets
from skycell.scenario.file.resequencer import Resequencer
from skycell.scenario.file.sources import PolicerParameters, Source
from skycell.scenario.file.topology import Topology
from skycell.scenario.file.traffic import Loss, Start
from skycell.scenario.file.uplinks import Uplink
from skycell.scenario.file.vs_vd import VsVdSwitches
from skycell.spec.declared.traces import TRACES

#: Ports crossed by more VCs are sampled VC by VC only where the scenario names them: the samples
#: of a thousand VCs would cost more than the run.
MOST_VCS_BY_DEFAULT = 64

Duration = Annotated[
    Quantity, quantity(Dimension.TIME, above=0, high=LONGEST_RUN_PS, example="20 s")
]
MeasureFrom = Annotated[
    Quantity, quantity(Dimension.TIME, low=0, high=LONGEST_RUN_PS, example="5 s")
]
Interval = Annotated[
    Quantity, quantity(Dimension.TIME, low=1_000_000, high=LONGEST_RUN_PS, example="10 ms")
]


class Run(Parameters):
    """How long to run, and with which random numbers."""

    duration: Duration = param(..., "simulated time")
    measure_from: MeasureFrom = param(
        "0 s",
        "time from which rates, delays, queues and losses count",
        source="the whole run",
    )
    seed: Annotated[int, whole_number(0, 2**64 - 1)] = param(
        1, "seed of every random stream; replications differ in nothing else", source="choice"
    )


class Records(Parameters):
    """What a run keeps besides its counters."""

    traces: tuple[Annotated[str, word(*TRACES)], ...] = param(
        [], "traces to keep", source="a run without traces leaves kilobytes"
    )
    sample_every: Interval = param(
        "10 ms", "interval between samples of the queues", source="choice: a tenth of a tick"
    )
    ports: tuple[str, ...] | None = param(
        None,
        'links, such as "switch1>switch2", whose port\'s queue is sampled',
        source="the ports with a limited buffer",
    )
    vc_ports: tuple[str, ...] | None = param(
        None,
        "links whose port's queue is sampled VC by VC",
        source=f"the ports with a limited buffer that at most {MOST_VCS_BY_DEFAULT} VCs cross",
    )
    flow_ports: tuple[str, ...] = param(
        [],
        "links of packets whose ports record flow by flow how long packets stay",
        source="of all flows together",
    )
    delay_vcs: tuple[str, ...] | None = param(
        None,
        "VCs whose cell transfer delay is measured, cell by cell",
        source="VCs of the cell sources, and VCs whose delay [[qos]] bounds",
    )


class FlowOverride(Parameters):
    """What is different for some of the flows."""

    names: NamePatterns = param(..., "flows that differ; web* are those called web and a number")
    tcp: Tcp | None = param(None, "TCP parameters that differ; the others are as in [tcp]")
    traffic: Traffic | None = param(None, "what their applications send")
    start: Start | None = param(None, "when they begin")
    loss: Loss | None = param(None, "prescribed losses for these flows")
    ipsec: Flag = param(
        False,
        "encrypted from end to end beyond the IP header, as by IPsec: no node on the way sees "
        "ports or TCP",
        source="plain TCP",
    )
    source_port: PortNumber | None = param(
        None, "port of the source, for classifiers", source="no rule for a port holds"
    )
    destination_port: PortNumber | None = param(
        None, "port of the destination, for classifiers", source="no rule for a port holds"
    )
    dscp: CodePoint | None = param(
        None, "code point of all its packets, for classifiers", source="RFC 2474: DF"
    )
    label: Label | None = param(
        None, "MPLS label of all its packets, for classifiers", source="no label"
    )


class ScenarioFile(Parameters):
    """One run, written with words and units."""

    run: Run = param(..., "how long to run")
    topology: Topology = param(..., "nodes, links, VCs and flows")
    tcp: Tcp = param({}, "TCP parameters of all flows", source="every parameter's own default")
    traffic: TrafficOrDemands = param(
        "persistent",
        "what applications send; over a constellation a list, who sends what to whom",
        source="the studies' sources",
    )
    start: Start = param(
        "drawn", "when flows begin", source="choice: sources that move in step are misleading"
    )
    loss: Loss = param({}, "prescribed losses for all flows", source="none")
    records: Records = param({}, "records beyond the counters", source="no traces")
    gfr: tuple[GfrContract, ...] = param([], "guarantees of VCs", source="plain UBR")
    abr: tuple[AbrControl, ...] = param(
        [], "VCs whose rate the network controls", source="plain UBR"
    )
    vs_vd: tuple[VsVdSwitches, ...] = param(
        [],
        "switches that are virtual destinations and virtual sources of the ABR VCs that cross them",
        source="control loops from end to end",
    )
    classifier: tuple[Classifier, ...] = param(
        [], "nodes that choose VCs for packets by their headers", source="VCs of the topology"
    )
    pep: tuple[Pep, ...] = param(
        [], "routers that split TCP connections", source="TCP from end to end"
    )
    uplink: tuple[Uplink, ...] = param(
        [], "uplinks whose slots terminals share", source="each link has its whole rate"
    )
    source: tuple[Source, ...] = param([], "cell sources", source="only TCP connections")
    calls: tuple[Calls, ...] = param(
        [], "connections that begin and end, and are blocked if there is no room", source="none"
    )
    probe: tuple[Probe, ...] = param(
        [], "pings between two hosts, whose round-trip times and losses are measured", source="none"
    )
    policer: tuple[PolicerParameters, ...] = param(
        [], "rates that policers hold the cells of VCs to", source="no policing"
    )
    processing: tuple[Processing, ...] = param([], "processing times of nodes", source="no time")
    resequencer: tuple[Resequencer, ...] = param(
        [],
        "VCs whose cells are put in order at their end",
        source="cells go on in the order in which they come",
    )
    admission: Admission = param(
        {}, "part of a link that may be promised", source="no link more than it carries"
    )
    qos: tuple[QosTargets, ...] = param(
        [], "bounds on losses and delays, and whether the run kept them", source="no verdicts"
    )
    flow: tuple[FlowOverride, ...] = param([], "flows that differ from the rest", source="none")


class WrittenFile(ScenarioFile):
    """A scenario as people write it. Its topology may be a beam, which is short for a graph."""

    topology: Annotated[Topology | Beam, Field(discriminator="kind")] = param(  # type: ignore[assignment]
        ..., "nodes, links, VCs and flows"
    )
