"""A sweep run, kept, gone on with, measured and read back. The engine is a test double."""

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skycell
from skycell.experiment.batch import MissingRunsError, Progress
from skycell.experiment.result import NotASweepError, SweepResult, is_sweep, read_sweep
from skycell.experiment.store import RunStore, StoreError
from skycell.experiment.sweep import sweep
from skycell.experiment.tasks import Work
from skycell.measures.responses import RESPONSES
from tests.unit.experiment.test_plan import FILE


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite"


def make(work: Work, store: Path, source: Any = FILE, **options: Any) -> SweepResult:
    with RunStore(store) as kept:
        return sweep(source, store=kept, work=work, version="test", jobs=1, **options)


def made(tmp_path: Path) -> int:
    return len((tmp_path / "made.txt").read_text().splitlines())


def test_every_run_is_made_once_and_measured(work: Work, store: Path, tmp_path: Path) -> None:
    source = FILE | {"responses": ["throughput", "timeouts", "mean_queue"]}
    result = make(work, store, source)
    assert made(tmp_path) == len(result.runs) == 8
    assert result.cells == 4
    # Five flows of 1 MB and 1 octet in 10 ms.
    first = result.rows()[0]
    assert (first["tcp"], first["buffer"]) == ("reno", 1000)
    assert first["throughput"] == pytest.approx(5 * 1_000_001 * 8 / 0.01 / 1e6)
    assert first["timeouts"] == 10
    assert first["mean_queue"] == 500
    assert result.rows()[2]["mean_queue"] == 1500
    assert result.units == {"throughput": "Mbit/s", "timeouts": "events", "mean_queue": "cells"}


def test_an_engine_that_is_not_there_is_refused_before_the_runs(
    work: Work, store: Path, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="no engine is called"):
        make(work, store, engine="perpetual")
    assert not (tmp_path / "made.txt").exists()


def test_levels_may_be_numbers_of_numpy(work: Work, store: Path) -> None:
    levels = list(np.array([1000, 2000]))
    factors = {"buffer": {"key": "topology.bottleneck.buffer", "form": "{} cells"}}
    shown = [
        make(work, store, FILE | {"factors": {"buffer": factors["buffer"] | {"levels": inputs}}})
        for inputs in (levels, [1000, 2000])
    ]
    assert shown[0].to_json() == shown[1].to_json()
    assert repr(shown[0]) == f"<SweepResult: {FILE['title']}: buffer (2); 4 runs>"


def test_a_second_call_simulates_nothing_and_gives_the_same(
    work: Work, store: Path, tmp_path: Path
) -> None:
    first = make(work, store)
    again = make(work, store)
    assert made(tmp_path) == 8
    assert again.from_store == 8
    assert again.as_dict() == first.as_dict()
    assert make(work, store, fresh=True).as_dict() == first.as_dict()
    assert made(tmp_path) == 16


def test_an_interrupted_sweep_goes_on_where_it_was(work: Work, store: Path, tmp_path: Path) -> None:
    seen: list[int] = []

    def stop(progress: Progress) -> None:
        seen.append(progress.runs_done)
        if progress.runs_done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(work, store, on_progress=stop)
    kept = len(RunStore(store))
    assert 3 <= kept < 8
    result = make(work, store)
    assert result.from_store == kept
    assert made(tmp_path) == 8
    assert result.failed == []


def test_more_replications_keep_the_runs_that_there_are(
    work: Work, store: Path, tmp_path: Path
) -> None:
    before = make(work, store)
    after = make(work, store, FILE | {"replications": 3})
    assert made(tmp_path) == 12
    assert {run.spec_hash for run in before.runs} < {run.spec_hash for run in after.runs}


def test_only_stored_runs_nothing_and_says_how_many_are_missing(
    work: Work, store: Path, tmp_path: Path
) -> None:
    with pytest.raises(MissingRunsError, match="8 of 8 runs are not in the store"):
        make(work, store, only_stored=True)
    assert not (tmp_path / "made.txt").exists()
    make(work, store)
    assert len(make(work, store, only_stored=True).runs) == 8
    with pytest.raises(ValueError, match="only one of them is allowed"):
        make(work, store, only_stored=True, fresh=True)
    assert made(tmp_path) == 8


