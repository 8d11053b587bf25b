"""What a parameter of each type becomes: from what a file has, and what a port is, to an engine's.

One function for each type of `crates/declare`, under its name. None stands for what is at fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from skycell.input.faults import FaultCollector, Path, Verbatim, did_you_mean
from skycell.input.parameters import Parameters, exact
from skycell.input.quantities import PS_PER_SECOND, Quantity, rounded, show_amount
from skycell.scenario.declared.rules import Declares
from skycell.scenario.plan.plan import Plan
from skycell.scenario.resolve.contracts import MILLICELLS
from skycell.scenario.resolve.lines import Line
from skycell.scenario.values.buffer_units import BufferUnit
from skycell.scenario.values.cells import MOST_CELLS, cells_per_second
from skycell.scenario.values.parameter_types import Z_RULES
from skycell.spec.network import DfbaZFixed
from skycell.spec.values import WHOLE_PPB, packet_time_ps


@dataclass(frozen=True)
class Port:
    """The port of a rule, and what its parameters may follow from."""

    where: Path
    """The rule's table in the file."""
    name: str
    """Of the link that it feeds."""
    capacity: int | None
    """Of the buffer, in what that counts."""
    unit: BufferUnit
    """What the buffer counts."""
    line: Line
    """How the link that it feeds carries things."""
    packet: int
    """Octets of the longest packet that crosses it."""
    classes: Sequence[str | None]
    """Of its queues, in their order; none for the default one."""
    across: Sequence[str]
    """VCs that cross it, by name."""
    plan: Plan
    mcr: Mapping[str, int]
    """Of every VC, thousandths of a cell a second; 0 for one without a contract."""
    mbs: Mapping[str, int]
    """Of the VCs with a contract, cells."""
    knows_all_mcrs: bool
    """Whether no contract is of a VC that there is not, which may be meant for another."""
    faults: FaultCollector

    def fault(self, written: Parameters, key: str, got: object, allowed: str) -> None:
        """Adds a fault of a parameter."""
        self.faults.add((*self.where, key), got, allowed)

    def amount(self, written: Parameters, key: str, size: Quantity) -> int | None:
        """A size in what the buffer counts; none, with a fault, where that cannot be said in it."""
        amount = self.unit.amount(size)
        if amount is None:
            self.fault(written, key, size.text, self.unit.allowed)
        return amount


Resolver = Callable[[Port, Declares, Any, Parameters], Any]
RESOLVERS: dict[str, Resolver] = {}


def _resolves(*types: str) -> Callable[[Resolver], Resolver]:
    def add(resolver: Resolver) -> Resolver:
        RESOLVERS.update(dict.fromkeys(types, resolver))
        return resolver

    return add


@_resolves(
    "Flag",
    "UpToEqualShare",
    "PartOfOne",
    "FromZeroToOne",
    "AtLeastOne",
    "CellsInRound",
    "QueueCount",
    "Coupling",
    "PerSecond",
    "Correlation",
    "BitErrorRatio",
    "BitErrorRatioOrNone",
    "ErrorDensity",
    "BitCount",
    "WrongBits",
)
def _as_written(port: Port, one: Declares, value: Any, written: Parameters) -> Any:
    return value


@_resolves("CellRateOrNone")
def _cell_rate(port: Port, one: Declares, value: Quantity, written: Parameters) -> int:
    return int(cells_per_second(value) * MILLICELLS)


@_resolves("word")
def _word(port: Port, one: Declares, value: str, written: Parameters) -> str:
    return one.words.get(value, value)


@_resolves("Threshold", "ThresholdBelowCapacity", "AverageThreshold")
def _threshold(port: Port, one: Declares, value: Any, written: Parameters) -> int | None:
    assert one.key is not None
    if port.capacity is None:
        got = Verbatim(f"{value}, with an unlimited buffer")
        port.fault(written, one.key, got, "a threshold needs a buffer of limited size")
        return None
    is_size = isinstance(value, Quantity)
    amount = port.amount(written, one.key, value) if is_size else int(exact(value) * port.capacity)
    if amount is None:
        return None
    highest = port.capacity - (one.type == "ThresholdBelowCapacity")
    if amount > highest:
        allowed = f"up to {port.unit.shown(highest)} of the buffer"
        port.fault(written, one.key, str(value) if is_size else value, allowed)
    return min(amount, MOST_CELLS)


