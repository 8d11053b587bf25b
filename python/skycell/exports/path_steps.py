"""What an emulator has to know of a path: its delay, rate and losses over time, both ways."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skycell.exports.named import NothingToExport
from skycell.input.quantities import CELL_BITS, PS_PER_SECOND, rounded
from skycell.scenario.links.steps_table import steps_table
from skycell.spec.steps import Steps
from skycell.spec.values import WHOLE_PPB

if TYPE_CHECKING:
    from skycell.records.result import RunResult
    from skycell.spec.declared.network import LinkSpec, NetworkSpec

#: A line of packets that is faster than any file says.
_FAST_BPS = 10**15


@dataclass(frozen=True)
class PathSteps:
    """A path over time.

    Attributes:
        title: what it is the path of, as the beginning of a sentence.
        there: steps of the direction of the data; rates are thousandths of a bit/s.
        back: steps of the other direction.
        end_ps: when the last step ends.
        has_delays: whether the delays were given.
        notes: sentences on what the source has and steps have not.
    """

    title: str
    there: Steps
    back: Steps
    end_ps: int
    has_delays: bool = True
    notes: tuple[str, ...] = ()

    def table(self, way: str) -> str:
        """The steps of a direction as CSV, which a link's `schedule.series` may name."""
        steps = self.ways[way]
        if steps.times_ps[-1] < self.end_ps:  # a series has a row at its end
            rows = _rows(steps)
            steps = _of_rows([*rows, (self.end_ps, *rows[-1][1:])], steps)
        return steps_table(steps, has_delays=self.has_delays)

    @property
    def ways(self) -> Mapping[str, Steps]:
        """The steps of each direction by its name."""
        return {"forward": self.there, "reverse": self.back}

    def between(self, from_ps: int, to_ps: int | None) -> PathSteps:
        """The path from one moment to another, which are its beginning and its end then."""
        end_ps = self.end_ps if to_ps is None else min(to_ps, self.end_ps)
        if from_ps >= end_ps:
            raise NothingToExport(
                f"the path ends at {self.end_ps / PS_PER_SECOND:g} s, and nothing is left of it "
                f"from {from_ps / PS_PER_SECOND:g} s to {end_ps / PS_PER_SECOND:g} s"
            )
        there, back = (_between(steps, from_ps, end_ps) for steps in (self.there, self.back))
        return replace(self, there=there, back=back, end_ps=end_ps - from_ps)


def path_of_file(file: Path, rate_bps: Fraction | None) -> PathSteps:
    """The path that a file describes which may be a link's `schedule.series`.

    Args:
        file: a table of steps, or the log of a measuring tool.
        rate_bps: its rate where the file has none.

    Raises:
        ScenarioFaults: of the file by line.
        OSError: the file cannot be read.
        NothingToExport: the file has one moment only, or a rate was given for a file with rates.
    """
    from skycell.scenario.declared.framings import Ip
    from skycell.scenario.links.link_rate import LinkRate
    from skycell.scenario.links.link_summary import summary_of
    from skycell.scenario.links.schedule import Schedule
    from skycell.scenario.links.series import understood

    line = LinkRate(Fraction(_FAST_BPS), Ip(kind="ip"), "")
    account, steps = understood(Path(), Schedule.model_validate({"series": str(file)}), line)
    has_delays = summary_of(account.form, steps, line).delay_ms is not None
    if not steps.times_ps[-1]:
        raise NothingToExport(f"{file} has one moment only, and a path lasts from one to another")
    if rate_bps is not None:
        if steps.rates:
            raise NothingToExport(f"--rate is for files without rates, and {file.name} has them")
        steps = replace(steps, rates=(rounded(rate_bps * 1000),) * len(steps.times_ps))
    # The last row of a series says where it ends.
    end_ps = steps.times_ps[-1]
    notes = (account.heading, *account.sentences(), "Both directions are alike.")
    return PathSteps(f"A path from {file.name}", steps, steps, end_ps, has_delays, notes)


