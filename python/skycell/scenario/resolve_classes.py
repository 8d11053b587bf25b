"""Schedulers of a port resolved: shares of the link in parts of 10^9, weights in cells."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from skycell.scenario.cells import cells_per_second
from skycell.scenario.classes import (
    GuaranteedRate,
    StrictPriority,
    VcRoundRobin,
    VcWeightedRoundRobin,
    VirtualSpacing,
    WeightedRoundRobin,
)
from skycell.scenario.contracts import MILLICELLS
from skycell.scenario.faults import FaultCollector, Path, Shown, did_you_mean
from skycell.scenario.network_spec import (
    WHOLE_PPB,
    FifoSpec,
    GuaranteedRateSpec,
    SchedulerSpec,
    StrictPrioritySpec,
    VcRoundRobinSpec,
    VirtualSpacingSpec,
    WeightedRoundRobinSpec,
)
from skycell.scenario.parameters import meaning_of
from skycell.scenario.plan import Plan, PlannedLink
from skycell.scenario.quantities import PS_PER_SECOND, Quantity, rounded, show_amount


def resolve_scheduler(
    link: PlannedLink,
    plan: Plan,
    cell_time: int,
    mcr: Mapping[str, int],
    knows_all_mcrs: bool,
    faults: FaultCollector,
) -> SchedulerSpec:
    """The scheduler of the port that feeds `link`, whose cells take `cell_time` picoseconds.

    `mcr` is that of each VC of the run, in its order, thousandths of a cell a second, 0 for one
    without; `knows_all_mcrs` says whether 0 is what was meant.
    """
    queues = (*(own.name for own in link.classes), None)
    is_switch = plan.nodes[link.source] == "switch"
    scheduler = link.scheduler
    where = (*link.path, "scheduler")
    if scheduler is None:
        return FifoSpec() if len(queues) == 1 else StrictPrioritySpec()
    if isinstance(scheduler, StrictPriority):
        return StrictPrioritySpec()
    if isinstance(scheduler, GuaranteedRate):
        return _guaranteed_rate(link, scheduler, queues, cell_time, faults)
    if isinstance(scheduler, WeightedRoundRobin):
        weights = [1] * len(queues)
        owners: dict[int, str] = {}
        for name, weight in scheduler.weights.items():
            place = _place(name, queues, owners, (*where, "weights", name), faults)
            weights[place] = weight
        return WeightedRoundRobinSpec(weights=tuple(weights))
    if isinstance(scheduler, VirtualSpacing | VcRoundRobin | VcWeightedRoundRobin):
        if len(queues) > 1 or not is_switch:
            at = link.name if len(queues) == 1 else f"{len(queues)} queues"
            allowed = "one queue at a switch's port: this scheduler orders the VCs in one buffer"
            got = Shown(f"{scheduler.kind} for {at}")
            faults.add(where, got, allowed, "which queue sends the next cell")
            return FifoSpec()
        if isinstance(scheduler, VirtualSpacing):
            return _virtual_spacing(scheduler, tuple(mcr.values()))
        if isinstance(scheduler, VcRoundRobin):
            return VcRoundRobinSpec(weights=(1,) * len(mcr))
        return _weighted(scheduler, mcr, knows_all_mcrs, link, plan, faults)
    if len(queues) > 1:
        allowed = "strict_priority, guaranteed_rate or weighted_round_robin for several queues"
        faults.add(where, scheduler.kind, allowed, "which queue sends the next cell")
        return StrictPrioritySpec()
    return FifoSpec()


def _virtual_spacing(scheduler: VirtualSpacing, mcr: tuple[int, ...]) -> VirtualSpacingSpec:
    other = cells_per_second(scheduler.other_rate) * MILLICELLS
    return VirtualSpacingSpec(
        intervals_ps=tuple(
            max(1, rounded(PS_PER_SECOND * MILLICELLS / (rate or other)))
            for rate in map(Fraction, mcr)
        )
    )


def _weighted(
    scheduler: VcWeightedRoundRobin,
    mcr: Mapping[str, int],
    knows_all_mcrs: bool,
    link: PlannedLink,
    plan: Plan,
    faults: FaultCollector,
) -> VcRoundRobinSpec:
    where = (*link.path, "scheduler", "weights")
    meaning = meaning_of(VcWeightedRoundRobin.model_fields["weights"])
    across = [name for name, vc in plan.vcs.items() if link.name in vc.links]
    if scheduler.weights is None:
        total = sum(mcr[name] for name in across)
        if total == 0 and knows_all_mcrs:
            got = Shown(f"nothing, and no VC with an MCR across {link.name}")
            allowed = "weights, or an MCR in [[gfr]] for at least one of them"
            faults.add(where, got, allowed, meaning)
        total = max(total, 1)
        weights = {
            name: max(1, rounded(Fraction(mcr[name] * scheduler.round, total))) for name in across
        }
    else:
        weights = scheduler.weights
        for name in weights:
            if name not in across:
                allowed = f"a VC across {link.name}{did_you_mean(name, across)}"
                faults.add((*where, name), name, allowed, meaning)
    return VcRoundRobinSpec(weights=tuple(weights.get(name, 1) for name in mcr))


def _guaranteed_rate(
    link: PlannedLink,
    scheduler: GuaranteedRate,
    queues: tuple[str | None, ...],
    cell_time: int,
    faults: FaultCollector,
) -> GuaranteedRateSpec:
    where = (*link.path, "scheduler", "rates")
    shares = [Fraction(0)] * len(queues)
    owners: dict[int, str] = {}
    for name, given in scheduler.rates.items():
        place = _place(name, queues, owners, (*where, name), faults)
        shares[place] = _share(given, cell_time)
    total = sum(shares)
    if total > 1:
        rate = Fraction(PS_PER_SECOND, cell_time)
        faults.add(
            where,
            Shown(f"{show_amount(int(total * rate))} cells/s in total on {link.name}"),
            f"up to {show_amount(int(rate))} cells/s, what the link carries",
            meaning_of(GuaranteedRate.model_fields["rates"]),
        )
    held = (min(share, Fraction(1)) for share in shares)  # the fault of more has been told
    return GuaranteedRateSpec(shares_ppb=tuple(int(share * WHOLE_PPB) for share in held))


def _share(given: Fraction | Quantity, cell_time: int) -> Fraction:
    """A class's part of the link's cells."""
    if not isinstance(given, Quantity):
        return given
    return cells_per_second(given) * Fraction(cell_time, PS_PER_SECOND)


def _place(
    name: str,
    queues: tuple[str | None, ...],
    owners: dict[int, str],
    where: Path,
    faults: FaultCollector,
) -> int:
    """Place of the queue that holds the cells of a class; a queue is spoken of once."""
    place = queues.index(name if name in queues else None)
    if place in owners:
        got = Shown(f"{name} as well as {owners[place]}")
        faults.add(where, got, "each queue once: classes without their own share one queue")
    owners[place] = name
    return place
