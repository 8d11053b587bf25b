"""`skycell orbit routes`: next hops of a constellation that is a network, and how routes change."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skycell.cli.collector import COMMAND_LINE, ErrorCollector
from skycell.cli.options import NamedPath, jobs_option
from skycell.cli.orbit_options import (
    PLACE_HELP,
    Inputs,
    OrbitCall,
    OrbitOptions,
    TableFiles,
    report_notes,
    report_written,
)
from skycell.cli.sentences import say, say_json
from skycell.cli.times import TIME, TimeOption
from skycell.cli.verb import Verb, argument, option, shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skycell.orbit import Constellation, Place
    from skycell.orbit.fstate import ListedRoutes
    from skycell.orbit.routes import Routes

_MOST_ROWS = 40
"""Paths shown one by one."""


def _time_option(name: str, what: str) -> Any:
    return option(name, type=TIME, help=what)


@dataclass(frozen=True)
class _Asked:
    """What routes are computed from.

    Attributes:
        inputs: the constellation, and its places, each a destination.
        pairs: source and destination, as numbers of places.
        listed: routes that were read; None where they are computed.
        options: values for the user's router.
    """

    inputs: Inputs
    pairs: list[tuple[int, int]]
    listed: ListedRoutes | None
    options: dict[str, Any]


class RoutesCall(OrbitCall):
    """Show where nodes send packets for the PLACEs, hop by hop, and how that changes with time.

    Satellites and places are the nodes of a network, and each place is a destination. Every node
    has one next hop for each destination, the same for all packets, and takes it anew at each step.
    A place links with the satellites that the constellation's [ground] lets it use, and relays
    nothing. Without a PLACE: those of --places, or the constellation's own.
    """

    constellation: str = argument()
    place: tuple[str, ...] = argument(nargs=-1)
    pairs: tuple[tuple[str, str], ...] = option(
        "--pair",
        nargs=2,
        multiple=True,
        metavar="FROM TO",
        help=f"Path to follow, each end {PLACE_HELP}; may be repeated  "
        "[default: from the first place to each other]",
    )
    by: str | None = option(
        "--by",
        type=click.Choice(["delay", "hops"]),
        help="What a path has the least of; of equal paths that over the neighbour of the smallest "
        "number is taken  [default: delay]",
    )
    fstate: Path | None = option(
        "--fstate",
        type=NamedPath(path_type=Path, file_okay=False, exists=True),
        metavar="FOLDER",
        help="Read the routes of Hypatia's fstate_*.txt instead, with their times.",
    )
    table: Path | None = option(
        "--table",
        type=NamedPath(path_type=Path, dir_okay=False, exists=True),
        metavar="FILE",
        help="Read the routes of a CSV or Parquet instead: time (s) or time_ps, node, destination, "
        "next.",
    )
    router: str | None = option(
        "--router",
        metavar="FILE:FUNCTION",
        help="Call a function of a Python file at each step instead, which returns next hops.",
    )
    router_options: tuple[str, ...] = option(
        "--option",
        multiple=True,
        metavar="KEY=VALUE",
        help="Give the function of --router a value; may be repeated with other keys.",
    )
    start: TimeOption | None = _time_option("--start", "First moment  [default: 0 s]")
    duration: TimeOption | None = _time_option(
        "--duration", "Time from the first moment to the last  [default: 10 s]"
    )
    step: TimeOption | None = _time_option(
        "--step", "Time from one moment to the next  [default: 100 ms]"
    )
    rows: str = option(
        "--rows",
        type=click.Choice(["paths", "changes", "next"]),
        default="paths",
        show_default=True,
        help="What files contain: a row per path of a pair, per change of a node's next hop, or "
        "per node's next hop at the first moment.",
    )
    columns: Path | None = option(
        "--columns",
        type=NamedPath(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Write links, delays and routes as the columns of a network, a binary file.",
    )
    jobs: int | None = jobs_option("Threads; all cores if not given.")
    files = shared(TableFiles)
    common = shared(OrbitOptions)

    @property
    def figure_file(self) -> Path | None:
        """The file of the columns, which must not exist either."""
        return self.columns

    def check(self, collector: ErrorCollector) -> _Asked | None:
        with collector.step():
            if self.step is not None and self.step.ps == 0:
                raise click.BadParameter("0 s: must be a time above 0", param_hint="'--step'")
        with collector.step():
            _refuse_beside_routes(self)
        options = collector.read(lambda: _router_options(self))
        named_pairs = _named_as_in_lists(self.pairs, self.place)
        ends = dict.fromkeys(name for pair in named_pairs for name in pair)
        in_lists = {place.name for name in self.place for place in _places_of_list(name)}
        names = list(dict.fromkeys((*self.place, *(end for end in ends if end not in in_lists))))
        if ends and not self.place:
            names = names if self.fstate is None and self.table is None else []
        inputs = self.inputs(collector, names, with_lists=True)
        if inputs is None:
            return None
        _, places = inputs
        with collector.step():
            if len(places) < 2:
                raise click.UsageError("name two places or more, or give --places FILE")
        numbers = {place.name: number for number, place in enumerate(places)}
        pairs = collector.read(lambda: _numbered(named_pairs, names, numbers)) or []
        if not self.pairs:
            pairs = [(0, number) for number in range(1, len(places))]
        listed = collector.read(lambda: self._listed(*inputs))
        return _Asked(inputs, pairs, listed, options or {})

    def _listed(self, sky: Constellation, places: Sequence[Place]) -> ListedRoutes | None:
        """Routes that are read; none where they are computed."""
        from skycell.orbit.fstate import read_fstate
        from skycell.orbit.route_table import routes_from_file

        if self.fstate is not None:
            return read_fstate(self.fstate, len(sky.satellites), len(places))
        if self.table is not None:
            return routes_from_file(
                self.table,
                sky.satellites,
                places,
                start_ps=None if self.start is None else self.start.ps,
                duration_ps=None if self.duration is None else self.duration.ps,
                step_ps=None if self.step is None else self.step.ps or None,
            )
        return None

    def run(self, asked: _Asked) -> None:
        from skycell.cli.progress import ShareProgress
        from skycell.orbit.router import routes_from_python
        from skycell.orbit.routes import STEP_PS, routes

        start_ps = 0 if self.start is None else self.start.ps
        duration_ps = 10**13 if self.duration is None else self.duration.ps
        step_ps = STEP_PS if self.step is None else self.step.ps
        listed = asked.listed
        try:
            if self.router is not None:
                file, _, function = self.router.rpartition(":")
                with ShareProgress("of the steps computed by the router") as report_it:
                    listed = routes_from_python(
                        file,
                        function,
                        *asked.inputs,
                        (start_ps, step_ps, duration_ps // step_ps + 1),
                        asked.options,
                        jobs=self.jobs,
                        on_progress=report_it,
                    )
            with ShareProgress("of the routes computed") as report_it:
                found = routes(
                    *asked.inputs,
                    asked.pairs,
                    duration_ps=duration_ps,
                    step_ps=step_ps,
                    start_ps=start_ps,
                    by=self.by or "delay",
                    listed=listed,
                    with_file=self.columns is not None,
                    jobs=self.jobs,
                    on_progress=report_it,
                )
        except ValueError as error:  # more nodes and epochs than columns can have
            raise click.UsageError(str(error)) from None
        report_notes(found.validity)
        if found.unlinked:
            say(f"No satellite is in reach of {', '.join(found.unlinked)} at any step.", err=True)
        written = []
        if self.files.csv_file is not None or self.files.parquet is not None:
            table = {
                "paths": found.path_table,
                "changes": found.change_table,
                "next": found.next_table,
            }[self.rows]()
            written = self.files.write(table)
        if self.columns is not None and found.file is not None:
            from skycell.records.staging import Staging

            with Staging() as staging:
                staging.write(self.columns, found.file)
            written.append(self.columns)
        if self.common.as_json:
            say_json(_as_dict(found))
        else:
            _show(found)
            report_written(written)


routes = Verb(
    RoutesCall,
    "skycell orbit routes kuiper-like new_york tokyo paris --duration '60 s'",
    "skycell orbit routes iridium-like --pair london sydney --by hops --step '1 s'",
    "skycell orbit routes gw/kuiper_630 --fstate gw/kuiper_630/dynamic_state_100ms_for_200s",
    "skycell orbit routes kuiper-like cities-100 --router two_ways.py:next_hops",
    short_help="Show next hops of all nodes, and how they change.",
)


def _refuse_beside_routes(call: RoutesCall) -> None:
    """Refuses options that choose routes twice, or times beside files that have them."""
    sources = {"--fstate": call.fstate, "--table": call.table, "--router": call.router}
    chosen = [name for name, value in sources.items() if value is not None]
    if len(chosen) + (call.by is not None) > 1:
        names = [*chosen, *(["--by"] if call.by is not None else [])]
        raise click.UsageError(f"{' and '.join(names)} exclude each other: each chooses the routes")
    times = {"--start": call.start, "--duration": call.duration, "--step": call.step}
    beside = [name for name, value in times.items() if value is not None]
    if call.fstate is not None and beside:
        message = f"--fstate and {', '.join(beside)} exclude each other: the files have times"
        raise click.UsageError(message)


def _router_options(call: RoutesCall) -> dict[str, Any]:
    """The values that the router is given."""
    from skycell.cli.settings import split_settings
    from skycell.input.faults import FaultCollector
    from skycell.input.settings import read_value

    if call.router is not None:
        file, colon, function = call.router.rpartition(":")
        if not (colon and file and function):
            message = f"{call.router!r}: allowed is FILE:FUNCTION, such as two_ways.py:next_hops"
            raise click.BadParameter(message, param_hint="'--router'")
        if not Path(file).is_file():
            raise click.BadParameter(f"{file}: no such file", param_hint="'--router'")
    elif call.router_options:
        raise click.UsageError("--option gives values to a --router, and there is none")
    faults = FaultCollector(COMMAND_LINE)
    allowed = "KEY=VALUE, such as avoid_above=45"
    settings = split_settings(call.router_options, faults, "--option", allowed)
    faults.raise_if_any()
    twice = {key for key, _ in settings if [name for name, _ in settings].count(key) > 1}
    if twice:
        raise click.BadParameter(
            f"{', '.join(sorted(twice))}: each key once", param_hint="'--option'"
        )
    return {key: read_value(value) for key, value in settings}


def _places_of_list(name: str) -> tuple[Place, ...]:
    """The places of a built-in list; none where the name is another's."""
    from skycell.orbit.places import PLACE_LISTS, named_places

    return named_places(name) if name in PLACE_LISTS else ()


