"""`skycell orbit passes`: when satellites rise above places, stand highest, and set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import jobs_option
from skycell.cli.orbit_options import (
    Inputs,
    OrbitCall,
    OrbitOptions,
    TableFiles,
    report_notes,
    report_written,
    time_option,
)
from skycell.cli.sentences import say_json
from skycell.cli.times import TimeOption
from skycell.cli.verb import Verb, argument, shared

if TYPE_CHECKING:
    from skycell.orbit import Constellation, Passes, PassEvent

_MOST_ROWS = 60
"""Passes shown one by one."""


class PassesCall(OrbitCall):
    """Show when satellites rise above each PLACE, stand highest, and set.

    A satellite is up while a place may use it: at the elevation mask or above it, and within the
    other limits of the constellation's [ground] and of the place. Azimuths go clockwise from north.
    Without a PLACE: those of --places, or the constellation's own.
    """

    constellation: str = argument()
    place: tuple[str, ...] = argument(nargs=-1)
    start: TimeOption = time_option("--start", "0 s", "First moment.")
    duration: TimeOption = time_option(
        "--duration", "24 h", "Time from the first moment to the last."
    )
    jobs: int | None = jobs_option("Threads; all cores if not given.")
    files = shared(TableFiles)
    common = shared(OrbitOptions)

    def check(self, collector: ErrorCollector) -> Inputs | None:
        inputs = self.inputs(collector, self.place, with_lists=True)
        with collector.step():
            if inputs is not None and not inputs[1]:
                raise click.UsageError("name a place, or give --places FILE")
        return inputs

    def run(self, inputs: Inputs) -> None:
        from skycell.cli.progress import ShareProgress
        from skycell.orbit import passes as compute

        sky, places = inputs
        with ShareProgress("of the passes found") as report_it:
            found = compute(
                sky,
                places,
                duration_ps=self.duration.ps,
                start_ps=self.start.ps,
                jobs=self.jobs,
                on_progress=report_it,
            )
        report_notes(found.validity)
        written = self.files.write(found.table())
        if self.common.as_json:
            say_json(_as_dict(sky, found))
        else:
            _show(sky, found, f"{self.duration} from {self.start} on")
            report_written(written)


passes = Verb(
    PassesCall,
    "skycell orbit passes iridium-like london --duration '30 min'",
    "skycell orbit passes iridium-like 47.4,8.5 --set 'ground.mask=10 deg'",
    short_help="Show when satellites rise, stand highest, and set.",
)


def _as_dict(sky: Constellation, found: Passes) -> dict[str, Any]:
    rows = [
        {
            "place": row.place,
            "satellite": row.satellite,
            "rise": _event(row.rise),
            "top": _event(row.top),
            "set": _event(row.set),
        }
        for row in found.rows
    ]
    return {"constellation": sky.title, "passes": rows, **found.validity.as_dict()}


def _event(event: PassEvent | None) -> dict[str, Any] | None:
    if event is None:
        return None
    return {
        "at_ps": event.at_ps,
        "utc": None if event.utc is None else event.utc.isoformat(),
        "azimuth_deg": event.azimuth_deg,
        "elevation_deg": event.elevation_deg,
        "range_km": event.range_km,
    }


def _show(sky: Constellation, found: Passes, when: str) -> None:
    from skycell.cli.console import Output
    from skycell.tables.table import Column, Table, words

    output = Output()
    title = f"{sky.title}, {when}: passes"
    heads = ("rises", "azimuth", "highest", "azimuth", "elevation", "range", "sets", "azimuth")
    rows = [
        (
            row.place,
            row.satellite,
            *_moment(row.rise),
            *_moment(row.top),
            f"{row.top.elevation_deg:.1f}",
            f"{row.top.range_km:.0f} km",
            *_moment(row.set),
        )
        for row in found.rows[:_MOST_ROWS]
    ]
    names = [Column("place"), Column("satellite"), *(Column(head, numeric=True) for head in heads)]
    if rows:
        cells = tuple(tuple(map(words, row)) for row in rows)
        output.show(Table(title, tuple(names), cells, keys=2))
    else:
        output.say(title, "bold")
    more = len(found.rows) - _MOST_ROWS
    if more > 0:
        output.say(f"{more} more; --csv, --parquet and --json have them all.")
    if not found.rows:
        output.say("No satellite comes up.")


def _moment(event: PassEvent | None) -> tuple[str, str]:
    """Moment and azimuth; a dash where the pass goes on beyond the moments asked for."""
    if event is None:
        return "–", ""
    if event.utc is not None:
        shown = f"{event.utc:%m-%d %H:%M:%S}"
    else:
        minutes, seconds = divmod(round(event.at_ps / 1e12, 1), 60)
        shown = f"{int(minutes)}:{seconds:04.1f}"
    return shown, f"{event.azimuth_deg:.1f}"
