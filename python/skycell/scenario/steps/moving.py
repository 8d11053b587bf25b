"""From `motion` and `loss` in a scenario file to the steps of a link over the run."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path as FilePath
from typing import TypeVar

from skycell.input.faults import NOTHING, FaultCollector, Path, ScenarioFaults, Verbatim
from skycell.input.parameters import exact, meaning_of
from skycell.input.quantities import (
    DAY_PS,
    Dimension,
    Quantity,
    parse_quantity,
    rounded,
    show_amount,
    show_time,
)
from skycell.scenario.file.framing import WholePackets
from skycell.scenario.file.links import (
    DELAY_MEANING,
    FRAMING_MEANING,
    LOSS_MEANING,
    CongestedLink,
    payload_rate,
)
from skycell.scenario.file.motion import MOST_STEPS, Motion
from skycell.scenario.file.scenario_file import ScenarioFile
from skycell.scenario.file.topology import Graph, GraphLink, ParkingLot
from skycell.scenario.steps.chain import Chain
from skycell.scenario.steps.delay_series import LinkRate, read_delays
from skycell.spec.network import MotionSpec
from skycell.spec.steps import Steps
from skycell.spec.values import WHOLE_PPB

_DEFAULT_STEP = "100 ms"
#: Moments of a constellation end here: beyond 213 days they are too many picoseconds for 64 bits.
_LAST_MOMENT_PS = 200 * DAY_PS
_Link = TypeVar("_Link", CongestedLink, GraphLink)
_MOTION_MEANING = meaning_of(CongestedLink.model_fields["motion"])


@dataclass(frozen=True)
class Moving:
    """The links of a scenario that move or lose frames, by the path of their table.

    Attributes:
        motions: of those that stand for a whole path; one step where nothing but losses comes.
        chains: of those whose satellites switch on board.
    """

    motions: dict[Path, MotionSpec]
    chains: dict[Path, Chain]

    def least_delay_ps(self, path: Path, delay_ps: int) -> int:
        """The least delay of a link over the run."""
        motion = self.motions.get(path)
        if motion is None:
            return delay_ps
        return min(delay for delay in motion.delays_ps if delay is not None)


def resolve_motions(
    file: ScenarioFile, folder: FilePath, faults: FaultCollector
) -> tuple[ScenarioFile, Moving]:
    """The file with a delay at every link without a fault, and the motions of those that move.

    The delay of a moving link is its greatest of the run: what is measured in RTTs, such as a
    window of RTT x bandwidth, then never falls short.

    A link with both a delay and a motion or neither, with a motion that cannot be had, or with a
    loss beside one that it does not go with, is noted in `faults`.
    """
    duration_ps = rounded(file.run.duration.amount)
    topology = file.topology
    motions: dict[Path, MotionSpec] = {}
    chains: dict[Path, Chain] = {}

    def complete(link: _Link, path: Path) -> _Link:
        if link.delay is not None and link.motion is None:
            if link.loss:
                motions[path] = _standing_still(rounded(link.delay.amount), link.loss)
            return link
        steps = _steps_of(link, path, duration_ps, folder, faults)
        carries_packets = isinstance(link.framing, WholePackets)
        motion = _spec(link.motion, steps, carries_packets) if steps and link.motion else None
        if motion is None:
            return link
        if steps and link.motion and link.motion.constellation and link.motion.on_board:
            if isinstance(topology, ParkingLot):
                allowed = "n_source or graph: here all hops would share the satellites"
                where = (*path, "motion", "on_board")
                meaning = meaning_of(Motion.model_fields["on_board"])
                faults.add(where, Verbatim("a parking_lot"), allowed, meaning)
            if carries_packets:
                allowed = "a framing of ATM cells: satellites switch these on board"
                faults.add((*path, "framing"), Verbatim("packets"), allowed, FRAMING_MEANING)
            else:
                chains[path] = Chain(steps.times_ps, steps.hops, link.motion, path)
        elif len(motion.times_ps) > 1 or (steps and steps.rates) or motion.losses_ppb:
            motions[path] = motion  # what never changes the link is none
        greatest = max(delay for delay in motion.delays_ps if delay is not None)
        return link.model_copy(update={"delay": Quantity(Fraction(greatest), Dimension.TIME, "")})

    if isinstance(topology, Graph):
        links = [complete(link, ("topology", "link", i)) for i, link in enumerate(topology.link)]
        update: dict[str, object] = {"link": tuple(links)}
    else:
        update = {"bottleneck": complete(topology.bottleneck, ("topology", "bottleneck"))}
    changed = topology.model_copy(update=update)
    return file.model_copy(update={"topology": changed}), Moving(motions, chains)


def _steps_of(
    link: CongestedLink | GraphLink,
    path: Path,
    duration_ps: int,
    folder: FilePath,
    faults: FaultCollector,
) -> Steps | None:
    if (link.delay is None) == (link.motion is None):
        got = NOTHING if link.delay is None else Verbatim(f'"{link.delay}" as well as motion')
        allowed = 'one of delay, such as "275 ms", and motion'
        faults.add((*path, "delay"), got, allowed, DELAY_MEANING)
    if link.motion is None:
        return None
    path = (*path, "motion")
    before = len(faults.faults)
    _check_keys(link.motion, path, faults)
    _check_loss(link.loss, link.motion, path, faults)
    if len(faults.faults) > before:
        return None
    try:
        if link.motion.series is not None:
            steps = _from_series(link, link.motion, duration_ps, folder, path, faults)
        else:
            steps = _over_constellation(link.motion, duration_ps, folder, path, faults)
            if steps and link.loss:
                steps = replace(steps, losses_ppb=(_ppb(link.loss),) * len(steps.times_ps))
    except ScenarioFaults as found:
        _take_over(found, path, faults)
        return None
    return steps if link.delay is None else None


def _check_keys(motion: Motion, path: Path, faults: FaultCollector) -> None:
    """Notes keys that do not go together."""
    if (motion.series is None) == (motion.constellation is None):
        got = Verbatim("neither" if motion.series is None else "both")
        faults.add(path, got, "one of series and constellation", _MOTION_MEANING)
        return
    for name in ("source", "target"):
        found = Motion.model_fields[name]
        if motion.series is None and getattr(motion, name) is None:
            allowed = 'a city, such as "tokyo", or latitude,longitude'
            faults.add((*path, found.alias or name), NOTHING, allowed, meaning_of(found))


def _check_loss(loss: float, motion: Motion, path: Path, faults: FaultCollector) -> None:
    """Notes a loss beside a motion that it does not go with."""
    if not loss:
        return
    if motion.series is not None:
        beside, allowed = (
            "series",
            "only with delay or a constellation: a series has a column for it",
        )
    elif motion.on_board is not None:
        beside, allowed = "on_board", "only if the path is one link, without on_board"
    else:
        return
    got = Verbatim(f"{show_amount(loss)} together with motion.{beside}")
    faults.add((*path[:-1], "loss"), got, allowed, LOSS_MEANING)


def _from_series(
    link: CongestedLink | GraphLink,
    motion: Motion,
    duration_ps: int,
    folder: FilePath,
    path: Path,
    faults: FaultCollector,
) -> Steps | None:
    assert motion.series is not None
    name = motion.series
    where = (*path, "series")
    meaning = meaning_of(Motion.model_fields["series"])
    try:
        series = read_delays(folder / name, _rate_of(link))
    except OSError as error:
        allowed = f"a file that can be read; {error.strerror or error}"
        faults.add(where, name, allowed, meaning)
        return None
    start_ps = rounded(motion.start.amount)
    end_ps = start_ps + duration_ps
    first_ps, last_ps = series.times_ps[0], series.times_ps[-1]
    span = (
        "the run"
        if not start_ps
        else f"the run, which begins at {show_time(start_ps)} in the series"
    )
    if first_ps > start_ps:
        got = Verbatim(f'"{name}", whose first row is at {show_time(first_ps)}')
        allowed = f"a row at {show_time(start_ps)} or before, the beginning of {span}"
        faults.add(where, got, allowed, meaning)
    if last_ps < end_ps:
        got = Verbatim(f'"{name}", whose last row is at {show_time(last_ps)}')
        allowed = f"a row at {show_time(end_ps)} or later, the end of {span}"
        faults.add(where, got, allowed, meaning)
    if not first_ps <= start_ps <= end_ps <= last_ps:
        return None
    own = _rate_of(link)
    steps = _within(series, start_ps, end_ps, own.measure(own.payload))
    if all(delay is None for delay in steps.delays_ps):
        got = Verbatim(
            f'"{name}", whose rows from {show_time(start_ps)} to {show_time(end_ps)} are'
        )
        got = Verbatim(f"{got.text} without delay")
        faults.add(where, got, "at least one delay within the run", meaning)
        return None
    return steps


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
    )


def _rate_of(link: CongestedLink | GraphLink) -> LinkRate:
    """The link's own rate; a framing that it lacks or cannot have is noted elsewhere."""
    return LinkRate(payload_rate(link.rate, link.framing), link.framing, link.rate.text)


