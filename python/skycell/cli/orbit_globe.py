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
    OrbitCall,
    OrbitOptions,
    TableFiles,
    report_notes,
    report_written,
    time_option,
)
from skycell.cli.results import drawing_faults
from skycell.cli.sentences import say, say_json
from skycell.cli.times import TimeOption
from skycell.cli.verb import Verb, argument, option, shared

if TYPE_CHECKING:
    import polars as pl

    from skycell.orbit import Constellation
    from skycell.plots.globe import View

_OWN = ("czml",)
"""Endings of files that are no figures."""


class Globe(OrbitCall):
    """Draw the earth with the satellites at their height, links, and the path between two PLACEs.

    With two PLACEs the path from the first to the second is drawn, with more the paths from each to
    the next. --csv, --parquet and --json give the satellites' positions.
    """

    constellation: str = argument()
    place: tuple[str, ...] = argument(nargs=-1)
    out: Path | None = option(
        "--out",
        type=NamedPath(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Picture (.svg, .png or .pdf), page with an earth that can be turned (.html), or "
        "CZML for Cesium (.czml).",
    )
    view: str | None = option(
        "--view", metavar="LAT,LON", help="Centre of the view  [default: the middle of the places]"
    )
    links: str = option(
        "--links",
        type=click.Choice(["some", "all", "none"]),
        default="some",
        show_default=True,
        help="Links between satellites; some: all unless there are more than 600.",
    )
    at: TimeOption = time_option("--at", "0 s", "Moment, counted from time 0.")
    every: TimeOption = time_option("--every", "60 s", "Time between the moments of a page.")
    frames: int = option(
        "--frames",
        type=click.IntRange(1, 240),
        default=1,
        show_default=True,
        help="Moments of a page with a slider, or of CZML, which goes from one to the next.",
    )
    files = shared(TableFiles)
    common = shared(OrbitOptions)

    def check(self, collector: ErrorCollector) -> Inputs | None:
        from skycell.input.quantities import LONGEST_RUN_PS, show_time
        from skycell.plots.export import format_of

        with collector.step():
            if not (self.out or self.files.csv_file or self.files.parquet or self.common.as_json):
                raise click.UsageError("give at least one of --out, --csv, --parquet and --json")
        with collector.step(), drawing_faults():
            is_czml = self.out is not None and format_of(self.out, _OWN) in _OWN
            if is_czml and self.frames > 1 and self.every.ps == 0:
                raise click.BadParameter("0 s: moments of CZML are apart", param_hint="'--every'")
        with collector.step():
            last_ps = self.at.ps + (self.frames - 1) * self.every.ps
            if last_ps > LONGEST_RUN_PS:
                longest = show_time(LONGEST_RUN_PS)
                message = f"the last moment is {show_time(last_ps)}, past {longest}"
                raise click.BadParameter(message, param_hint="'--every'")
        with collector.step():
            _view(self.view)
        return self.inputs(collector, self.place, with_lists=True)

    @property
    def figure_file(self) -> Path | None:
        """The picture, page or CZML."""
        return self.out

    def run(self, inputs: Inputs) -> None:
        from skycell.orbit.absent_links import absent_links
        from skycell.orbit.validity import validity

        sky, places = inputs
        times_ps = [self.at.ps + frame * self.every.ps for frame in range(self.frames)]
        known = validity(sky, times_ps[0], times_ps[-1], places)
        report_notes(replace(known, links=absent_links(sky, times_ps[0], times_ps[-1])))
        written = []
        pairs = [(n, n + 1) for n in range(len(places) - 1)]
        if self.out is not None and self.out.suffix.lower() == ".czml":
            from skycell.orbit.czml import NO_EPOCH, czml
            from skycell.plots.files import write_all

            packets = czml(
                sky, places, pairs, start_ps=self.at.ps, step_ps=self.every.ps, steps=self.frames
            )
            written += write_all({self.out: json.dumps(packets).encode()}, force=self.files.force)
            if sky.file.earth.epoch is None:
                say(f"Time 0 is {NO_EPOCH:%Y-%m-%d %H:%M} UTC in {self.out.name}.", err=True)
        elif self.out is not None:
            from skycell.plots.export import save
            from skycell.plots.globe import globe_figure

            with drawing_faults():
                figure = globe_figure(
                    sky, places, pairs, times_ps=times_ps, view=_view(self.view), links=self.links
                )
                save({self.out: figure}, force=self.files.force)
            written.append(self.out)
        if self.files.csv_file is not None or self.files.parquet is not None or self.common.as_json:
            rows = _positions(sky, times_ps)
            written += self.files.write(rows)
            if self.common.as_json:
                say_json(rows.to_dicts())
                return
        report_written(written)


globe = Verb(
    Globe,
    "skycell orbit globe jsac98-6x11 new_york tokyo --out globe.html",
    short_help="Draw the earth, the satellites and a path.",
)


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
