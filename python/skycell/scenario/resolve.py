"""From a scenario file and its plan to the `NetworkSpec`: defaults and derived values as integers.

RTT is the two-way propagation delay of the flow whose route is longest, with the greatest delay of
a link that moves. "RTT x bandwidth" is that time at the payload rate of the slowest link on that
route, in octets, cell headers included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from skycell.scenario.cells import MOST_CELLS
from skycell.scenario.classes import ClassQueue
from skycell.scenario.context import Context
from skycell.scenario.contracts import (
    check_contracts,
    mbs_of,
    mcr_of,
    peak_policers,
    resolve_contracts,
)
from skycell.scenario.faults import NOTHING, FaultCollector, Path, Shown
from skycell.scenario.file import ScenarioFile
from skycell.scenario.links import (
    CELL_BITS,
    FRAMINGS,
    AccessLink,
    CongestedLink,
    cell_time_ps,
    payload_rate,
)
from skycell.scenario.moving import Moving
from skycell.scenario.network_spec import (
    DfbaSpec,
    DynamicEpdSpec,
    EpdSpec,
    FairBufferAllocationSpec,
    FlowSpec,
    FredSpec,
    LinkSpec,
    McrSchedulingSpec,
    NetworkSpec,
    NodeSpec,
    PmeEredSpec,
    PolicySpec,
    PortSpec,
    PpdSpec,
    PriorityDropSpec,
    QueueSpec,
    RedPart,
    RedSpec,
    ReroutingSpec,
    SelectiveDropSpec,
    SingleDropSpec,
    TailDropSpec,
    VcPriorityDropSpec,
    VcSpec,
    VirtualQueueingSpec,
    ZComplementSpec,
    ZComplementSquaredSpec,
    ZFixedSpec,
)
from skycell.scenario.on_board import Course
from skycell.scenario.parameters import Parameters, exact, meaning_of
from skycell.scenario.plan import Plan, PlannedLink, Rerouting
from skycell.scenario.policies import (
    Dfba,
    DynamicEpd,
    Epd,
    FairBufferAllocation,
    Fred,
    McrScheduling,
    PmeEred,
    Ppd,
    PriorityDrop,
    Red,
    SelectiveDrop,
    SingleDrop,
    TailDrop,
    VcPriorityDrop,
    VirtualQueueing,
)
from skycell.scenario.quantities import (
    PS_PER_SECOND,
    Dimension,
    Quantity,
    rounded,
    show_amount,
    show_time,
)
from skycell.scenario.resolve_classes import resolve_scheduler
from skycell.scenario.resolve_flows import FlowResolver
from skycell.scenario.resolve_records import resolve_records
from skycell.scenario.resolve_sources import resolve_policers, resolve_sources

#: More cell times than this on the congested links would keep a machine busy for days.
_MOST_CELL_HOPS = 10**12


def resolve(
    file: ScenarioFile, plan: Plan, moving: Moving, seed: int, faults: FaultCollector
) -> NetworkSpec:
    """The complete spec of one run; raises `ScenarioFaults` when parts do not fit together."""
    rates = {name: _payload_rate(link, faults) for name, link in plan.links.items()}
    context = _context(file, plan, rates, faults)
    _check_size(context, plan, rates, faults)
    check_contracts(file.gfr, plan, rates, faults)
    flows = FlowResolver(file, plan, context, faults)
    tcp = flows.resolve_tcp()
    frame_cells = max(
        (frame_cells_of(spec.mss, spec.llc_snap, spec.timestamps) for spec in tcp.values()),
        default=1,
    )
    mcr, mbs = mcr_of(file.gfr), mbs_of(file.gfr, frame_cells)
    ports = _PortResolver(plan, context.rtt_ps, frame_cells, mcr, mbs, rates, faults)
    contracts = resolve_contracts(file.gfr, plan, rates, frame_cells, faults)
    node_ids = {name: i for i, name in enumerate(plan.nodes)}
    links = [
        _link(link, node_ids, cell_time_ps(rates[name]), ports, moving, plan.courses.get(name))
        for name, link in plan.links.items()
    ]
    link_ids = {name: i for i, name in enumerate(plan.links)}
    vc_ids = {name: i for i, name in enumerate(plan.vcs)}
    specs: list[FlowSpec] = flows.resolve(tcp, vc_ids)
    sources = resolve_sources(file, plan, context, rates, vc_ids, faults)
    policers = resolve_policers(file, plan, context, faults)
    peaks = {name: (bucket,) for name, bucket in peak_policers(file.gfr, contracts).items()}
    limited = [
        i
        for i, link in enumerate(links)
        if any(queue.capacity_cells is not None for queue in link.port.queues)
    ]
    records = resolve_records(file.records, context, plan, limited, faults)
    faults.raise_if_any()
    return NetworkSpec(
        seed=seed,
        duration_ps=context.duration_ps,
        nodes=tuple(NodeSpec(name=name, kind=kind) for name, kind in plan.nodes.items()),
        links=tuple(links),
        vcs=tuple(
            VcSpec.model_validate(
                {
                    "name": name,
                    "path": tuple(link_ids[link] for link in vc.links),
                    "class": vc.service,
                    "policing": (*peaks.get(name, ()), *policers.get(name, ())),
                    "gfr": contracts.get(name),
                    "rerouting": _rerouting(vc.rerouting, link_ids),
                }
            )
            for name, vc in plan.vcs.items()
        ),
        flows=tuple(specs),
        sources=sources,
        records=records,
    )


def _rerouting(rerouting: Rerouting | None, link_ids: Mapping[str, int]) -> ReroutingSpec | None:
    if rerouting is None:
        return None
    return ReroutingSpec(
        times_ps=tuple(time for time, _ in rerouting.ways),
        paths=tuple(tuple(link_ids[link] for link in way) for _, way in rerouting.ways),
        loses_cells=rerouting.loses_cells,
    )


def frame_cells_of(mss: int, llc_snap: bool, timestamps: bool) -> int:
    """Cells of a full segment: TCP/IP headers and options, LLC/SNAP, AAL5 trailer (I.363.5).

    >>> frame_cells_of(9180, True, False), frame_cells_of(512, True, False)
    (193, 12)
    """
    options = 12 if timestamps else 0  # RFC 7323 appendix A
    return -(-(mss + 40 + options + (8 if llc_snap else 0) + 8) // 48)


def _payload_rate(link: PlannedLink, faults: FaultCollector) -> Fraction:
    where = (*link.rate_path, "framing")
    known = " or ".join(f'"{f}"' for f in FRAMINGS)
    meaning = meaning_of(CongestedLink.model_fields["framing"])
    if link.rate.dimension is Dimension.CELL_RATE:
        if link.framing not in (None, "none"):
            faults.add(where, link.framing, '"none": cells/s is what the link carries', meaning)
        return payload_rate(link.rate, None)
    if link.framing is None:
        faults.add(where, NOTHING, known, meaning)
        return link.rate.amount * faults.stand_in(Fraction(1), Fraction(1, 2))
    only = FRAMINGS[link.framing][1]
    if only is not None and link.rate.amount != only:
        got = Shown(f'"{link.framing}" with a rate of {link.rate}')
        allowed = f"a rate of {show_amount(Fraction(only, 10**6))} Mbit/s with this framing"
        faults.add(where, got, allowed, meaning)
        return faults.stand_in(Fraction(only), link.rate.amount)
    return payload_rate(link.rate, link.framing)


def _context(
    file: ScenarioFile, plan: Plan, rates: dict[str, Fraction], faults: FaultCollector
) -> Context:
    rtt_ps, bandwidth = 0, Fraction(0)
    for flow in plan.flows.values():
        out, back = plan.links_of(flow.forward), plan.links_of(flow.reverse)
        rtt = sum(rounded(link.delay.amount) for link in (*out, *back))
        slowest = min(rates[link.name] for link in out)
        if not bandwidth or rtt > rtt_ps:
            rtt_ps, bandwidth = rtt, slowest
    if not plan.is_whole or not plan.flows:  # the longest route may be missing
        rtt_ps = faults.stand_in(max(rtt_ps, 10**10), 3 * rtt_ps + PS_PER_SECOND)
        bandwidth = faults.stand_in(max(bandwidth, Fraction(10**6)), 3 * bandwidth + 10**9)
    return Context(rounded(file.run.duration.amount), rtt_ps, bandwidth)


def _check_size(
    context: Context, plan: Plan, rates: dict[str, Fraction], faults: FaultCollector
) -> None:
    """Refuses runs that no machine finishes."""
    users: dict[str, int] = dict.fromkeys(plan.links, 0)
    for flow in plan.flows.values():
        for link in plan.links_of(flow.forward):
            users[link.name] += 1
    hops: dict[str, int] = {}
    for flow in plan.flows.values():
        route = plan.links_of(flow.forward)
        # A flow sends no faster than its slowest link; of equal ones the most used counts.
        slowest = min(route, key=lambda link: (rates[link.name], -users[link.name])).name
        hops[slowest] = max(hops.get(slowest, 0), len(route))
    seconds = Fraction(context.duration_ps, PS_PER_SECOND)
    cells = sum(count * seconds * rates[name] / CELL_BITS for name, count in hops.items())
    carrying = [*plan.sources.values(), *(vc for route in plan.datagrams.values() for vc in route)]
    for vc in (plan.vcs[name] for name in carrying):
        cells += len(vc.links) * seconds * min(rates[link] for link in vc.links) / CELL_BITS
    if cells > _MOST_CELL_HOPS:
        faults.add(
            ("run", "duration"),
            Shown(f"{show_time(context.duration_ps)}, up to {show_amount(int(cells))} cells"),
            f"up to {show_amount(_MOST_CELL_HOPS)} cells, each counted once a hop",
            "simulated time; so many cells would take days",
        )


def _link(
    link: PlannedLink,
    node_ids: Mapping[str, int],
    cell_time: int,
    ports: _PortResolver,
    moving: Moving,
    course: Course | None,
) -> LinkSpec:
    if course is not None:
        return LinkSpec(
            name=link.name,
            from_=node_ids[link.source],
            to=node_ids[course.targets[0]],
            cell_time_ps=cell_time,
            delay_ps=course.least_ps,
            motion=course.motion(node_ids),
            port=ports.port(link, cell_time),
        )
    return LinkSpec(
        name=link.name,
        from_=node_ids[link.source],
        to=node_ids[link.target],
        cell_time_ps=cell_time,
        delay_ps=moving.least_delay_ps(link.path, rounded(link.delay.amount)),
        motion=moving.motions.get(link.path),
        port=ports.port(link, cell_time),
    )


@dataclass
class _PortResolver:
    """Resolves buffers and thresholds to cells."""

    plan: Plan
    rtt_ps: int
    frame_cells: int
    mcr: Mapping[str, int]
    mbs: Mapping[str, int]
    rates: Mapping[str, Fraction]
    faults: FaultCollector

    @cached_property
    def _mcr_of_vcs(self) -> Mapping[str, int]:
        """MCR of every VC, thousandths of a cell a second; 0 for one without a contract."""
        return {name: self.mcr.get(name, 0) for name in self.plan.vcs}

    def port(self, link: PlannedLink, cell_time: int) -> PortSpec:
        """The port that feeds `link`."""
        queues = []
        seen: set[str] = set()
        for i, own in enumerate(link.classes):
            path = (*link.path, "class", i)
            if own.name in seen:
                meaning = meaning_of(ClassQueue.model_fields["name"])
                self.faults.add((*path, "name"), own.name, "each class once", meaning)
            seen.add(own.name)
            part = replace(
                link,
                buffer=own.buffer,
                policy=own.policy,
                path=path,
                buffer_key="buffer",
                policy_key="policy",
            )
            queues.append(self._queue(part, cell_time, own.name))
        queues.append(self._queue(link, cell_time, None))
        return PortSpec(
            queues=tuple(queues),
            scheduler=resolve_scheduler(
                link,
                self.plan,
                tuple(queues),
                cell_time,
                self._mcr_of_vcs,
                self.faults,
            ),
            frame_gap_ps=self._frame_gap_ps(link, cell_time),
        )

    def _queue(self, link: PlannedLink, cell_time: int, service: str | None) -> QueueSpec:
        capacity = self._capacity(link, cell_time)
        policy = self._policy(link, capacity)
        queue = {"class": service, "capacity_cells": capacity, "policy": policy}
        return QueueSpec.model_validate(queue)

    def _frame_gap_ps(self, link: PlannedLink, cell_time: int) -> int:
        if link.frame_gap is None:
            return 0
        scale = cell_time if link.frame_gap.dimension is Dimension.CELLS else 1
        gap = rounded(link.frame_gap.amount * scale)
        if gap > PS_PER_SECOND:
            got = Shown(f'"{link.frame_gap}", which is {show_time(gap)}')
            meaning = meaning_of(AccessLink.model_fields["frame_gap"])
            self.faults.add((*link.path, "frame_gap"), got, "up to 1 s", meaning)
        return gap

    def _capacity(self, link: PlannedLink, cell_time: int) -> int | None:
        buffer = link.buffer
        if isinstance(buffer, str):
            return None
        per_unit = {
            Dimension.CELLS: Fraction(1),
            Dimension.FRAMES: Fraction(self.frame_cells),
            Dimension.RTT: Fraction(self.rtt_ps, cell_time),
            Dimension.TIME: Fraction(1, cell_time),
        }
        cells = int(buffer.amount * per_unit[buffer.dimension])
        if not 0 < cells <= MOST_CELLS:
            self.faults.add(
                (*link.path, link.buffer_key),
                Shown(f'"{buffer}", which is {show_amount(cells)} cells'),
                f"from 1 to {show_amount(MOST_CELLS)} cells",
                meaning_of(CongestedLink.model_fields["buffer"]),
            )
            return self.faults.stand_in(1, MOST_CELLS)
        return cells

    def _policy(self, link: PlannedLink, capacity: int | None) -> PolicySpec:
        policy = link.policy
        where = (*link.path, link.policy_key)
        if isinstance(policy, TailDrop):
            return TailDropSpec()
        if isinstance(policy, Ppd):
            return PpdSpec()
        if isinstance(policy, SingleDrop):
            return self._single_drop(link, policy, capacity, where)
        if isinstance(policy, Dfba):
            return self._dfba(link, policy, capacity, where)
        survey = self._survey_policy(link, policy, capacity, where)
        if survey is not None:
            return survey
        assert isinstance(policy, Epd | SelectiveDrop | FairBufferAllocation)
        threshold = self._threshold(policy, "drop_threshold", capacity, where)
        if isinstance(policy, Epd):
            return EpdSpec(threshold_cells=threshold, partial_discard=policy.partial_discard)
        kind = SelectiveDropSpec if isinstance(policy, SelectiveDrop) else FairBufferAllocationSpec
        return kind(
            threshold_cells=threshold,
            fairness_threshold=policy.fairness_threshold,
            partial_discard=policy.partial_discard,
        )

    def _threshold(
        self,
        policy: Parameters,
        key: str,
        capacity: int | None,
        where: Path,
    ) -> int:
        where = (*where, key)
        written: Quantity | float = getattr(policy, key)
        meaning = meaning_of(type(policy).model_fields[key])
        if capacity is None:
            got = Shown(f"{written} of an unlimited buffer")
            self.faults.add(where, got, "a threshold needs a buffer of limited size", meaning)
            return 0
        if isinstance(written, Quantity):
            cells = int(written.amount)
        else:
            cells = int(exact(written) * capacity)
        highest = capacity - 1 if isinstance(policy, FairBufferAllocation) else capacity
        if cells > highest:
            shown = str(written) if isinstance(written, Quantity) else written
            self.faults.add(
                where, shown, f"up to {show_amount(highest)} cells of the buffer", meaning
            )
        return min(cells, MOST_CELLS)

    def _survey_policy(
        self, link: PlannedLink, policy: Parameters, capacity: int | None, where: Path
    ) -> PolicySpec | None:
        """A policy of the classification table that is not among the older ones; else none."""

        def cells(key: str) -> int:
            return self._threshold(policy, key, capacity, where)

        if isinstance(policy, PriorityDrop | VcPriorityDrop):
            tagged, threshold = cells("tagged_threshold"), cells("drop_threshold")
            if tagged > threshold:
                self._misordered(
                    policy,
                    "tagged_threshold",
                    f"up to drop_threshold, {show_amount(threshold)}",
                    where,
                )
            if isinstance(policy, PriorityDrop):
                return PriorityDropSpec(tagged_cells=tagged, threshold_cells=threshold)
            own = policy.vc_threshold
            return VcPriorityDropSpec(
                tagged_cells=tagged,
                threshold_cells=threshold,
                vc_thresholds_cells=tuple(
                    int(own.amount)
                    if isinstance(own, Quantity) and name in self.mbs
                    else self.mbs.get(name, 0)
                    for name in self.plan.vcs
                ),
            )
        if isinstance(policy, VirtualQueueing):
            return VirtualQueueingSpec(threshold_cells=cells("vc_threshold"))
        if isinstance(policy, DynamicEpd):
            return DynamicEpdSpec(threshold_cells=cells("drop_threshold"))
        if isinstance(policy, McrScheduling):
            return McrSchedulingSpec(
                threshold_cells=cells("vc_threshold"),
                interval_ps=rounded(policy.interval.amount),
                mcr_millicells=self._mcrs(link, where),
            )
        if not isinstance(policy, Red):
            return None
        red = self._red(link, policy, capacity, where)
        if isinstance(policy, Fred):
            return FredSpec(
                red=red,
                min_queue_cells=policy.protected_frames * self.frame_cells,
                frame_cells=self.frame_cells,
            )
        if isinstance(policy, PmeEred):
            return PmeEredSpec(
                red=red,
                interval_ps=rounded(policy.interval.amount),
                step=policy.step,
                marked_part=policy.marked_part,
                mcr_millicells=self._mcrs(link, where),
            )
        return RedSpec(**red.model_dump())

    def _red(self, link: PlannedLink, policy: Red, capacity: int | None, where: Path) -> RedPart:
        low = self._threshold(policy, "min_threshold", capacity, where)
        high = self._threshold(policy, "max_threshold", capacity, where)
        if capacity is not None and low >= high:
            self._misordered(
                policy, "min_threshold", f"below max_threshold, {show_amount(high)}", where
            )
        # A typical frame is a full one.
        frame_ps = self.frame_cells * cell_time_ps(self.rates[link.name])
        return RedPart(
            min_cells=low,
            max_cells=high,
            max_p=policy.max_probability,
            weight=policy.weight,
            frame_ps=frame_ps,
        )

    def _misordered(self, policy: Parameters, key: str, allowed: str, where: Path) -> None:
        written: Quantity | float = getattr(policy, key)
        self.faults.add(
            (*where, key),
            str(written) if isinstance(written, Quantity) else written,
            f"{allowed} cells",
            meaning_of(type(policy).model_fields[key]),
        )

    def _mcrs(self, link: PlannedLink, where: Path) -> tuple[int, ...]:
        """MCR of each VC, 0 for one without; a fault where none across the link has one."""
        across = self.plan.vcs_across(link.name)
        if self.plan.is_whole and across and not any(name in self.mcr for name in across):
            got = Shown(f"no VC with an MCR across {link.name}")
            allowed = "an MCR, in [[gfr]], for one of them or more: shares are those of MCRs"
            self.faults.add(where, got, allowed, "what the buffer takes in")
        return tuple(self.mcr.get(name, 0) for name in self.plan.vcs)

    def _dfba(
        self, link: PlannedLink, policy: Dfba, capacity: int | None, where: Path
    ) -> PolicySpec:
        low, high = (
            self._threshold(policy, key, capacity, where)
            for key in ("low_threshold", "high_threshold")
        )
        if capacity is not None and low >= high:
            allowed = f"below high_threshold, {show_amount(high)}"
            self._misordered(policy, "low_threshold", allowed, where)
        mcr = self._mcrs(link, where)
        rules: dict[str, ZComplementSpec | ZComplementSquaredSpec] = {
            "1-w_i/w": ZComplementSpec(),
            "(1-w_i/w)^2": ZComplementSquaredSpec(),
        }
        return DfbaSpec(
            low_cells=low,
            high_cells=high,
            alpha=policy.alpha,
            mcr_millicells=mcr,
            z=rules[policy.z] if isinstance(policy.z, str) else ZFixedSpec(value=policy.z),
            keeps_last_cells=policy.keep_last_cells,
        )

    def _single_drop(
        self, link: PlannedLink, policy: SingleDrop, capacity: int | None, where: Path
    ) -> PolicySpec:
        here = (*where, "thresholds")
        meaning = meaning_of(SingleDrop.model_fields["thresholds"])
        across = self.plan.vcs_across(link.name)
        if isinstance(policy.thresholds, dict):
            by_vc = policy.thresholds
            for name in by_vc:
                if name not in across and not self.plan.may_have(name):
                    known = ", ".join(across[:6]) + (", …" if len(across) > 6 else "")
                    self.faults.add(
                        (*here, name), name, f"a VC across {link.name}: {known}", meaning
                    )
        else:
            if len(policy.thresholds) != len(across) and self.plan.is_whole:
                got = Shown(f"{len(policy.thresholds)} thresholds")
                self.faults.add(here, got, f"one for each of {len(across)} VCs", meaning)
            by_vc = dict(zip(across, policy.thresholds, strict=False))
        for name, cells in by_vc.items():
            if capacity is not None and cells.amount > capacity:
                allowed = f"up to {show_amount(capacity)} cells, the buffer"
                self.faults.add(here, Shown(f"{cells} for {name}"), allowed, meaning)
        given: list[int | None] = [
            int(by_vc[name].amount) if name in by_vc else None for name in self.plan.vcs
        ]
        smallest = min((n for n in given if n is not None), default=None)
        rearm = int(policy.rearm_below.amount)
        if smallest is not None and rearm >= smallest:
            self.faults.add(
                (*where, "rearm_below"),
                policy.rearm_below.text,
                f"below the smallest threshold, {show_amount(smallest)} cells",
                meaning_of(SingleDrop.model_fields["rearm_below"]),
            )
        return SingleDropSpec(thresholds_cells=tuple(given), rearm_below_cells=rearm)