def steps_over_constellation(
    motion: Motion, duration_ps: int, folder: FilePath, *, most: int
) -> Steps:
    """The path of a motion that is known to be had, link by link, in at most so many steps.

    Changes of path have steps of their own beside them.
    """
    own_ps = rounded((motion.step or parse_quantity(_DEFAULT_STEP)).amount)
    step_ps = max(own_ps, -(-duration_ps // most))
    steps = _steps_of_sky(motion, folder, step_ps, -(-duration_ps // step_ps), with_hops=True)
    return _within(steps, 0, duration_ps, 0)


def _steps_of_sky(
    motion: Motion, folder: FilePath, step_ps: int, count: int, with_hops: bool
) -> Steps:
    from skycell.orbit.motion import path_steps

    assert motion.constellation is not None
    assert motion.source is not None
    assert motion.target is not None
    return path_steps(
        motion.constellation,
        motion.source,
        motion.target,
        folder=folder,
        start_ps=rounded(motion.start.amount),
        step_ps=step_ps,
        steps=count,
        with_hops=with_hops,
    )


def _over_constellation(
    motion: Motion, duration_ps: int, folder: FilePath, path: Path, faults: FaultCollector
) -> Steps | None:
    step = motion.step or parse_quantity(_DEFAULT_STEP)
    step_ps = rounded(step.amount)
    count = -(-duration_ps // step_ps)
    if count > MOST_STEPS:
        got = Verbatim(f'"{step}", which is {show_amount(count)} steps in {show_time(duration_ps)}')
        least = show_time(-(-duration_ps // MOST_STEPS))
        allowed = f"from {least}, for up to {show_amount(MOST_STEPS)} steps"
        faults.add((*path, "step"), got, allowed, meaning_of(Motion.model_fields["step"]))
        return None
    last_ps = _LAST_MOMENT_PS - duration_ps
    if motion.start.amount > last_ps:
        end = show_time(_LAST_MOMENT_PS)
        allowed = f"up to {show_time(last_ps)}: a run over a constellation ends by {end} of it"
        meaning = meaning_of(Motion.model_fields["start"])
        faults.add((*path, "start"), str(motion.start), allowed, meaning)
        return None
    with_hops = motion.on_board is not None
    steps = _steps_of_sky(motion, folder, step_ps, count, with_hops)
    # The last moment is there for changes of path before the end of the run; it holds for no cell.
    return _within(steps, 0, duration_ps, 0)


def _take_over(found: ScenarioFaults, path: Path, faults: FaultCollector) -> None:
    """Notes faults: those without a file by their key of the motion, others where they are."""
    for fault in found.faults:
        if fault.file:
            faults.faults.append(fault)
        else:
            faults.add((*path, fault.path), Verbatim(fault.got), fault.allowed, fault.meaning)


def _ppb(loss: float) -> int:
    return rounded(exact(loss) * WHOLE_PPB)


def _standing_still(delay_ps: int, loss: float) -> MotionSpec:
    """A link that loses frames with a constant probability and does not move: one step."""
    return MotionSpec(
        times_ps=(0,),
        delays_ps=(delay_ps,),
        paths=(0,),
        losses_ppb=(_ppb(loss),),
        interruption_ps=0,
        handover_loses_cells=False,
    )


def _spec(motion: Motion, steps: Steps, carries_packets: bool) -> MotionSpec:
    """The motion as the engines see it: steps that change nothing are left out."""
    count = len(steps.times_ps)
    rates: tuple[int, ...] = steps.rates or (0,) * count
    losses: tuple[int, ...] = steps.losses_ppb or (0,) * count
    rows = list(zip(steps.times_ps, steps.delays_ps, steps.paths, rates, losses, strict=True))
    kept = [row for i, row in enumerate(rows) if i == 0 or row[1:] != rows[i - 1][1:]]
    numbers: list[int] = []
    for i, row in enumerate(kept):
        numbers.append(numbers[-1] + (row[2] != kept[i - 1][2]) if numbers else 0)
    kept_rates = tuple(row[3] for row in kept) if steps.rates else ()
    return MotionSpec(
        times_ps=tuple(row[0] for row in kept),
        delays_ps=tuple(row[1] for row in kept),
        paths=tuple(numbers),
        cell_times_ps=() if carries_packets else kept_rates,
        rates_millibps=kept_rates if carries_packets else (),
        losses_ppb=tuple(row[4] for row in kept) if steps.losses_ppb else (),
        interruption_ps=rounded(motion.interruption.amount),
        handover_loses_cells=motion.handover_loses_cells,
    )