@_resolves("CellCount")
def _count(port: Port, one: Declares, value: Quantity, written: Parameters) -> int | None:
    assert one.key is not None
    return port.amount(written, one.key, value)


@_resolves("CellsOfFrames")
def _cells_of_frames(port: Port, one: Declares, value: int, written: Parameters) -> int:
    return value * port.unit.full


@_resolves("FrameCells")
def _frame_cells(port: Port, one: Declares, value: None, written: Parameters) -> int:
    return port.unit.full


@_resolves("FrameTime")
def _frame_time(port: Port, one: Declares, value: None, written: Parameters) -> int:
    if port.line.packets is not None:
        return packet_time_ps(port.line.packets, port.packet)
    return port.unit.full * port.line.cell_time_ps


@_resolves("Interval", "StateTime", "TimeOrNone")
def _interval(port: Port, one: Declares, value: Quantity, written: Parameters) -> int:
    return rounded(value.amount)


@_resolves("PacketOctets")
def _packet_octets(port: Port, one: Declares, value: Quantity, written: Parameters) -> int:
    return int(value.amount)


@_resolves("VcThresholds")
def _vc_thresholds(
    port: Port, one: Declares, value: Any, written: Parameters
) -> tuple[int | None, ...]:
    assert one.key is not None
    across = port.across
    if isinstance(value, Mapping):
        by_vc = value
        for name in by_vc:
            if name not in across:
                known = ", ".join(across[:6]) + (", …" if len(across) > 6 else "")
                allowed = f"a VC across {port.name}: {known}"
                port.faults.add((*port.where, one.key, name), name, allowed)
    else:
        if len(value) != len(across):
            got = Verbatim(f"{len(value)} thresholds")
            port.fault(written, one.key, got, f"one for each of {len(across)} VCs")
        by_vc = dict(zip(across, value, strict=False))
    amounts = {name: port.amount(written, one.key, size) for name, size in by_vc.items()}
    for name, amount in amounts.items():
        if port.capacity is not None and amount is not None and amount > port.capacity:
            allowed = f"up to {port.unit.shown(port.capacity)}, the buffer"
            port.fault(written, one.key, Verbatim(f"{by_vc[name]} for {name}"), allowed)
    return tuple(amounts.get(name) for name in port.plan.vcs)


@_resolves("VcAllowances")
def _vc_allowances(
    port: Port, one: Declares, value: Quantity | str, written: Parameters
) -> tuple[int, ...]:
    if isinstance(value, Quantity) and port.knows_all_mcrs and not port.mbs.keys() & port.across:
        assert one.key is not None
        allowed = f"only where a VC with a GFR contract crosses {port.name}: it holds no other"
        port.fault(written, one.key, value.text, allowed)
    return tuple(
        int(value.amount)
        if isinstance(value, Quantity) and name in port.mbs
        else port.mbs.get(name, 0)
        for name in port.plan.vcs
    )


@_resolves("VcLevels")
def _vc_levels(
    port: Port, one: Declares, value: Mapping[str, int], written: Any
) -> tuple[int, ...]:
    assert one.key is not None
    levels = len(written.thresholds)
    for name, level in value.items():
        where = (*port.where, one.key, name)
        if name not in port.across:
            allowed = f"a VC across {port.name}{did_you_mean(name, port.across)}"
            port.faults.add(where, name, allowed)
        elif level > levels:
            allowed = f"up to {levels}: there is a threshold for each level"
            port.faults.add(where, level, allowed)
    return tuple(value.get(name, 1) for name in port.plan.vcs)


