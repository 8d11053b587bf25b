"""`skycell orbit`: constellations, paths over them, and how delays change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import json_option
from skycell.cli.orbit_globe import globe
from skycell.cli.orbit_look import look as look_at
from skycell.cli.orbit_options import (
    Inputs,
    OrbitCall,
    OrbitOptions,
    TableFiles,
    report_notes,
    report_written,
    time_option,
)
from skycell.cli.orbit_passes import passes
from skycell.cli.orbit_routes import routes
from skycell.cli.orbit_series import series
from skycell.cli.sentences import say, say_json
from skycell.cli.times import TimeOption
from skycell.cli.verb import Call, Verb, argument, option, shared

if TYPE_CHECKING:
    import polars as pl

    from skycell.orbit import Constellation, Moment, Route


@click.group(
    epilog="\b\nExample:  skycell orbit path jsac98-6x11 los_angeles london",
)
def orbit() -> None:
    """Compute constellations, paths over them, and how delays change.

    CONSTELLATION is a file, or one of those that `skycell orbit list` shows. A place is a built-in
    city, a place in a file of yours, or latitude,longitude in degrees.
    """


orbit.add_command(series)
orbit.add_command(look_at)
orbit.add_command(passes)
orbit.add_command(routes)
orbit.add_command(globe)


class List(Call):
    """List the built-in constellations, or the values of NAME with their sources."""

    name: str | None = argument(required=False)
    cities: bool = option("--cities", is_flag=True, help="List the built-in cities instead.")
    markdown: bool = option(
        "--markdown", is_flag=True, help="Write the reference page of constellation files."
    )
    as_json: bool = json_option()

    def check(self, collector: ErrorCollector) -> None:
        from skycell.cli.presets import refuse_unknown_preset
        from skycell.orbit import constellations

        with collector.step():
            if (self.name is not None) + self.cities + self.markdown > 1:
                raise click.UsageError("NAME, --cities and --markdown exclude each other")
        with collector.step():
            if self.markdown and self.as_json:
                raise click.UsageError("--markdown and --json exclude each other")
        with collector.step():
            refuse_unknown_preset("constellation", constellations(), self.name)

    def run(self, _: None) -> None:
        from skycell.cli.presets import show_presets
        from skycell.orbit import cities as built_in
        from skycell.orbit import constellations

        if self.markdown:
            from skycell.orbit.documentation import page

            say(page(), nl=False)
        elif not self.cities:
            show_presets(constellations(), self.name, self.as_json)
        elif self.as_json:
            known = {
                place.name: [place.latitude_deg, place.longitude_deg]
                for place in built_in().values()
            }
            say_json(known)
        else:
            width = max(map(len, built_in()))
            for place in built_in().values():
                at = f"{place.latitude_deg:7.2f} {place.longitude_deg:8.2f}"
                say(f"{place.name:<{width}} {at}")


orbit.add_command(
    Verb(
        List,
        "skycell orbit list iridium-like",
        short_help="List constellations, or the values of one.",
    )
)


class Table(OrbitCall):
    """Show delay and satellites of the paths between all PLACEs, from row to column.

    Without a PLACE: those of --places, the constellation's own, or ten cities.
    """

    constellation: str = argument()
    place: tuple[str, ...] = argument(nargs=-1)
    at: TimeOption = time_option("--at", "0 s", "Moment, counted from time 0.")
    files = shared(TableFiles)
    common = shared(OrbitOptions)

    def check(self, collector: ErrorCollector) -> Inputs | None:
        return self.inputs(collector, self.place, usual=_JSAC_CITIES, with_lists=True)

    def run(self, inputs: Inputs) -> None:
        from skycell.orbit import look

        sky, places = inputs
        pairs = [(a, b) for a in range(len(places)) for b in range(len(places))]
        moment = look(sky, places, pairs, self.at.ps)
        report_notes(moment.validity)
        written = self.files.write(_rows(moment))
        if self.common.as_json:
            reported = {
                "constellation": sky.title,
                "at_ps": self.at.ps,
                "paths": [route.as_dict() for route in moment.routes],
                **moment.validity.as_dict(),
            }
            say_json(reported)
            return
        _show_matrix(sky, [entry.name for entry in places], moment, self.at)
        report_written(written)


orbit.add_command(
    Verb(
        Table,
        "skycell orbit table jsac98-6x11 new_york tokyo paris",
        short_help="Show delays between all of some places.",
    )
)


_JSAC_CITIES = (
    "new_york",
    "tokyo",
    "paris",
    "london",
    "seoul",
    "los_angeles",
    "toronto",
    "mexico_city",
    "sydney",
    "chicago",
)


def _rows(moment: Moment) -> pl.DataFrame:
    import polars as pl

    rows = [
        (
            route.source,
            route.target,
            route.delay_ps,
            len(route.satellites) or None,
            " ".join(route.satellites),
            route.missing,
        )
        for route in moment.routes
    ]
    schema = {
        "from": pl.String,
        "to": pl.String,
        "delay_ps": pl.UInt64,
        "satellites": pl.UInt32,
        "path": pl.String,
        "missing": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def _show_matrix(sky: Constellation, names: list[str], moment: Moment, at: TimeOption) -> None:
    from skycell.cli.console import Output
    from skycell.tables.table import Table, columns, words

    title = f"{sky.title}, at {at}: one-way delay in ms (satellites)"
    heads = [name.replace("_", " ") for name in names]
    routes = iter(moment.routes)
    rows = [(words(head), *(words(_shown(next(routes))) for _ in names)) for head in heads]
    output = Output()
    output.show(Table(title, columns("from \\ to", *heads, numeric=heads), tuple(rows)))
    for missing in dict.fromkeys(route.missing for route in moment.routes if route.missing):
        output.say(f"–: {missing}")


def _shown(route: Route) -> str:
    if route.delay_ms is None:
        return "–"
    return f"{route.delay_ms:.1f} ({len(route.satellites)})"


class PathCall(OrbitCall):
    """Show the links of the path from FROM to TO, and what either place sees.

    Exits with 0, with 1 if there is no path, with 2 if the input is faulty.
    """

    constellation: str = argument()
    source: str = argument(metavar="FROM")
    target: str = argument(metavar="TO")
    at: TimeOption = time_option("--at", "0 s", "Moment, counted from time 0.")
    files = shared(TableFiles)
    common = shared(OrbitOptions)

    def check(self, collector: ErrorCollector) -> Inputs | None:
        ends = (collector.read(lambda: self.source), collector.read(lambda: self.target))
        return self.inputs(collector, [name for name in ends if name is not None])

    def run(self, inputs: Inputs) -> None:
        from skycell.orbit import look

        sky, places = inputs
        moment = look(sky, places, [(0, 1)], self.at.ps)
        report_notes(moment.validity)
        other = "shortest" if sky.file.route == "greedy" else "greedy"
        compared = None
        if sky.file.ground.access != "any":
            compared = look(sky.with_values({"route": other}), places, [(0, 1)], self.at.ps).routes[
                0
            ]
        (route,) = moment.routes
        written = self.files.write(_links(route))
        if self.common.as_json:
            reported = {
                "constellation": sky.title,
                "at_ps": self.at.ps,
                "route": sky.file.route,
                **route.as_dict(),
                "visible": {
                    name: [
                        {
                            "satellite": sight.satellite,
                            "elevation_deg": sight.elevation_deg,
                            "slant_range_km": sight.slant_range_km,
                        }
                        for sight in sights
                    ]
                    for name, sights in moment.sights.items()
                },
                **moment.validity.as_dict(),
            }
            if compared is not None:
                reported[other] = compared.as_dict()
            say_json(reported)
        else:
            _show_path(sky, moment, route, self.at)
            if compared is not None and compared.delay_ms is not None:
                from skycell.cli.console import Output
                from skycell.input.quantities import counted

                count = len(compared.satellites)
                Output().say(
                    f"The {other} route takes {compared.delay_ms:.3f} ms over "
                    f"{counted(count, 'satellite')}."
                )
            report_written(written)
        if not route.satellites:
            say(f"No path: {route.missing}.", err=True)
            raise click.exceptions.Exit(1)


orbit.add_command(
    Verb(
        PathCall,
        "skycell orbit path jsac98-6x11 los_angeles london",
        short_help="Show the links of one path.",
    )
)


def _links(route: Route) -> pl.DataFrame:
    import polars as pl

    rows = [(hop.kind, hop.source, hop.target, hop.delay_ps) for hop in route.hops]
    schema = {"link": pl.String, "from": pl.String, "to": pl.String, "delay_ps": pl.UInt64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _show_path(sky: Constellation, moment: Moment, route: Route, at: TimeOption) -> None:
    from skycell.cli.console import Output
    from skycell.tables.table import Table, columns, number, words

    output = Output(100)
    hops = [(hop.kind, hop.source, hop.target, hop.delay_ps / 1e9) for hop in route.hops]
    if route.delay_ms is not None:
        hops.append(("all", route.source, route.target, route.delay_ms))
        output.show(
            Table(
                f"{sky.title}, at {at}: {sky.file.route} route",
                columns("link", "from", "to", "delay, ms", numeric=["delay, ms"]),
                tuple((*map(words, names), number(delay, 3)) for *names, delay in hops),
                ruled=frozenset({len(hops) - 2}),
            )
        )
    for name, sights in moment.sights.items():
        seen = sorted(sights, key=lambda sight: -sight.elevation_deg)
        reported = ", ".join(f"{at.satellite} at {at.elevation_deg:.1f} deg" for at in seen[:4])
        more = f" and {len(seen) - 4} more" if len(seen) > 4 else ""
        output.say(f"{name} sees {reported or 'no satellite'}{more}")
