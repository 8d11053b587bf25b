"""`skycell orbit look`: where satellites stand above places over time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import figure_option
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
from skycell.cli.sentences import say_json
from skycell.cli.times import TimeOption
from skycell.cli.verb import Verb, argument, option, shared

if TYPE_CHECKING:
    from skycell.orbit import Constellation, Place, Sights

_MOST_ROWS = 60
"""Satellites shown one by one."""
_MOST_MOMENTS = 1_000_000
"""Of all satellites and places together; more is a slip of the pen."""


@dataclass(frozen=True)
class _Asked:
    inputs: Inputs
    satellites: tuple[str, ...]
    times_ps: tuple[int, ...]


def _moments(start: TimeOption, duration: TimeOption, step: TimeOption) -> tuple[int, ...]:
    if step.ps == 0:
        raise click.BadParameter("0 s: must be a time above 0", param_hint="'--step'")
    count = duration.ps // step.ps + 1
    if count > _MOST_MOMENTS:
        message = f"{count:,} moments: at most {_MOST_MOMENTS:,}"
        raise click.BadParameter(message, param_hint="'--step'")
    return tuple(start.ps + number * step.ps for number in range(count))


def _named(sky: Constellation, names: tuple[str, ...]) -> tuple[str, ...]:
    from skycell.input.spelling import nearest

    unknown = [name for name in names if name not in sky.satellites]
    if unknown:
        near = nearest(unknown[0], sky.satellites)
        hint = f" Did you mean {near!r}?" if near else ""
        message = f"{', '.join(map(repr, unknown))}: no satellite of {sky.title}.{hint}"
        raise click.BadParameter(message, param_hint="'--satellite'")
    return tuple(dict.fromkeys(names))


class Look(OrbitCall):
    """Show where satellites stand above each PLACE: azimuth, elevation and range over time.

    Azimuths go clockwise from north. Satellites are followed below the horizon and the elevation
    mask too; the limits of the constellation's [ground] play no part but in which come up.
    Without a PLACE: those of --places, or the constellation's own.
    """

    constellation: str = argument()
    place: tuple[str, ...] = argument(nargs=-1)
    satellites: tuple[str, ...] = option(
        "--satellite",
        multiple=True,
        metavar="NAME",
        help="Satellite to look at; may be repeated  [default: all that rise]",
    )
    start: TimeOption = time_option("--start", "0 s", "First moment.")
    duration: TimeOption = time_option(
        "--duration", "10 min", "Time from the first moment to the last."
    )
    step: TimeOption = time_option("--step", "10 s", "Time from one moment to the next.")
    plot: Path | None = figure_option("elevation over time")
    files = shared(TableFiles)
    common = shared(OrbitOptions)

    def check(self, collector: ErrorCollector) -> _Asked | None:
        from skycell.plots.export import format_of

        with collector.step(), drawing_faults("--plot"):
            if self.plot is not None:
                format_of(self.plot)
        times_ps = collector.read(lambda: _moments(self.start, self.duration, self.step))
        inputs = self.inputs(collector, self.place, with_lists=True)
        if inputs is None:
            return None
        sky, places = inputs
        with collector.step():
            if not places:
                raise click.UsageError("name a place, or give --places FILE")
        names = collector.read(lambda: _named(sky, self.satellites))
        return _Asked(inputs, names or (), times_ps or ())

    @property
    def figure_file(self) -> Path | None:
        """The figure of elevations."""
        return self.plot

    def run(self, asked: _Asked) -> None:
        from skycell.orbit import sights

        sky, places = asked.inputs
        names = asked.satellites or _that_come_up(sky, places, self.start.ps, self.duration.ps)
        _refuse_too_many(len(names) * len(places) * len(asked.times_ps))
        found = sights(sky, places, names, asked.times_ps)
        report_notes(found.validity)
        written = self.files.write(found.table())
        if self.plot is not None:
            from skycell.plots.elevation import elevation_figure
            from skycell.plots.export import save

            with drawing_faults("--plot"):
                save({self.plot: elevation_figure(sky.title, found)}, force=self.files.force)
            written.append(self.plot)
        if self.common.as_json:
            say_json(_as_dict(sky, found))
        else:
            _show(
                sky, found, f"{self.duration} from {self.start} on", with_set=bool(asked.satellites)
            )
            report_written(written)


look = Verb(
    Look,
    "skycell orbit look iridium-like london --duration '30 min'",
    "skycell orbit look jsac98-6x11 paris --satellite 1-3 --plot look.svg",
    short_help="Show azimuth, elevation and range over time.",
)


def _that_come_up(
    sky: Constellation, places: list[Place], start_ps: int, duration_ps: int
) -> tuple[str, ...]:
    from skycell.orbit import passes

    rows = passes(sky, places, start_ps=start_ps, duration_ps=duration_ps).rows
    up = {row.satellite for row in rows}
    return tuple(name for name in sky.satellites if name in up)


def _refuse_too_many(count: int) -> None:
    if count > _MOST_MOMENTS:
        raise click.UsageError(
            f"{count:,} rows of satellites, places and moments: at most {_MOST_MOMENTS:,}; "
            "give a longer --step, a shorter --duration, or name satellites"
        )


def _as_dict(sky: Constellation, found: Sights) -> dict[str, Any]:
    rows = [
        {**row, "utc": row["utc"] and row["utc"].isoformat()}
        for row in found.table().iter_rows(named=True)
    ]
    return {"constellation": sky.title, "sights": rows, **found.validity.as_dict()}


def _show(sky: Constellation, found: Sights, when: str, *, with_set: bool) -> None:
    """Satellites by their highest elevation; those that stay below the horizon if asked for."""
    import polars as pl

    from skycell.cli.console import Output
    from skycell.input.quantities import counted, show_amount
    from skycell.tables.table import Table, columns, first_rows, number, share, words

    output = Output()
    moments = counted(len(found.times_ps), "moment")
    title = f"{sky.title}, {when}: the highest in {moments}"
    rows = []
    for (place, satellite), own in found.table().group_by(
        "place", "satellite", maintain_order=True
    ):
        top = own.row(int(own["elevation_deg"].arg_max() or 0), named=True)
        up = own.filter(pl.col("elevation_deg") >= 0)
        if up.is_empty() and not with_set:
            continue
        rows.append(
            (
                words(str(place)),
                words(str(satellite)),
                number(top["elevation_deg"], 1),
                words(f"{top['utc']:%m-%d %H:%M:%S}")
                if top["utc"]
                else words(show_amount(top["time_ps"] / 1e12) + " s"),
                number(top["azimuth_deg"], 1),
                number(top["range_km"], 0),
                number(max(own["range_km"].to_list()), 0),
                share(len(up) / len(own)),
            )
        )
    heads = ("elevation", "at", "azimuth", "range, km", "farthest, km", "above the horizon")
    names = columns("place", "satellite", *heads, numeric=heads)
    if rows:
        output.show(first_rows(Table(title, names, tuple(rows), keys=2), _MOST_ROWS))
    else:
        output.say(title, "bold")
        output.say("No satellite comes up.")
