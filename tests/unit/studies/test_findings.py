"""Whether single replications agree with a verdict: each is asked as a table of one run."""

from collections.abc import Sequence

import pytest

from skycell.studies import load_study
from skycell.studies.agreement import Agreement
from skycell.studies.cells import Key, MissingValueError
from skycell.studies.compare import Row
from skycell.studies.findings import ConclusionResult, RunByRun, evaluate_all
from skycell.studies.model import Conclusion, Numbers, Study
from skycell.studies.values import Values

TABLE, OTHER = "made-up-t1", "made-up-t2"
NUMBERS = {
    "e": Numbers(tables=(TABLE,), measure="efficiency"),
    "other": Numbers(tables=(OTHER,), measure="efficiency"),
}
STUDY = Study(
    id="made-up", title="x", origin="own", choices=(), experiments={}, tables=(), numbers=NUMBERS
)
SACK_ABOVE_RENO = "e(tcp='sack') > e(tcp='reno')"


def decide(
    rows: Sequence[Row], holds: str = SACK_ABOVE_RENO, tables: tuple[str, ...] = (TABLE,)
) -> ConclusionResult:
    """What a statement comes to on some rows."""
    statement = Conclusion(id="1", text="?", tables=tables, holds=holds, evidence="{e:2}")
    alone = STUDY.model_copy(update={"conclusions": (statement,)})
    (result,) = evaluate_all([alone], tables, rows)
    return result