def test_a_store_that_is_only_looked_at_serves_what_it_has_and_takes_no_run(
    work: Work, store: Path, tmp_path: Path
) -> None:
    made_then = make(work, store)
    before = store.read_bytes(), store.stat().st_mtime_ns, sorted(tmp_path.iterdir())
    options: Any = {"work": work, "version": "test", "jobs": 1}
    with RunStore(store, read_only=True) as kept:
        found = sweep(FILE, store=kept, only_stored=True, **options)
        assert found.rows() == made_then.rows()
        with pytest.raises(StoreError, match="was opened for reading only"):
            sweep(FILE | {"replications": 3}, store=kept, **options)
    assert (store.read_bytes(), store.stat().st_mtime_ns, sorted(tmp_path.iterdir())) == before
    assert made(tmp_path) == 8


def test_a_failed_run_keeps_its_reason_and_the_others_their_values(
    work: Work, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "fail").touch()
    result = make(work, store)
    assert {run.seed for run in result.failed} == {2}
    assert result.failed[0].reason == "ValueError: told to fail"
    assert result.rows()[1]["efficiency"] is None
    assert result.rows()[1]["state"] == "failed"
    assert result.analyse("efficiency").runs == 4
    (tmp_path / "fail").unlink()
    assert make(work, store).failed == []


def test_the_analysis_of_a_sweep_takes_the_replications_as_blocks(work: Work, store: Path) -> None:
    found = make(work, store).analyse("efficiency")
    assert found.dominant == "tcp"
    assert "replication (block)" in {row.name for row in found.variation}
    alone = make(work, store, FILE | {"common_random_numbers": False}).analyse("efficiency")
    assert "replication (block)" not in {row.name for row in alone.variation}
    once = make(work, store, FILE | {"replications": 1}).analyse("efficiency", order=1)
    assert [note for note in found.notes if "same replication" in note]
    assert not [note for note in once.notes if "replication" in note]
    with pytest.raises(ValueError, match="speed was not measured; the sweep has efficiency, max"):
        make(work, store).analyse("speed")


def test_a_response_may_ask_for_a_single_flow_or_port(work: Work, store: Path) -> None:
    names = ["timeouts:flow2", "discarded_part:switch1>switch2"]
    rows = make(work, store, FILE | {"responses": names}).rows()
    assert {row["timeouts:flow2"] for row in rows} == {2}
    assert {row["discarded_part:switch1>switch2"] for row in rows} == {0.04}


def test_a_result_is_read_back_as_it_was(work: Work, store: Path, tmp_path: Path) -> None:
    result = make(work, store)
    folder = tmp_path / "out"
    folder.mkdir()
    assert not is_sweep(folder)
    (folder / "sweep.json").write_text(result.to_json(), encoding="utf-8")
    assert is_sweep(folder)
    back = read_sweep(folder)
    assert back.as_dict() == result.as_dict()
    assert back.rows() == result.rows()


def test_what_numbers_are_counted_in_is_told_with_their_effects(work: Work, store: Path) -> None:
    result = make(work, store)
    assert result.factor_units == {"buffer": "cells"}
    assert result.as_dict()["factor_units"] == {"buffer": "cells"}
    units = {factor.name: factor.unit for factor in result.analyse("efficiency").factors}
    assert units == {"tcp": "", "buffer": "cells"}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"form": 2}', '{"form": 1, "runs": []}'])
def test_what_is_no_result_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "sweep.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(NotASweepError, match=r"sweep\.json is"):
        read_sweep(file)


