"""`skycell orbit passes`: when satellites rise above places, stand highest, and set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.orbit_options import (
    Inputs,
    common,
    report_notes,
    report_written,
    tables,
    time_option,
    validate_inputs,
    write_tables,
)
from skycell.cli.sentences import say_json
from skycell.cli.times import TimeOption
from skycell.cli.verb import Verb, validated

if TYPE_CHECKING:
    from skycell.orbit import Constellation, Passes, PassEvent

_MOST_ROWS = 60
"""Passes shown one by one."""


def _validate(
    collector: ErrorCollector,
    constellation: str | None,
    place: tuple[str, ...],
    csv_file: Path | None,
    parquet: Path | None,
    force: bool,
    places_file: Path | None,
    settings: tuple[str, ...],
    **_: object,
) -> Inputs | None:
    targets = (csv_file, parquet)
    found = validate_inputs(collector, constellation, settings, place, places_file, targets, force)
    with collector.step():
        if found is not None and not found[1]:
            raise click.UsageError("name a place, or give --places FILE")
    return found


@click.command(
    cls=Verb,
    validate=_validate,
    epilog="\b\nExamples:  skycell orbit passes iridium-like london --duration '30 min'\n"
    "           skycell orbit passes iridium-like 47.4,8.5 --set 'ground.mask=10 deg'",
    short_help="Show when satellites rise, stand highest, and set.",
)
@click.argument("constellation")
@click.argument("place", nargs=-1)
@time_option("--start", "0 s", "First moment.")
@time_option("--duration", "24 h", "Time from the first moment to the last.")
@click.option("--jobs", type=click.IntRange(1), help="Threads; all cores if not given.")
@tables
@common
def passes(
    start: TimeOption,
    duration: TimeOption,
    jobs: int | None,
    csv_file: Path | None,
    parquet: Path | None,
    as_json: bool,
    **_: object,
) -> None:
    """Show when satellites rise above each PLACE, stand highest, and set.

    A satellite is up while a place may use it: at the elevation mask or above it, and within the
    other limits of the constellation's [ground] and of the place. Azimuths go clockwise from north.
    Without a PLACE: those of --places, or the constellation's own.
    """
    from skycell.cli.progress import ShareProgress
    from skycell.orbit import passes as compute

    inputs = validated(_validate)
    assert inputs is not None
    sky, places = inputs
    with ShareProgress("of the passes found") as report_it:
        found = compute(
            sky,
            places,
            duration_ps=duration.ps,
            start_ps=start.ps,
            jobs=jobs,
            on_progress=report_it,
        )
    report_notes(found.validity)
    written = write_tables(found.table(), csv_file, parquet)
    if as_json:
        say_json(_as_dict(sky, found))
    else:
        _show(sky, found, f"{duration} from {start} on")
        report_written(written)


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
