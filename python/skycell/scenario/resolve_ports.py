"""The port that feeds a link: its buffer, its policy's thresholds and its scheduler, in cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from skycell.scenario.cells import MOST_CELLS
from skycell.scenario.classes import ClassQueue
from skycell.scenario.faults import FaultCollector, Path, Shown
from skycell.scenario.jitter import PortGap
from skycell.scenario.links import CongestedLink, cell_time_ps
from skycell.scenario.network_spec import (
    DfbaSpec,
    DynamicEpdSpec,
    EpdSpec,
    FairBufferAllocationSpec,
    FredSpec,
    McrSchedulingSpec,
    PmeEredSpec,
    PolicySpec,
    PortSpec,
    PpdSpec,
    PriorityDropSpec,
    QueueSpec,
    RedPart,
    RedSpec,
    SelectiveDropSpec,
    SingleDropSpec,
    TailDropSpec,
    VcPriorityDropSpec,
    VirtualQueueingSpec,
    ZComplementSpec,
    ZComplementSquaredSpec,
    ZFixedSpec,
)
from skycell.scenario.parameters import Parameters, exact, meaning_of
from skycell.scenario.plan import Plan, PlannedLink
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
    Dimension,
    Quantity,
    rounded,
    show_amount,
)
from skycell.scenario.resolve_classes import resolve_scheduler
from skycell.scenario.resolve_jitter import gap_ps


@dataclass
class PortResolver:
    """Resolves buffers and thresholds to cells."""

    plan: Plan
    vcs_by_link: Mapping[str, Sequence[str]]
    rtt_ps: int
    frame_cells: int
    mcr: Mapping[str, int]
    mbs: Mapping[str, int]
    rates: Mapping[str, Fraction]
    faults: FaultCollector
    #: Ports that take in whatever comes, by table of the file, time of a cell, and whether they
    #: wait before frames.
    _unlimited: dict[tuple[Path, int, bool], PortSpec | None] = field(
        default_factory=dict, init=False
    )

    @cached_property
    def _mcr_of_vcs(self) -> Mapping[str, int]:
        """MCR of every VC, thousandths of a cell a second; 0 for one without a contract."""
        return {name: self.mcr.get(name, 0) for name in self.plan.vcs}

    @cached_property
    def _knows_all_mcrs(self) -> bool:
        """Whether no contract is of a VC that there is not, which may be meant for another."""
        return all(name in self.plan.vcs for name in self.mcr)

    def port(self, link: PlannedLink, cell_time: int) -> PortSpec | None:
        """The port that feeds `link`, whose cells take `cell_time` picoseconds; none with a fault.

        Access links of one table share theirs, which saves large networks time and memory.
        """
        if not link.takes_all_in:
            return self._port(link, cell_time)
        kind = (link.path, cell_time, isinstance(link.jitter, PortGap))
        if kind not in self._unlimited:
            self._unlimited[kind] = self._port(link, cell_time)
        return self._unlimited[kind]

    def _port(self, link: PlannedLink, cell_time: int) -> PortSpec | None:
        queues: list[QueueSpec | None] = []
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
        scheduler = resolve_scheduler(
            link,
            self.plan,
            cell_time,
            self._mcr_of_vcs,
            self._knows_all_mcrs,
            self.faults,
        )
        frame_gap_ps = gap_ps(link.jitter, link.path, cell_time, self.faults)
        whole = tuple(queue for queue in queues if queue is not None)
        if len(whole) < len(queues):
            return None
        return PortSpec(queues=whole, scheduler=scheduler, frame_gap_ps=frame_gap_ps)

    def _queue(self, link: PlannedLink, cell_time: int, service: str | None) -> QueueSpec | None:
        noted = len(self.faults.faults)
        capacity = self._capacity(link, cell_time)
        if len(self.faults.faults) > noted:
            return None  # of which no threshold can be compared with its size
        policy = self._policy(link, capacity)
        queue = {"class": service, "capacity_cells": capacity, "policy": policy}
        return QueueSpec.model_validate(queue)

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
            got = Shown(f"{written}, with an unlimited buffer")
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
        across = self.vcs_by_link[link.name]
        if self._knows_all_mcrs and across and not any(name in self.mcr for name in across):
            got = Shown(f"no VC with an MCR across {link.name}")
            allowed = "an MCR in [[gfr]] for at least one of them: shares follow from MCRs"
            self.faults.add(where, got, allowed, "what the buffer accepts")
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
        across = self.vcs_by_link[link.name]
        if isinstance(policy.thresholds, dict):
            by_vc = policy.thresholds
            for name in by_vc:
                if name not in across:
                    known = ", ".join(across[:6]) + (", …" if len(across) > 6 else "")
                    self.faults.add(
                        (*here, name), name, f"a VC across {link.name}: {known}", meaning
                    )
        else:
            if len(policy.thresholds) != len(across):
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
