"""The store of finished runs."""

import json
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from skycell.experiment.store import DEFAULT_STORE, RunKey, RunStore, StoreError

KEY = RunKey("abc", "reference", "1")
SUMMARY = {"duration_ps": 7, "flows": [{"octets_delivered": 5}], "ports": []}


def test_a_finished_run_is_found_again_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "runs.sqlite"
    with RunStore(path) as store:
        store.put_finished(KEY, json.dumps(SUMMARY), wall_s=1.5)
    with RunStore(path) as store:
        run = store.get(KEY)
        assert run is not None
        assert run.summary == SUMMARY
        assert run.wall_s == 1.5
        assert store.is_finished(KEY)
        assert len(store) == 1


def test_a_transaction_that_an_interrupt_left_open_keeps_no_run_from_the_file(
    tmp_path: Path,
) -> None:
    path = tmp_path / "runs.sqlite"
    with RunStore(path) as store:
        store._db.execute("BEGIN IMMEDIATE")  # and the interrupt comes before anything else
        store.put_finished(KEY, "{}", 0.0)
    with RunStore(path) as store:
        assert store.is_finished(KEY)


@pytest.mark.parametrize(
    "other",
    [
        RunKey("abd", "reference", "1"),
        RunKey("abc", "fast", "1"),
        RunKey("abc", "reference", "2"),
    ],
)
def test_another_spec_engine_or_version_is_another_run(other: RunKey) -> None:
    with RunStore(":memory:") as store:
        store.put_finished(KEY, json.dumps(SUMMARY), 0.0)
        assert store.get(other) is None
        assert not store.is_finished(other)


def test_a_failed_run_keeps_its_reason_and_does_not_count_as_finished() -> None:
    with RunStore(":memory:") as store:
        store.put_failed(KEY, "RunError: unbalanced", 0.1)
        run = store.get(KEY)
        assert run is not None
        assert run.summary is None
        assert run.reason == "RunError: unbalanced"
        assert not store.is_finished(KEY)
        assert len(store) == 0
        store.put_finished(KEY, json.dumps(SUMMARY), 0.1)
        assert store.is_finished(KEY)


def test_a_committed_run_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    script = (
        "import os, signal, sys\n"
        "from skycell.experiment.store import RunKey, RunStore\n"
        "store = RunStore(sys.argv[1])\n"
        "store.put_finished(RunKey('abc', 'reference', '1'), '{}', 0.0)\n"
        "store._db.execute('BEGIN IMMEDIATE')\n"
        'store._db.execute("UPDATE runs SET wall_s = 99")\n'
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert ended.returncode == -9
    with RunStore(path) as store:
        run = store.get(KEY)
        assert run is not None
        assert run.summary == {}
        assert run.wall_s == 0.0


def test_one_process_reads_while_another_writes(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with RunStore(path) as writer, RunStore(path) as reader:
        writer.put_finished(KEY, json.dumps(SUMMARY), 0.0)
        writer._db.execute("BEGIN IMMEDIATE")
        assert reader.is_finished(KEY)
        writer._db.execute("ROLLBACK")


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, and long enough for SQLite to look at its header" * 20)
    with pytest.raises(
        StoreError, match=r"notes\.txt: is not a store of runs: file is not a datab"
    ):
        RunStore(path)
    assert path.read_text().startswith("not a database")


def test_a_store_that_is_damaged_further_in_says_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "runs.sqlite"
    with RunStore(file) as store:
        for seed in range(200):
            store.put_finished(RunKey(f"{seed:064}", "fast", "1"), json.dumps("x" * 500), 0.1)
    content = bytearray(file.read_bytes())
    content[8192:] = b"\xff" * (len(content) - 8192)
    file.write_bytes(content)
    with RunStore(file) as store, pytest.raises(StoreError) as fault:
        store.get(RunKey(f"{100:064}", "fast", "1"))
    assert str(fault.value) == (
        f"{file}: is damaged: database disk image is malformed; remove it or name another file, "
        "and its runs are made again"
    )


def test_a_database_of_another_kind_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE recipes (name TEXT)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is a database of form 0, not a store of runs of form 1"):
        RunStore(path)
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot be opened as a store of runs: File exists$"):
        RunStore(tmp_path / "file" / "runs.sqlite")
    with pytest.raises(StoreError, match=r"cannot be opened as a store of runs: it is a folder$"):
        RunStore(tmp_path)


def test_runs_are_kept_under_the_current_directory_by_default() -> None:
    assert str(DEFAULT_STORE) == ".skycell/runs.sqlite"
    assert not DEFAULT_STORE.is_absolute()


def test_stores_opened_at_the_same_moment_share_the_new_file(tmp_path: Path) -> None:
    # Making the tables and turning the write-ahead log on, each while others do the same.
    together = Barrier(8, timeout=60)

    def open_and_put(place: Path, number: int) -> None:
        together.wait()
        with RunStore(place) as store:
            store.put_finished(RunKey(f"spec{number}", "fast", "1"), "{}", 0.1)

    with ThreadPoolExecutor(8) as pool:
        for attempt in range(25):
            place = tmp_path / f"{attempt}.sqlite"
            list(pool.map(lambda number, place=place: open_and_put(place, number), range(8)))
            with RunStore(place) as store:
                assert len(store) == 8
