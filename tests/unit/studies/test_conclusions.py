"""Conclusions, evaluated on the published numbers: they come out as read by hand."""

import random
from collections.abc import Callable, Sequence

import pytest

from skycell.studies import STUDY_IDS, load_study
from skycell.studies.conclusions.counting import in_all
from skycell.studies.findings import decides, predicate_of
from skycell.studies.library import table_of
from skycell.studies.model import Conclusion, Study
from skycell.studies.plan import printed_rows
from skycell.studies.values import Entry, MissingValueError, Values
from tests.unit.studies.deciding import decide

PAIRS = [(study, c) for study in map(load_study, STUDY_IDS) for c in study.conclusions]
ALL = [pytest.param(study, c, id=f"{study.id}-{c.id}") for study, c in PAIRS]
HOLDING = [
    pytest.param(study, c, id=f"{study.id}-{c.id}") for study, c in PAIRS if c.in_print == "holds"
]

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
    ("icccn97", "2.7a"): ["EPD 3 of 4", "SD 3 of 4 and 1 tie"],
    ("icccn97", "2.7b"): ["3 of 4"],
    ("icccn97", "2.7c"): ["1 of 4 and 1 tie"],
    ("icccn97", "2.8a"): ["0.97"],
    ("icccn97", "2.8b"): ["0.54 against vanilla 0.69, Reno 0.71"],
    ("icccn97", "2.9"): ["LAN 0.16, WAN 0.04"],
    ("icccn97", "2.10"): ["12 of 12"],
    ("icccn97", "3.1a"): ["6 of 6"],
    ("icccn97", "3.1b"): ["4 of 6", "0.60 < 0.73", "0.72 < 0.73"],
    ("icccn97", "3.2a"): ["5 of 6", "0.70 < 0.84"],
    ("icccn97", "3.2b"): ["3 of 3 at 600000"],
    ("icccn97", "3.3a"): ["0.12"],
    ("icccn97", "3.3b"): ["reno 200000"],
    ("icccn97", "3.4"): ["0.99 to 1.00"],
    ("icccn97", "3.5"): ["9 of 9"],
    ("ijsc", "7.1a"): ["0.19 to 0.22", "0.81 to 0.82"],
    ("ijsc", "7.2"): ["0.60, 0.72 against 0.73"],
    ("ijsc", "7.3a"): ["LEO 0.75 to 0.80, GEO 0.12 to 0.22"],
    ("ijsc", "7.3b"): ["8 of 8"],
    ("ijsc", "7.4"): ["largest gap 0.12"],
    ("ijsc", "7.5"): ["0.90 to 0.81", "0.79 to 0.75"],
    ("compcom99", "9.1"): ["0.972, 0.980, 0.968, 0.999"],
    ("compcom99", "9.2"): ["2.01, 1.97"],
    ("compcom99", "10.1"): ["19 of 20", "0.88 to 1.08"],
    ("compcom99", "10.2"): ["10-12 13 %"],
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
    result = decide(study, conclusion, rows=[])
    expected = {"holds": True, "fails": False, "no data": None}[conclusion.in_print]
    assert result.published_holds is expected, result.evidence
    assert result.ours_holds is None
    for numbers in BY_HAND.get((study.id, conclusion.id), []):
        assert numbers in result.evidence


def test_every_check_by_hand_belongs_to_a_conclusion() -> None:
    assert set(BY_HAND) <= {(study.id, conclusion.id) for study, conclusion in PAIRS}


@pytest.mark.parametrize(("study", "conclusion"), ALL)
def test_every_conclusion_speaks_of_tables_that_exist_and_can_be_decided(
    study: Study, conclusion: Conclusion
) -> None:
    tables = {table.id for other in map(load_study, STUDY_IDS) for table in other.tables}
    assert conclusion.tables
    assert set(conclusion.tables) <= tables
    assert predicate_of(study.id, conclusion.id) is not None


@pytest.mark.parametrize(("study", "conclusion"), ALL)
def test_every_conclusion_finds_its_numbers_among_the_cases_of_its_tables(
    study: Study, conclusion: Conclusion
) -> None:
    # Whatever it asks for that no table has would leave it without a verdict for ever.
    test = predicate_of(study.id, conclusion.id)
    assert test is not None
    cases = [
        (table, part.measure, printed.factors)
        for table in conclusion.tables
        for part in table_of(table).table.parts
        for printed in printed_rows(table_of(table).study, part)
    ]
    # A number of its own for each, so that none is divided by nothing.
    test(Values(Entry(*case, 1.0 + place) for place, case in enumerate(cases)))