def path_of_run(result: RunResult, flows: Sequence[str]) -> PathSteps:
    """The path of a flow of a run, without the queues on it.

    Args:
        result: the run.
        flows: the name of one flow, which there is; nothing for the only flow of a run.

    Raises:
        NothingToExport: no flow, or several, or a constellation whose paths were not kept.
    """
    spec = result.spec
    names = [flow.name for flow in spec.flows]
    if not names:
        raise NothingToExport("the run has no TCP flows, and a path is written of a flow")
    if len(flows or names) != 1:
        shown = ", ".join(names[:8]) + (" and so on" if len(names) > 8 else "")
        raise NothingToExport(f"a path is written of one flow: --flow NAME, one of {shown}")
    (name,) = flows or names
    flow = spec.flows[names.index(name)]
    if spec.sky is not None:
        return _path_over_sky(result, name)
    received = [
        [(spec.links[link], vc) for vc in vcs for link in spec.vcs[vc].path]
        for vcs in (flow.forward, flow.reverse)
    ]
    ways = [[link for link, _ in way] for way in received]
    there, back = (
        _joined([steps for link, vc in way for steps in _steps_at(link, vc)]) for way in received
    )
    over, back_over = (", ".join(link.name for link in links) for links in ways)
    notes = [
        f"Links: {over}; and back {back_over}.",
        *dict.fromkeys(note for links in ways for link in links for note in _notes_on(link)),
    ]
    if flow.peps:
        notes.append("Proxies split the flow's connection; the path is from end to end.")
    if any(link.framing is None for links in ways for link in links):
        notes.append("Rates of links with ATM cells are those of their cells, 53 octets each.")
    return PathSteps(f"The path of {name}", there, back, spec.duration_ps, notes=tuple(notes))


def _path_over_sky(result: RunResult, name: str) -> PathSteps:
    """The path of a flow over a constellation, as the tables of the run have it."""
    from skycell.records.sky import PATHS
    from skycell.records.sky_pairs import ways_of_flow

    spec = result.spec
    if PATHS not in result.traces:
        raise NothingToExport(
            "the run has no table of paths: it was made of a spec, and paths follow from a scenario"
        )
    assert spec.sky is not None
    rates = [
        kind.framing.rate_millibps
        if kind.framing is not None
        else _rate_of_cells(kind.cell_time_ps)
        for kind in spec.sky.kinds
    ]
    there, back = (
        _steps_of_pair(result, pair, min(rates), spec) for pair in ways_of_flow(spec, name)
    )
    notes = [
        "Delays are those of each change of the path and of each second that the run kept.",
        "The rate is that of the slowest of the constellation's links.",
    ]
    if any(kind.loss_ppb or kind.channel for kind in spec.sky.kinds):
        notes.append("Losses of the constellation's links are not among the steps.")
    return PathSteps(f"The path of {name}", there, back, spec.duration_ps, notes=tuple(notes))


def _steps_of_pair(result: RunResult, pair: str, rate: int, spec: NetworkSpec) -> Steps:
    import polars as pl

    from skycell.records.sky import DELAYS, PATHS

    steps: dict[int, tuple[int | None, int]] = {}
    seconds = result.traces[DELAYS].filter(pl.col("pair") == pair)
    rows = result.traces[PATHS].filter(pl.col("pair") == pair).sort("start_ps")
    for number, row in enumerate(rows.iter_rows(named=True)):
        begin, end = row["start_ps"], row["end_ps"]
        is_whole = not row["missing"]
        steps[begin] = (row["delay_ps"] if is_whole else None, number)
        for second, delay in seconds.select("second", "delay_ps").iter_rows():
            if begin < second * PS_PER_SECOND < end and is_whole and delay is not None:
                steps[second * PS_PER_SECOND] = (delay, number)
    if not steps:
        raise NothingToExport(f"the run kept no path of {pair}")
    times = sorted(time for time in steps if time < spec.duration_ps)
    return _merged(
        Steps(
            tuple(times),
            tuple(steps[time][0] for time in times),
            tuple(steps[time][1] for time in times),
            (rate,) * len(times),
        )
    )


def _steps_at(link: LinkSpec, vc: int) -> Iterator[Steps]:
    """The steps of a link, and those of a VC's receiver with a rate of its own on it."""
    yield _steps_of(link)
    own = link.framing.rate_millibps if link.framing is not None else 0
    for receiver in (receiver for receiver in link.receivers if vc in receiver.vcs):
        none = (0,) * len(receiver.times_ps)
        delays = tuple(None if rate is None else 0 for rate in receiver.rates_millibps)
        rates = tuple(own if rate is None else rate for rate in receiver.rates_millibps)
        yield Steps(receiver.times_ps, delays, none, rates, none)


