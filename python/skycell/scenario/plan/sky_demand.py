"""Tables of traffic over a constellation: pairs of stations, and their flows and sources."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from skycell.input.faults import FaultCollector, Path, ScenarioFaults, Verbatim, did_you_mean
from skycell.input.quantities import Dimension, Quantity, show_amount, show_time
from skycell.scenario.file.demand import (
    CbrDemand,
    Connections,
    Demand,
    FileDemand,
    Gravity,
    Listed,
    Paced,
    Pairs,
    Permutation,
    ReciprocalPermutation,
    To,
)
from skycell.scenario.file.scenario_file import ScenarioFile
from skycell.scenario.file.sources import CbrSource, VbrSource
from skycell.scenario.file.traffic import Start, Together
from skycell.scenario.file.users import AnyUsers
from skycell.scenario.plan.plan import Plan
from skycell.scenario.plan.sky_spread import add_way

if TYPE_CHECKING:
    from skycell.orbit.pairs import Demand as ListedDemand
    from skycell.orbit.places import Place

MOST_USERS = 100_000
"""Connections and sources: as many transfers are simulated with 2 GB of memory."""


@cache
def _plain_cbr() -> CbrSource:
    return CbrSource.model_validate({"kind": "cbr", "name": "plain", "rate": 1})


@cache
def _plain_vbr() -> VbrSource:
    return VbrSource.model_validate(
        {"kind": "vbr", "name": "plain", "peak_rate": 1, "on": "1 s", "off": "1 s"}
    )


def _names_of(pair: tuple[str, str], count: int, taken: Container[str]) -> list[str]:
    """Names of so many users of a pair: from>to, and behind the first one from>to#2 and so on.

    >>> _names_of(("a", "b"), 2, ["a>b", "c>d"])
    ['a>b#2', 'a>b#3']
    """
    first = f"{pair[0]}>{pair[1]}"
    number = 1
    found: list[str] = []
    while len(found) < count:
        name = first if number == 1 else f"{first}#{number}"
        number += 1
        if name not in taken:
            found.append(name)
    return found


def add_demand(plan: Plan, table: Table, start: Start) -> None:
    """Adds the flows and sources of a table of traffic; `start` is that of the file."""
    demand = table.demand
    if isinstance(demand, FileDemand):
        for pair, row in zip(table.pairs, table.rows, strict=True):
            if row.octets is not None:
                (name,) = _connect(plan, table.number, pair, 1)
                plan.listed[name] = row
            else:
                rate = Quantity(Fraction(row.bit_s or 0), Dimension.BIT_RATE, f"{row.bit_s} bit/s")
                at = Quantity(Fraction(row.start_ps), Dimension.TIME, show_time(row.start_ps))
                own = _plain_cbr().model_copy(
                    update={
                        "rate": rate,
                        "packet_size": demand.packet_size,
                        "start": Together.model_construct(kind="together", at=at),
                    }
                )
                _add_sources(plan, table.number, own, [pair], 1)
    elif isinstance(demand, Connections):
        for pair in table.pairs:
            _connect(plan, table.number, pair, demand.count)
    else:
        _add_sources(plan, table.number, _source_of(demand, start), table.pairs, demand.count)


def _connect(plan: Plan, table: int, pair: tuple[str, str], count: int) -> list[str]:
    """Adds connections of a pair; returns their names."""
    a, b = pair
    names = _names_of(pair, count, plan.flows)
    for name in names:
        back = add_way(plan, b, a, f"{name}, back")
        plan.add_flow(name, (add_way(plan, a, b, name),), (back,))
        plan.demands[name] = table
    return names


def _source_of(demand: Paced, start: Start) -> CbrSource | VbrSource:
    """A source that sends as a table of traffic says."""
    own: CbrSource | VbrSource
    if isinstance(demand, CbrDemand):
        own = _plain_cbr().model_copy(update={"rate": demand.rate})
    else:
        keys = ("peak_rate", "on", "off", "phase")
        own = _plain_vbr().model_copy(update={key: getattr(demand, key) for key in keys})
    common = {"packet_size": demand.packet_size, "start": demand.start or start}
    return own.model_copy(update=common)


def _add_sources(
    plan: Plan,
    table: int,
    own: CbrSource | VbrSource,
    pairs: Sequence[tuple[str, str]],
    count: int,
) -> None:
    taken = ChainMap[str, object](plan.datagrams, plan.flows)  # type: ignore[arg-type]
    for a, b in pairs:
        for name in _names_of((a, b), count, taken):
            source = own.model_copy(update={"name": name, "source": a, "destination": b})
            plan.demand_sources.append((("traffic", table), source))
            plan.datagrams[name] = (add_way(plan, a, b, name),)


def demands_of(file: ScenarioFile) -> tuple[Demand, ...]:
    """The tables of traffic of a file over a constellation."""
    tables = file.traffic if isinstance(file.traffic, tuple) else ()
    return tuple(table for table in tables if not isinstance(table, AnyUsers))


@dataclass(frozen=True)
class Table:
    """A table of traffic.

    Attributes:
        number: its place among the tables.
        demand: as it is written.
        pairs: names of stations, source first.
        rows: of its file, one for each pair; empty without a file.
    """

    number: int
    demand: Demand
    pairs: tuple[tuple[str, str], ...]
    rows: tuple[ListedDemand, ...] = ()

    @property
    def count(self) -> int:
        """Connections and sources of each pair."""
        return 1 if isinstance(self.demand, FileDemand) else self.demand.count


def read_tables(
    file: ScenarioFile,
    stations: Sequence[Place],
    hosts: Sequence[Place],
    folder: FilePath,
    faults: FaultCollector,
) -> list[Table]:
    """Every table of traffic with its pairs.

    Args:
        file: with the tables.
        stations: among which pairs are drawn.
        hosts: stations first, and other places that send and receive behind them.
        folder: of the file.
        faults: takes what is wrong.
    """
    found = []
    users = 0
    for i, demand in enumerate(demands_of(file)):
        table = _table(i, demand, stations, hosts, folder, faults)
        if table is None:
            continue
        users += len(table.pairs) * table.count
        if users > MOST_USERS:
            got = Verbatim(f"{show_amount(users)} connections and sources")
            allowed = f"up to {show_amount(MOST_USERS)} of them in all"
            faults.add(("traffic", i, "count"), got, allowed)
            break
        found.append(table)
    if not demands_of(file) and not file.source and not file.probe:
        allowed = '[[traffic]] with pairs, such as "permutation", or [[source]] or [[probe]]'
        faults.add(("traffic",), Verbatim("no list of pairs"), allowed)
    return found


def _table(
    number: int,
    demand: Demand,
    stations: Sequence[Place],
    hosts: Sequence[Place],
    folder: FilePath,
    faults: FaultCollector,
) -> Table | None:
    """A table of traffic with its pairs; None with a fault, which is noted."""
    from skycell.orbit.pairs import read_demands

    names = [place.name for place in hosts]
    key = "file" if isinstance(demand, FileDemand) else "pairs"
    here: Path = ("traffic", number, key)
    rows: tuple[ListedDemand, ...] = ()
    try:
        if isinstance(demand, FileDemand):
            rows = tuple(read_demands(folder / demand.file, hosts))
            numbers = [(row.source, row.target) for row in rows]
        else:
            named = isinstance(demand.pairs, To | Listed)
            numbers = _numbers(demand.pairs, hosts if named else stations, here, faults)
    except ScenarioFaults as found:
        for fault in found.faults:
            if fault.file == "pairs":
                faults.add(
                    (*here, *([fault.path] if fault.path else [])),
                    Verbatim(fault.got),
                    fault.allowed,
                )
            else:
                faults.faults.append(fault)
        return None
    except OSError as error:
        assert isinstance(demand, FileDemand)
        allowed = f"a file that can be read; {error.strerror or error}"
        faults.add(here, demand.file, allowed)
        return None
    return Table(number, demand, tuple((names[a], names[b]) for a, b in numbers), rows)


def _numbers(
    pairs: Pairs, places: Sequence[Place], here: Path, faults: FaultCollector
) -> list[tuple[int, int]]:
    """The pairs that a table asks for, as numbers of places."""
    from skycell.orbit.pairs import (
        all_pairs,
        gravity,
        permutation,
        reciprocal_permutation,
        to_place,
    )

    if isinstance(pairs, Permutation):
        return permutation(places, pairs.seed)
    if isinstance(pairs, ReciprocalPermutation):
        return reciprocal_permutation(places, pairs.seed)
    if isinstance(pairs, Gravity):
        exponent = float(pairs.distance_exponent)
        return gravity(places, pairs.draws, pairs.seed, distance_exponent=exponent)
    if isinstance(pairs, To):
        return to_place(places, pairs.place)
    if isinstance(pairs, Listed):
        return _listed(pairs, [place.name for place in places], here, faults)
    return all_pairs(places)


def _listed(
    pairs: Listed, stations: Sequence[str], here: Path, faults: FaultCollector
) -> list[tuple[int, int]]:
    numbers = {name: number for number, name in enumerate(stations)}
    found = []
    for i, pair in enumerate(pairs.pair):
        unknown = [name for name in pair if name not in numbers]
        for name in unknown:
            allowed = f"stations of the topology{did_you_mean(name, stations)}"
            faults.add((*here, i), name, allowed)
        if pair[0] == pair[1]:
            faults.add((*here, i), list(pair), "two stations: nobody sends to itself")
        elif not unknown:
            found.append((numbers[pair[0]], numbers[pair[1]]))
    return found


def pairs_of(
    file: ScenarioFile,
    tables: Sequence[Table],
    stations: Mapping[str, int],
) -> list[tuple[str, str]]:
    """The pairs of stations that have traffic, each once."""
    of_tables = [pair for table in tables for pair in table.pairs]
    ends = [(str(one.source), str(one.destination)) for one in (*file.source, *file.probe)]
    known = [(a, b) for a, b in ends if a in stations and b in stations and a != b]
    return list(dict.fromkeys((*of_tables, *known)))
