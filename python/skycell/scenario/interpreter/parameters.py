"""From a parameter as a file has it to the value that an engine reads, by the parameter's type.

There is a function for each type whose value is not simply a number, a flag or an amount in one
unit. It returns None for a value with a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeVar

from skycell.input.faults import Verbatim, did_you_mean
from skycell.input.parameters import exact
from skycell.input.quantities import (
    CELL_BITS,
    LONGEST_RUN_PS,
    PS_PER_SECOND,
    Dimension,
    Quantity,
    rounded,
    show_amount,
    show_time,
)
from skycell.scenario.declared.tcp import Tcp
from skycell.scenario.declared.types import PLAIN
from skycell.scenario.interpreter.place import Place, needed
from skycell.scenario.values.cells import MILLICELLS, MOST_CELLS, cells_per_second
from skycell.scenario.values.distributions import Constant, ConstantSize, Sizes, Times, Uniform
from skycell.scenario.values.parameter_types import Z_RULES
from skycell.scenario.values.rule_specs import FieldSpec
from skycell.scenario.values.tcp_types import (
    LARGEST_WINDOW,
    RECEIVER_WINDOW,
    WINDOW_FIELD,
    HeldBack,
)
from skycell.spec.declared.network import (
    DelayedAckSpec,
    DfbaZByVc,
    DfbaZFixed,
    DistributionConstant,
    DistributionExponential,
    DistributionSpec,
    DistributionUniform,
    RetransmitDelayNone,
    RetransmitDelaySegments,
    SizeConstant,
    SizeExtreme,
    SizeSpec,
    TickPhaseAt,
    TickPhaseDrawn,
)
from skycell.spec.values import WHOLE_PPB, packet_time_ps

#: Octets above which a file is no file of a web page but a mistake in its unit.
_LARGEST_FILE = 10**12

Resolver = Callable[[Place, FieldSpec, Any, Any], Any]
"""Takes the place, the declaration, the value and the table that has the value."""
_R = TypeVar("_R", bound=Resolver)
_AMOUNTS: Mapping[Dimension, Callable[[Fraction], int]] = {
    Dimension.TIME: rounded,
    Dimension.BIT_RATE: lambda rate: rounded(rate * 1000),
    Dimension.SIZE: int,
    Dimension.CELLS: int,
}
"""From an amount in the base unit of a dimension to what an engine reads."""


def _plain(at: Place, field: FieldSpec, value: Any, table: Any) -> Any:
    """Returns a value as it is written, or the amount of a quantity."""
    dimension = PLAIN[field.type]
    return value if dimension is None or value is None else _AMOUNTS[dimension](value.amount)


RESOLVERS: dict[str, Resolver] = dict.fromkeys(PLAIN, _plain)
"""By type. A type that has a function of its own here need not be plain."""


def _resolves(*types: str) -> Callable[[_R], _R]:
    def add(resolver: _R) -> _R:
        RESOLVERS.update(dict.fromkeys(types, resolver))
        return resolver

    return add


# Words and lists, and rates of cells.


@_resolves("WrongBits")
def _as_written(at: Place, field: FieldSpec, value: Any, table: Any) -> Any:
    return value


@_resolves("word")
def _word(at: Place, field: FieldSpec, value: str, table: Any) -> str:
    return field.words.get(value, value)


@_resolves("OctetsOfUnitOnLine")
def _octets_on_line(at: Place, field: FieldSpec, value: Quantity | None, table: Any) -> int:
    return 0 if value is None else int(value.amount)


@_resolves("CellRateOrNone")
def _cell_rate(at: Place, field: FieldSpec, value: Quantity, table: Any) -> int:
    return int(cells_per_second(value) * MILLICELLS)


@_resolves("PeakCellRate")
def _peak_cell_rate(at: Place, field: FieldSpec, value: Quantity | str, table: Any) -> int:
    if isinstance(value, Quantity):
        return _cell_rate(at, field, value, table)
    return int(needed(at.line).rate / CELL_BITS * MILLICELLS)


@_resolves("RateUpToPeak")
def _rate_up_to_peak(at: Place, field: FieldSpec, value: Quantity | str, table: Any) -> int:
    return _peak_cell_rate(at, field, table.pcr if value == "pcr" else value, table)


# Of a port and its buffer.


@_resolves("Threshold", "ThresholdBelowCapacity", "AverageThreshold")
def _threshold(at: Place, field: FieldSpec, value: Any, table: Any) -> int | None:
    buffer = needed(at.buffer)
    if buffer.capacity is None:
        got = Verbatim(f"{value}, with an unlimited buffer")
        at.fault(field, got, "a threshold needs a buffer of limited size")
        return None
    is_size = isinstance(value, Quantity)
    amount = at.amount(field, value) if is_size else int(exact(value) * buffer.capacity)
    if amount is None:
        return None
    highest = buffer.capacity - (field.type == "ThresholdBelowCapacity")
    if amount > highest:
        allowed = f"up to {buffer.unit.shown(highest)} of the buffer"
        at.fault(field, str(value) if is_size else value, allowed)
    return min(amount, MOST_CELLS)


@_resolves("CellCount")
def _count(at: Place, field: FieldSpec, value: Quantity, table: Any) -> int | None:
    return at.amount(field, value)


@_resolves("CellsOfFrames")
def _cells_of_frames(at: Place, field: FieldSpec, value: int, table: Any) -> int:
    return value * needed(at.buffer).unit.full


@_resolves("FrameCells")
def _frame_cells(at: Place, field: FieldSpec, value: None, table: Any) -> int:
    return needed(at.buffer).unit.full


@_resolves("FrameTime")
def _frame_time(at: Place, field: FieldSpec, value: None, table: Any) -> int:
    line = needed(at.line)
    if line.packets is not None:
        return packet_time_ps(line.packets, at.packet)
    return needed(at.buffer).unit.full * line.cell_time_ps


# Of VCs.


@_resolves("VcThresholds")
def _vc_thresholds(at: Place, field: FieldSpec, value: Any, table: Any) -> tuple[int | None, ...]:
    buffer, vcs = needed(at.buffer), needed(at.vcs)
    across = vcs.across
    if isinstance(value, Mapping):
        by_vc = value
        for name in by_vc:
            if name not in across:
                known = ", ".join(across[:6]) + (", …" if len(across) > 6 else "")
                at.fault(field, name, f"a VC across {at.link}: {known}", name)
    else:
        if len(value) != len(across):
            got = Verbatim(f"{len(value)} thresholds")
            at.fault(field, got, f"one for each of {len(across)} VCs")
        by_vc = dict(zip(across, value, strict=False))
    amounts = {name: at.amount(field, size) for name, size in by_vc.items()}
    for name, amount in amounts.items():
        if buffer.capacity is not None and amount is not None and amount > buffer.capacity:
            allowed = f"up to {buffer.unit.shown(buffer.capacity)}, the buffer"
            at.fault(field, Verbatim(f"{by_vc[name]} for {name}"), allowed)
    return tuple(amounts.get(name) for name in vcs.mcr)


@_resolves("VcAllowances")
def _vc_allowances(
    at: Place, field: FieldSpec, value: Quantity | str, table: Any
) -> tuple[int, ...]:
    vcs = needed(at.vcs)
    if isinstance(value, Quantity) and vcs.knows_all_mcrs and not vcs.mbs.keys() & vcs.across:
        allowed = f"only where a VC with a GFR contract crosses {at.link}: it holds no other"
        at.fault(field, value.text, allowed)
    return tuple(
        int(value.amount)
        if isinstance(value, Quantity) and name in vcs.mbs
        else vcs.mbs.get(name, 0)
        for name in vcs.mcr
    )


@_resolves("VcLevels")
def _vc_levels(
    at: Place, field: FieldSpec, value: Mapping[str, int], table: Any
) -> tuple[int, ...]:
    levels = len(table.thresholds)
    _check_across(at, field, value)
    for name, level in value.items():
        if name in needed(at.vcs).across and level > levels:
            at.fault(field, level, f"up to {levels}: there is a threshold for each level", name)
    return tuple(value.get(name, 1) for name in needed(at.vcs).mcr)


@_resolves("McrByVc")
def _mcr_by_vc(at: Place, field: FieldSpec, value: None, table: Any) -> tuple[int, ...]:
    vcs = needed(at.vcs)
    if vcs.knows_all_mcrs and vcs.across and not any(vcs.mcr[name] for name in vcs.across):
        got = Verbatim(f"no VC with an MCR across {at.link}")
        allowed = "an MCR in [[gfr]] for at least one of the VCs: shares follow from MCRs"
        at.faults.add(at.path, got, allowed)
    return tuple(vcs.mcr.values())


@_resolves("EqualVcWeights")
def _equal_vc_weights(at: Place, field: FieldSpec, value: None, table: Any) -> tuple[int, ...]:
    return (1,) * len(needed(at.vcs).mcr)


@_resolves("VcWeights")
def _vc_weights(
    at: Place, field: FieldSpec, value: Mapping[str, int] | None, table: Any
) -> tuple[int, ...]:
    vcs = needed(at.vcs)
    weights: Mapping[str, int]
    if value is None:
        total = sum(vcs.mcr[name] for name in vcs.across)
        if total == 0 and vcs.knows_all_mcrs:
            got = Verbatim(f"nothing, and no VC with an MCR across {at.link}")
            allowed = "weights, or an MCR in [[gfr]] for at least one of the VCs"
            at.fault(field, got, allowed)
        weights = {
            name: max(1, rounded(Fraction(vcs.mcr[name] * table.round, max(total, 1))))
            for name in vcs.across
        }
    else:
        weights = value
        _check_across(at, field, weights)
    return tuple(weights.get(name, 1) for name in vcs.mcr)


@_resolves("VcIntervals")
def _vc_intervals(at: Place, field: FieldSpec, value: Quantity, table: Any) -> tuple[int, ...]:
    other = cells_per_second(value) * MILLICELLS
    return tuple(
        max(1, rounded(PS_PER_SECOND * MILLICELLS / (rate or other)))
        for rate in map(Fraction, needed(at.vcs).mcr.values())
    )


@_resolves("DfbaZ")
def _dfba_z(
    at: Place, field: FieldSpec, value: float | str | Mapping[str, float], table: Any
) -> Any:
    if isinstance(value, Mapping):
        _check_across(at, field, value)
        return DfbaZByVc(values=tuple(value.get(name, 1.0) for name in needed(at.vcs).mcr))
    return Z_RULES[value] if isinstance(value, str) else DfbaZFixed(value=value)


def _check_across(at: Place, field: FieldSpec, by_vc: Mapping[str, Any]) -> None:
    """Refuses values for VCs that do not cross the port."""
    across = needed(at.vcs).across
    for name in by_vc:
        if name not in across:
            at.fault(field, name, f"a VC across {at.link}{did_you_mean(name, across)}", name)


# Of service classes.


@_resolves("ClassShares")
def _class_shares(
    at: Place, field: FieldSpec, value: Mapping[str, Fraction | Quantity], table: Any
) -> tuple[int, ...]:
    shares = [Fraction(0)] * len(at.classes)
    cell_time_ps = needed(at.line).cell_time_ps
    for place, share in _by_queue(at, field, value).items():
        is_rate = isinstance(share, Quantity)
        part = Fraction(cell_time_ps, PS_PER_SECOND)
        shares[place] = cells_per_second(share) * part if is_rate else share
    total = sum(shares)
    if total > 1:
        rate = Fraction(PS_PER_SECOND, cell_time_ps)
        got = Verbatim(f"{show_amount(int(total * rate))} cells/s in total on {at.link}")
        at.fault(field, got, f"up to {show_amount(int(rate))} cells/s, what the link carries")
    held = (min(share, Fraction(1)) for share in shares)  # the fault of more is reported
    return tuple(int(share * WHOLE_PPB) for share in held)


@_resolves("ClassWeights")
def _class_weights(
    at: Place, field: FieldSpec, value: Mapping[str, int], table: Any
) -> tuple[int, ...]:
    by_queue = _by_queue(at, field, value)
    return tuple(by_queue.get(place, 1) for place in range(len(at.classes)))


def _by_queue(at: Place, field: FieldSpec, by_class: Mapping[str, Any]) -> dict[int, Any]:
    """Returns values by the place of the queue of their class. A queue has one value."""
    owners: dict[int, str] = {}
    values = {}
    for name, value in by_class.items():
        place = at.classes.index(name if name in at.classes else None)
        if place in owners:
            got = Verbatim(f"{name} as well as {owners[place]}")
            allowed = "each queue once: classes without their own share one queue"
            at.fault(field, got, allowed, name)
        owners[place] = name
        values[place] = value
    return values


# Of what applications send.


@_resolves("Times")
def _times(at: Place, field: FieldSpec, value: Times, table: Any) -> DistributionSpec:
    return distribution(value, at.inside(table, str(field.key)))


@_resolves("Sizes")
def _sizes(at: Place, field: FieldSpec, value: Sizes, table: Any) -> SizeSpec:
    if isinstance(value, ConstantSize):
        return SizeConstant(octets=value.octets)
    return SizeExtreme(mode=value.mode, scale=value.scale)


@_resolves("PageInterval")
def _page_interval(at: Place, field: FieldSpec, value: Times, table: Any) -> DistributionSpec:
    interval = _times(at, field, value, table)
    if isinstance(value, Constant) and interval == DistributionConstant(value_ps=0):
        at.fault(field, value.value.text, "a time above 0 s")
    return interval


def distribution(times: Times, at: Place, longest_ps: int = LONGEST_RUN_PS) -> DistributionSpec:
    """Returns a distribution of times in picoseconds. A time above the longest is a fault."""

    def time_ps(key: str, *step: str) -> int:
        written = getattr(times, key)
        path = (*at.path, *step)
        return needed(at.context).time_up_to(longest_ps, written, path, at.faults)

    if isinstance(times, Constant):
        return DistributionConstant(value_ps=time_ps("value"))
    if isinstance(times, Uniform):
        low, high = time_ps("low", "low"), time_ps("high", "high")
        if low >= high:
            allowed = f"above low, {show_time(low)}"
            at.faults.add((*at.path, "high"), times.high.text, allowed)
        return DistributionUniform(low_ps=low, high_ps=high)
    mean = time_ps("mean", "mean")
    if mean == 0:
        at.faults.add((*at.path, "mean"), times.mean.text, "above 0")
    return DistributionExponential(mean_ps=mean)


@_resolves("FileSizes")
def _file_sizes(at: Place, field: FieldSpec, value: float, table: Any) -> tuple[int, ...]:
    """Returns the sizes of a class of files in whole octets, rounded half up."""
    web: Any = needed(at.outer)
    step = exact(value) * web.kilobyte.amount
    counts = range(web.file_step.least, web.file_step.most + 1)
    sizes = tuple(rounded(step * k) for k in counts)
    if sizes and (sizes[0] < 1 or sizes[-1] > _LARGEST_FILE):
        shown = f"{value}, for files of {show_amount(sizes[0])} to {show_amount(sizes[-1])} B"
        at.fault(field, Verbatim(shown), f"files of 1 to {show_amount(_LARGEST_FILE)} B")
    return sizes


@_resolves("IndexFirst")
def _index_first(at: Place, field: FieldSpec, value: bool, web: Any) -> bool:
    if value and len(web.file_class) < 2:
        allowed = "two or more of file_class: the first is that of index pages"
        at.fault(field, value, allowed)
    return value


@_resolves("CountLimit")
def _count_limit(at: Place, field: FieldSpec, value: int, table: Any) -> int:
    if field.key == "most" and value < table.least:
        at.fault(field, value, f"from least, {table.least}")
    return value


# Of TCP's windows, clocks and acknowledgements.


@_resolves("ReceiverWindow")
def _receiver_window(at: Place, field: FieldSpec, value: Quantity | str, tcp: Tcp) -> int:
    mss = int(tcp.mss.amount)
    rwnd = needed(at.context).octets(value, mss)
    shown = shown_window(value, rwnd)
    if rwnd > WINDOW_FIELD and not tcp.window_scaling:
        allowed = f"up to {show_amount(WINDOW_FIELD)} B, or window_scaling = true"
        at.fault(field, shown, allowed)
    elif rwnd > LARGEST_WINDOW:
        at.fault(field, shown, f"up to {show_amount(LARGEST_WINDOW)} B")
    elif rwnd < mss:
        at.fault(field, shown, f"at least one MSS, {show_amount(mss)} B")
    return min(rwnd, LARGEST_WINDOW)


@_resolves("Cwnd", "MaxCwnd")
def _window_of_mss(at: Place, field: FieldSpec, value: Quantity | str, tcp: Tcp) -> int:
    return _window(at, field, value, tcp, at_least=int(tcp.mss.amount))


@_resolves("Ssthresh")
def _ssthresh(at: Place, field: FieldSpec, value: Quantity | str, tcp: Tcp) -> int:
    return _window(at, field, value, tcp, at_least=1)


@_resolves("InitialWindow")
def _initial_window(at: Place, field: FieldSpec, value: Quantity, tcp: Tcp) -> int:
    if tcp.advertised_window != "auto_tuned":
        return 0
    octets, rwnd = _window_of_mss(at, field, value, tcp), _rwnd(at, tcp)
    if octets > rwnd and str(value) != str(Tcp.model_fields[str(field.key)].default):
        allowed = f"up to receiver_window, {show_amount(rwnd)} B"
        at.fault(field, shown_window(value, octets), allowed)
    return min(octets, rwnd)


def _rwnd(at: Place, tcp: Tcp) -> int:
    """Returns the receiver's window. Its faults are reported at its own key."""
    octets = needed(at.context).octets(tcp.receiver_window, int(tcp.mss.amount))
    return min(octets, LARGEST_WINDOW)


