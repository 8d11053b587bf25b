"""Runs shared out over machines that know nothing of each other, and their stores merged."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skycell.experiment.shard import Shard
from skycell.experiment.store import RunKey, RunStore, StoreError
from skycell.experiment.store_merge import Merged, merge
from skycell.experiment.sweep import make_shard, sweep
from skycell.experiment.tasks import Work
from skycell.input.faults import ScenarioFaults

SWEEP = {
    "scenario": {"preset": "icccn97-lan", "run": {"duration": "20 ms"}},
    "factors": {"tcp": {"key": "tcp.recovery", "levels": ["reno", "sack"]}},
    "replications": 5,
}


@given(runs=st.lists(st.integers(), unique=True), of=st.integers(1, 12))
def test_shards_have_every_run_once_and_about_as_many(runs: list[int], of: int) -> None:
    shares = [Shard(number, of).share_of(runs) for number in range(1, of + 1)]
    assert sorted(run for share in shares for run in share) == sorted(runs)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize("text", ["0/4", "5/4", "1/0", "1", "1/2/3", "-1/4", "a/b", "1.0/2", ""])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"^shard {text}: must be "):
        Shard.parse(text)


def test_merged_shards_give_what_one_call_gives(tmp_path: Path, work: Work) -> None:
    whole = sweep(SWEEP, jobs=1, work=work)
    asked = (tmp_path / "made.txt").read_text().split()
    stores = []
    for number in (1, 2, 3):
        store = RunStore(tmp_path / f"{number}.sqlite")
        made = make_shard(SWEEP, Shard(number, 3), store, jobs=1, work=work)
        assert (made.from_store, made.simulated) == (0, 4 if number == 1 else 3)
        stores.append(store)
    assert sorted((tmp_path / "made.txt").read_text().split()) == sorted(2 * asked)
    with RunStore(tmp_path / "all.sqlite") as into:
        assert merge(into, stores) == Merged(added=10, had=0, failed=0)
        assert merge(into, stores) == Merged(added=0, had=10, failed=0)
        found = sweep(SWEEP, store=into, only_stored=True)
    assert found.to_json() == whole.to_json()
    assert found.to_csv() == whole.to_csv()


A, B, C = (RunKey(name, "fast", "1") for name in "abc")


def filled(path: Path, **runs: str) -> RunStore:
    """A store with runs by the names of their specs: a summary, or why there is none."""
    store = RunStore(path)
    for name, end in runs.items():
        finished, key = end.startswith("{"), RunKey(name, "fast", "1")
        store.put([(key, end if finished else None, None if finished else end, 0.5)])
    return store


def test_a_finished_run_takes_the_place_of_a_failed_one_and_not_the_other_way_round(
    tmp_path: Path,
) -> None:
    into = filled(tmp_path / "into", a="it is bad", b="{}")
    other = filled(tmp_path / "other", a="{}", b="it is bad", c="it is worse")
    assert merge(into, [other]) == Merged(added=1, had=0, failed=2)
    ends = {name: into.get(RunKey(name, "fast", "1")) for name in "abc"}
    assert [end and (end.summary, end.reason) for end in ends.values()] == [
        ({}, None),
        ({}, None),
        (None, "it is worse"),
    ]


def test_a_run_with_two_results_is_a_fault_and_nothing_is_merged(tmp_path: Path) -> None:
    into = filled(tmp_path / "into", a='{"x":1}')
    one = filled(tmp_path / "one", a='{"x":1}', b='{"x":1}')
    two = filled(tmp_path / "two", a='{"x":2}', b='{"x":2}', c="{}")
    with pytest.raises(ScenarioFaults) as raised:
        merge(into, [one, two])
    faults = raised.value.faults
    assert [(fault.file, fault.path) for fault in faults] == [
        (str(tmp_path / "two"), "run a"),
        (str(tmp_path / "two"), "run b"),
    ]
    assert len(into) == 1


@pytest.mark.parametrize("damaged", ["into", "one"])
def test_a_damaged_store_is_told_and_nothing_is_merged(tmp_path: Path, damaged: str) -> None:
    for name, runs in (("into", {"a": "{}"}), ("one", {"a": '{"x":2}', "b": "{}"})):
        filled(tmp_path / name, **runs).close()
    with closing(sqlite3.connect(tmp_path / damaged)) as db, db:
        db.execute("UPDATE runs SET summary = '{\"x\":3}' WHERE spec_hash = 'a'")
    with RunStore(tmp_path / "into") as into, RunStore(tmp_path / "one") as one:
        with pytest.raises(StoreError, match=f"{damaged}: is damaged: the run of spec a"):
            merge(into, [one])
        assert len(into) == 1
