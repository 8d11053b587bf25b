"""A validation: runs, rows, verdicts."""

import json

import pytest

from skycell.validation import validate_linux
from skycell.validation.compare import verdict_of
from skycell.validation.scenarios import recordings

TAIL = "tail-cubic-10M-100ms-100p-100000B"


@pytest.mark.parametrize(
    ("recorded", "ours", "verdict"),
    [
        ([100.0], [105.0], "inside"),
        ([100.0], [94.9], "near"),
        ([100.0], [115.0], "near"),
        ([100.0], [115.1], "off"),
        # The mean counts, not the single runs.
        ([100.0], [80.0, 120.0], "inside"),
        # Far from the mean, and as one of the recorded runs.
        ([571.0, 891.0, 571.0], [890.0], "inside"),
        ([571.0, 891.0, 571.0], [900.0], "off"),
        ([0.0, 0.0], [0.0], "inside"),
        ([0.0, 0.0], [0.2], "off"),
        ([1.0], [], "off"),
    ],
)
def test_a_verdict_goes_by_five_per_cent_or_the_recorded_range(
    recorded: list[float], ours: list[float], verdict: str
) -> None:
    assert verdict_of(recorded, ours) == verdict


def test_rows_put_ours_beside_the_recorded_runs() -> None:
    result = validate_linux([TAIL], jobs=1, replications=2)
    rows = {row.metric: row for row in result.rows}
    times = [float(row["completion_s"]) for row in recordings()[TAIL]]
    completion = rows["completion_s"]
    assert completion.published == pytest.approx(sum(times) / len(times))
    assert completion.published_range == (min(times), max(times))
    # 100 kB are 70 segments; 69 is the last, so one loss and one repetition end the transfer.
    assert rows["retransmissions"].values == (1.0, 1.0)
    assert rows["drops"].values == (0.0, 0.0)
    # Handshake, slow start in four round trips and the repetition: five round trips at least.
    assert completion.low is not None
    assert completion.low > 5 * 0.1
    data = json.loads(result.to_json())
    assert list(data) == ["engine", "rows", "conclusions"]
    assert {row["verdict"] for row in data["rows"]} <= {"inside", "near", "off"}


def test_both_engines_give_the_same_numbers() -> None:
    by_engine = [
        validate_linux(["tail", "two-cubic-10M-20ms-17p"], jobs=1, replications=1, engine=engine)
        for engine in ("fast", "reference")
    ]
    fast, reference = ([row.by_replication for row in result.rows] for result in by_engine)
    assert fast == reference


def test_a_scenario_that_cannot_be_run_has_failed_and_says_why() -> None:
    result = validate_linux([TAIL], jobs=1, overrides={"tcp.congestion": "vegas2"})
    assert {row.verdict for row in result.rows} == {"failed"}
    (failed,) = result.failed_runs
    assert failed.case == TAIL
    assert "vegas2" in failed.reason
    assert result.rows[0].failures == (failed.reason,)