def _named_as_in_lists(
    pairs: Sequence[tuple[str, str]], asked: Sequence[str]
) -> list[tuple[str, str]]:
    """Pairs with the names that lists among the places asked for have: new_york for New York."""
    known = {place.name for name in asked for place in _places_of_list(name)}
    plain = {end: end.strip().lower().replace(" ", "_") for pair in pairs for end in pair}
    named = {end: name if name in known else end for end, name in plain.items()}
    return [(named[source], named[target]) for source, target in pairs]


def _numbered(
    pairs: Sequence[tuple[str, str]], names: list[str], numbers: dict[str, int]
) -> list[tuple[int, int]]:
    """Pairs of names as numbers of places; names that were asked for are in the places' order."""
    from skycell.orbit.places import PLACE_LISTS

    asked: dict[str, int] = {}
    first = 0
    for name in names:
        asked[name] = first
        first += len(_places_of_list(name)) or 1
    known = {**numbers, **asked}
    ends = [name for pair in pairs for name in pair]
    unknown = [name for name in ends if name not in known or name in PLACE_LISTS]
    if unknown:
        message = f"{unknown[0]!r}: no place of the constellation"
        raise click.BadParameter(message, param_hint="'--pair'")
    return [(known[source], known[target]) for source, target in pairs]


