"""How firm a verdict is: a statement asked of each replication alone, as of a table of one run."""

import random
from collections.abc import Callable, Sequence

import pytest

from skycell.studies import STUDY_IDS, findings, load_study
from skycell.studies.compare import Row
from skycell.studies.conclusions.counting import in_some_run
from skycell.studies.findings import (
    Finding,
    Predicate,
    RunByRun,
    evaluate_all,
    predicate_of,
)
from skycell.studies.firmness import Firmness
from skycell.studies.library import OWN_IDS
from skycell.studies.model import Conclusion, Study
from skycell.studies.values import MissingValueError, Values
from tests.unit.studies.deciding import decide
from tests.unit.studies.own_worlds import WORLDS

TABLE = "made-up-t1"
STATEMENT = Conclusion(id="1", text="SACK is above Reno", tables=(TABLE,))
STUDY = Study(id="made-up", title="x", origin="own", choices=(), experiments={}, tables=())


def sack_above_reno(values: Values) -> Finding:
    sack, reno = (values.get(TABLE, "efficiency", tcp=tcp) for tcp in ("sack", "reno"))
    return Finding(sack > reno, f"{sack:.2f} against {reno:.2f}")


@pytest.fixture
def judged_by(monkeypatch: pytest.MonkeyPatch) -> Callable[[Predicate], None]:
    """Lets a test say what decides the statement of the made-up study."""

    def judge(predicate: Predicate) -> None:
        monkeypatch.setitem(findings._PREDICATES, ("made-up", "1"), predicate)

    return judge


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
    judged_by: Callable[[Predicate], None],
    sack: tuple[float, ...],
    holds: bool,
    in_single_runs: RunByRun,
) -> None:
    judged_by(sack_above_reno)
    result = decide(STUDY, STATEMENT, [row("sack", *sack), row("reno", *[0.5] * 5)])
    assert result.ours_holds is holds
    assert result.run_by_run == in_single_runs
    assert result.as_dict()["ours_holds"] is holds
    assert result.as_dict()["replications_holding"] == in_single_runs.holding
    assert result.as_dict()["replications"] == 5


def test_numbers_of_one_seed_are_compared_with_one_another(
    judged_by: Callable[[Predicate], None],
) -> None:
    judged_by(sack_above_reno)
    # Same numbers, another order of the seeds: above in each run, then in the last alone.
    together = [row("sack", 0.3, 0.5, 0.7), row("reno", 0.2, 0.4, 0.6)]
    crossed = [row("sack", 0.3, 0.5, 0.7), row("reno", 0.6, 0.5, 0.1)]
    assert decide(STUDY, STATEMENT, together).run_by_run == RunByRun(3, 3)
    assert decide(STUDY, STATEMENT, crossed).run_by_run == RunByRun(1, 3)


def test_a_replication_that_lacks_a_number_by_a_failed_run_is_not_asked(
    judged_by: Callable[[Predicate], None],
) -> None:
    def any_above(values: Values) -> Finding:
        found = values.find(TABLE, "efficiency")
        return Finding(max(entry.value for entry in found) > 0.5, f"{len(found)} values")

    judged_by(any_above)
    rows = [row("sack", 0.6, None, 0.7, failures=("out of memory",)), row("reno", 0.4, 0.4, 0.4)]
    result = decide(STUDY, STATEMENT, rows)
    assert result.ours_holds is True
    # In the second replication Reno's 0.4 stands alone: nothing is concluded from half a table.
    assert result.run_by_run == RunByRun(2, 2)
    # What is not defined, in a run that finished, is no number of that run's table, as in print.
    rows = [row("sack", 0.6, None, 0.7), row("reno", 0.4, 0.4, 0.4)]
    assert decide(STUDY, STATEMENT, rows).run_by_run == RunByRun(2, 3)


