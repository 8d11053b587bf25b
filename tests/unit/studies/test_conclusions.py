"""Every conclusion of every study: its criterion is what its words say, and can go either way."""

import ast
import random
import re
from dataclasses import replace
from itertools import chain, islice

import pytest

from skycell.studies import STUDY_IDS, load_study
from skycell.studies.criteria import parsed
from skycell.studies.findings import decide, evaluate_all
from skycell.studies.model import Conclusion, Study
from skycell.studies.values import Entry, Values
from tests.unit.studies.worlds import cases_of, worlds

PAIRS = [(study, c) for study in map(load_study, STUDY_IDS) for c in study.conclusions]
ALL = [pytest.param(study, c, id=f"{study.id}-{c.id}") for study, c in PAIRS]

# The same conclusions checked by hand: numbers that the evidence must name.
BY_HAND = {
    ("atmf960518", "1.1"): ["26.7", "52.5"],
    ("atmf960518", "1.3"): ["15.46 < 22.09"],
    ("atmf960518", "1.4"): ["spread 2.1 %", "87.5 %"],
    ("atmf960518", "1.5"): ["46.7, 39.1, 46.7, 52.7"],
    ("atmf960518", "1.6"): ["68 %"],
    ("icccn97", "2.1a"): ["6 of 6"],
    ("icccn97", "2.1b"): ["4 of 6", "0.89 < 0.97", "0.95 < 0.97"],
    ("icccn97", "2.2a"): ["4 of 4"],
    ("icccn97", "2.2b"): ["3 of 4"],
    ("icccn97", "2.3"): ["0.79 against vanilla 0.34, Reno 0.69"],
    ("icccn97", "2.4"): ["0.45, 0.30, 0.13"],
    ("icccn97", "2.5a"): ["WAN 0.16, 0.05, 0.14, LAN 0.10, -0.08, -0.02"],
    ("icccn97", "2.5b"): ["WAN 0.03, 0.01, 0.04, LAN 0.45, 0.22, 0.11"],
    ("icccn97", "2.6"): ["3 of 3"],
    ("icccn97", "2.7a"): ["EPD 3 of 4", "SD 3 of 4, but"],
    ("icccn97", "2.7b"): ["3 of 4"],
    ("icccn97", "2.7c"): ["1 of 4, but"],
    ("icccn97", "2.8a"): ["0.97"],
    ("icccn97", "2.8b"): ["0.54 against vanilla 0.69, Reno 0.71"],
    ("icccn97", "2.9"): ["LAN 0.16, WAN 0.04"],
    ("icccn97", "2.10"): ["12 of 12"],
    ("icccn97", "3.1a"): ["6 of 6"],
    ("icccn97", "3.1b"): ["4 of 6", "0.60 < 0.73", "0.72 < 0.73"],
    ("icccn97", "3.2a"): ["5 of 6", "0.70 < 0.84"],
    ("icccn97", "3.2b"): ["3 of 3 at 600000"],
    ("icccn97", "3.3a"): ["0.12"],
    ("icccn97", "3.3b"): ["200000 reno epd"],
    ("icccn97", "3.4"): ["0.99 to 1.00"],
    ("icccn97", "3.5"): ["9 of 9"],
    ("ijsc", "7.1a"): ["0.19 to 0.22", "0.81 to 0.82"],
    ("ijsc", "7.2"): ["0.60, 0.72 against 0.73"],
    ("ijsc", "7.3a"): ["LEO 0.75 to 0.80, GEO 0.12 to 0.22"],
    ("ijsc", "7.3b"): ["8 of 8"],
    ("ijsc", "7.4"): ["largest gap 0.12"],
    ("ijsc", "7.5"): ["0.90, 0.90, 0.79, 0.80 with one", "0.81, 0.81, 0.75, 0.77 with three"],
    ("compcom99", "9.1"): ["0.972, 0.980, 0.968, 0.999"],
    ("compcom99", "9.2"): ["2.01, 1.97"],
    ("compcom99", "10.1"): ["19 of 20", "0.88 to 1.08"],
    ("compcom99", "10.2"): ["10-12 13,"],
    ("compcom99", "10.3"): ["122.97 to 125.21"],
    ("compcom99", "10.4"): ["0.04, 0.05, 0.06, 0.20"],
    ("dfba", "11.1"): ["25 of 25", "smallest excess 0.16"],
    ("dfba", "11.2"): ["7.25, 9.41, 10.98, 14.56, 15.56", "1.57, 1.02, 0.79, 0.79, 0.68"],
    ("dfba", "11.3"): ["126.63 to 126.92"],
    ("dfba", "11.4b"): ["0.53, 2.97, 2.77, 2.39, 3.14"],
    ("dfba", "11.6a"): ["15 of 15"],
    ("dfba", "11.6b"): ["4.4, 4.4, 5.3, 4.7, 4.5"],
    ("dfba", "11.7"): ["5 of 5", "24.22"],
    ("dfba", "11.8"): ["15 of 15"],
    ("bonaventure", "15.2"): ["0.47, 0.36"],
    ("bonaventure", "15.3a"): ["4.0 timeouts, 200 kB"],
    ("bonaventure", "15.3b"): ["0.50, 0.30"],
    ("bonaventure", "15.4b"): ["2.5 times the timeouts, 2.5 times the kB"],
    ("bonaventure", "15.7c"): ["0.28, 0.28, 0.28, 0.28"],
    ("bonaventure", "15.9d"): ["12.6 ms"],
    ("atmf980876r1", "12.1"): ["tcp 57.5 %, buffer 30.2 %, tcp x buffer 9.0 %"],
    ("atmf980876r1", "12.3"): ["0.063 to 0.174", "0.007 to 0.016"],
    ("atmf980876r1", "12.4"): ["6 of 6", "-0.025"],
    ("atmf980876r1", "12.5"): ["4 of 4"],
    ("atmf980876r1", "12.6"): ["-0.103, 0.038, 0.065", "0.057, -0.059"],
    ("atmf980876r1", "12.7"): ["3 of 4"],
    ("atmf980876r1", "12.8"): ["tcp 56.8 %, buffer 21.7 %", "SACK best in 6 of 6"],
    ("atmf980876r1", "12.9"): ["0.052, 0.065", "0.005 to 0.026"],
    ("atmf980876r1", "12.10"): ["0.943 to 0.969", "8 of 9"],
    ("atmf980876r1", "12.11"): ["tcp 69.2 %, buffer 13.7 %", "SACK best in 6 of 6"],
    ("atmf980876r1", "12.13"): ["0.903 to 0.967"],
    ("atmf980876r1", "12.14"): ["-0.004, 0.018, 0.074"],
}