@pytest.mark.parametrize(
    ("key", "value"),
    [("replications", "x"), ("factors", ["tcp"]), ("runs", [{}]), ("units", None), ("more", 1)],
)
def test_a_result_with_a_faulty_part_is_refused(
    work: Work, store: Path, tmp_path: Path, key: str, value: object
) -> None:
    file = tmp_path / "sweep.json"
    written = make(work, store).as_dict() | {key: value}
    file.write_text(json.dumps(written), encoding="utf-8")
    with pytest.raises(NotASweepError, match=r"sweep\.json is not a result of a sweep"):
        read_sweep(file)


def test_a_result_with_an_old_name_names_the_new_one(
    work: Work, store: Path, tmp_path: Path
) -> None:
    text = make(work, store).to_json().replace("max_min_fairness", "fairness")
    file = tmp_path / "sweep.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(NotASweepError, match="fairness is now max_min_fairness or jain_fairness"):
        read_sweep(file)


def test_the_table_of_runs_has_a_column_for_each_factor_and_response(
    work: Work, store: Path
) -> None:
    result = make(work, store)
    rows = list(csv.DictReader(StringIO(result.to_csv())))
    head = [
        "tcp",
        "buffer",
        "replication",
        "seed",
        "efficiency",
        "max_min_fairness",
        "state",
        "spec_hash",
    ]
    assert list(rows[0]) == head
    assert float(rows[3]["efficiency"]) == result.rows()[3]["efficiency"]
    assert result.frame().shape == (8, 8)


def test_cells_that_come_to_the_same_run_make_it_once(
    work: Work, store: Path, tmp_path: Path
) -> None:
    levels = {"a": {"tcp.recovery": "reno"}, "b": {"tcp": {"recovery": "reno"}}}
    other = {"c": {"tcp.recovery": "sack"}}
    result = make(work, store, FILE | {"factors": {"tcp": {"levels": levels | other}}})
    assert made(tmp_path) == 4
    assert len(result.runs) == 6


def test_a_sweep_of_the_engine_itself_is_exactly_repeatable() -> None:
    first = skycell.sweep(FILE, jobs=1)
    again = skycell.sweep(FILE, jobs=2)
    assert json.dumps(first.as_dict()) == json.dumps(again.as_dict())
    assert all(0 <= run.values["efficiency"] <= 1 for run in first.runs)  # type: ignore[operator]
    slow = skycell.sweep(FILE, engine="reference", jobs=1)
    assert [run.values for run in slow.runs] == [run.values for run in first.runs]


def test_a_result_shows_a_row_for_each_cell_in_a_notebook(work: Work) -> None:
    data = {
        "title": "A & B",
        "scenario": {"preset": "icccn97-lan", "run": {"duration": "1 s"}},
        "factors": {"tcp": {"key": "tcp.recovery", "levels": ["reno", "sack"]}},
        "responses": ["throughput"],
        "replications": 2,
    }
    html = sweep(data, jobs=1, work=work)._repr_html_()
    assert html.startswith("<p>SweepResult: A &amp; B: tcp (2); 4 runs</p>")
    assert "throughput (Mbit/s)" in html
    assert html.count("<tr>") == 2 + 2  # names, kinds, and a row for each cell


def test_every_column_of_the_runs_is_described_with_its_unit_its_port_and_its_meaning(
    work: Work, store: Path
) -> None:
    responses = ["mean_queue", "mean_queue:switch1>switch2", "timeouts"]
    result = make(work, store, {**FILE, "responses": responses})
    columns = list(csv.DictReader(StringIO(result.columns_to_csv())))
    rows = list(csv.DictReader(StringIO(result.to_csv())))
    assert [column["column"] for column in columns] == list(rows[0])
    described = {column["column"]: list(column.values())[1:] for column in columns}
    assert described["buffer"] == ["factor", "cells", "", "", ""]
    *about, meaning = described["mean_queue"]
    assert about == ["response", "cells", "switch1>switch2", "smaller"]
    assert meaning == RESPONSES["mean_queue"].meaning
    assert described["mean_queue:switch1>switch2"] == described["mean_queue"]
    assert described["timeouts"][:4] == ["response", "events", "", "smaller"]
    assert described["seed"][0] == "run"
    assert all(row[-1] for row in described.values() if row[0] != "factor")
