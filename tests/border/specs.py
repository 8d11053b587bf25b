"""Generated specs: a line of switches, hosts with and without routers, all that a spec can say."""

from typing import Literal, get_args, get_origin

from hypothesis import strategies as st
from pydantic.fields import FieldInfo

from skycell.scenario.network_spec import (
    ConstantPattern,
    ConstantSpec,
    CountSpec,
    DelayedAckSpec,
    DfbaSpec,
    DynamicEpdSpec,
    EpdSpec,
    ExponentialSpec,
    FairBufferAllocationSpec,
    FifoSpec,
    FileClassSpec,
    FlowSpec,
    FredSpec,
    GcraSpec,
    GfrSpec,
    GuaranteedRateSpec,
    JitterSpec,
    LinkSpec,
    LossScript,
    McrSchedulingSpec,
    MotionSpec,
    NetworkSpec,
    NodeSpec,
    OnOffPattern,
    PersistentSpec,
    PhaseAt,
    PhaseDrawn,
    PmeEredSpec,
    PolicySpec,
    PortSpec,
    PpdSpec,
    PriorityDropSpec,
    QueueSpec,
    RecordSpec,
    RedPart,
    RedSpec,
    ReroutingSpec,
    RetransmitDelayNone,
    RetransmitDelaySegments,
    SchedulerSpec,
    SelectiveDropSpec,
    SingleDropSpec,
    SourceSpec,
    StartAt,
    StartDrawn,
    StrictPrioritySpec,
    TailDropSpec,
    TcpSpec,
    TickPhaseAt,
    TickPhaseDrawn,
    TransfersSpec,
    UniformSpec,
    VcPriorityDropSpec,
    VcRoundRobinSpec,
    VcSpec,
    VirtualQueueingSpec,
    VirtualSpacingSpec,
    WebSpec,
    WeightedRoundRobinSpec,
    ZComplementSpec,
    ZComplementSquaredSpec,
    ZFixedSpec,
)

SECOND = 10**12
U32 = 2**32 - 1
U64 = 2**64 - 1

CLASSES = ["cbr", "rt_vbr", "nrt_vbr", "abr", "ubr", "gfr"]

names = st.text(min_size=1, max_size=5)
parts = st.floats(min_value=0, max_value=1, exclude_min=True)


def policies(capacity: int | None) -> st.SearchStrategy[PolicySpec]:
    """Policies for a buffer; those with a threshold below its capacity need a limited one."""
    free: st.SearchStrategy[PolicySpec] = (
        st.just(TailDropSpec())
        | st.just(PpdSpec())
        | st.builds(
            SingleDropSpec,
            thresholds_cells=st.lists(st.none() | st.integers(0, U32), max_size=3).map(tuple),
            rearm_below_cells=st.integers(0, U32),
        )
    )
    if capacity is None:
        return free
    threshold = st.integers(0, capacity)
    return (
        free
        | st.builds(EpdSpec, threshold_cells=threshold)
        | st.builds(SelectiveDropSpec, threshold_cells=threshold, fairness_threshold=parts)
        | st.builds(FairBufferAllocationSpec, threshold_cells=threshold, fairness_threshold=parts)
        | dfba(capacity)
        | survey()
        | priority_drop(capacity)
        | vc_priority_drop(capacity)
    )


@st.composite
def priority_drop(draw: st.DrawFn, capacity: int) -> PriorityDropSpec:
    """LBO and HBO for a buffer, in their order."""
    high = draw(st.integers(0, capacity))
    return PriorityDropSpec(tagged_cells=draw(st.integers(0, high)), threshold_cells=high)


@st.composite
def vc_priority_drop(draw: st.DrawFn, capacity: int) -> VcPriorityDropSpec:
    """The same with thresholds of some VCs."""
    pair = draw(priority_drop(capacity))
    return VcPriorityDropSpec(
        tagged_cells=pair.tagged_cells,
        threshold_cells=pair.threshold_cells,
        vc_thresholds_cells=tuple(draw(st.lists(st.integers(0, U32), max_size=3))),
    )


@st.composite
def reds(draw: st.DrawFn) -> RedPart:
    """Parameters of RED: thresholds in their order."""
    high = draw(st.integers(1, U32))
    return RedPart(
        min_cells=draw(st.integers(0, high - 1)),
        max_cells=high,
        max_p=draw(parts),
        weight=draw(parts),
        frame_ps=draw(st.integers(1, U64)),
    )


