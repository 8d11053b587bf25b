"""How much other choices move the tables. The engine is a test double."""

import pytest

from skycell.input.faults import ScenarioFaults
from skycell.studies import UnknownStudyError, reproduce
from skycell.studies.sensitivity import alternatives, compared_rows, sensitivity
from tests.unit.studies.double import Double


def test_each_alternative_is_compared_with_what_was_chosen(double: Double) -> None:
    reported: list[str] = []
    result = sensitivity(
        ["ijsc-t1"],
        {"ceiling.base": ["149.7 Mbit/s"], "tcp.tick": ["500 ms"]},
        overrides={"ceiling.base": "155.52 Mbit/s", "leo.mss": "9180 B"},
        replications=1,
        jobs=2,
        version="test",
        work=double.work,
        on_variant=reported.append,
    )
    assert reported == ["as chosen", "ceiling.base=149.7 Mbit/s", "tcp.tick=500 ms"]
    base, tick = result.shifts
    (baseline,) = result.baseline
    # The double's rates do not depend on the clock; the base divides them.
    assert tick.mean_absolute_change == 0
    assert tick.summary.cells == baseline.cells
    # Five flows get 1 to 5 thousandths of 155.52 Mbit/s.
    chosen = 15 * 0.001 / (9180 / (53 * 193))
    expected = chosen * (155.52 / 149.7 - 1)
    assert base.mean_absolute_change == pytest.approx(expected, rel=1e-6)
    assert base.largest_change == pytest.approx(expected, rel=1e-6)
    assert base.as_dict()["key"] == "ceiling.base"
    assert len(result.as_dict()["shifts"]) == 2


@pytest.mark.parametrize(
    ("key", "value", "got"), [("leo.mss", 9180, "9180"), ("ceiling.base", "much", '"much"')]
)
def test_a_faulty_value_is_told_before_anything_is_run(
    key: str, value: object, got: str, double: Double
) -> None:
    vary: dict[str, list[object]] = {"tcp.tick": ["500 ms"], key: [value]}
    with pytest.raises(ScenarioFaults) as reported:
        sensitivity(["ijsc-t1"], vary, replications=1, jobs=1, version="test", work=double.work)
    (fault,) = reported.value.faults
    assert fault.got == got
    assert double.made() == []


def test_what_studies_name_and_values_of_ones_own_are_tried_each_once(double: Double) -> None:
    studies = alternatives(["compcom99-t1"])
    tick = studies["tcp.tick"][0]
    result = sensitivity(
        ["compcom99-t1"],
        {"tcp.tick": [tick, "333 ms", "333 ms"]},
        named=True,
        replications=1,
        jobs=1,
        version="test",
        work=double.work,
    )
    varied = [(shift.key, shift.value) for shift in result.shifts]
    expected = [(key, value) for key, values in studies.items() for value in values]
    assert varied == [*expected, ("tcp.tick", "333 ms")]


def test_a_table_moves_by_its_printed_rows_or_by_its_first_measure(double: Double) -> None:
    result = reproduce(["atmf960518"], replications=1, jobs=1, version="test", work=double.work)
    rows = result.rows
    printed = compared_rows(rows, "atmf960518-t1")
    assert {rows[place].unit for place in printed} == {"Mbit/s"}
    assert len(printed) == 37 + 7  # ATM Forum 96-0518 Table 1: legible shares and totals
    assert all(rows[place].published is not None for place in printed)
    alone = compared_rows(rows, "atmf960518-one")
    assert {rows[place].metric for place in alone} == {"throughput"}
    assert len(alone) == 5


def test_all_alternatives_of_the_studies_concerned_are_known() -> None:
    found = alternatives(["ijsc", "icccn97-t3"])
    assert found["tcp.rto_restart"]
    assert "single.duration" not in found
    assert "single.duration" in alternatives(["compcom99"])
    with pytest.raises(UnknownStudyError):
        alternatives(["nonsense"])


def test_a_table_of_several_units_moves_by_the_first_of_them(double: Double) -> None:
    result = reproduce(["compcom99-t1"], replications=1, jobs=1, version="test", work=double.work)
    moved = compared_rows(result.rows, "compcom99-t1")
    assert {result.rows[place].unit for place in moved} == {"cells"}
    (summary,) = result.summaries
    assert summary.cells.compared == 8  # four sums in cells, four shares in per cent
    assert summary.cells.mean_absolute_error is None


def test_a_conclusion_that_needs_other_tables_is_told_with_them(double: Double) -> None:
    varied = {"tcp.tick": ["500 ms"]}
    result = sensitivity(
        ["ijsc-t1"], varied, replications=1, jobs=1, version="test", work=double.work
    )
    without = {entry.id: entry.without for entry in result.undecided}
    assert without == dict.fromkeys(("7.3a", "7.3b", "7.4"), ("icccn97-t3",))
    for entry in result.undecided:
        assert entry.evidence.endswith("; ours: no numbers without icccn97-t3")
    reported = {"study": "ijsc", "conclusion": "7.4", "without": ["icccn97-t3"]}
    assert reported in result.as_dict()["undecided"]