@_resolves("McrByVc")
def _mcr_by_vc(port: Port, one: Declares, value: None, written: Parameters) -> tuple[int, ...]:
    across = port.across
    if port.knows_all_mcrs and across and not any(port.mcr[name] for name in across):
        got = Verbatim(f"no VC with an MCR across {port.name}")
        allowed = "an MCR in [[gfr]] for at least one of them: shares follow from MCRs"
        port.faults.add(port.where, got, allowed)
    return tuple(port.mcr.values())


@_resolves("DfbaZ")
def _dfba_z(port: Port, one: Declares, value: float | str, written: Parameters) -> Any:
    return Z_RULES[value] if isinstance(value, str) else DfbaZFixed(value=value)


@_resolves("ClassShares")
def _class_shares(
    port: Port, one: Declares, value: Mapping[str, Fraction | Quantity], written: Parameters
) -> tuple[int, ...]:
    assert one.key is not None
    shares = [Fraction(0)] * len(port.classes)
    for place, share in _by_queue(port, one.key, value).items():
        is_rate = isinstance(share, Quantity)
        part = Fraction(port.line.cell_time_ps, PS_PER_SECOND)
        shares[place] = cells_per_second(share) * part if is_rate else share
    total = sum(shares)
    if total > 1:
        rate = Fraction(PS_PER_SECOND, port.line.cell_time_ps)
        port.fault(
            written,
            one.key,
            Verbatim(f"{show_amount(int(total * rate))} cells/s in total on {port.name}"),
            f"up to {show_amount(int(rate))} cells/s, what the link carries",
        )
    held = (min(share, Fraction(1)) for share in shares)  # the fault of more has been told
    return tuple(int(share * WHOLE_PPB) for share in held)


@_resolves("ClassWeights")
def _class_weights(
    port: Port, one: Declares, value: Mapping[str, int], written: Parameters
) -> tuple[int, ...]:
    assert one.key is not None
    by_queue = _by_queue(port, one.key, value)
    return tuple(by_queue.get(place, 1) for place in range(len(port.classes)))


def _by_queue(port: Port, key: str, by_class: Mapping[str, Any]) -> dict[int, Any]:
    """Values by class as values by the place of the queue that holds it, which has one."""
    owners: dict[int, str] = {}
    values = {}
    for name, value in by_class.items():
        place = port.classes.index(name if name in port.classes else None)
        if place in owners:
            got = Verbatim(f"{name} as well as {owners[place]}")
            allowed = "each queue once: classes without their own share one queue"
            port.faults.add((*port.where, key, name), got, allowed)
        owners[place] = name
        values[place] = value
    return values


@_resolves("EqualVcWeights")
def _equal_vc_weights(
    port: Port, one: Declares, value: None, written: Parameters
) -> tuple[int, ...]:
    return (1,) * len(port.mcr)


@_resolves("VcWeights")
def _vc_weights(
    port: Port, one: Declares, value: Mapping[str, int] | None, written: Any
) -> tuple[int, ...]:
    assert one.key is not None
    weights: Mapping[str, int]
    if value is None:
        total = sum(port.mcr[name] for name in port.across)
        if total == 0 and port.knows_all_mcrs:
            got = Verbatim(f"nothing, and no VC with an MCR across {port.name}")
            allowed = "weights, or an MCR in [[gfr]] for at least one of them"
            port.fault(written, one.key, got, allowed)
        weights = {
            name: max(1, rounded(Fraction(port.mcr[name] * written.round, max(total, 1))))
            for name in port.across
        }
    else:
        weights = value
        for name in weights:
            if name not in port.across:
                allowed = f"a VC across {port.name}{did_you_mean(name, port.across)}"
                port.faults.add((*port.where, one.key, name), name, allowed)
    return tuple(weights.get(name, 1) for name in port.mcr)


@_resolves("VcIntervals")
def _vc_intervals(
    port: Port, one: Declares, value: Quantity, written: Parameters
) -> tuple[int, ...]:
    other = cells_per_second(value) * MILLICELLS
    return tuple(
        max(1, rounded(PS_PER_SECOND * MILLICELLS / (rate or other)))
        for rate in map(Fraction, port.mcr.values())
    )
