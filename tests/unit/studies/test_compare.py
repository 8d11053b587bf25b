"""The verdict on a published value, and how verdicts are counted."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skycell.experiment.value import Verdict
from skycell.studies.compare import Row, summarise_tables, verdict_of
from skycell.studies.published import PublishedValue


def printed(value: float | None, half_unit: float = 0.005) -> PublishedValue:
    return PublishedValue({}, value, half_unit, is_suspect=False, likely=None)


@pytest.mark.parametrize(
    ("published", "values", "verdict"),
    [
        (0.60, [0.55, 0.65], "inside"),
        (0.60, [0.625, 0.65], "inside"),  # 0.60 + 0.005 of rounding + 0.02
        (0.60, [0.626, 0.65], "near"),
        (0.60, [0.575, 0.50], "inside"),
        (0.60, [0.574, 0.50], "near"),
        (0.60, [0.70], "near"),
        (0.60, [0.701], "off"),
        (0.60, [0.50], "near"),
        (0.60, [0.499], "off"),
        (0.60, [], "off"),
        (None, [0.5], "unpublished"),
        (None, [], "unpublished"),
    ],
)
def test_a_share_is_inside_near_or_off(
    published: float | None, values: list[float], verdict: Verdict
) -> None:
    assert verdict_of(printed(published), "1", values) == verdict


@pytest.mark.parametrize("published", [0.60, None])
def test_runs_that_all_failed_have_failed(published: float | None) -> None:
    assert verdict_of(printed(published), "1", [], ["out of memory"]) == "failed"
    assert verdict_of(printed(published), "1", [0.6], ["out of memory"]) != "failed"


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(20.02, "inside"), (20.03, "near"), (23.0, "near"), (23.01, "off"), (16.99, "off")],
)
def test_what_has_a_unit_is_near_within_fifteen_percent(value: float, verdict: Verdict) -> None:
    assert verdict_of(printed(20.0, 0.0), "Mbit/s", [value]) == verdict


def test_the_fifteen_percent_of_a_loss_are_of_its_size() -> None:
    assert verdict_of(printed(-20.0, 0.0), "Mbit/s", [-22.9]) == "near"
    assert verdict_of(printed(-20.0, 0.0), "Mbit/s", [-23.1]) == "off"


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([0.7], "inside"),
        ([0.5, 0.58], "inside"),  # 0.60 less 0.005 of rounding and 0.02
        ([0.5, 0.57], "near"),
        ([0.5], "near"),
        ([0.89], "near"),
        ([0.91], "off"),
        ([0.3, 0.9], "inside"),
    ],
)
def test_a_printed_range_counts_once(values: list[float], verdict: Verdict) -> None:
    range_ = replace(printed(0.60), upper=0.80)
    assert verdict_of(range_, "1", values) == verdict


@given(
    st.floats(0, 1),
    st.lists(st.floats(0, 1), min_size=1, max_size=8),
    st.floats(0, 1),
)
def test_more_replications_never_take_a_value_out_of_their_span(
    published: float, values: list[float], another: float
) -> None:
    if verdict_of(printed(published), "1", values) == "inside":
        assert verdict_of(printed(published), "1", [*values, another]) == "inside"


def row(verdict: Verdict, **more: object) -> Row:
    fields: dict[str, object] = {
        "study": "s",
        "table": "s-t1",
        "factors": {"tcp": "sack"},
        "metric": "efficiency",
        "unit": "1",
        "published": 0.5,
        "by_replication": (0.6, 0.8),
        "verdict": verdict,
    }
    return Row(**(fields | more))  # type: ignore[arg-type]


def test_suspect_numbers_and_averages_are_counted_apart() -> None:
    rows = [
        row("inside"),
        row("near"),
        row("off", by_replication=(1.0, 1.0)),
        row("off", is_suspect=True),
        row("inside", is_average=True),
        row("unpublished", published=None),
        row("failed", by_replication=()),
        row("near", table="s-t2"),
    ]
    first, second = summarise_tables(rows)
    assert (first.cells.inside, first.cells.near, first.cells.off) == (1, 1, 1)
    assert first.cells.mean_absolute_error == pytest.approx((0.2 + 0.2 + 0.5) / 3)
    assert (first.suspect.off, first.suspect.compared) == (1, 1)
    assert first.averages.inside == 1
    assert (first.unpublished, first.failed) == (1, 1)
    assert second.table == "s-t2"
    assert second.cells.compared == 1
    assert second.suspect.mean_absolute_error is None


def test_a_row_knows_its_spread() -> None:
    one = row("inside", by_replication=(0.6, 0.8))
    assert one.mean == pytest.approx(0.7)
    assert (one.n, one.low, one.high) == (2, 0.6, 0.8)
    assert one.sd == pytest.approx(0.1414, abs=1e-4)  # n - 1 below
    assert row("inside", by_replication=(0.6,)).sd is None
    nothing = row("failed", by_replication=())
    assert (nothing.mean, nothing.sd, nothing.low, nothing.high) == (None, None, None, None)
    # What is computed without a draw has no spread, unless it has no value.
    assert row("inside", by_replication=(0.6,), is_computed=True).sd == 0
    assert row("failed", by_replication=(None,), is_computed=True).sd is None


def test_a_row_tells_a_program_what_it_needs() -> None:
    data = row("near", doubt="misprint?", is_suspect=True, overrides={"tcp.tick": "1 s"}).as_dict()
    assert data["doubt"] == "misprint?"
    assert data["set"] == {"tcp.tick": "1 s"}
    assert row("failed", failures=("out of memory",)).as_dict()["failures"] == ["out of memory"]
    assert row("near").as_dict().keys().isdisjoint({"doubt", "set", "failures"})
    assert list(data)[:12] == [
        "study",
        "table",
        "factors",
        "metric",
        "unit",
        "published",
        "mean",
        "sd",
        "n",
        "low",
        "high",
        "verdict",
    ]