def survey() -> st.SearchStrategy[PolicySpec]:
    """The policies of the classification table that take any threshold."""
    mcrs = st.lists(st.integers(0, 10**15), max_size=3).map(tuple)
    cells, interval = st.integers(0, U32), st.integers(1, 86_400 * SECOND)
    return (
        reds().map(lambda red: RedSpec(**red.model_dump()))
        | st.builds(FredSpec, red=reds(), min_queue_cells=cells, frame_cells=st.integers(1, U32))
        | st.builds(VirtualQueueingSpec, threshold_cells=cells)
        | st.builds(DynamicEpdSpec, threshold_cells=cells)
        | st.builds(
            McrSchedulingSpec, threshold_cells=cells, interval_ps=interval, mcr_millicells=mcrs
        )
        | st.builds(
            PmeEredSpec,
            red=reds(),
            interval_ps=interval,
            step=parts,
            marked_part=st.floats(min_value=0, max_value=1),
            mcr_millicells=mcrs,
        )
    )


Tagging = Literal["none", "network", "adapter"]
Excess = Literal["pass", "discard"]


@st.composite
def contracts(draw: st.DrawFn) -> GfrSpec:
    """A GFR contract: PCR at least MCR, a window of whole steps."""
    mcr = draw(st.integers(1, 86_400 * SECOND))
    step = draw(st.integers(10**12, 86_400 * SECOND))
    both: list[tuple[Tagging, Excess]] = [
        ("none", "pass"),
        ("none", "discard"),
        ("network", "pass"),
        ("adapter", "pass"),
        ("adapter", "discard"),
    ]
    tagging, excess = draw(st.sampled_from(both))
    return GfrSpec(
        mcr_interval_ps=mcr,
        pcr_interval_ps=draw(st.integers(1, mcr)),
        burst_tolerance_ps=draw(st.integers(0, 86_400 * SECOND)),
        mfs_cells=draw(st.integers(1, 1_366)),
        tagging=tagging,
        excess=excess,
        nonconforming=draw(st.sampled_from(["count", "discard"])),
        window_ps=step * draw(st.integers(1, 20)),
        window_step_ps=step,
    )


@st.composite
def dfba(draw: st.DrawFn, capacity: int) -> DfbaSpec:
    """DFBA for a buffer: thresholds in their order."""
    high = draw(st.integers(1, capacity))
    unit = st.floats(min_value=0, max_value=1)
    return DfbaSpec(
        low_cells=draw(st.integers(0, high - 1)),
        high_cells=high,
        alpha=draw(unit),
        mcr_millicells=draw(st.lists(st.integers(0, 10**15), max_size=3).map(tuple)),
        z=draw(
            st.builds(ZFixedSpec, value=unit)
            | st.just(ZComplementSpec())
            | st.just(ZComplementSquaredSpec())
        ),
        keeps_last_cells=draw(st.booleans()),
    )


@st.composite
def queues_of_a_port(draw: st.DrawFn) -> tuple[QueueSpec, ...]:
    """One to four queues; the last takes the classes that have none of their own."""
    classes = draw(st.lists(st.sampled_from(CLASSES), unique=True, max_size=3))
    queues = []
    for service in (*classes, None):
        capacity = draw(st.none() | st.integers(1, U32))
        policy = draw(policies(capacity))
        queue = {"class": service, "capacity_cells": capacity, "policy": policy}
        queues.append(QueueSpec.model_validate(queue))
    return tuple(queues)


