"""The store of finished runs."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from skycell.experiment.store import DEFAULT_STORE, RunKey, RunStore, StoreError

KEY = RunKey("abc", "reference", "1")
OTHER = RunKey("abd", "reference", "1")
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
        f"{file}: is damaged: database disk image is malformed; `skycell store rescue` copies the "
        "runs that are whole into another file; what a store does not have is simulated again"
    )


def test_a_database_of_another_kind_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE recipes (name TEXT)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is a database of form 0, not a store of runs of form 2"):
        RunStore(path)
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot be opened as a store of runs: File exists$"):
        RunStore(tmp_path / "file" / "runs.sqlite")
    with pytest.raises(StoreError, match=r"cannot be opened as a store of runs: it is a folder$"):
        RunStore(tmp_path)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_pipe_is_no_store_and_is_not_waited_for(tmp_path: Path, read_only: bool) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(StoreError, match="it is a device or a pipe, not a file"):
        RunStore(pipe, read_only=read_only)
    assert list(tmp_path.iterdir()) == [pipe]


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


def folder_of(path: Path) -> dict[str, tuple[bytes, int]]:
    """Every file beside a store: what it holds and when it was written."""
    return {
        file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in path.parent.iterdir()
    }


def killed_store(path: Path) -> None:
    """A store whose process was killed: its runs are in the log."""
    with RunStore(path.with_name("live.sqlite")) as store:
        store.put_finished(KEY, json.dumps(SUMMARY), 1.5)
        for end in ("", "-wal", "-shm"):
            shutil.copy(f"{store.path}{end}", f"{path}{end}")
    path.with_name("live.sqlite").unlink()
    assert Path(f"{path}-wal").stat().st_size > 0


def closed_store(path: Path) -> None:
    with RunStore(path) as store:
        store.put_finished(KEY, json.dumps(SUMMARY), 1.5)


@pytest.mark.parametrize("make", [closed_store, killed_store])
@pytest.mark.parametrize("name", ["runs.sqlite", "all? 100 % # of runs"])
def test_looking_finds_every_run_and_neither_makes_nor_changes_a_file(
    make: Callable[[Path], None], name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    make(path)
    before = folder_of(path)
    with RunStore(path, read_only=True) as store:
        run = store.get(KEY)
        assert run is not None
        assert run.summary == SUMMARY
        assert not store.is_finished(OTHER)
        assert len(store) == 1
        with pytest.raises(sqlite3.OperationalError, match="attempt to write a readonly database"):
            store._db.execute("DELETE FROM runs")
        assert folder_of(path) == before
    assert folder_of(path) == before


def database_without_tables(path: Path) -> None:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("CREATE TABLE runs (name TEXT)")
    db.execute("DROP TABLE runs")
    db.close()


@pytest.mark.parametrize("make", [Path.touch, database_without_tables])
def test_an_empty_file_has_no_runs_and_stays_as_it_is(
    make: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "runs.sqlite"
    make(path)
    before = folder_of(path)
    with RunStore(path, read_only=True) as store:
        assert store.get(KEY) is None
        assert len(store) == 0
    assert folder_of(path) == before


def test_what_was_opened_to_look_refuses_to_keep_a_run(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    path.touch()
    with RunStore(path, read_only=True) as store:
        reported = r"runs\.sqlite: was opened for reading only; runs cannot be kept in it"
        with pytest.raises(StoreError, match=reported):
            store.put_finished(KEY, "{}", 0.0)
        with pytest.raises(StoreError, match=reported):
            store.put_failed(KEY, "RunError", 0.0)


def test_runs_that_another_process_keeps_meanwhile_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    closed_store(path)
    keep = (
        "import sys\n"
        "from skycell.experiment.store import RunKey, RunStore\n"
        "with RunStore(sys.argv[1]) as store:\n"
        "    for number in range(300):\n"
        "        store.put_finished(RunKey(f'spec{number}', 'fast', '1'), '9' * 5000, 0.0)\n"
        "    print('kept', flush=True)\n"
        "    sys.stdin.readline()\n"
        "    store.put_finished(RunKey('abd', 'reference', '1'), '{}', 0.0)\n"
        "    print('kept', flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    with RunStore(path, read_only=True) as before:
        assert len(before) == 1
        with subprocess.Popen(
            [sys.executable, "-c", keep, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as other:
            assert other.stdin is not None
            assert other.stdout is not None
            assert other.stdout.readline() == "kept\n"
            with RunStore(path, read_only=True) as beside:
                assert len(beside) == 301
                other.stdin.write("\n")
                other.stdin.flush()
                assert other.stdout.readline() == "kept\n"
                assert beside.is_finished(OTHER)
            other.communicate("\n")
        assert len(before) == 302
        assert before.is_finished(OTHER)


def test_a_log_that_would_have_to_be_taken_in_is_told(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    killed_store(path)
    Path(f"{path}-shm").unlink()
    before = folder_of(path)
    with pytest.raises(StoreError) as fault:
        RunStore(path, read_only=True)
    assert str(fault.value) == (
        f"{path}: its last runs are in runs.sqlite-wal, which is merged when the store is "
        "opened for writing, as `skycell sweep` does; here it is only read"
    )
    assert folder_of(path) == before


def test_an_empty_log_keeps_no_run_from_being_found(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    closed_store(path)
    Path(f"{path}-wal").touch()
    before = folder_of(path)
    with RunStore(path, read_only=True) as store:
        assert store.is_finished(KEY)
    assert folder_of(path) == before


def test_what_cannot_be_looked_into_is_told_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    reported = r"runs\.sqlite: cannot be opened as a store of runs: No such file or directory$"
    with pytest.raises(StoreError, match=reported):
        RunStore(path, read_only=True)
    with pytest.raises(StoreError, match=r"cannot be opened as a store of runs: it is a folder$"):
        RunStore(tmp_path, read_only=True)
    path.write_bytes(b"not a database, but long enough to be read as a header" * 20)
    before = folder_of(path)
    with pytest.raises(StoreError, match="is not a store of runs: file is not a database"):
        RunStore(path, read_only=True)
    assert folder_of(path) == before
