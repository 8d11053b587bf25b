"""From `schedule` and `loss` in a scenario file to the steps of a link over the run."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path as FilePath
from typing import TypeVar

from skycell.coding import OutOfRange
from skycell.input.faults import NOTHING, FaultCollector, Path, ScenarioFaults, Verbatim
from skycell.input.parameters import exact
from skycell.input.quantities import (
    DAY_PS,
    Dimension,
    Quantity,
    parse_quantity,
    rounded,
    show_amount,
    show_time,
)
from skycell.scenario.declared.channels import (
    AnyChannel,
    BitErrors,
    ErrorBursts,
    ErrorTrace,
    GilbertElliottBits,
)
from skycell.scenario.declared.framings import Framing
from skycell.scenario.file.constellation import ConstellationNetwork
from skycell.scenario.file.scenario_file import ScenarioFile
from skycell.scenario.file.topology import Graph, GraphLink, ParkingLot
from skycell.scenario.links.chain import Chain
from skycell.scenario.links.coding import AnyCode, DvbS2, errors_behind, key_of
from skycell.scenario.links.drawn import drawn_steps, read_model
from skycell.scenario.links.error_trace import with_errors
from skycell.scenario.links.framing import carries_packets, checked_octets, overhead_of
from skycell.scenario.links.keys import (
    CongestedLink,
    ReverseLink,
    payload_rate,
)
from skycell.scenario.links.link_rate import LinkRate
from skycell.scenario.links.loss import FrameLoss, Independent
from skycell.scenario.links.receivers import Receiver
from skycell.scenario.links.schedule import MOST_STEPS, Schedule
from skycell.scenario.links.series import read_series
from skycell.scenario.plan.link_budgets import es_n0_of_budget
from skycell.spec.declared.network import ScheduleSpec
from skycell.spec.steps import Steps
from skycell.spec.values import WHOLE_PPB

#: Losses that strike bits, and not frames.
_OF_BITS = (AnyCode, BitErrors, GilbertElliottBits, ErrorBursts, ErrorTrace)
_DEFAULT_STEP = "100 ms"
#: Moments of a constellation end here: beyond 213 days they are too many picoseconds for 64 bits.
_LAST_MOMENT_PS = 200 * DAY_PS
_Link = TypeVar("_Link", CongestedLink, GraphLink)


@dataclass(frozen=True)
class LinkSchedules:
    """The links of a scenario that vary over time or lose frames.

    Attributes:
        schedules: of those that vary and stand for a whole path, by the path of their table.
        losses_ppb: of those that lose the same part of their frames throughout, this part, by the
            path of the key that says so.
        channels: of those that lose frames in bursts or have bit errors, how, by the path of the
            key that says so.
        chains: of those whose satellites switch on board, by the path of their table.
        courses: of receivers whose rate is drawn from a model, by the path of their table: the
            course of a stream; None with a fault, which it notes.
    """

    schedules: dict[Path, ScheduleSpec]
    losses_ppb: dict[Path, int]
    channels: dict[Path, AnyChannel]
    chains: dict[Path, Chain]
    courses: dict[Path, Callable[[str, FaultCollector], Steps | None]]

    def least_delay_ps(self, path: Path, delay_ps: int) -> int:
        """The least delay of a link over the run."""
        schedule = self.schedules.get(path)
        if schedule is None:
            return delay_ps
        return min(delay for delay in schedule.delays_ps if delay is not None)


def draws_schedules(file: ScenarioFile) -> bool:
    """Whether a link is drawn from a model, so that each seed has another course of it."""
    topology = file.topology
    if isinstance(topology, ConstellationNetwork):
        return any(outage.every is not None for outage in topology.outage)
    if isinstance(topology, Graph):
        links: Iterable[CongestedLink | GraphLink] = topology.link
        if any(own.model is not None for link in topology.link for own in link.receivers):
            return True
    else:
        links = (topology.bottleneck, topology.bottleneck.backward)
    return any(link.schedule is not None and link.schedule.model is not None for link in links)


def resolve_schedules(
    file: ScenarioFile, folder: FilePath, seed: int, faults: FaultCollector
) -> tuple[ScenarioFile, LinkSchedules]:
    """The file with a delay at every link without a fault, and the schedules of those that vary.

    The delay of a link that varies is its greatest of the run: what is measured in RTTs, such as a
    window of RTT x bandwidth, then never falls short.

    A link with both a delay and a schedule or neither, with a schedule that cannot be had, or with
    a loss beside one that it does not go with, is noted in `faults`.
    """
    duration_ps = rounded(file.run.duration.amount)
    topology = file.topology
    schedules: dict[Path, ScheduleSpec] = {}
    losses_ppb: dict[Path, int] = {}
    channels: dict[Path, AnyChannel] = {}
    chains: dict[Path, Chain] = {}
    courses: dict[Path, Callable[[str, FaultCollector], Steps | None]] = {}

    def lose(loss: FrameLoss, framing: Framing | None, key: Path) -> None:
        if isinstance(loss, ErrorTrace):
            trace = with_errors(loss, folder, key, faults)
            if trace is not None:
                channels[key] = trace
        elif isinstance(loss, AnyCode):
            behind = _errors_behind(loss, framing, key, faults)
            if behind is not None:
                channels[key] = behind
        elif not isinstance(loss, Independent):
            channels[key] = loss
        elif loss.part:
            losses_ppb[key] = _ppb(loss.part)

    def complete(link: _Link, path: Path) -> _Link:
        _check_frame_check(link, path, faults)
        lose(link.loss, link.framing, (*path, "loss"))
        receivers: tuple[Receiver, ...] = ()
        if isinstance(link, GraphLink):
            receivers = link.receivers
        for i, receiver in enumerate(receivers):
            if receiver.model is not None:
                here: Path = (*path, "receivers", i)
                courses[here] = partial(
                    _course, folder, receiver.model, _rate_of(link), duration_ps, seed, here
                )
        return moved(link, path)

    def moved(link: _Link, path: Path) -> _Link:
        if link.delay is not None and link.schedule is None:
            return link
        steps = _steps_of(link, path, duration_ps, folder, seed, faults)
        of_packets = carries_packets(link.framing)
        schedule = _spec(link.schedule, steps, of_packets) if steps and link.schedule else None
        if schedule is None:
            return link
        if (
            steps
            and link.schedule
            and link.schedule.constellation
            and link.schedule.onboard_switching
        ):
            if isinstance(topology, ParkingLot):
                allowed = "dumbbell or graph: in a parking_lot all hops would share the satellites"
                where = (*path, "schedule", "onboard_switching")
                faults.add(where, Verbatim("a parking_lot"), allowed)
            if of_packets:
                allowed = "a framing of ATM cells: satellites switch cells on board"
                faults.add((*path, "framing"), Verbatim("packets"), allowed)
            else:
                chains[path] = Chain(steps.times_ps, steps.hops, link.schedule, path)
                own = link.schedule.onboard_switching
                framing = own.framing or link.framing
                table: Path = (*path, "schedule", "onboard_switching")
                lose(own.loss, framing, (*table, "loss"))
                lose(own.down_loss, framing, (*table, "down_loss"))
        elif len(schedule.times_ps) > 1 or (steps and steps.rates):
            schedules[path] = schedule
        elif schedule.losses_ppb:  # what never changes the link is no schedule
            losses_ppb[*path, "loss"] = schedule.losses_ppb[0]
        greatest = max(delay for delay in schedule.delays_ps if delay is not None)
        return link.model_copy(update={"delay": Quantity(Fraction(greatest), Dimension.TIME, "")})

    def complete_reverse(link: CongestedLink, reverse: ReverseLink, path: Path) -> ReverseLink:
        """Completes what a direction says itself; the rest is as the forward direction has it."""
        here = (*path, "reverse")
        own, back = reverse.own_keys, link.backward
        if path in chains:
            for key in own:
                allowed = "nothing: satellites that switch on board are alike in both directions"
                faults.add((*here, key), Verbatim("a value of its own"), allowed)
            return reverse
        if reverse.schedule is not None and reverse.schedule.onboard_switching is not None:
            allowed = "nothing: the forward direction's schedule puts satellites in both directions"
            where = (*here, "schedule", "onboard_switching")
            faults.add(where, Verbatim("a table"), allowed)
            return reverse
        if own & {"loss", "framing", "delay", "schedule"}:
            lose(back.loss, back.framing, (*here, "loss"))
        if "frame_check" in own or ("framing" in own and "loss" not in own):
            _check_frame_check(back, here, faults)
        if own & {"delay", "schedule"}:
            return reverse.model_copy(update={"delay": moved(back, here).delay})
        _check_shared(own, schedules.get(path), here, faults)
        return reverse

    if isinstance(topology, ConstellationNetwork):
        for key, port in (
            ("inter_satellite", topology.inter_satellite),
            ("gateways", topology.gateways),
            ("ground", topology.ground),
        ):
            if port is not None:
                lose(port.loss, port.framing, ("topology", key, "loss"))
        return file, LinkSchedules(schedules, losses_ppb, channels, chains, courses)
    if isinstance(topology, Graph):
        links = [complete(link, ("topology", "link", i)) for i, link in enumerate(topology.link)]
        update: dict[str, object] = {"link": tuple(links)}
    else:
        written, path = topology.bottleneck, ("topology", "bottleneck")
        bottleneck = complete(written, path)
        if written.reverse is not None:
            reverse = complete_reverse(written, written.reverse, path)
            bottleneck = bottleneck.model_copy(update={"reverse": reverse})
        update = {"bottleneck": bottleneck}
    changed = topology.model_copy(update=update)
    return file.model_copy(update={"topology": changed}), LinkSchedules(
        schedules, losses_ppb, channels, chains, courses
    )


def _check_shared(
    own: AbstractSet[str], schedule: ScheduleSpec | None, path: Path, faults: FaultCollector
) -> None:
    """Notes a rate or a loss of one direction beside a schedule that drives those of both."""
    if schedule is None:
        return
    drives_rate = bool(schedule.cell_times_ps or schedule.rates_millibps)
    for key, is_driven in (
        ("rate", drives_rate),
        ("framing", drives_rate),
        ("loss", bool(schedule.losses_ppb)),
    ):
        if is_driven and key in own:
            what = "losses" if key == "loss" else "rates"
            got = Verbatim(f"a {key} beside the {what} of the forward direction's schedule")
            faults.add((*path, key), got, "a schedule of this direction too, or none of them")


def _steps_of(
    link: CongestedLink | GraphLink,
    path: Path,
    duration_ps: int,
    folder: FilePath,
    seed: int,
    faults: FaultCollector,
) -> Steps | None:
    has_file = link.schedule is not None and bool(link.schedule.series or link.schedule.model)
    if not has_file and (link.delay is None) == (link.schedule is None):
        got = NOTHING if link.delay is None else Verbatim(f'"{link.delay}" as well as schedule')
        allowed = 'one of delay, such as "275 ms", and schedule'
        faults.add((*path, "delay"), got, allowed)
    if link.schedule is None:
        return None
    path = (*path, "schedule")
    before = len(faults.faults)
    _check_keys(link.schedule, path, faults)
    if len(faults.faults) > before:
        return None
    try:
        if link.schedule.series is not None:
            steps = _from_series(link, link.schedule, duration_ps, folder, path, faults)
        elif link.schedule.model is not None:
            drawn_as = f"{seed}/{'.'.join(map(str, path))}"
            steps = _from_model(link, link.schedule, duration_ps, folder, path, drawn_as, faults)
        else:
            steps = _over_constellation(link.schedule, duration_ps, folder, path, faults)
    except ScenarioFaults as found:
        _take_over(found, path, faults)
        return None
    if steps is not None:
        _check_loss(link.loss, steps, link.schedule, path, faults)
    return steps if has_file or link.delay is None else None


def _errors_behind(
    code: AnyCode, framing: Framing | None, path: Path, faults: FaultCollector
) -> AnyChannel | None:
    """The errors that a code leaves; none, with a fault, where that is not known."""
    key = key_of(code)
    try:
        behind = errors_behind(code, framing)
    except OutOfRange as error:
        got = Verbatim(f"{getattr(code, key):g} dB")
        faults.add((*path, key), got, error.allowed)
        return None
    if behind is None:
        allowed = 'with framing = { kind = "gse", modcod = ... }, whose MODCOD it is'
        faults.add((*path, "kind"), code.kind, allowed)
    return behind


def _check_frame_check(link: CongestedLink | GraphLink, path: Path, faults: FaultCollector) -> None:
    """Notes a check of frames that there are none of, that never fails, or that misses headers."""
    check = link.frame_check
    if check == "frame":
        return
    allowed = ""
    if not carries_packets(link.framing):
        allowed = "on a link that carries packets: the HEC and AAL5 check cells"
    elif not isinstance(link.loss, _OF_BITS):
        allowed = "a loss of bits too, such as bit_errors: without bit errors no check fails"
    elif isinstance(check, Quantity) and link.framing is not None:
        least = checked_octets("header", overhead_of(link.framing).packet["overhead_octets"])
        if check.amount < (least or 0):
            allowed = f"from {least} B, the headers of the framing and of IP"
    if allowed:
        faults.add((*path, "frame_check"), Verbatim(f'"{check}"'), allowed)


def _check_keys(schedule: Schedule, path: Path, faults: FaultCollector) -> None:
    """Notes keys that do not go together."""
    kinds = ("series", "model", "constellation")
    said = [kind for kind in kinds if getattr(schedule, kind) is not None]
    if len(said) != 1:
        got = Verbatim(" and ".join(said) or "none of them")
        faults.add(path, got, "one of series, model and constellation")
        return
    for name in ("source", "target"):
        found = Schedule.model_fields[name]
        if schedule.constellation is not None and getattr(schedule, name) is None:
            allowed = 'a city, such as "tokyo", or latitude,longitude'
            faults.add((*path, found.alias or name), NOTHING, allowed)


def _check_loss(
    loss: Independent | AnyChannel | AnyCode,
    steps: Steps,
    schedule: Schedule,
    path: Path,
    faults: FaultCollector,
) -> None:
    """Notes a loss of the link beside losses of its steps."""
    if not steps.losses_ppb or (isinstance(loss, Independent) and not loss.part):
        return
    shown = show_amount(loss.part) if isinstance(loss, Independent) else loss.kind
    has = "series" if schedule.series is not None else "model"
    got = Verbatim(f"{shown} together with losses of schedule.{has}")
    allowed = f"only one of them: a {has} without losses may have any loss of the link"
    faults.add((*path[:-1], "loss"), got, allowed)


def _from_series(
    link: CongestedLink | GraphLink,
    schedule: Schedule,
    duration_ps: int,
    folder: FilePath,
    path: Path,
    faults: FaultCollector,
) -> Steps | None:
    assert schedule.series is not None
    name = schedule.series
    where = (*path, "series")
    start_ps = rounded(schedule.start.amount)
    end_ps = start_ps + duration_ps
    own_delay_ps = None if link.delay is None else rounded(link.delay.amount)
    try:
        series = read_series(folder, schedule, _rate_of(link), own_delay_ps, end_ps)
    except OSError as error:
        allowed = f"a file that can be read; {error.strerror or error}"
        faults.add(where, name, allowed)
        return None
    first_ps, last_ps = series.times_ps[0], series.times_ps[-1]
    span = (
        "the run"
        if not start_ps
        else f"the run, which begins at {show_time(start_ps)} in the series"
    )
    if first_ps > start_ps:
        got = Verbatim(f'"{name}", whose first row is at {show_time(first_ps)}')
        allowed = f"a row at {show_time(start_ps)} or before, the beginning of {span}"
        faults.add(where, got, allowed)
    if last_ps < end_ps:
        got = Verbatim(f'"{name}", whose last row is at {show_time(last_ps)}')
        allowed = f"a row at {show_time(end_ps)} or later, the end of {span}"
        faults.add(where, got, allowed)
    if not first_ps <= start_ps <= end_ps <= last_ps:
        return None
    own = _rate_of(link)
    steps = _within(series, start_ps, end_ps, own.measure(own.payload))
    if all(delay is None for delay in steps.delays_ps):
        got = Verbatim(
            f'"{name}", whose rows from {show_time(start_ps)} to {show_time(end_ps)} are'
        )
        got = Verbatim(f"{got.text} without delay")
        faults.add(where, got, "at least one delay within the run")
        return None
    return steps


def _from_model(
    link: CongestedLink | GraphLink,
    schedule: Schedule,
    duration_ps: int,
    folder: FilePath,
    path: Path,
    seed: str,
    faults: FaultCollector,
) -> Steps | None:
    assert schedule.model is not None
    start_ps = rounded(schedule.start.amount)
    end_ps = start_ps + duration_ps
    own = _rate_of(link)
    own_delay_ps = None if link.delay is None else rounded(link.delay.amount)
    where = (*path, "model")
    try:
        steps = drawn_steps(folder, schedule, own, own_delay_ps, seed, end_ps, es_n0_of_budget)
    except OSError as error:
        allowed = f"a file that can be read; {error.strerror or error}"
        faults.add(where, schedule.model, allowed)
        return None
    if isinstance(link.loss, DvbS2) and read_model(folder / schedule.model).adaptive_coding:
        got = Verbatim("dvb_s2, beside a model with adaptive_coding")
        allowed = (
            "another kind or none: errors of the MODCOD at one Es/N0 contradict an Es/N0 that "
            "varies"
        )
        faults.add((*path[:-1], "loss"), got, allowed)
        return None
    found = _within(steps, start_ps, end_ps, own.measure(own.payload))
    if all(delay is None for delay in found.delays_ps):
        got = Verbatim(f'"{schedule.model}", whose draw for this seed has no path in the run')
        faults.add(where, got, "at least one step with a path")
        return None
    return found


def _course(
    folder: FilePath,
    model: str,
    own: LinkRate,
    duration_ps: int,
    seed: int,
    here: Path,
    stream: str,
    faults: FaultCollector,
) -> Steps | None:
    """The rate that a receiver has over the run, drawn from a model; None with a fault."""
    schedule = Schedule.model_construct(model=model)
    where = (*here, "model")
    try:
        if read_model(folder / model).delay_ms is not None:
            faults.add(where, model, "a model without delay_ms: receivers have rates of their own")
            return None
        name = f"{seed}/{stream}"
        steps = drawn_steps(folder, schedule, own, 0, name, duration_ps, es_n0_of_budget)
    except ScenarioFaults as found:
        _take_over(found, where, faults)
        return None
    except OSError as error:
        faults.add(where, model, f"a file that can be read; {error.strerror or error}")
        return None
    if steps.losses_ppb:
        faults.add(where, model, "a model without loss: a receiver has rates and outages")
        return None
    own_rate = own.measure(own.payload)
    found_steps = _within(steps, 0, duration_ps, own_rate)
    rates = found_steps.rates or (own_rate,) * len(found_steps.times_ps)
    if all(delay is None for delay in found_steps.delays_ps):
        got = Verbatim(f'"{model}", whose draw for this seed is an outage all the time')
        faults.add(where, got, "a rate at some time of the run")
        return None
    return replace(found_steps, rates=rates)


def _within(series: Steps, start_ps: int, end_ps: int, own_rate: int) -> Steps:
    """The steps that hold in a run, from its beginning."""
    first = bisect_right(series.times_ps, start_ps) - 1
    last = bisect_right(series.times_ps, end_ps - 1)
    rates = series.rates[first:last]
    losses = series.losses_ppb[first:last]
    return Steps(
        tuple(max(time - start_ps, 0) for time in series.times_ps[first:last]),
        series.delays_ps[first:last],
        series.paths[first:last],
        rates if any(rate != own_rate for rate in rates) else (),
        losses if any(losses) else (),
        series.hops[first:last],
        series.notes,
        series.accounts,
    )


def _rate_of(link: CongestedLink | GraphLink) -> LinkRate:
    """The link's own rate; a framing that it lacks or cannot have is noted elsewhere."""
    return LinkRate(payload_rate(link.rate, link.framing), link.framing, link.rate.text)