def schedulers(queues: int) -> st.SearchStrategy[SchedulerSpec]:
    """Schedulers for so many queues."""
    shares = st.lists(st.integers(0, 10**9 // queues), min_size=queues, max_size=queues)
    weights = st.lists(st.integers(1, U32), min_size=queues, max_size=queues)
    several: st.SearchStrategy[SchedulerSpec] = (
        st.just(StrictPrioritySpec())
        | st.builds(GuaranteedRateSpec, shares_ppb=shares.map(tuple))
        | st.builds(WeightedRoundRobinSpec, weights=weights.map(tuple))
    )
    return several | st.just(FifoSpec()) if queues == 1 else several


@st.composite
def reroutings(draw: st.DrawFn, path: list[int]) -> ReroutingSpec:
    """A VC that takes its own path anew."""
    times = sorted(draw(st.sets(st.integers(1, 100 * SECOND), min_size=1, max_size=3)))
    return ReroutingSpec(
        times_ps=tuple(times),
        paths=(tuple(path),) * len(times),
        loses_cells=draw(st.booleans()),
    )


@st.composite
def vcs_over(draw: st.DrawFn, path: list[int]) -> VcSpec:
    """A VC of any class; it can be policed where it crosses a switch."""
    bucket = st.builds(
        GcraSpec,
        increment_ps=st.integers(1, 86_400 * SECOND),
        limit_ps=st.integers(0, 86_400 * SECOND),
        action=st.sampled_from(["count", "tag", "discard"]),
    )
    policing = draw(st.lists(bucket, max_size=2)) if len(path) > 1 else []
    service = draw(st.sampled_from(CLASSES))
    gfr = draw(st.none() | contracts()) if len(path) > 1 else None
    vc = {
        "name": draw(names),
        "path": tuple(path),
        "class": service,
        "policing": tuple(policing),
        "gfr": gfr,
        "rerouting": draw(st.none() | reroutings(path)),
    }
    return VcSpec.model_validate(vc)


@st.composite
def motions(draw: st.DrawFn) -> MotionSpec:
    """Steps of a moving link, the first with a path."""
    later = draw(st.sets(st.integers(1, 100 * SECOND), max_size=4))
    delays = [st.integers(0, SECOND), *[st.none() | st.integers(0, SECOND) for _ in later]]
    return MotionSpec(
        times_ps=(0, *sorted(later)),
        delays_ps=tuple(draw(delay) for delay in delays),
        paths=tuple(draw(st.integers(0, 3)) for _ in delays),
        losses_ppb=draw(st.just(()) | st.tuples(*[st.integers(0, 10**9) for _ in delays])),
        interruption_ps=draw(st.integers(0, SECOND)),
        handover_loses_cells=draw(st.booleans()),
    )


@st.composite
def links(draw: st.DrawFn, start: int, end: int, from_switch: bool) -> LinkSpec:
    """A link from one node to another; a switch has no frames to put gaps between."""
    queues = draw(queues_of_a_port())
    motion = draw(st.none() | motions())
    cell_time = draw(st.integers(1, SECOND))
    if motion and draw(st.booleans()):
        times = st.tuples(*[st.integers(cell_time, SECOND) for _ in motion.times_ps])
        motion = motion.model_copy(update={"cell_times_ps": draw(times)})
    least = min((d for d in motion.delays_ps if d is not None), default=0) if motion else None
    return LinkSpec.model_validate(
        {
            "name": draw(names),
            "from": start,
            "to": end,
            "cell_time_ps": cell_time,
            "delay_ps": draw(st.integers(0, 86_400 * SECOND)) if least is None else least,
            "motion": motion,
            "port": PortSpec(
                queues=queues,
                scheduler=draw(schedulers(len(queues))),
                frame_gap_ps=0 if from_switch else draw(st.integers(0, SECOND)),
            ),
        }
    )


jitters = st.builds(
    JitterSpec,
    data_ps=st.sampled_from([0, 1, 3_600 * SECOND]),
    acks_ps=st.sampled_from([0, 1, 3_600 * SECOND]),
)


@st.composite
def tcps(draw: st.DrawFn) -> TcpSpec:
    """Parameters of a connection within the ranges of `validate`."""
    mss = draw(st.integers(1, 65_443))
    scaling = draw(st.booleans())
    timestamps = draw(st.booleans())
    tick = draw(st.integers(1, SECOND))
    rto_min, rto_initial, rto_max = sorted(
        draw(st.lists(st.integers(1, U32), min_size=3, max_size=3))
    )
    of_own_range = {
        "mss": mss,
        "rwnd": draw(st.integers(mss, 65_535 << 14 if scaling else 65_535)),
        "window_scaling": scaling,
        "initial_cwnd": draw(st.integers(mss, U64)),
        "initial_ssthresh": draw(st.integers(1, U64)),
        "max_cwnd": draw(st.integers(mss, U64)),
        "dup_ack_threshold": draw(st.integers(1, U32)),
        "tick_ps": tick,
        "tick_phase": draw(
            st.just(TickPhaseDrawn()) | st.builds(TickPhaseAt, offset_ps=st.integers(0, tick - 1))
        ),
        "rto_min_ticks": rto_min,
        "rto_initial_ticks": rto_initial,
        "rto_max_ticks": rto_max,
        "rto_max_backoff": draw(st.integers(1, U32)),
        "timestamps": timestamps,
        "sack_retransmit_delay": draw(
            st.just(RetransmitDelayNone())
            | st.builds(RetransmitDelaySegments, count=st.integers(1, U32))
        ),
        "sack_max_blocks": draw(st.integers(1, 3 if timestamps else 4)),
        "delayed_ack": draw(
            st.none()
            | st.builds(
                DelayedAckSpec,
                timeout_ps=st.integers(1, U64),
                every_segments=st.integers(1, U32),
            )
        ),
    }
    rules = {
        key: draw(words_of(found))
        for key, found in TcpSpec.model_fields.items()
        if key not in of_own_range
    }
    return TcpSpec.model_validate({**of_own_range, **rules})


def words_of(found: FieldInfo) -> st.SearchStrategy[object]:
    """Every value of a rule, which is a word or true or false."""
    if found.annotation is bool:
        return st.booleans()
    assert get_origin(found.annotation) is Literal, "what is neither has a range of its own"
    return st.sampled_from(get_args(found.annotation))


@st.composite
def ranges(draw: st.DrawFn) -> tuple[int, int]:
    """A time and a later one, picoseconds."""
    low = draw(st.integers(0, U64 - 1))
    return low, draw(st.integers(low + 1, U64))


starts = st.builds(StartAt, time_ps=st.integers(0, U64)) | ranges().map(
    lambda r: StartDrawn(from_ps=r[0], to_ps=r[1])
)
idles = (
    st.builds(ConstantSpec, value_ps=st.integers(0, U64))
    | st.builds(ExponentialSpec, mean_ps=st.integers(1, U64))
    | ranges().map(lambda r: UniformSpec(low_ps=r[0], high_ps=r[1]))
)


@st.composite
def webs(draw: st.DrawFn) -> WebSpec:
    """A web user; every class has a size for each count."""
    counts = st.builds(
        CountSpec,
        mean=st.floats(0, 500, exclude_min=True),
        low=st.integers(1, 20),
        high=st.integers(20, 25),
        outside=st.sampled_from(["clamp", "redraw"]),
    )
    size = draw(counts)
    sizes = size.high - size.low + 1
    classes = st.builds(
        FileClassSpec,
        weight=st.floats(0, 1e9, exclude_min=True),
        sizes_octets=st.lists(st.integers(1, U64), min_size=sizes, max_size=sizes).map(tuple),
    )
    return WebSpec(
        page_interval=draw(idles.filter(lambda idle: idle != ConstantSpec(value_ps=0))),
        page_interval_from=draw(st.sampled_from(["first_request", "last_request", "last_answer"])),
        pages=draw(st.none() | st.integers(0, U32)),
        requests=draw(counts),
        gap=draw(idles),
        request_octets=draw(st.integers(1, U64)),
        classes=tuple(draw(st.lists(classes, min_size=1, max_size=3))),
        size=size,
    )


traffics = (
    st.just(PersistentSpec())
    | st.builds(
        TransfersSpec,
        size_octets=st.integers(1, U64),
        count=st.none() | st.integers(0, U32),
        idle=idles,
        new_connection=st.booleans(),
    )
    | webs()
)
loss_scripts = st.builds(
    LossScript,
    transmissions=st.lists(st.integers(0, U64), max_size=3).map(sorted).map(tuple),
    at_cwnd_octets=st.none() | st.integers(0, U64),
)


@st.composite
def cell_sources(draw: st.DrawFn, vc: int) -> SourceSpec:
    """A source of cells on a VC; a burst has a length and the phase lies within a cycle."""
    day = 86_400 * SECOND
    on = draw(st.integers(1, day))
    off = draw(st.integers(0, day - 1))
    phase = st.builds(PhaseAt, offset_ps=st.integers(0, on + off - 1)) | st.builds(
        PhaseDrawn, below_ps=st.integers(1, on + off)
    )
    pattern = st.just(ConstantPattern()) | st.builds(
        OnOffPattern,
        on=st.just(ConstantSpec(value_ps=on)) | st.just(ExponentialSpec(mean_ps=on)),
        off=st.just(ConstantSpec(value_ps=off)) | st.just(UniformSpec(low_ps=0, high_ps=off + 1)),
        phase=phase,
    )
    return SourceSpec(
        name=draw(names),
        vc=vc,
        cell_interval_ps=draw(st.integers(1, day)),
        frame_cells=draw(st.integers(1, 1_366)),
        pattern=draw(pattern),
        start=draw(starts),
    )


@st.composite
def spaced(draw: st.DrawFn, wire: LinkSpec, kind: str, vcs: int) -> LinkSpec:
    """The link; some switch ports of one queue serve VCs, by stamps or in turn."""
    if kind != "switch" or len(wire.port.queues) > 1 or draw(st.booleans()):
        return wire

    def each(low: int, high: int) -> st.SearchStrategy[tuple[int, ...]]:
        return st.lists(st.integers(low, high), min_size=vcs, max_size=vcs).map(tuple)

    by_stamps = each(1, 86_400 * SECOND)
    scheduler = draw(
        st.builds(VirtualSpacingSpec, intervals_ps=by_stamps)
        | st.builds(VcRoundRobinSpec, weights=each(1, U32))
    )
    port = wire.port.model_copy(update={"scheduler": scheduler})
    return wire.model_copy(update={"port": port})


@st.composite
def network_specs(draw: st.DrawFn) -> NetworkSpec:
    """A line of one to three switches; each flow from a host at one end to a host at the other."""
    hops = draw(st.integers(1, 3))
    nodes = [NodeSpec(name=f"sw{i}", kind="switch") for i in range(hops)]
    wires: list[LinkSpec] = []

    def wire(start: int, end: int) -> tuple[int, int]:
        """Ids of a pair of links, there and back."""
        for a, b in ((start, end), (end, start)):
            wires.append(draw(links(a, b, from_switch=nodes[a].kind == "switch")))
        return len(wires) - 2, len(wires) - 1

    line = [wire(i, i + 1) for i in range(hops - 1)]
    vcs: list[VcSpec] = []

    def vc(path: list[int]) -> int:
        vcs.append(draw(vcs_over(path)))
        return len(vcs) - 1

    flows = []
    for _ in range(draw(st.integers(0, 3))):
        source, sink = len(nodes), len(nodes) + 1
        nodes += [NodeSpec(name=draw(names), kind="host") for _ in range(2)]
        before_router, after_router = [], []
        edge = source
        if draw(st.booleans()):
            edge = len(nodes)
            nodes.append(NodeSpec(name=draw(names), kind="router"))
            there, back = wire(source, edge)
            before_router, after_router = [vc([there])], [vc([back])]
        first, last = wire(edge, 0), wire(hops - 1, sink)
        there_path = [first[0], *(pair[0] for pair in line), last[0]]
        back_path = [last[1], *(pair[1] for pair in reversed(line)), first[1]]
        flows.append(
            FlowSpec(
                name=draw(names),
                forward=(*before_router, vc(there_path)),
                reverse=(vc(back_path), *after_router),
                tcp=draw(tcps()),
                traffic=draw(traffics),
                start=draw(starts),
                loss_script=draw(loss_scripts),
                jitter=draw(jitters),
            )
        )
    sources = []
    for _ in range(draw(st.integers(0, 2))):
        source, sink = len(nodes), len(nodes) + 1
        nodes += [NodeSpec(name=draw(names), kind="host") for _ in range(2)]
        first, last = wire(source, 0), wire(hops - 1, sink)
        way = vc([first[0], *(pair[0] for pair in line), last[0]])
        sources.append(draw(cell_sources(way)))
    has_datagrams = draw(st.booleans())
    if flows and has_datagrams:
        route = draw(st.sampled_from(flows)).forward
        beside = {"datagram_route": route, "cell_interval_ps": draw(st.integers(1, SECOND))}
        sources.append(draw(cell_sources(route[0])).model_copy(update=beside))
    wires = [draw(spaced(wire, nodes[wire.from_].kind, len(vcs))) for wire in wires]
    measured = st.sets(st.integers(0, len(vcs) - 1), max_size=3) if vcs else st.just(set[int]())
    ports = st.sets(st.integers(0, len(wires) - 1), max_size=3) if wires else st.just(set[int]())
    traces = ["cwnd", "sequence", "queue", "vc_queue", "discards", "transfers", "service", "files"]
    return NetworkSpec(
        seed=draw(st.integers(0, U64)),
        duration_ps=draw(st.integers(1, 8_640_000 * SECOND)),
        nodes=tuple(nodes),
        links=tuple(wires),
        vcs=tuple(vcs),
        flows=tuple(flows),
        sources=tuple(sources),
        records=RecordSpec(
            sample_every_ps=draw(st.integers(1, U64)),
            sampled_ports=tuple(sorted(draw(ports))),
            vc_sampled_ports=tuple(sorted(draw(ports))),
            delay_vcs=tuple(sorted(draw(measured))),
            traces=tuple(draw(st.lists(st.sampled_from(traces), unique=True))),
        ),
    )