def row(tcp: str, *by_replication: float | None, **more: object) -> Row:
    fields: dict[str, object] = {
        "study": "made-up",
        "table": TABLE,
        "factors": {"tcp": tcp},
        "metric": "efficiency",
        "unit": "1",
        "published": None,
        "by_replication": by_replication,
        "verdict": "own",
    }
    return Row(**(fields | more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sack", "holds", "in_single_runs"),
    [
        # Reno has 0.50 in each run. Means of SACK: 0.56, 0.48, 0.64, 0.44.
        ((0.4, 0.9, 0.6, 0.4, 0.5), True, RunByRun(2, 5)),
        ((0.4, 0.6, 0.4, 0.6, 0.4), False, RunByRun(2, 5)),
        ((0.6, 0.6, 0.6, 0.6, 0.8), True, RunByRun(5, 5)),
        ((0.4, 0.4, 0.4, 0.5, 0.5), False, RunByRun(0, 5)),
    ],
)
def test_the_verdict_is_that_of_the_means_and_single_runs_are_counted_beside_it(
    sack: tuple[float, ...],
    holds: bool,
    in_single_runs: RunByRun,
) -> None:
    result = decide([row("sack", *sack), row("reno", *[0.5] * 5)])
    assert result.ours_holds is holds
    assert result.run_by_run == in_single_runs
    assert result.as_dict()["ours_holds"] is holds
    assert result.as_dict()["replications_holding"] == in_single_runs.holding
    assert result.as_dict()["replications"] == 5


def test_numbers_of_one_seed_are_compared_with_one_another() -> None:
    # Same numbers, another order of the seeds: above in each run, then in the last alone.
    together = [row("sack", 0.3, 0.5, 0.7), row("reno", 0.2, 0.4, 0.6)]
    crossed = [row("sack", 0.3, 0.5, 0.7), row("reno", 0.6, 0.5, 0.1)]
    assert decide(together).run_by_run == RunByRun(3, 3)
    assert decide(crossed).run_by_run == RunByRun(1, 3)


def test_a_replication_that_lacks_a_number_by_a_failed_run_is_not_asked() -> None:
    rows = [row("sack", 0.6, None, 0.7, failures=("out of memory",)), row("reno", 0.4, 0.4, 0.4)]
    result = decide(rows, "max(e) > 0.5")
    assert result.ours_holds is True
    # In the second replication Reno's 0.4 stands alone: nothing is concluded from half a table.
    assert result.run_by_run == RunByRun(2, 2)
    # What is not defined, in a run that finished, is no number of that run's table, as in print.
    rows = [row("sack", 0.6, None, 0.7), row("reno", 0.4, 0.4, 0.4)]
    assert decide(rows, "max(e) > 0.5").run_by_run == RunByRun(2, 3)


def test_a_replication_that_another_table_does_not_have_is_not_asked() -> None:
    rows = [row("sack", 0.6, 0.6, 0.6, 0.6), row("reno", 0.5, 0.7)]
    assert decide(rows).run_by_run == RunByRun(1, 2)


def efficiencies(values: Values) -> dict[Key, float]:
    return dict(values.cells([TABLE], "efficiency", {}).values)


def test_of_numbers_asked_for_together_none_may_be_missing_because_it_was_not_run() -> None:
    rows = [row("sack", 0.5, 0.6), row("reno", 0.4)]
    assert efficiencies(Values.of_replication(rows, 0)) == {("sack",): 0.5, ("reno",): 0.4}
    with pytest.raises(MissingValueError):
        efficiencies(Values.of_replication(rows, 1))


def test_of_numbers_asked_for_together_those_that_are_not_defined_are_left_out() -> None:
    # Runs that delivered nothing have no fairness; what is computed has no run that could fail.
    nothing = row("reno", None, None)
    computed = row("vanilla", None, is_computed=True, failures=("no path",))
    rows = [row("sack", 0.5, 0.6), nothing, computed]
    for values in (Values.ours(rows), Values.of_replication(rows, 1)):
        assert efficiencies(values).keys() == {("sack",)}


def test_what_is_computed_is_the_same_in_each_replication_and_alone_has_none() -> None:
    drawn, other = row("sack", 0.4, 0.6, 0.8), row("sack", 0.4, 0.6, table="made-up-t2")
    computed = row("reno", 0.5, is_computed=True)
    assert decide([drawn, computed]).run_by_run == RunByRun(2, 3)
    # The replications of another table say nothing about a table without a draw.
    rows = [row("sack", 0.6, is_computed=True), computed, other]
    result = decide(rows)
    assert (result.ours_holds, result.run_by_run) == (True, None)
    assert (result.as_dict()["replications"], result.as_dict()["replications_holding"]) == (
        None,
        None,
    )


def test_a_statement_on_what_is_computed_and_what_is_drawn_is_asked_of_each_draw() -> None:
    rows = [
        row("reno", 0.5, table="made-up-t2", is_computed=True),
        row("sack", 0.6, 0.4, 0.7),
        row("vanilla", 0.1),
    ]
    found = decide(rows, "e(tcp='sack') > other(tcp='reno')", (OTHER, TABLE))
    assert found.run_by_run == RunByRun(2, 3)


def test_a_ratio_to_nothing_decides_nothing() -> None:
    twice = "e(tcp='sack') / e(tcp='reno') >= 2"
    result = decide([row("sack", 0.8, 0.8, 0.3), row("reno", 0.4, 0.0, 0.2)], twice)
    assert result.run_by_run == RunByRun(1, 2)
    result = decide([row("sack", 0.8), row("reno", 0.0)], twice)
    assert (result.ours_holds, result.run_by_run) == (None, None)
    assert result.evidence == "a ratio to nothing"


def test_all_conclusions_are_asked_of_the_same_replications() -> None:
    study = load_study("icccn97")
    rows = [
        row(
            "",
            entry.value,
            1.0,  # nobody above anybody
            table=entry.table,
            metric=entry.metric,
            factors=entry.factors,
        )
        for entry in Values.printed(["icccn97-t3"]).entries
    ]
    by_id = {entry.id: entry for entry in evaluate_all([study], ["icccn97-t3"], rows)}
    assert by_id["3.1a"].run_by_run == RunByRun(1, 2)
    assert by_id["3.3a"].run_by_run == RunByRun(2, 2)  # and no gap


VERDICTS: Sequence[tuple[bool | None, RunByRun | None]] = [
    (True, RunByRun(5, 5)),
    (True, RunByRun(4, 5)),
    (True, RunByRun(0, 5)),
    (False, RunByRun(1, 5)),
    (False, RunByRun(5, 5)),
    (False, RunByRun(0, 5)),
    (True, RunByRun(1, 1)),  # the mean of one run is that run
    (True, RunByRun(2, 2)),
    (None, RunByRun(3, 5)),
    (True, None),
]


def test_verdicts_are_counted_by_what_single_replications_say() -> None:
    assert Agreement.of(VERDICTS) == Agreement(2, 2, 2, 1)
    assert Agreement.of(VERDICTS).sentence() == (
        "Every single replication agrees on 2 of 4 that hold and on 1 of 3 that do not."
    )


@pytest.mark.parametrize(
    ("agreement", "sentence"),
    [
        (Agreement(), ""),
        (Agreement(2, 1, 0, 0), "Every single replication agrees on 2 of 3 that hold."),
        (Agreement(0, 0, 3, 0), "Every single replication agrees on 0 of 3 that do not."),
        (Agreement(0, 0, 0, 1), "Every single replication agrees."),
        (Agreement(0, 0, 1, 0), "Not every single replication agrees."),
    ],
)
def test_the_counts_are_told_in_a_sentence(agreement: Agreement, sentence: str) -> None:
    assert agreement.sentence() == sentence
