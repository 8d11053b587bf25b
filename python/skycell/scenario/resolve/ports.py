"""The port that feeds a link: its buffer, its policy's thresholds and its scheduler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import sqrt

from skycell.input.faults import FaultCollector, Path, Verbatim
from skycell.input.parameters import meaning_of
from skycell.input.quantities import rounded, show_amount, show_time
from skycell.scenario.declared.channels import CHANNELS, AnyChannel
from skycell.scenario.declared.delays import DELAYS
from skycell.scenario.declared.policies import POLICIES
from skycell.scenario.declared.rate_algorithms import RATE_ALGORITHMS
from skycell.scenario.declared.schedulers import SCHEDULERS
from skycell.scenario.file.jitter import PortGap
from skycell.scenario.file.links import CongestedLink
from skycell.scenario.interpreter.place import Buffer, Place, Vcs
from skycell.scenario.interpreter.rules import resolve
from skycell.scenario.plan.plan import Plan, PlannedLink
from skycell.scenario.resolve.by_flow import check_by_flow, counts_flows
from skycell.scenario.resolve.jitter import gap_ps
from skycell.scenario.resolve.lines import Line
from skycell.scenario.resolve.token_buckets import resolve_buckets
from skycell.scenario.values.buffer_units import BufferUnit, of_cells, of_packets
from skycell.scenario.values.cells import MOST_CELLS
from skycell.spec.network import (
    ChannelSpec,
    DelayVariationSpec,
    FifoSpec,
    PortSpec,
    QueueSpec,
    RateAlgorithmSpec,
    SchedulerSpec,
    StrictPrioritySpec,
    TableDelaySpec,
)

#: From the mean of a law down to its least, in spreads; `DelayVariationSpec::reach_ps` in Rust.
_REACH = {"uniform": Fraction(1), "normal": Fraction(4), "pareto": Fraction(1 / sqrt(3))}


@dataclass
class PortResolver:
    """Resolves buffers and thresholds to what the buffers count."""

    plan: Plan
    vcs_by_link: Mapping[str, Sequence[str]]
    rtt_ps: int
    frame_cells: int
    packets: Mapping[str, int]
    mcr: Mapping[str, int]
    mbs: Mapping[str, int]
    faults: FaultCollector
    #: Ports that take in whatever comes, by table of the file, line, and whether they wait before
    #: frames.
    _unlimited: dict[tuple[Path, Line, bool], PortSpec | None] = field(
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

    def port(self, link: PlannedLink, line: Line) -> PortSpec | None:
        """The port that feeds `link`, which carries things as `line` does; none with a fault.

        Access links of one table share theirs, which saves large networks time and memory.
        """
        if not link.takes_all_in:
            return self._port(link, line)
        kind = (link.path, line, isinstance(link.jitter, PortGap))
        if kind not in self._unlimited:
            self._unlimited[kind] = self._port(link, line)
        return self._unlimited[kind]

    def _port(self, link: PlannedLink, line: Line) -> PortSpec | None:
        queues: list[QueueSpec | None] = []
        seen: set[str] = set()
        for i, own in enumerate(link.classes):
            path = (*link.path, "class", i)
            if own.name in seen:
                self.faults.add((*path, "name"), own.name, "each class once")
            seen.add(own.name)
            part = replace(
                link,
                buffer=own.buffer,
                policy=own.policy,
                path=path,
                buffer_key="buffer",
                policy_key="policy",
            )
            queues.append(self._queue(part, line, own.name))
        queues.append(self._queue(link, line, None))
        scheduler = self._scheduler(link, line)
        noted = len(self.faults.faults)
        check_by_flow(link, self.plan, self.faults)
        buckets = resolve_buckets(link, line, self.packets[link.name], self.faults)
        rate_algorithm = self._rate_algorithm(link, line)
        has_fault = len(self.faults.faults) > noted
        frame_gap_ps = gap_ps(link.jitter, link.path, line.cell_time_ps, self.faults)
        whole = tuple(queue for queue in queues if queue is not None)
        if len(whole) < len(queues) or scheduler is None or has_fault:
            return None
        return PortSpec(
            queues=whole,
            scheduler=scheduler,
            frame_gap_ps=frame_gap_ps,
            rate_algorithm=rate_algorithm,
            ack_filter=link.ack_filter,
            **buckets,
        )

    def _rate_algorithm(self, link: PlannedLink, line: Line) -> RateAlgorithmSpec | None:
        if link.rate_algorithm is None:
            return None
        where = (*link.path, "rate_algorithm")
        if line.packets is not None:
            kind = link.rate_algorithm.kind
            self.faults.add(where, kind, "nothing: the link carries packets")
            return None
        unit = self._unit(link, line)
        buffer = link.buffer
        capacity = None if isinstance(buffer, str) else unit.amount(buffer)
        port = self._rule_at(where, link, line, unit, capacity, (None,))
        rule = RATE_ALGORITHMS[link.rate_algorithm.kind]
        algorithm: RateAlgorithmSpec | None = resolve(rule, link.rate_algorithm, port)
        return algorithm

    def channel(
        self, link: PlannedLink, line: Line, written: AnyChannel | None
    ) -> ChannelSpec | None:
        """How the losses of a link come in bursts, if the file says so; none with a fault."""
        if written is None:
            return None
        unit = self._unit(link, line)
        port = self._rule_at((*link.path, "loss"), link, line, unit, None, (None,))
        channel: ChannelSpec | None = resolve(CHANNELS[written.kind], written, port)
        return channel

    def delay_variation(
        self, link: PlannedLink, line: Line, is_changing: bool
    ) -> tuple[DelayVariationSpec | None, int]:
        """How the delay of a link varies, and the least that it takes, picoseconds.

        None where the delay does not vary, or with a fault. `is_changing` says that the delay
        follows a schedule, which has no place for it.
        """
        mean_ps = rounded(link.delay.amount)
        written = link.delay_variation
        if written is None:
            return None, mean_ps
        where = (*link.path, "delay_variation")
        refused = {
            "nothing: the link carries cells, whose order a VC keeps": line.packets is None,
            "nothing: the delay of the link has a schedule": is_changing,
        }
        for allowed, is_so in refused.items():
            if is_so:
                self.faults.add(where, Verbatim("a table"), allowed)
                return None, mean_ps
        port = self._rule_at(where, link, line, self._unit(link, line), None, (None,))
        spec: DelayVariationSpec | None = resolve(DELAYS[written.kind], written, port)
        reach_ps = 0
        if spec is not None and not isinstance(spec, TableDelaySpec):
            reach_ps = rounded(spec.spread_ps * _REACH[spec.kind])
            if reach_ps > mean_ps:
                got = Verbatim(f"{show_time(spec.spread_ps)} about a delay of {show_time(mean_ps)}")
                allowed = f"a delay from {show_time(reach_ps)} on: none is below 0"
                self.faults.add((*where, "spread"), got, allowed)
        return spec, max(mean_ps - reach_ps, 0)

    def _queue(self, link: PlannedLink, line: Line, service: str | None) -> QueueSpec | None:
        noted = len(self.faults.faults)
        unit = self._unit(link, line)
        capacity = self._capacity(link, unit)
        if len(self.faults.faults) > noted:
            return None  # of which no threshold can be compared with its size
        where = (*link.path, link.policy_key)
        rule = POLICIES[link.policy.kind]
        if rule.facts.get("needs") == "packets" and line.packets is None:
            allowed = "a policy that decides as frames arrive: the link carries cells"
            self.faults.add((*where, "kind"), link.policy.kind, allowed)
            return None
        port = self._rule_at(where, link, line, unit, capacity, (service,))
        policy = resolve(rule, link.policy, port)
        if policy is None:
            return None
        queue = {
            "class": service,
            "capacity_cells": capacity,
            "counts_octets": unit.counts_octets,
            "by_flow": counts_flows(link),
            "policy": policy,
        }
        return QueueSpec.model_validate(queue)

    def _unit(self, link: PlannedLink, line: Line) -> BufferUnit:
        if line.packets is None:
            return of_cells(self.frame_cells, line.cell_time_ps, self.rtt_ps)
        size = None if isinstance(link.buffer, str) else link.buffer.dimension
        return of_packets(line.packets, self.packets[link.name], self.rtt_ps, size)

    def _rule_at(
        self,
        where: Path,
        link: PlannedLink,
        line: Line,
        unit: BufferUnit,
        capacity: int | None,
        classes: Sequence[str | None],
    ) -> Place:
        across = self.vcs_by_link[link.name]
        return Place(
            path=where,
            faults=self.faults,
            link=link.name,
            line=line,
            packet=self.packets[link.name],
            buffer=Buffer(capacity, unit),
            classes=classes,
            vcs=Vcs(across, self._mcr_of_vcs, self.mbs, self._knows_all_mcrs),
        )

    def _scheduler(self, link: PlannedLink, line: Line) -> SchedulerSpec | None:
        classes = (*(own.name for own in link.classes), None)
        scheduler = link.scheduler
        where = (*link.path, "scheduler")
        if scheduler is None:
            return FifoSpec() if len(classes) == 1 else StrictPrioritySpec()
        rule = SCHEDULERS[scheduler.kind]
        serves = rule.facts["serves"]
        if serves == "VCs" and (len(classes) > 1 or self.plan.nodes[link.source] != "switch"):
            at = link.name if len(classes) == 1 else f"{len(classes)} queues"
            allowed = "one queue at a switch's port: this scheduler orders the VCs in one buffer"
            got = Verbatim(f"{scheduler.kind} for {at}")
            self.faults.add(where, got, allowed)
            return None
        if serves == "packets" and (line.packets is None or len(classes) > 1):
            allowed = "a scheduler of cells or of several queues: this one orders packets in one"
            self.faults.add(where, scheduler.kind, allowed)
            return None
        if serves == "one queue" and len(classes) > 1:
            several = [kind for kind, one in SCHEDULERS.items() if one.facts["serves"] == "queues"]
            allowed = f"{', '.join(several[:-1])} or {several[-1]} for several queues"
            self.faults.add(where, scheduler.kind, allowed)
            return None
        if line.packets is not None and scheduler.kind == "guaranteed_rate":
            allowed = "a scheduler that serves packets: the rates of this one are of cells"
            self.faults.add(where, scheduler.kind, allowed)
            return None
        port = self._rule_at(where, link, line, self._unit(link, line), None, classes)
        spec: SchedulerSpec | None = resolve(rule, scheduler, port)
        return spec

    def _capacity(self, link: PlannedLink, unit: BufferUnit) -> int | None:
        buffer = link.buffer
        if isinstance(buffer, str):
            return None
        where = (*link.path, link.buffer_key)
        meaning = meaning_of(CongestedLink.model_fields["buffer"])
        amount = unit.amount(buffer)
        if amount is None:
            self.faults.add(where, buffer.text, unit.allowed_sizes)
            return None
        # A packet that never fits would be sent again for ever.
        least = 1 if not unit.counts_octets else unit.full
        if not least <= amount <= MOST_CELLS:
            got = Verbatim(f'"{buffer}", which is {unit.shown(amount)}')
            low = show_amount(1) if least == 1 else f"{unit.shown(least)}, one full packet,"
            allowed = f"from {low} to {unit.shown(MOST_CELLS)}"
            self.faults.add(where, got, allowed, meaning)
        return amount