def steps_over_constellation(
    schedule: Schedule, duration_ps: int, folder: FilePath, *, most: int
) -> Steps:
    """The path of a schedule that is known to be had, link by link, in at most so many steps.

    Changes of path have steps of their own beside them.
    """
    own_ps = rounded((schedule.step or parse_quantity(_DEFAULT_STEP)).amount)
    step_ps = max(own_ps, -(-duration_ps // most))
    steps = _steps_of_sky(schedule, folder, step_ps, -(-duration_ps // step_ps), with_hops=True)
    return _within(steps, 0, duration_ps, 0)


def _steps_of_sky(
    schedule: Schedule, folder: FilePath, step_ps: int, count: int, with_hops: bool
) -> Steps:
    from skycell.orbit.motion import path_steps

    assert schedule.constellation is not None
    assert schedule.source is not None
    assert schedule.target is not None
    return path_steps(
        schedule.constellation,
        schedule.source,
        schedule.target,
        folder=folder,
        start_ps=rounded(schedule.start.amount),
        step_ps=step_ps,
        steps=count,
        with_hops=with_hops,
    )


def _over_constellation(
    schedule: Schedule, duration_ps: int, folder: FilePath, path: Path, faults: FaultCollector
) -> Steps | None:
    step = schedule.step or parse_quantity(_DEFAULT_STEP)
    step_ps = rounded(step.amount)
    count = -(-duration_ps // step_ps)
    if count > MOST_STEPS:
        got = Verbatim(f'"{step}", which is {show_amount(count)} steps in {show_time(duration_ps)}')
        least = show_time(-(-duration_ps // MOST_STEPS))
        allowed = f"from {least}, for up to {show_amount(MOST_STEPS)} steps"
        faults.add((*path, "step"), got, allowed)
        return None
    last_ps = _LAST_MOMENT_PS - duration_ps
    if schedule.start.amount > last_ps:
        end = show_time(_LAST_MOMENT_PS)
        allowed = f"up to {show_time(last_ps)}: a run ends by {end} of the constellation's time"
        faults.add((*path, "start"), str(schedule.start), allowed)
        return None
    with_hops = schedule.onboard_switching is not None
    steps = _steps_of_sky(schedule, folder, step_ps, count, with_hops)
    # The last moment is there for changes of path before the end of the run; it holds for no cell.
    return _within(steps, 0, duration_ps, 0)


def _take_over(found: ScenarioFaults, path: Path, faults: FaultCollector) -> None:
    """Notes faults: those without a file by their key of the schedule, others where they are."""
    for fault in found.faults:
        if fault.file:
            faults.faults.append(fault)
        else:
            where = (*path[:-1], "delay") if fault.path == "delay" else (*path, fault.path)
            faults.add(where, Verbatim(fault.got), fault.allowed, fault.meaning)


def _ppb(loss: float) -> int:
    return rounded(exact(loss) * WHOLE_PPB)


def _spec(schedule: Schedule, steps: Steps, of_packets: bool) -> ScheduleSpec:
    """The schedule as the engines see it: steps that change nothing are left out."""
    count = len(steps.times_ps)
    rates: tuple[int, ...] = steps.rates or (0,) * count
    losses: tuple[int, ...] = steps.losses_ppb or (0,) * count
    rows = list(zip(steps.times_ps, steps.delays_ps, steps.paths, rates, losses, strict=True))
    kept = [row for i, row in enumerate(rows) if i == 0 or row[1:] != rows[i - 1][1:]]
    numbers: list[int] = []
    for i, row in enumerate(kept):
        numbers.append(numbers[-1] + (row[2] != kept[i - 1][2]) if numbers else 0)
    kept_rates = tuple(row[3] for row in kept) if steps.rates else ()
    return ScheduleSpec(
        times_ps=tuple(row[0] for row in kept),
        delays_ps=tuple(row[1] for row in kept),
        paths=tuple(numbers),
        cell_times_ps=() if of_packets else kept_rates,
        rates_millibps=kept_rates if of_packets else (),
        losses_ppb=tuple(row[4] for row in kept) if steps.losses_ppb else (),
        interruption_ps=rounded(schedule.interruption.amount),
        handover_loses_cells=schedule.handover_loses_cells,
    )
