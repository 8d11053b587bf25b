"""Values of a result as tables: cell by cell, by two factors, and where the best one is."""

from dataclasses import replace
from math import sqrt

import pytest

from skycell.experiment.design import Level
from skycell.experiment.value import Value, Verdict, best_of, values_of
from skycell.measures.responses import RESPONSES
from skycell.plots.values import Axes
from skycell.stats.ranges import PART, POSITIVE
from skycell.tables.table import Table
from skycell.tables.values import (
    best_sentence,
    cells_table,
    pivots,
    spread_sentences,
    values_table,
)

# Three replications whose mean is the number below, 0.5 apart: sd is 0.5.
MEANS: dict[tuple[str, float], float] = {
    ("epd", 0.5): 10.0,
    ("epd", 1): 20.0,
    ("red", 0.5): 30.0,
    ("red", 1): 5.0,
}
ROWS = [
    {"policy": policy, "buffer": buffer, "tcp": tcp, "delay": mean + more + aside, "other": 1.0}
    for tcp, more in (("reno", 0.0), ("sack", 100.0))
    for (policy, buffer), mean in MEANS.items()
    for aside in (-0.5, 0.0, 0.5)
]


def values(*factors: str, of: str = "delay") -> list[Value]:
    return values_of([row for row in ROWS if row["tcp"] == "reno"], factors, {of: "ms"})


def texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def test_a_table_by_two_factors_has_the_mean_and_interval_of_each_pair() -> None:
    (table,) = pivots(values("policy", "buffer"), Axes("buffer", "policy"), units={"buffer": "RTT"})
    assert [column.title for column in table.columns] == ["buffer (RTT)", "EPD", "RED"]
    # t of 0.95 with two degrees of freedom is 2.92; the margin 2.92 x 0.5 / sqrt 3 is 0.843.
    assert texts(table) == [
        ["0.5", "10.00 (9.157 to 10.84)", "30.00 (29.16 to 30.84)"],
        ["1", "20.00 (19.16 to 20.84)", "5.000 (4.157 to 5.843)"],
    ]
    assert table.title.startswith("Delay (ms) by buffer (RTT) and buffer policy; mean of 3 repl")


def test_factors_without_a_place_have_a_table_each_and_no_mean_is_over_them() -> None:
    own = values_of(ROWS, ("policy", "buffer", "tcp"), {"delay": "ms"})
    tables = pivots(own, Axes("buffer", "policy"))
    assert [texts(table)[0][1] for table in tables] == [
        "10.00 (9.157 to 10.84)",
        "110.0 (109.2 to 110.8)",
    ]
    assert ["; Reno; " in table.title for table in tables] == [True, False]
    named = pivots(own, Axes("tcp", facet=("policy",)))
    assert len(named) == 4
    assert [column.title for column in named[0].columns] == ["TCP", "mean"]


@pytest.mark.parametrize(
    ("better", "marked", "sentence"),
    [
        (
            "larger",
            "30.00 (29.16 to 30.84)",
            "Best delay (ms): 30.00 (90 % interval 29.16 to 30.84, 3 ",
        ),
        (
            "smaller",
            "5.000 (4.157 to 5.843)",
            "Best delay (ms): 5.000 (90 % interval 4.157 to 5.843, 3 ",
        ),
        ("", "", ""),
    ],
)
def test_the_best_of_a_table_is_marked_and_said_with_its_interval(
    better: str, marked: str, sentence: str
) -> None:
    own = values("policy", "buffer")
    (table,) = pivots(own, Axes("buffer", "policy"), better=better)  # type: ignore[arg-type]
    assert [cell.text for row in table.rows for cell in row if cell.css] == [marked] * bool(marked)
    said = best_sentence(own, better, 0.9, {"buffer": "RTT"})  # type: ignore[arg-type]
    assert said.startswith(sentence)
    assert sentence in table.caption
    assert not said or said.endswith(
        " with RED, buffer = 0.5 RTT." if better == "larger" else " with RED, buffer = 1 RTT."
    )


def test_a_pair_without_runs_or_without_a_number_is_a_dash() -> None:
    rows = [*ROWS[:8], {**ROWS[0], "policy": "red", "buffer": 1, "delay": None}]
    (table,) = pivots(
        values_of(rows, ("policy", "buffer"), {"delay": "ms"}), Axes("buffer", "policy")
    )
    assert texts(table)[1] == ["1", "20.00 (19.16 to 20.84)", "–"]
    assert texts(table)[0] == ["0.5", "10.00 (9.157 to 10.84)", "29.75"]  # two have none
    assert best_of([], "larger") is None


