"""Which stations send to which: drawn, all, to one place, by population, or from a table.

A pair is the numbers of two places, source and destination, as `routes` takes them. What is drawn
depends on the seed, the name and the number of places alone, and not on what else draws.
"""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from os import PathLike, fspath

from skycell.input.faults import Fault, ScenarioFaults, show_value
from skycell.input.quantities import Dimension, Refused, counted, parse_quantity, rounded
from skycell.input.spelling import hint
from skycell.input.text import csv_faults, read_text
from skycell.orbit.places import Place

Pair = tuple[int, int]

_EARTH_KM = 6371.0
_WHERE = "pairs"
_COLUMNS = ("from", "to", "start", "size", "rate")
_MOST_DRAWN = 1_000_000
_MOST_NAMES = 6
_LAST = 2**63 - 1


def permutation(places: Sequence[Place], seed: int, name: str = "traffic") -> list[Pair]:
    """Each place sends to one other place, and receives from one.

    All such permutations are equally likely. The pairs are in the order of their sources.

    Raises:
        ScenarioFaults: fewer than two places.

    >>> permutation([Place("a", 0, 0), Place("b", 0, 1)], seed=1)
    [(0, 1), (1, 0)]
    """
    _refuse_few(places)
    rng = _stream(seed, name, "permutation")
    targets = list(range(len(places)))
    # Some e draws until nobody sends to itself.
    while any(source == target for source, target in enumerate(targets)):
        rng.shuffle(targets)
    return list(enumerate(targets))


def reciprocal_permutation(places: Sequence[Place], seed: int, name: str = "traffic") -> list[Pair]:
    """Each place sends to one other place, and receives from the same.

    Both directions of a pair follow one another, in the order of drawing. All such pairings are
    equally likely.

    Source: Hypatia's experiments `traffic_matrix_load` (github.com/snkas/hypatia). Its draw is
    Python's with a seed of its own, so its pairs are others than those of any seed here.

    Raises:
        ScenarioFaults: an odd number of places, or none.
    """
    _refuse_few(places)
    if len(places) % 2:
        got, allowed = (
            counted(len(places), "place"),
            "an even number, as each place has one partner",
        )
        raise ScenarioFaults([Fault(_WHERE, "", got, allowed, "a reciprocal permutation")])
    order = list(range(len(places)))
    _stream(seed, name, "reciprocal_permutation").shuffle(order)
    halves = zip(order[::2], order[1::2], strict=True)
    return [pair for one, other in halves for pair in ((one, other), (other, one))]


def all_pairs(places: Sequence[Place]) -> list[Pair]:
    """Each place sends to each other place.

    Raises:
        ScenarioFaults: fewer than two places.
    """
    _refuse_few(places)
    count = range(len(places))
    return [(source, target) for source in count for target in count if source != target]


def to_place(places: Sequence[Place], name: str) -> list[Pair]:
    """Each other place sends to one.

    Raises:
        ScenarioFaults: no place has that name, or there is no other place.
    """
    _refuse_few(places)
    numbers = {place.name: number for number, place in enumerate(places)}
    faults: list[Fault] = []
    target = _number(name, numbers, faults, _WHERE, "to", None)
    if target is None:
        raise ScenarioFaults(faults)
    return [(source, target) for source in range(len(places)) if source != target]


def gravity(
    places: Sequence[Place],
    count: int,
    seed: int,
    name: str = "traffic",
    distance_exponent: float = 1.0,
) -> list[Pair]:
    """Pairs that are drawn by population and distance, each alone, so that a pair may come again.

    A pair of places with P and Q people, d km apart, has a weight of P Q / d**distance_exponent in
    each direction.

    Args:
        places: with their populations.
        count: pairs that are drawn.
        seed: of the run.
        name: of the traffic, which has a stream of its own.
        distance_exponent: 0 leaves the distance out. Zipf has 1, for telephone calls and journeys
            (The P1 P2 / D hypothesis, American Sociological Review 11, 1946).

    Raises:
        ScenarioFaults: a place without a population, two places at one point, fewer than two
            places, or no number of pairs.
    """
    _refuse_few(places)
    faults: list[Fault] = []
    meaning = "pairs by population and distance"
    if not 1 <= count <= _MOST_DRAWN:
        faults.append(Fault(_WHERE, "count", str(count), f"1 to {_MOST_DRAWN}", meaning))
    if not 0 <= distance_exponent <= 10:
        got = str(distance_exponent)
        faults.append(Fault(_WHERE, "distance_exponent", got, "0 to 10", meaning))
    missing = [place.name for place in places if place.population is None]
    if missing:
        more = f" and {len(missing) - _MOST_NAMES} more" if len(missing) > _MOST_NAMES else ""
        got = f"no population of {', '.join(missing[:_MOST_NAMES])}{more}"
        allowed = "places with a population, such as those of cities-100, or the column population"
        faults.append(Fault(_WHERE, "", got, allowed, meaning))
    pairs = all_pairs(places)
    lengths_km = [surface_km(places[source], places[target]) for source, target in pairs]
    same = [pair for pair, km in zip(pairs, lengths_km, strict=True) if km == 0]
    if same and distance_exponent > 0:
        one, other = (places[number].name for number in same[0])
        got = f"{one} and {other} at one point"
        faults.append(Fault(_WHERE, "", got, "places that are apart", meaning))
    if faults:
        raise ScenarioFaults(faults)
    people = [place.population or 0 for place in places]
    weights = [
        people[source] * people[target] / km**distance_exponent
        for (source, target), km in zip(pairs, lengths_km, strict=True)
    ]
    return _stream(seed, name, "gravity").choices(pairs, weights, k=count)


