"""Pairs of stations: what is drawn, and tables of demands."""

from collections import Counter
from pathlib import Path

import pytest

from skycell.input.faults import Fault, ScenarioFaults
from skycell.orbit import Place, named_places
from skycell.orbit.pairs import (
    Demand,
    all_pairs,
    gravity,
    permutation,
    read_demands,
    reciprocal_permutation,
    to_place,
)

HUNDRED = named_places("cities-100")
FOUR = tuple(Place(name, 0.0, 10.0 * number) for number, name in enumerate("abcd"))


def test_in_a_permutation_each_place_sends_to_one_other_and_receives_from_one() -> None:
    for seed in range(20):
        pairs = permutation(HUNDRED, seed)
        assert [source for source, _ in pairs] == list(range(100))
        assert sorted(target for _, target in pairs) == list(range(100))
        assert all(source != target for source, target in pairs)


def test_all_permutations_are_equally_likely() -> None:
    # Of four places there are 9 without a fixed point. 9 000 draws: 1 000 each, and with a standard
    # deviation of 30 none of nine is 150 away.
    drawn = Counter(tuple(permutation(FOUR, seed)) for seed in range(9000))
    assert len(drawn) == 9
    assert all(abs(count - 1000) < 150 for count in drawn.values())


def test_in_a_reciprocal_permutation_each_place_has_one_partner() -> None:
    pairs = reciprocal_permutation(HUNDRED, 3)
    assert sorted(source for source, _ in pairs) == list(range(100))
    assert all(pairs[number + 1] == pairs[number][::-1] for number in range(0, 100, 2))
    assert all(source != target for source, target in pairs)
    # Four places have three pairings. 3 000 draws: 1 000 each, standard deviation 26.
    drawn = Counter(
        frozenset(map(frozenset, reciprocal_permutation(FOUR, seed))) for seed in range(3000)
    )
    assert len(drawn) == 3
    assert all(abs(count - 1000) < 130 for count in drawn.values())


def test_what_is_drawn_depends_on_seed_and_name() -> None:
    for draw in (permutation, reciprocal_permutation):
        assert draw(HUNDRED, 1) == draw(HUNDRED, 1)
        assert draw(HUNDRED, 1) != draw(HUNDRED, 2)
        assert draw(HUNDRED, 1) != draw(HUNDRED, 1, name="other")
    assert gravity(HUNDRED, 50, 1) == gravity(HUNDRED, 50, 1) != gravity(HUNDRED, 50, 2)


def test_all_and_to_a_place_have_each_pair_once() -> None:
    assert len(set(all_pairs(HUNDRED))) == len(all_pairs(HUNDRED)) == 100 * 99
    assert to_place(FOUR, "c") == [(0, 2), (1, 2), (3, 2)]
    assert to_place(HUNDRED, "Los Angeles")[0] == (0, 20)


def test_gravity_draws_by_population_and_distance() -> None:
    # On the equator: b is 10 degrees from a, c is 20 from b and 30 from a. Weights of P Q / d:
    # a-b 2 x 1 / 10, b-c 1 x 3 / 20, a-c 2 x 3 / 30, so 4 to 3 to 4 of 11, each in two directions.
    places = [
        Place("a", 0, 0, population=2000),
        Place("b", 0, 10, population=1000),
        Place("c", 0, 30, population=3000),
    ]
    drawn = Counter(gravity(places, 110_000, 7))
    expected = {(0, 1): 20_000, (1, 2): 15_000, (0, 2): 20_000}
    for (source, target), count in expected.items():
        # The standard deviation is below 130; six of them.
        assert abs(drawn[source, target] - count) < 780
        assert abs(drawn[target, source] - count) < 780
    flat = Counter(gravity(places, 110_000, 7, distance_exponent=0))
    # 2 to 3 to 6.
    assert abs(flat[0, 1] - 10_000) < 780
    assert abs(flat[0, 2] - 30_000) < 780


def faults_of(call: object) -> tuple[Fault, ...]:
    with pytest.raises(ScenarioFaults) as found:
        call()  # type: ignore[operator]
    return found.value.faults


def test_what_cannot_be_paired_is_refused() -> None:
    for draw in (lambda few: permutation(few, 1), all_pairs, lambda few: to_place(few, "a")):
        (fault,) = faults_of(lambda draw=draw: draw(FOUR[:1]))
        assert fault.got == "1 place"
        (fault,) = faults_of(lambda draw=draw: draw((*FOUR, FOUR[1])))
        assert '"b"' in fault.got
    (fault,) = faults_of(lambda: reciprocal_permutation(FOUR[:3], 1))
    assert "even" in fault.allowed
    (fault,) = faults_of(lambda: to_place(HUNDRED, "pariss"))
    assert "did you mean paris?" in fault.allowed
    (fault,) = faults_of(lambda: gravity((HUNDRED[0], *FOUR), 1, 1))
    assert fault.got == "no population of a, b, c, d"
    here = (HUNDRED[0], Place("there", 35.6895, HUNDRED[0].longitude_deg, population=1))
    (fault,) = faults_of(lambda: gravity(here, 1, 1))
    assert fault.got == "tokyo and there at one point"
    assert len(gravity(here, 3, 1, distance_exponent=0)) == 3
    assert [f.path for f in faults_of(lambda: gravity(HUNDRED, 0, 1, distance_exponent=-1))] == [
        "count",
        "distance_exponent",
    ]


def demands(folder: Path, text: str) -> list[Demand]:
    file = folder / "matrix.csv"
    file.write_text(text, encoding="utf-8")
    return read_demands(file, FOUR)


def test_a_table_of_demands_has_sizes_rates_or_both(tmp_path: Path) -> None:
    text = "from,to,start,size,rate\na,b,2 s,10 MB,\nc,d,,,5 Mbit/s\nb,a,1 ms,1 kB,1 kbit/s\n"
    assert demands(tmp_path, text) == [
        Demand(0, 1, 2 * 10**12, 10**7, None),
        Demand(2, 3, 0, None, 5 * 10**6),
        Demand(1, 0, 10**9, 1000, 1000),
    ]


def test_each_row_that_is_no_demand_is_a_fault_with_its_line(tmp_path: Path) -> None:
    text = (
        "from,to,start,size,rate\na,b,0 s,1 B,\ne,b,0 s,1 B,\na,a,0 s,1 B,\na,,0 s,1 B,\n"
        "a,b,2,1 B,\na,b,0 s,0 B,\na,b,0 s,1 s,\na,b,0 s,,0.2 bit/s\na,b,0 s,,\n"
    )
    assert [(fault.line, fault.path) for fault in faults_of(lambda: demands(tmp_path, text))] == [
        (3, "from"),
        (4, "to"),
        (5, "to"),
        (6, "start"),
        (7, "size"),
        (8, "size"),
        (9, "rate"),
        (10, "size"),
    ]
    for wrong in ("", "from,to\n", "from,size\n", "from,to,size,colour\na,b,1 B,red\n"):
        (fault,) = faults_of(lambda wrong=wrong: demands(tmp_path, wrong))
        assert fault.line == 1
    (fault,) = faults_of(lambda: demands(tmp_path, "from,to,size\n"))
    assert fault.got == "no row"