@pytest.mark.parametrize(("study", "conclusion"), ALL)
def test_what_holds_in_print_holds_as_read_by_hand(study: Study, conclusion: Conclusion) -> None:
    (result,) = evaluate_all(
        [study.model_copy(update={"conclusions": (conclusion,)})], conclusion.tables, rows=[]
    )
    expected = {"holds": True, "fails": False, "no data": None}[conclusion.in_print]
    assert result.published_holds is expected, result.evidence
    assert result.ours_holds is None
    for numbers in BY_HAND.get((study.id, conclusion.id), []):
        assert numbers in result.evidence


def test_every_check_by_hand_belongs_to_a_conclusion() -> None:
    assert set(BY_HAND) <= {(study.id, conclusion.id) for study, conclusion in PAIRS}


WORDS: dict[str, list[float]] = {
    "half": [0.5, 2, 100 * 0.5],
    "fifth": [0.2],
    "3/4": [0.75],
    "twice": [2],
    "doubles": [2],
    "overlap": [2],  # two intervals overlap up to twice half of one
    "two ": [2],
    "three": [3],
    "a third": [3],
    "five": [5],
    "ten ": [10],
}
"""Numbers that words of a conclusion stand for."""

SAID_ELSEWHERE: dict[tuple[str, str], list[float]] = {
    ("bonaventure", "15.4a"): [
        0.75,
        0.005,
    ],  # "slightly" below: by less than a quarter; half a percent
    ("bonaventure", "15.6b"): [0.75],  # "nor": as in 15.6a
    ("bonaventure", "15.7d"): [20_000],  # the reservation, of either MCR
    ("bonaventure", "15.9e"): [4096],  # half of 8192 cells
    ("bonaventure", "15.11b"): [139.2],  # Mbit/s that users have of the link
    ("commag99", "17.1"): [1.15],  # "within 15 %"
    ("atmf970616", "8.6"): [0.005],  # "not so": half a unit of the last digit in print
}
"""Numbers that a criterion names and its conclusion does not."""


