"""`skycell orbit series`: paths and delays over time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import NamedPath, figure_option, jobs_option
from skycell.cli.orbit_options import (
    PLACE_HELP,
    Inputs,
    OrbitCall,
    OrbitOptions,
    TableFiles,
    report_notes,
    report_written,
    time_option,
)
from skycell.cli.results import drawing_faults
from skycell.cli.sentences import say_json
from skycell.cli.times import TimeOption
from skycell.cli.verb import Verb, argument, option, shared

if TYPE_CHECKING:
    from skycell.orbit import Series

_MOST_HANDOVERS = 30
"""Handovers shown one by one."""


@dataclass(frozen=True)
class _Asked:
    """What a series is computed from.

    Attributes:
        inputs: the constellation, and the places of all pairs.
        pairs: source and destination, as numbers of places.
    """

    inputs: Inputs
    pairs: list[tuple[int, int]]


class SeriesCall(OrbitCall):
    """Show how path and delay between places change with time.

    A handover is told at the first step on the new path; the change itself lies within the step
    before it. With --exact its moment is found. Then a place that holds its satellite until it sets
    takes the next one at that moment, and not at the next step.
    """

    constellation: str = argument()
    pairs: tuple[tuple[str, str], ...] = option(
        "--pair",
        nargs=2,
        multiple=True,
        metavar="FROM TO",
        help=f"Where a path begins and ends, each {PLACE_HELP}; may be repeated.",
    )
    pairs_file: Path | None = option(
        "--pairs",
        type=NamedPath(path_type=Path),
        metavar="FILE",
        help="Pairs: CSV with from and to.",
    )
    start: TimeOption = time_option("--start", "0 s", "First moment.")
    duration: TimeOption = time_option(
        "--duration", "10 min", "Time from the first moment to the last."
    )
    step: TimeOption = time_option("--step", "1 s", "Time from one moment to the next.")
    exact: bool = option("--exact", is_flag=True, help="Find the moments of handovers to 1 ns.")
    rows: str = option(
        "--rows",
        type=click.Choice(["delays", "paths", "links"]),
        default="delays",
        show_default=True,
        help="What files contain: a row per step, per path, or per link and step.",
    )
    plot: Path | None = figure_option("delay over time with handovers marked")
    jobs: int | None = jobs_option("Threads; all cores if not given.")
    files = shared(TableFiles)
    common = shared(OrbitOptions)

    def check(self, collector: ErrorCollector) -> _Asked | None:
        from skycell.plots.export import format_of

        with collector.step(), drawing_faults("--plot"):
            if self.plot is not None:
                format_of(self.plot)
        with collector.step():
            if self.step.ps == 0:
                raise click.BadParameter("0 s: must be a time above 0", param_hint="'--step'")
        listed = list(self.pairs)
        with collector.step():
            if self.pairs_file is not None:
                listed += _read_pairs(self.pairs_file)
            elif not listed:
                raise click.UsageError("name a pair of places: --pair FROM TO")
        names = list(dict.fromkeys(name for pair in listed for name in pair))
        inputs = self.inputs(collector, names)
        numbers = {name: number for number, name in enumerate(names)}
        numbered = [(numbers[source], numbers[target]) for source, target in listed]
        return None if inputs is None else _Asked(inputs, numbered)

    @property
    def figure_file(self) -> Path | None:
        """The figure of delays."""
        return self.plot

    def run(self, asked: _Asked) -> None:
        from skycell.orbit import series as compute
        from skycell.orbit.motion import PRECISION_PS

        with _progress() as report_it:
            try:
                found = compute(
                    *asked.inputs,
                    asked.pairs,
                    duration_ps=self.duration.ps,
                    step_ps=self.step.ps,
                    start_ps=self.start.ps,
                    with_links=self.rows == "links",
                    precision_ps=PRECISION_PS if self.exact else None,
                    jobs=self.jobs,
                    on_progress=report_it,
                )
            except ValueError as error:  # more steps than a series can have
                raise click.UsageError(str(error)) from None
        report_notes(found.validity)
        written = []
        if self.files.csv_file is not None or self.files.parquet is not None:
            table = {
                "delays": found.delay_table,
                "paths": found.path_table,
                "links": found.link_table,
            }[self.rows]()
            written = self.files.write(table)
        if self.plot is not None:
            written.append(_draw(found, self.plot, self.files.force))
        if self.common.as_json:
            say_json(_as_dict(found))
        else:
            _show(found)
            report_written(written)


series = Verb(
    SeriesCall,
    "skycell orbit series jsac98-6x11 --pair new_york tokyo --duration '100 min'",
    short_help="Show how delays change with time.",
)


def _read_pairs(file: Path) -> list[tuple[str, str]]:
    from skycell.input.text import csv_faults, read_text

    with csv_faults(str(file)):
        return _pairs_in(read_text(file), file)


def _pairs_in(text: str, file: Path) -> list[tuple[str, str]]:
    import csv
    from io import StringIO

    from skycell.input.faults import Fault, ScenarioFaults, show_value

    reader = csv.DictReader(StringIO(text, newline=""))
    if not {"from", "to"} <= set(reader.fieldnames or []):
        got = ", ".join(map(show_value, reader.fieldnames or [])) or "nothing"
        raise ScenarioFaults([Fault(str(file), "", got, "a header with from, to", line=1)])
    faults, pairs = [], []
    for row in reader:
        pairs.append((row["from"], row["to"]))
        faults += [
            Fault(str(file), end, "nothing", PLACE_HELP, line=reader.line_num)
            for end in ("from", "to")
            if not row[end]
        ]
    if not pairs:
        faults.append(Fault(str(file), "", "no pair", "one row or more", line=1))
    if faults:
        raise ScenarioFaults(faults)
    return pairs


def _progress() -> Any:
    from skycell.cli.progress import ShareProgress

    return ShareProgress("of the series computed")


def _draw(found: Series, file: Path, force: bool) -> Path:
    from skycell.plots.delay import delay_figure
    from skycell.plots.export import save

    with drawing_faults("--plot"):
        save({file: delay_figure(found)}, force=force)
    return file


def _as_dict(found: Series) -> dict[str, Any]:
    from skycell.orbit.over_time import NO_PATH_PS

    reported = []
    for pair in range(len(found.pairs)):
        source, target = found.ends(pair)
        delays = [int(d) if d != NO_PATH_PS else None for d in found.delays_ps(pair)]
        reported.append(
            {
                "from": source,
                "to": target,
                "delays_ps": delays,
                "handovers": [
                    {
                        "at_ps": change.at_ps,
                        "what": change.what,
                        "before": list(change.before),
                        "after": list(change.after),
                        "delay_before_ps": change.delay_before_ps,
                        "delay_after_ps": change.delay_after_ps,
                    }
                    for change in found.handovers(pair)
                ],
            }
        )
    return {
        "constellation": found.constellation.title,
        "start_ps": found.start_ps,
        "step_ps": found.step_ps,
        "steps": found.steps,
        "precision_ps": found.precision_ps,
        "pairs": reported,
        **found.validity.as_dict(),
    }


def _show(found: Series) -> None:
    import numpy as np

    from skycell.cli.console import Output
    from skycell.input.quantities import counted, show_time
    from skycell.orbit.over_time import NO_PATH_PS
    from skycell.tables.table import Table, columns, count, number, share, words

    steps = f"{counted(found.steps, 'step')} of {show_time(found.step_ps)}"
    span = f"{steps} from {show_time(found.start_ps)}"
    title = f"{found.constellation.title}: {span}; one-way delay in ms"
    heads = ("least", "mean", "most", "largest jump", "handovers", "without path")
    rows = []
    for pair in range(len(found.pairs)):
        delays = found.delays_ps(pair)
        there = delays[delays != NO_PATH_PS] / 1e9
        changes = found.handovers(pair)
        jumps = [
            abs(change.delay_after_ps - change.delay_before_ps) / 1e9
            for change in changes
            if change.delay_after_ps is not None and change.delay_before_ps is not None
        ]
        numbers = [float(of(there)) if there.size else None for of in (np.min, np.mean, np.max)]
        rows.append(
            (
                *map(words, found.ends(pair)),
                *(number(value, 2) for value in numbers),
                number(max(jumps, default=0.0), 2),
                count(len(changes)),
                share(float(np.mean(delays == NO_PATH_PS))),
            )
        )
    names = columns("from", "to", *heads, numeric=heads)
    Output(110).show(Table(title, names, tuple(rows), keys=2))
    if len(found.pairs) == 1:
        _show_handovers(found)


def _show_handovers(found: Series) -> None:
    from skycell.cli.console import Output
    from skycell.input.quantities import show_amount
    from skycell.tables.table import Table, columns, count, first_rows, number, words

    changes = found.handovers(0)
    if not changes:
        return
    rows = []
    for change in changes:
        delays = (change.delay_before_ps, change.delay_after_ps)
        rows.append(
            (
                words(show_amount(change.at_ps / 1e12)),
                words(change.what),
                *(number(None if delay is None else delay / 1e9, 3) for delay in delays),
                count(len(change.after)),
                words(" ".join(change.after)),
            )
        )
    heads = ("at, s", "what", "before, ms", "after, ms", "satellites", "path")
    numeric = [head for head in heads if head not in ("what", "path")]
    names = columns(*heads, numeric=numeric, prose=["path"])
    Output(110).show(first_rows(Table("Handovers", names, tuple(rows), keys=2), _MOST_HANDOVERS))