def test_a_replication_that_another_table_does_not_have_is_not_asked(
    judged_by: Callable[[Predicate], None],
) -> None:
    judged_by(sack_above_reno)
    rows = [row("sack", 0.6, 0.6, 0.6, 0.6), row("reno", 0.5, 0.7)]
    assert decide(STUDY, STATEMENT, rows).run_by_run == RunByRun(1, 2)


def test_of_numbers_asked_for_together_none_may_be_missing_because_it_was_not_run() -> None:
    twice, once = row("sack", 0.5, 0.6), row("reno", 0.4)
    first = Values.of_replication([twice, once], 0).find(TABLE, "efficiency")
    assert [entry.value for entry in first] == [0.5, 0.4]
    with pytest.raises(MissingValueError):
        Values.of_replication([twice, once], 1).find(TABLE, "efficiency")


def test_of_numbers_asked_for_together_those_that_are_not_defined_are_left_out() -> None:
    # Runs that delivered nothing have no fairness; what is computed has no run that could fail.
    nothing = row("reno", None, None)
    computed = row("vanilla", None, is_computed=True, failures=("no path",))
    rows = [row("sack", 0.5, 0.6), nothing, computed]
    for values in (Values.ours(rows), Values.of_replication(rows, 1)):
        (only,) = values.find(TABLE, "efficiency")
        assert only.factors == {"tcp": "sack"}


def test_what_is_computed_is_the_same_in_each_replication_and_alone_has_none(
    judged_by: Callable[[Predicate], None],
) -> None:
    judged_by(sack_above_reno)
    drawn, other = row("sack", 0.4, 0.6, 0.8), row("sack", 0.4, 0.6, table="made-up-t2")
    computed = row("reno", 0.5, is_computed=True)
    assert decide(STUDY, STATEMENT, [drawn, computed]).run_by_run == RunByRun(2, 3)
    # The replications of another table say nothing about a table without a draw.
    rows = [row("sack", 0.6, is_computed=True), computed, other]
    result = decide(STUDY, STATEMENT, rows)
    assert (result.ours_holds, result.run_by_run) == (True, None)
    assert (result.as_dict()["replications"], result.as_dict()["replications_holding"]) == (
        None,
        None,
    )


def test_a_statement_on_what_is_computed_and_what_is_drawn_is_asked_of_each_draw(
    judged_by: Callable[[Predicate], None],
) -> None:
    def sack_above_what_is_computed(values: Values) -> Finding:
        computed = values.get("made-up-t2", "efficiency", tcp="reno")
        return Finding(values.get(TABLE, "efficiency", tcp="sack") > computed, "")

    judged_by(sack_above_what_is_computed)
    both = STATEMENT.model_copy(update={"tables": ("made-up-t2", TABLE)})
    rows = [
        row("reno", 0.5, table="made-up-t2", is_computed=True),
        row("sack", 0.6, 0.4, 0.7),
        row("vanilla", 0.1),
    ]
    assert decide(STUDY, both, rows).run_by_run == RunByRun(2, 3)


def test_only_statements_on_the_tables_that_were_made_are_decided() -> None:
    study = load_study("icccn97")
    found = {entry.id for entry in evaluate_all([study], ["icccn97-t4"], [])}
    assert found == {"3.5"}


def test_a_ratio_to_nothing_decides_nothing(judged_by: Callable[[Predicate], None]) -> None:
    def twice_reno(values: Values) -> Finding:
        sack, reno = (values.get(TABLE, "efficiency", tcp=tcp) for tcp in ("sack", "reno"))
        return Finding(sack / reno >= 2, f"{sack / reno:.1f} times")

    judged_by(twice_reno)
    result = decide(STUDY, STATEMENT, [row("sack", 0.8, 0.8, 0.3), row("reno", 0.4, 0.0, 0.2)])
    assert result.run_by_run == RunByRun(1, 2)
    result = decide(STUDY, STATEMENT, [row("sack", 0.8), row("reno", 0.0)])
    assert (result.ours_holds, result.run_by_run) == (None, None)
    assert result.evidence == "a ratio to nothing"