Disturbance = Callable[[Sequence[Entry]], Sequence[Entry]]


def _shuffled(seed: int) -> Disturbance:
    def disturb(entries: Sequence[Entry]) -> Sequence[Entry]:
        values = [entry.value for entry in entries]
        random.Random(seed).shuffle(values)
        return [
            Entry(e.table, e.metric, e.factors, value)
            for e, value in zip(entries, values, strict=True)
        ]

    return disturb


def _stretched(seed: int) -> Disturbance:
    def disturb(entries: Sequence[Entry]) -> Sequence[Entry]:
        draw = random.Random(seed)
        return [
            Entry(e.table, e.metric, e.factors, e.value * draw.uniform(0.3, 1.7)) for e in entries
        ]

    return disturb


DISTURBANCES = [kind(seed) for kind in (_shuffled, _stretched) for seed in range(40)]


@pytest.mark.parametrize(("study", "conclusion"), HOLDING)
def test_no_conclusion_holds_for_whatever_numbers(study: Study, conclusion: Conclusion) -> None:
    test = predicate_of(study.id, conclusion.id)
    assert test is not None
    printed = Values.printed(conclusion.tables)
    assert test(printed).holds
    outcomes = [test(Values(list(disturb(printed.entries)))).holds for disturb in DISTURBANCES]
    assert not all(outcomes)


def test_a_conclusion_cannot_have_two_tests() -> None:
    predicate_of("icccn97", "3.5")
    with pytest.raises(ValueError, match=r"conclusion 3\.5 of icccn97 has two tests"):
        decides("icccn97", "3.5")(lambda values: pytest.fail("never asked"))


def test_a_statement_that_records_cannot_decide_is_left_open() -> None:
    study = load_study("icccn97")
    statement = Conclusion(id="9.9", text="?", tables=("icccn97-t3",), in_print="no data")
    result = decide(study, statement, rows=[])
    assert result.published_holds is None
    assert result.ours_holds is None
    assert result.evidence == "the records of a run do not decide this"


def test_a_number_that_is_not_there_is_named() -> None:
    values = Values([Entry("t", "efficiency", {"tcp": "sack", "n": 5}, 0.5)])
    assert values.get("t", "efficiency", tcp="sack", n=5) == 0.5
    with pytest.raises(MissingValueError, match="no efficiency of t tcp=reno"):
        values.find("t", "efficiency", tcp="reno")
    with pytest.raises(MissingValueError, match="no efficiency of t tcp=sack"):
        values.get("t", "efficiency", tcp="sack")  # of a cell, not of an average


def test_a_statement_that_something_need_not_be_so_is_shown_by_one_run() -> None:
    # 96-0518: "increasing buffers does not necessarily mean increased throughput".
    test = predicate_of("atmf960518", "1.1")
    assert test is not None

    def totals(*of_large: float) -> Values:
        factors = {"set": 1, "max_window_bytes": 600_000}
        small = (52.0,) * len(of_large)
        return Values(
            [
                Entry(
                    "atmf960518-t1", "total_throughput", {**factors, "buffer_cells": cells}, 0, runs
                )
                for cells, runs in ((4096, small), (8192, of_large))
            ]
        )

    assert test(totals(60.0, 51.0, 60.0)).holds
    assert not test(totals(60.0, 53.0, 60.0)).holds


def test_evidence_shows_which_number_is_larger() -> None:
    # Two digits do not tell these apart.
    efficiencies = {"sack": 0.8212, "reno": 0.8234, "vanilla": 0.82}
    factors = {"config": "lan", "policy": "ubr"}
    values = Values(
        [
            Entry("icccn97-t1", "efficiency", {**factors, "tcp": tcp}, value)
            for tcp, value in efficiencies.items()
        ]
    )
    test = predicate_of("icccn97", "2.3")
    assert test is not None
    assert test(values).evidence == "0.821 against vanilla 0.820, Reno 0.823"


def test_a_statement_about_all_cases_falls_with_what_print_would_show() -> None:
    assert in_all([(0.97, 0.90), (0.99, 0.95), (0.988, 0.992)])
    assert not in_all([(0.97, 0.90), (0.99, 0.95), (0.986, 0.992)])
    assert not in_all([(0.99, 0.90), (0.99, 0.99)])  # told in half of the cases only