def _steps_of(link: LinkSpec) -> Steps:
    """The steps of a link of a run, always with rates and losses."""
    schedule = link.schedule
    own_rate = (
        link.framing.rate_millibps
        if link.framing is not None
        else _rate_of_cells(link.cell_time_ps)
    )
    if schedule is None:
        return Steps((0,), (link.delay_ps,), (0,), (own_rate,), (link.loss_ppb,))
    count = len(schedule.times_ps)
    rates = schedule.rates_millibps or tuple(map(_rate_of_cells, schedule.cell_times_ps))
    losses = schedule.losses_ppb or (0,) * count
    return Steps(
        schedule.times_ps,
        schedule.delays_ps,
        schedule.paths or (0,) * count,
        rates or (own_rate,) * count,
        tuple(_either(loss, link.loss_ppb) for loss in losses),
    )


def _rate_of_cells(cell_time_ps: int) -> int:
    """Thousandths of a bit/s of cells of a duration."""
    return rounded(Fraction(CELL_BITS * PS_PER_SECOND * 1000, cell_time_ps)) if cell_time_ps else 0


def _either(one: int, other: int) -> int:
    """The part lost of two links in a row, each losing on its own."""
    return one + other - one * other // WHOLE_PPB


def _joined(links: Sequence[Steps]) -> Steps:
    """Links in a row as one: delays add up, the slowest sets the rate, losses are independent."""
    times = sorted({time for steps in links for time in steps.times_ps} | {0})
    delays: list[int | None] = []
    rates: list[int] = []
    losses: list[int] = []
    paths: list[tuple[int, ...]] = []
    for time in times:
        places = [max(bisect_right(steps.times_ps, time) - 1, 0) for steps in links]
        at = list(zip(links, places, strict=True))
        each = [steps.delays_ps[place] for steps, place in at]
        known = [delay for delay in each if delay is not None]
        delays.append(sum(known) if len(known) == len(each) else None)
        rates.append(min(steps.rates[place] for steps, place in at))
        lost = 0
        for steps, place in at:
            lost = _either(lost, steps.losses_ppb[place])
        losses.append(lost)
        paths.append(tuple(steps.paths[place] for steps, place in at))
    return _merged(
        Steps(
            tuple(times),
            tuple(delays),
            tuple(_numbered(paths)),
            tuple(rates),
            tuple(losses) if any(losses) else (),
        )
    )


def _numbered(paths: Sequence[tuple[int, ...]]) -> Iterator[int]:
    """Numbers for paths that follow each other, another one where the path is another."""
    number = 0
    for before, path in zip([*paths[:1], *paths[:-1]], paths, strict=True):
        number += path != before
        yield number


def _merged(steps: Steps) -> Steps:
    """Steps without those that change nothing."""
    rows = _rows(steps)
    kept = [at for at in range(len(rows)) if not at or rows[at][1:] != rows[at - 1][1:]]
    return _of_rows([rows[at] for at in kept], steps)


def _between(steps: Steps, from_ps: int, to_ps: int) -> Steps:
    """The steps that hold from one moment to another, with times from the first moment."""
    rows = _rows(steps)
    first = max(bisect_right(steps.times_ps, from_ps) - 1, 0)
    kept = [row for row in rows[first:] if row[0] <= to_ps]
    return _of_rows([(max(row[0] - from_ps, 0), *row[1:]) for row in kept], steps)


def _rows(steps: Steps) -> list[tuple[Any, ...]]:
    nothing = [None] * len(steps.times_ps)
    return list(
        zip(
            steps.times_ps,
            steps.delays_ps,
            steps.paths,
            steps.rates or nothing,
            steps.losses_ppb or nothing,
            strict=True,
        )
    )


def _of_rows(rows: Sequence[tuple[Any, ...]], steps: Steps) -> Steps:
    times, delays, paths, rates, losses = zip(*rows, strict=True)
    return Steps(
        times, delays, paths, rates if steps.rates else (), losses if steps.losses_ppb else ()
    )


def _notes_on(link: LinkSpec) -> Iterator[str]:
    """What of a link is not in its steps."""
    if link.channel is not None:
        yield (
            f"{link.name} has losses of kind {link.channel.kind}, which are not among the steps: "
            "steps have losses that are independent of each other."
        )
    if link.delay_variation is not None:
        yield f"The delays of {link.name} vary from packet to packet, and steps have no such delay."
    if link.port.shaper is not None or link.port.policer is not None:
        yield f"Token buckets of {link.name} are not among the steps."


QUEUES = (
    "Queues are not part of a path: no buffer and no queue discipline of the run is in this file."
)
"""What no format of an emulator has of a run."""