def test_cells_have_their_measures_side_by_side_and_true_is_not_one() -> None:
    rows = [
        {"sack": sack, "delay": number, "loss": number / 1e5}
        for sack, number in ((True, 1.0), (1, 2.0), (True, 3.0))
    ]
    table = cells_table(values_of(rows, ["sack"], {"delay": "ms", "loss": "1"}), title="t")
    assert [column.title for column in table.columns] == ["sack", "Delay (ms)", "SD", "Loss", "SD"]
    assert texts(table) == [
        ["yes", "2.000", "1.414", "2.000e\u221205", "1.414e\u221205"],
        ["1", "2.000", "–", "2.000e\u221205", "–"],
    ]
    assert "1 to 2 replications" in table.title
    few = cells_table(values("policy", "buffer"), title="t", most=3)
    assert len(few.rows) == 3
    assert few.title.endswith(", the first 3 of 4")


def test_what_is_off_has_its_reason_below_and_a_doubt_its_own() -> None:
    def value(level: Level, verdict: Verdict, doubt: str = "") -> Value:
        return Value(
            factors={"n": level},
            metric="efficiency",
            unit="1",
            by_replication=(0.5, 0.5),
            published=0.9,
            verdict=verdict,
            doubt=doubt,
        )

    rows = [value(1, "inside"), value(2, "off", doubt="smudged"), value(3, "off")]
    table = values_table(rows, caption="c", why="The sender is not in print.")
    assert table.notes == ("smudged", "The sender is not in print.")
    assert [[cell.note for cell in row if cell.note] for row in table.rows] == [[], [1, 2], [2]]


def test_an_interval_of_what_can_be_anything_is_students() -> None:
    ten = Value(factors={}, metric="m", unit="1", by_replication=tuple(map(float, range(10))))
    # NIST/SEMATECH e-Handbook of Statistical Methods 1.3.6.7.2: t of 0.975, 9 degrees: 2.262.
    margin = 2.262 * sqrt(55 / 6) / sqrt(10)
    assert ten.interval(0.95) == pytest.approx((4.5 - margin, 4.5 + margin), rel=1e-3)


def test_an_interval_stays_inside_what_a_measure_can_be_and_two_runs_have_none() -> None:
    times = Value(factors={}, metric="m", unit="ms", by_replication=(100.0, 200.0, 9000.0))
    parts = replace(times, by_replication=(0.5, 0.97, 0.99))
    assert times.interval(0.95)[0] < -9000  # type: ignore[index]
    found = replace(times, range=POSITIVE).interval(0.95)
    assert found is not None
    assert 0 < found.low < 3100 < found.high
    found = replace(parts, range=PART).interval(0.95)
    assert found is not None
    assert 0 < found.low < 0.82 < found.high < 1
    assert replace(times, by_replication=(100.0, 9000.0), range=POSITIVE).interval(0.95) is None


def test_a_measure_of_a_port_that_nobody_named_says_which_it_is() -> None:
    rows = [{"n": n, "mean_queue": n / 2} for n in (1, 2) for _ in range(3)]
    own = values_of(rows, ["n"], {"mean_queue": "packets"}, subjects={"mean_queue": "a>b"})
    assert own[0].as_dict()["subject"] == "a>b"
    assert "Mean queue (packets), a>b" in [c.title for c in cells_table(own, title="t").columns]
    (table,) = pivots(own, Axes("n"), better="smaller")
    assert table.title.startswith("Mean queue (packets), a>b by ")
    assert "Best mean queue (packets), a>b: 0.5000" in table.caption


def test_runs_in_two_groups_or_far_apart_are_told_with_their_values_and_others_are_not() -> None:
    runs = {
        "bbr": (0.7, 12.1, 0.9, 13.0, 0.8, 12.4),
        "reno": (5.0, 5.2, 4.9, 5.1, 5.3, 4.7),
        "vegas": (1.0, 2.0, 3.0, 4.5, 5.0, 6.5),
    }
    own = [
        Value(factors={"tcp": tcp}, metric="m", unit="1", by_replication=values, range=POSITIVE)
        for tcp, values in runs.items()
    ]
    first, second = spread_sentences(own, {})
    assert "BBR" in first
    assert "two groups" in first
    assert "12.10, 12.40, 13.00" in first
    assert "vegas" in second.lower()
    assert "1.000 to 6.500" in second
    few = [replace(value, by_replication=value.by_replication[:4]) for value in own]
    assert spread_sentences(few, {}) == []


def test_every_response_says_what_is_better_or_cannot() -> None:
    unsaid = {name for name, response in RESPONSES.items() if not response.better}
    assert unsaid == {"ceiling", "largest_throughput", "link_share", "fullest_link_load"}
