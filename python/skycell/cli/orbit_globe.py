"""`skycell orbit globe`: a picture of a constellation, or a page that one can turn."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import NamedPath
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
from skycell.cli.plot import drawing_faults
from skycell.cli.sentences import say, say_json
from skycell.cli.times import TimeOption
from skycell.cli.verb import Verb, validated

if TYPE_CHECKING:
    import polars as pl

    from skycell.orbit import Constellation
    from skycell.plots.globe import View

_OWN = ("czml",)
"""Endings of files that are no figures."""


def _validate(
    collector: ErrorCollector,
    constellation: str | None,
    place: tuple[str, ...],
    out: Path | None,
    view: str | None,
    at: TimeOption | None,
    every: TimeOption | None,
    frames: int | None,
    csv_file: Path | None,
    parquet: Path | None,
    force: bool,
    places_file: Path | None,
    settings: tuple[str, ...],
    as_json: bool,
    **_: object,
) -> Inputs | None:
    from skycell.input.quantities import LONGEST_RUN_PS, show_time
    from skycell.plots.export import format_of

    with collector.step():
        if out is None and csv_file is None and parquet is None and not as_json:
            raise click.UsageError("give at least one of --out, --csv, --parquet and --json")
    with collector.step(), drawing_faults():
        if out is not None and format_of(out, _OWN) in _OWN and frames is not None:
            _check_czml(every, frames)
    with collector.step():
        if at is not None and every is not None and frames is not None:
            last_ps = at.ps + (frames - 1) * every.ps
            if last_ps > LONGEST_RUN_PS:
                longest = show_time(LONGEST_RUN_PS)
                message = f"the last moment is {show_time(last_ps)}, past {longest}"
                raise click.BadParameter(message, param_hint="'--every'")
    with collector.step():
        _view(view)
    targets = (out, csv_file, parquet)
    return validate_inputs(collector, constellation, settings, place, places_file, targets, force)


@click.command(
    cls=Verb,
    validate=_validate,
    epilog="\b\nExample:  skycell orbit globe jsac98-6x11 new_york tokyo --out globe.html",
    short_help="Draw the earth, the satellites and a path.",
)
@click.argument("constellation")
@click.argument("place", nargs=-1)
@click.option(
    "--out",
    type=NamedPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Picture (.svg, .png or .pdf), page with an earth that can be turned (.html), or CZML for "
    "Cesium (.czml).",
)
@click.option(
    "--view",
    metavar="LAT,LON",
    help="Centre of the view  [default: the middle of the places]",
)
@click.option(
    "--links",
    type=click.Choice(["some", "all", "none"]),
    default="some",
    show_default=True,
    help="Links between satellites; some: all unless there are more than 600.",
)
@time_option("--at", "0 s", "Moment, counted from time 0.")
@time_option("--every", "60 s", "Time between the moments of a page.")
@click.option(
    "--frames",
    type=click.IntRange(1, 240),
    default=1,
    show_default=True,
    help="Moments of a page with a slider, or of CZML, which goes from one to the next.",
)
@tables
@common
def globe(
    out: Path | None,
    view: str | None,
    links: str,
    at: TimeOption,
    every: TimeOption,
    frames: int,
    csv_file: Path | None,
    parquet: Path | None,
    force: bool,
    as_json: bool,
    **_: object,
) -> None:
    """Draw the earth with the satellites at their height, links, and the path between two PLACEs.

    With two PLACEs the path from the first to the second is drawn, with more the paths from each to
    the next. --csv, --parquet and --json give the satellites' positions.
    """
    from skycell.orbit.absent_links import absent_links
    from skycell.orbit.validity import validity

    inputs = validated(_validate)
    assert inputs is not None
    sky, places = inputs
    times_ps = [at.ps + frame * every.ps for frame in range(frames)]
    known = validity(sky, times_ps[0], times_ps[-1], places)
    report_notes(replace(known, links=absent_links(sky, times_ps[0], times_ps[-1])))
    written = []
    pairs = [(n, n + 1) for n in range(len(places) - 1)]
    if out is not None and out.suffix.lower() == ".czml":
        from skycell.orbit.czml import NO_EPOCH, czml
        from skycell.plots.files import write_all

        packets = czml(sky, places, pairs, start_ps=at.ps, step_ps=every.ps, steps=frames)
        written += write_all({out: json.dumps(packets).encode()}, force=force)
        if sky.file.earth.epoch is None:
            say(f"Time 0 is {NO_EPOCH:%Y-%m-%d %H:%M} UTC in {out.name}.", err=True)
    elif out is not None:
        from skycell.plots.export import save
        from skycell.plots.globe import globe_figure

        with drawing_faults():
            figure = globe_figure(
                sky, places, pairs, times_ps=times_ps, view=_view(view), links=links
            )
            save({out: figure}, force=force)
        written.append(out)
    if csv_file is not None or parquet is not None or as_json:
        rows = _positions(sky, times_ps)
        written += write_tables(rows, csv_file, parquet)
        if as_json:
            say_json(rows.to_dicts())
            return
    report_written(written)


def _check_czml(every: TimeOption | None, frames: int) -> None:
    if every is not None and every.ps == 0 and frames > 1:
        raise click.BadParameter("0 s: moments of CZML are apart", param_hint="'--every'")


def _view(text: str | None) -> View | None:
    from skycell.orbit import find_places
    from skycell.plots.globe import View
    from skycell.scenario import ScenarioFaults

    if text is None:
        return None
    try:
        (point,) = find_places([text])
    except ScenarioFaults:
        message = f"{text!r}: must be latitude,longitude in degrees, or a city"
        raise click.BadParameter(message, param_hint="'--view'") from None
    return View(point.latitude_deg, point.longitude_deg)


def _positions(sky: Constellation, times_ps: list[int]) -> pl.DataFrame:
    """A row a moment and satellite, without those that are left out."""
    import numpy as np
    import polars as pl

    from skycell.orbit import positions_km

    at = positions_km(sky, times_ps).reshape(-1, 3)
    count = len(sky.satellites)
    rows = pl.DataFrame(
        {
            "time_ps": np.repeat(np.array(times_ps, dtype=np.uint64), count),
            "satellite": list(sky.satellites) * len(times_ps),
            "x_km": at[:, 0],
            "y_km": at[:, 1],
            "z_km": at[:, 2],
        }
    )
    return rows.filter(pl.col("x_km").is_not_nan())
