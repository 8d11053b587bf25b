"""Damaged stores: right values or a fault, and never a traceback nor other values in silence."""

import json
import random
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from skycell.cli.main import main
from skycell.experiment.store import RunKey, RunStore, StoredRun, StoreError
from skycell.experiment.store_check import rescue, verify
from skycell.experiment.store_tables import TABLES

RUNS = 60


def key(number: int) -> RunKey:
    return RunKey(f"{number:064x}", "fast", "0.1.0+abc")


def summary(number: int) -> str:
    return json.dumps({"flows": [{"octets_delivered": number, "name": "x" * 300}]})


def expected(number: int) -> StoredRun:
    if number % 10 == 9:
        return StoredRun(key(number), None, f"RunError: {number}", 0.5)
    return StoredRun(key(number), json.loads(summary(number)), None, number / 7)


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    file = tmp_path / "filled.sqlite"
    with RunStore(file) as store:
        for number in range(RUNS):
            run = expected(number)
            if run.reason is not None:
                store.put_failed(run.key, run.reason, run.wall_s)
            else:
                store.put_finished(run.key, summary(number), run.wall_s)
    return file


def first_form(file: Path, runs: int = 1) -> None:
    """A store as versions before 0.2 made them."""
    db = sqlite3.connect(file, isolation_level=None)
    db.execute(TABLES[1][0])
    db.execute("PRAGMA user_version = 1")
    for number in range(runs):
        db.execute(
            "INSERT INTO runs (spec_hash, engine, version, state, summary, wall_s)"
            " VALUES (?, ?, ?, 'finished', ?, ?)",
            (*key(number).__dict__.values(), summary(number), number / 7),
        )
    db.close()


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("seed", range(50))
def test_octets_changed_anywhere_give_the_right_values_or_a_fault(
    filled: Path, seed: int, read_only: bool
) -> None:
    draw = random.Random(seed)
    content = bytearray(filled.read_bytes())
    for _ in range(draw.choice([1, 1, 3, 30, 300])):
        # The header and the schema are small, and much hangs on them.
        place = draw.randrange(draw.choice([100, 4096, len(content)]))
        content[place] = draw.choice([content[place] ^ (1 << draw.randrange(8)), 0, 255])
    if draw.random() < 0.2:
        del content[draw.randrange(len(content)) :]
    filled.write_bytes(content)
    with suppress(StoreError), RunStore(filled, read_only=read_only) as store:
        for number in range(RUNS):
            with suppress(StoreError):
                found = store.get(key(number))
                assert found in (None, expected(number))
                if not read_only and found is None:
                    store.put_finished(key(number), summary(number), 1.0)
                    kept = store.get(key(number))
                    assert kept is not None
                    assert kept.summary == json.loads(summary(number))
        verify(store)
    assert CliRunner().invoke(main, ["store", "verify", str(filled)]).exit_code in (0, 2)


def renamed_column(content: bytes) -> bytes:
    return content.replace(b"summary     TEXT", b"sunmary     TEXT")


def schema_no_text(content: bytes) -> bytes:
    return content.replace(b"CREATE TABLE runs", b"CREATE T\xb3BLE runs")


def truncated(content: bytes) -> bytes:
    return content[:5000]


def later_form(content: bytes) -> bytes:
    return content[:60] + (3).to_bytes(4, "big") + content[64:]


def no_database(content: bytes) -> bytes:
    return b"runs " * 2000