def _as_dict(found: Routes) -> dict[str, Any]:
    reported = []
    for pair in range(len(found.pairs)):
        source, target = found.ends(pair)
        paths = [
            {
                "start_ps": found.at_ps(span.first_epoch),
                "end_ps": found.at_ps(span.first_epoch + span.epochs),
                "nodes": list(span.nodes),
                **({"missing": span.missing} if span.missing else {}),
            }
            for span in found.spans
            if span.pair == pair
        ]
        delays_ps = found.delays_ps(pair)
        reported.append({"from": source, "to": target, "delays_ps": delays_ps, "paths": paths})
    return {
        "constellation": found.constellation.title,
        "by": found.by,
        "start_ps": found.start_ps,
        "step_ps": found.step_ps,
        "steps": found.epochs,
        "nodes": len(found.nodes),
        "destinations": len(found.places),
        "links": found.links,
        "unlinked": list(found.unlinked),
        "changes": found.changes,
        "columns": {"sha256": found.digest, "octets": found.octets},
        "pairs": reported,
        **found.validity.as_dict(),
    }


def _show(found: Routes) -> None:
    from skycell.cli.console import Output
    from skycell.input.quantities import counted, show_amount, show_time
    from skycell.tables.table import Table, columns, count, first_rows, number, words

    output = Output(110)
    steps = f"{counted(found.epochs, 'step')} of {show_time(found.step_ps)}"
    span = f"{steps} from {show_time(found.start_ps)}"
    by = {
        "delay": "least delay",
        "hops": "fewest hops",
        "table": "a table",
        "router": "a router in Python",
    }[found.by]
    every = found.changes / max(found.epochs - 1, 1)
    nodes, ends = counted(len(found.nodes), "node"), counted(len(found.places), "destination")
    output.say(f"{nodes} forward to {ends} by {by}; {every:.1f} next hops change a step.")
    rows = []
    for pair in range(len(found.pairs)):
        there = [delay for delay in found.delays_ps(pair) if delay is not None]
        own = [path for path in found.spans if path.pair == pair]
        least, most = (min(there) / 1e9, max(there) / 1e9) if there else (None, None)
        without = found.epochs - len(there)
        rows.append(
            (
                *map(words, found.ends(pair)),
                number(least, 3),
                number(most, 3),
                count(len(own) - 1),
                count(without),
            )
        )
    heads = ("least, ms", "most, ms", "changes of path", "steps without")
    title = f"{found.constellation.title}: {span}; paths hop by hop"
    names = columns("from", "to", *heads, numeric=heads)
    output.show(first_rows(Table(title, names, tuple(rows), keys=2), _MOST_ROWS))
    if len(found.pairs) == 1:
        _show_hops(found)
        paths = [
            (
                words(show_amount(found.at_ps(path.first_epoch) / 1e12)),
                count(len(path.nodes) - 1),
                words(" ".join(path.nodes[1:-1]) if not path.missing else path.missing),
            )
            for path in found.spans
        ]
        names = columns("from, s", "hops", "over", numeric=["from, s", "hops"], prose=["over"])
        output.show(first_rows(Table("Paths", names, tuple(paths)), _MOST_ROWS))


def _show_hops(found: Routes) -> None:
    """The next hops from the first node of the only pair on, at the first moment."""
    from skycell.cli.console import Output
    from skycell.input.quantities import show_time
    from skycell.tables.table import Table, columns, number, words

    first = found.spans[0]
    (links_ps,) = found.first_links_ps
    rows = [
        (words(node), words(following), number(delay_ps / 1e9, 3))
        for node, following, delay_ps in zip(first.nodes, first.nodes[1:], links_ps, strict=False)
    ]
    title = f"Next hops to {found.ends(0)[1]} at {show_time(found.start_ps)}"
    if rows:
        heads = ("node", "next hop", "delay, ms")
        Output(110).show(Table(title, columns(*heads, numeric=heads[2:]), tuple(rows)))