def _window(at: Place, field: FieldSpec, value: Quantity | str, tcp: Tcp, at_least: int) -> int:
    if value == RECEIVER_WINDOW:
        return _rwnd(at, tcp)
    mss = int(tcp.mss.amount)
    if value == "window field":
        shift = 0
        while WINDOW_FIELD << shift < _rwnd(at, tcp) and shift < 14:
            shift += 1
        octets = WINDOW_FIELD << shift
    else:
        octets = needed(at.context).octets(value, mss)
    if octets < at_least:
        least = f"at least one MSS, {show_amount(mss)} B" if at_least == mss else "at least 1 B"
        at.fault(field, shown_window(value, octets), least)
    elif octets > LARGEST_WINDOW:
        at.fault(field, shown_window(value, octets), f"up to {show_amount(LARGEST_WINDOW)} B")
    return min(octets, LARGEST_WINDOW)


def shown_window(written: Quantity | str, octets: int) -> Verbatim:
    """Returns a window as it is written, and its octets if it is not written in octets."""
    if isinstance(written, Quantity) and written.dimension is Dimension.SIZE:
        return Verbatim(f'"{written}"')
    return Verbatim(f'"{written}", which is {show_amount(octets)} B')


@_resolves("TickPhase")
def _tick_phase(
    at: Place, field: FieldSpec, value: Quantity | str, tcp: Tcp
) -> TickPhaseAt | TickPhaseDrawn:
    if value == "drawn":
        return TickPhaseDrawn()
    offset = rounded(value.amount) if isinstance(value, Quantity) else 0
    tick_ps = rounded(tcp.tick.amount)
    if offset >= tick_ps:
        at.fault(field, str(value), f"below one tick, {show_time(tick_ps)}")
    return TickPhaseAt(offset_ps=offset)