class _Numbers(ast.NodeVisitor):
    """The numbers of an expression, but for levels of factors."""

    def __init__(self) -> None:
        self.found: list[float] = []

    def visit_keyword(self, node: ast.keyword) -> None:
        """Levels."""

    def visit_Constant(self, node: ast.Constant) -> None:
        """What the conclusion has to say, unless it goes without saying."""
        if isinstance(node.value, int | float) and node.value not in (0, 1, 100, 1e-9):
            self.found.append(node.value)


@pytest.mark.parametrize(("study", "conclusion"), ALL)
def test_a_criterion_names_no_number_that_its_conclusion_does_not_state(
    study: Study, conclusion: Conclusion
) -> None:
    written = [float(text) for text in re.findall(r"\d+\.?\d*", conclusion.text)]
    stated = {*written, *(number / 100 for number in written)}
    stated |= {1 - number for number in stated}
    for word, values in WORDS.items():
        stated.update(values if word in conclusion.text.lower() else ())
    stated.update(SAID_ELSEWHERE.get((study.id, conclusion.id), []))
    numbers = _Numbers()
    numbers.visit(parsed(conclusion.holds))
    assert {value for value in numbers.found if not _is_among(value, stated)} == set()


def _is_among(value: float, stated: set[float]) -> bool:
    return any(abs(value - number) < 1e-12 for number in stated)


def _in_proportion() -> Values:
    """Bonaventure, 15.11a: rates in proportion to MCRs, and nothing lost."""
    table, own = "bonaventure-f16", "privileged_mcr_cells_per_s"
    (conclusion,) = (c for c in load_study("bonaventure").conclusions if c.id == "15.11a")
    entries = []
    for _, measure, levels in cases_of(conclusion):
        of = own if levels["source"] == "privileged" else "background_mcr_cells_per_s"
        rate = float(levels[of]) if measure == "source_throughput" else 0.0
        entries.append(Entry(table, measure, levels, rate))
    return Values(entries)


def _shuffled(conclusion: Conclusion, seed: int) -> Values:
    """The published numbers in other places."""
    entries = Values.printed(conclusion.tables).entries
    values = random.Random(seed).sample([entry.value for entry in entries], len(entries))
    return Values(replace(entry, value=v) for entry, v in zip(entries, values, strict=True))


DRAWN = 1000
"""Worlds among which a criterion that is not decided in print holds at least once, and falls."""

SEEDS = {
    ("gfr-schemes", "2"): 11,
    ("gfr-schemes", "10"): 29,
    ("service-categories", "18"): 21,
    ("service-categories", "28"): 2,
}
"""Of worlds that decide a conclusion soon, where those of seed 1 do so after thousands."""


@pytest.mark.parametrize(("study", "conclusion"), ALL)
def test_every_conclusion_finds_its_numbers_and_may_hold_and_fail(
    study: Study, conclusion: Conclusion
) -> None:
    known = [Values.printed(conclusion.tables), _in_proportion()]
    known += [_shuffled(conclusion, seed) for seed in range(5)]
    drawn = worlds(study, conclusion, SEEDS.get((study.id, conclusion.id), 1))
    verdicts = set()
    for values in chain(known, islice(drawn, DRAWN)):
        verdicts.add(decide(study, conclusion, values)[0])
        if verdicts >= {True, False}:
            return
    pytest.fail(f"only {verdicts}")


def test_a_statement_that_records_cannot_decide_is_left_open() -> None:
    statement = Conclusion(id="9.9", text="?", tables=("icccn97-t3",), in_print="no data")
    study = load_study("icccn97").model_copy(update={"conclusions": (statement,)})
    (result,) = evaluate_all([study], statement.tables, rows=[])
    assert result.published_holds is None
    assert result.ours_holds is None
    assert result.evidence == "the records of a run do not decide this"


def test_only_statements_on_the_tables_that_were_made_are_decided() -> None:
    study = load_study("icccn97")
    found = {entry.id for entry in evaluate_all([study], ["icccn97-t4"], [])}
    assert found == {"3.5"}