@pytest.mark.parametrize(
    ("spoil", "reported"),
    [
        (renamed_column, "is damaged: "),
        (schema_no_text, "is damaged: "),
        (truncated, "is damaged: database disk image is malformed"),
        (later_form, "is a store of form 3, of a later skycell; this one reads forms up to 2; nam"),
        (no_database, "is not a store of runs: file is not a database"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
@pytest.mark.parametrize("read_only", [False, True])
def test_what_is_no_whole_store_is_refused_and_left_alone(
    filled: Path, spoil: Callable[[bytes], bytes], reported: str, read_only: bool
) -> None:
    before = spoil(filled.read_bytes())
    filled.write_bytes(before)
    with pytest.raises(StoreError, match=re.escape(f"{filled}: {reported}")):
        RunStore(filled, read_only=read_only)
    assert filled.read_bytes() == before
    ended = CliRunner().invoke(main, ["store", "verify", str(filled)])
    assert ended.exit_code == 2
    assert reported in ended.stderr


def test_a_run_that_is_not_as_it_was_kept_is_named_with_the_way_out(filled: Path) -> None:
    content = filled.read_bytes()
    there = b'"octets_delivered": 42,'
    assert content.count(there) == 1
    filled.write_bytes(content.replace(there, b'"octets_delivered": 43,'))
    reported = (
        f"the run of spec {key(42).spec_hash[:12]}, engine fast, 0.1.0+abc does not match its "
        "checksum"
    )
    with RunStore(filled) as store:
        for ask in (store.get, store.is_finished):
            with pytest.raises(StoreError) as fault:
                ask(key(42))
            assert str(fault.value) == (
                f"{filled}: is damaged: {reported}; `skycell store rescue` copies the runs that "
                "are whole into another file; what a store does not have is simulated again"
            )
        assert store.get(key(41)) == expected(41)

    ended = CliRunner().invoke(main, ["store", "verify", str(filled), "--json"])
    assert ended.exit_code == 2
    assert json.loads(ended.stdout) == {
        "store": str(filled),
        "form": 2,
        "finished": 53,
        "failed": 6,
        "damaged": [reported],
        "damaged_in_all": 1,
        "unreadable": None,
    }
    new = filled.with_name("new.sqlite")
    ended = CliRunner().invoke(main, ["store", "rescue", str(filled), str(new)])
    assert ended.exit_code == 0
    assert ended.stdout == f"{new} has got 53 finished runs, 6 failed ones\n"
    assert ended.stderr == f"Damaged: {reported}.\nWhat is damaged was not copied.\n"
    assert CliRunner().invoke(main, ["store", "verify", str(new)]).exit_code == 0
    with RunStore(new) as store:
        assert store.get(key(42)) is None
        assert store.get(key(41)) == expected(41)
    again = CliRunner().invoke(main, ["store", "rescue", str(filled), str(new)])
    assert again.exit_code == 2
    assert "exists; name a new file" in again.stderr


def test_of_a_store_that_cannot_be_read_to_its_end_both_ends_are_rescued(filled: Path) -> None:
    content = bytearray(filled.read_bytes())
    middle = content.index(key(30).spec_hash.encode()) // 4096 * 4096
    content[middle : middle + 4096] = b"\xff" * 4096
    filled.write_bytes(content)
    new = filled.with_name("new.sqlite")
    with RunStore(filled, read_only=True, rescue=True) as store, RunStore(new) as into:
        found = rescue(store, into)
        assert found.unreadable is not None
        assert "malformed" in found.unreadable
        whole = [number for number in range(RUNS) if into.get(key(number)) is not None]
        assert {0, RUNS - 1} <= set(whole)
        assert 30 not in whole
        assert all(into.get(key(number)) == expected(number) for number in whole)


def test_of_a_store_with_a_renamed_column_every_run_is_rescued(filled: Path) -> None:
    filled.write_bytes(renamed_column(filled.read_bytes()))
    new = filled.with_name("new.sqlite")
    assert CliRunner().invoke(main, ["store", "rescue", str(filled), str(new)]).exit_code == 0
    with RunStore(new) as store:
        assert all(store.get(key(number)) == expected(number) for number in range(RUNS))


def test_a_store_of_the_first_form_keeps_its_runs_and_gets_checksums(tmp_path: Path) -> None:
    file = tmp_path / "old.sqlite"
    first_form(file, runs=5)
    shutil.copy(file, tmp_path / "untouched.sqlite")
    with RunStore(file, read_only=True) as store:
        assert [store.get(key(number)) for number in range(5)] == [*map(expected, range(5))]
    ended = CliRunner().invoke(main, ["store", "verify", str(file)])
    assert ended.stdout == (
        f"{file} holds 5 finished runs, 0 failed ones; without checksums, as before version 0.2\n"
    )
    assert file.read_bytes() == (tmp_path / "untouched.sqlite").read_bytes()
    with RunStore(file):
        pass
    with RunStore(file, read_only=True) as store:
        assert store.form == 2
        assert [store.get(key(number)) for number in range(5)] == [*map(expected, range(5))]


@pytest.mark.parametrize("spoilt", [b"\xaa", b" "])
def test_a_store_of_the_first_form_with_a_damaged_run_stays_as_it_is(
    tmp_path: Path, spoilt: bytes
) -> None:
    file = tmp_path / "old.sqlite"
    first_form(file)
    before = file.read_bytes().replace(b'{"flows"', spoilt * 8)
    file.write_bytes(before)
    with pytest.raises(StoreError, match="is damaged: "):
        RunStore(file)
    assert file.read_bytes() == before
    with RunStore(file, read_only=True) as store, pytest.raises(StoreError, match="is damaged: "):
        store.get(key(0))