@_resolves("RtoMin", "RtoInitial", "RtoMax")
def _rto(at: Place, field: FieldSpec, value: Quantity, tcp: Tcp) -> int:
    """Returns a timeout in ticks. A timeout below the ones before it is a fault."""
    row = ("rto_min", "rto_initial", "rto_max")
    ticks = {key: _ticks(getattr(tcp, key), tcp) for key in row}
    own = ticks[str(field.key)]
    if long := next((key for key in row if ticks[key] >= 2**32), None):
        if long == field.key:
            at.fault(field, Verbatim(f"{show_amount(own)} ticks"), "fewer than 2^32 ticks")
        return 1
    before = row[: row.index(str(field.key))]
    least = max(reversed(before), key=lambda key: ticks[key], default=str(field.key))
    if own < ticks[least]:
        shown = Verbatim(f'"{value}", which is {show_amount(own)} ticks')
        at.fault(field, shown, f"at least {least}, {show_amount(ticks[least])} ticks")
    return own


def _ticks(value: Quantity, tcp: Tcp) -> int:
    """Returns a timeout in ticks, rounded up."""
    if value.dimension is Dimension.TICKS:
        return int(value.amount)
    return -int(-value.amount // rounded(tcp.tick.amount))


@_resolves("RetransmitDelay")
def _retransmit_delay(
    at: Place, field: FieldSpec, value: Quantity | str, table: Any
) -> RetransmitDelaySegments | RetransmitDelayNone:
    if isinstance(value, Quantity):
        return RetransmitDelaySegments(count=int(value.amount))
    return RetransmitDelayNone()


@_resolves("SackBlocks")
def _sack_blocks(at: Place, field: FieldSpec, value: int, table: Any) -> int:
    tcp: Any = needed(at.outer)
    if tcp.timestamps and value > 3:
        at.fault(field, value, "up to 3 with timestamps: options have 40 octets")
    return value


@_resolves("DelayedAck")
def _delayed_ack(
    at: Place, field: FieldSpec, value: HeldBack | None, table: Any
) -> DelayedAckSpec | None:
    if value is None:
        return None
    timeout, longest, early = value.timeout, value.max_timeout, value.sack_timeout
    if longest is not None and longest.amount < timeout.amount:
        at.fault(field, longest.text, f"at least timeout, {timeout.text}", "max_timeout")
    return DelayedAckSpec(
        timeout_ps=rounded(timeout.amount),
        max_timeout_ps=0 if longest is None else rounded(longest.amount),
        every_segments=value.every_segments,
        quick_segments=value.quick_segments,
        sack_timeout_ps=0 if early is None else rounded(early.amount),
        sack_segments=0 if early is None else value.sack_segments,
    )