@dataclass(frozen=True)
class Demand:
    """What one place has for another.

    Attributes:
        source: number of a place.
        target: number of a place.
        start_ps: from when on.
        octets: how many; None without an end.
        bit_s: rate at which they come; None where that is not stated.
    """

    source: int
    target: int
    start_ps: int
    octets: int | None
    bit_s: int | None


def read_demands(path: str | PathLike[str], places: Sequence[Place]) -> list[Demand]:
    """The demands of a CSV file with the columns from, to, start, and size or rate or both.

    Values are written with their units: `2 s`, `10 MB`, `5 Mbit/s`. An empty start is 0 s; of size
    and rate one may be empty.

    Raises:
        ScenarioFaults: with every row that is no demand, or none at all.
        OSError: the file cannot be read.
    """
    name = fspath(path)
    with csv_faults(name):
        reader = csv.DictReader(StringIO(read_text(path), newline=""))
        header = [column.strip() for column in reader.fieldnames or []]
        reader.fieldnames = header
        unknown = [column for column in header if column not in _COLUMNS]
        if not {"from", "to"} <= set(header) or not {"size", "rate"} & set(header) or unknown:
            got = ", ".join(map(show_value, header)) or "nothing"
            allowed = "a header with from, to, perhaps start, and size or rate or both"
            raise ScenarioFaults([Fault(name, "", got, allowed, "a table of demands", line=1)])
        numbers = {place.name: number for number, place in enumerate(places)}
        faults: list[Fault] = []
        found = [_demand(row, numbers, faults, name, reader.line_num) for row in reader]
    if not found:
        faults.append(Fault(name, "", "no row", "one row or more", "a table of demands"))
    if faults:
        raise ScenarioFaults(faults)
    return [demand for demand in found if demand is not None]


def _demand(
    row: Mapping[str, str | None],
    numbers: Mapping[str, int],
    faults: list[Fault],
    file: str,
    line: int,
) -> Demand | None:
    """The demand of a row; none where the row has a fault, which is noted."""
    written = {column: (row.get(column) or "").strip() for column in _COLUMNS}
    before = len(faults)
    source = _number(written["from"], numbers, faults, file, "from", line)
    target = _number(written["to"], numbers, faults, file, "to", line)
    if source is not None and source == target:
        got = f"{written['from']} to itself"
        faults.append(Fault(file, "to", got, "another place than from", line=line))
    amounts: dict[str, int | None] = {}
    for column, dimension, least, example in (
        ("start", Dimension.TIME, 0, "2 s"),
        ("size", Dimension.SIZE, 1, "10 MB"),
        ("rate", Dimension.BIT_RATE, 1, "5 Mbit/s"),
    ):
        text = written[column]
        amounts[column] = _amount(text, dimension, least) if text else None
        if text and amounts[column] is None:
            allowed = f"{dimension.value} with its unit, such as {example}"
            faults.append(Fault(file, column, show_value(text), allowed, line=line))
    if not written["size"] and not written["rate"]:
        faults.append(Fault(file, "size", "neither size nor rate", "one or both", line=line))
    if len(faults) > before or source is None or target is None:
        return None
    return Demand(source, target, amounts["start"] or 0, amounts["size"], amounts["rate"])


def _amount(text: str, dimension: Dimension, least: int) -> int | None:
    """A quantity as a whole number of its base unit; none where it is no such quantity."""
    try:
        quantity = parse_quantity(text)
    except Refused:
        return None
    amount = rounded(quantity.amount)
    return amount if quantity.dimension is dimension and least <= amount <= _LAST else None


def _number(
    name: str,
    numbers: Mapping[str, int],
    faults: list[Fault],
    file: str,
    path: str,
    line: int | None,
) -> int | None:
    """The number of a place; none where there is no such place, which is noted."""
    wanted = name.lower().replace(" ", "_")
    number = numbers.get(name, numbers.get(wanted))
    if number is None:
        allowed = f"a place of the {len(numbers)} stations{hint(wanted, numbers)}"
        got = show_value(name) if name else "nothing"
        faults.append(Fault(file, path, got, allowed, line=line))
    return number


def _refuse_few(places: Sequence[Place]) -> None:
    """Refuses fewer than two places, and two of one name."""
    if len(places) < 2:
        got = counted(len(places), "place")
        raise ScenarioFaults([Fault(_WHERE, "", got, "two places or more", "pairs of places")])
    twice = _first_twice(place.name for place in places)
    if twice is not None:
        got = f"{show_value(twice)} for a second time"
        raise ScenarioFaults([Fault(_WHERE, "", got, "different names", "pairs of places")])


def _first_twice(names: Iterable[str]) -> str | None:
    known: set[str] = set()
    for name in names:
        if name in known:
            return name
        known.add(name)
    return None


def _stream(seed: int, name: str, what: str) -> random.Random:
    """A stream of its own for what draws from it, as calls have it."""
    return random.Random(f"{seed}/{name}/{what}")


def surface_km(one: Place, other: Place, radius_km: float = _EARTH_KM) -> float:
    """The distance of two places along the surface of a sphere."""
    here, there = math.radians(one.latitude_deg), math.radians(other.latitude_deg)
    turn = math.radians(other.longitude_deg - one.longitude_deg)
    half = math.sin((there - here) / 2) ** 2
    half += math.cos(here) * math.cos(there) * math.sin(turn / 2) ** 2
    return 2 * radius_km * math.asin(math.sqrt(min(half, 1.0)))