def test_runs_are_paired_by_seed_also_where_some_have_failed() -> None:
    small, large = row("sack", None, 0.5, 0.5), row("reno", 0.4, None, 0.6)
    entries = Values.ours([small, large])
    below, above = (entries.entry(TABLE, "efficiency", tcp=t).runs for t in ("sack", "reno"))
    # Only the third seed has both numbers; without their places 0.5 would meet 0.4.
    assert in_some_run(below, above) == 1
    assert in_some_run(above, below) == 0


PAIRS = [
    pytest.param(study, entry, id=f"{study.id}-{entry.id}")
    for study in map(load_study, STUDY_IDS)
    for entry in study.conclusions
    if entry.in_print != "no data"
]


@pytest.mark.parametrize(("study", "conclusion"), PAIRS)
def test_every_conclusion_on_print_can_be_asked_of_single_replications(
    study: Study, conclusion: Conclusion
) -> None:
    """The first replication has the printed numbers, the others numbers that are disturbed."""
    printed = Values.printed(conclusion.tables).entries
    draw = random.Random(7)
    disturbed = [[e.value * draw.uniform(0.3, 1.7) for e in printed] for _ in range(2)]
    rows = [
        row(
            "",
            *values,
            table=entry.table,
            metric=entry.metric,
            factors=entry.factors,
            is_computed=entry.table.startswith("jsac98"),
        )
        for entry, *values in zip(printed, [e.value for e in printed], *disturbed, strict=True)
    ]
    result = decide(study, conclusion, rows)
    if study.id == "jsac98":
        assert result.run_by_run is None  # geometry: there is no draw
        return
    test = predicate_of(study.id, conclusion.id)
    assert test is not None
    alone = [test(Values.of_replication(rows, place)).holds for place in range(3)]
    assert alone[0] is (conclusion.in_print == "holds")
    assert result.run_by_run == RunByRun(sum(alone), 3)


OWN = [
    pytest.param(study, entry, id=f"{study.id}-{entry.id}")
    for study in map(load_study, OWN_IDS)
    for entry in study.conclusions
]


@pytest.mark.parametrize(("study", "conclusion"), OWN)
def test_a_conclusion_of_ours_is_asked_of_single_replications_too(
    study: Study, conclusion: Conclusion
) -> None:
    """Two replications with numbers made for it, and one in which they have changed places."""
    world = WORLDS[study.id]()
    values = [entry.value for entry in world]
    shuffled = random.Random(1).sample(values, len(values))
    rows = [
        row("", e.value, e.value, other, table=e.table, metric=e.metric, factors=e.factors)
        for e, other in zip(world, shuffled, strict=True)
    ]
    test = predicate_of(study.id, conclusion.id)
    assert test is not None
    third = test(Values.of_replication(rows, 2)).holds
    assert decide(study, conclusion, rows).run_by_run == RunByRun(2 + third, 3)


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
    assert Firmness.of(VERDICTS) == Firmness(2, 2, 2, 1)
    assert Firmness.of(VERDICTS).sentence() == (
        "Every single replication agrees on 2 of 4 that hold and on 1 of 3 that do not."
    )


@pytest.mark.parametrize(
    ("firmness", "sentence"),
    [
        (Firmness(), ""),
        (Firmness(2, 1, 0, 0), "Every single replication agrees on 2 of 3 that hold."),
        (Firmness(0, 0, 3, 0), "Every single replication agrees on 0 of 3 that do not."),
        (Firmness(0, 0, 0, 1), "Every single replication agrees."),
        (Firmness(0, 0, 1, 0), "Not every single replication agrees."),
    ],
)
def test_the_counts_are_told_in_a_sentence(firmness: Firmness, sentence: str) -> None:
    assert firmness.sentence() == sentence
