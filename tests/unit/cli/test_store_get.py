"""`skycell store get`: a stored run by the hash of its spec."""

import json
from pathlib import Path

import pytest

from skycell.experiment.store import RunKey, RunStore
from tests.unit.cli.calling import skycell

FIRST = "3f9a12" + 58 * "0"
SECOND = "3f9a12" + 58 * "1"
SUMMARY = {
    "duration_ps": 2 * 10**12,
    "flows": [{"name": "flow1", "octets_delivered": 1_000_000, "timeouts": 3}],
}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with RunStore(tmp_path / "runs.sqlite") as opened:
        opened.put_finished(RunKey(FIRST, "fast", "1"), json.dumps(SUMMARY), 0.5)
        opened.put_finished(RunKey(FIRST, "reference", "1"), json.dumps(SUMMARY), 2.0)
        opened.put_failed(RunKey(SECOND, "fast", "1"), "RunError: out of time", 0.25)
    return tmp_path / "runs.sqlite"


def test_a_run_is_shown_by_the_beginning_of_its_hash_for_each_engine(store: Path) -> None:
    reported = skycell("store", "get", FIRST[:7], store)
    assert reported.exit_code == 0, reported.output
    # 1 000 000 octets in 2 s are 4 Mbit/s.
    assert reported.stdout.splitlines() == [
        f"{FIRST}, engine fast, 1: took 0.5 s",
        "  2 s simulated",
        "  flow1: 4.00 Mbit/s, 3 timeouts",
        f"{FIRST}, engine reference, 1: took 2 s",
        "  2 s simulated",
        "  flow1: 4.00 Mbit/s, 3 timeouts",
    ]
    assert json.loads(skycell("store", "get", FIRST, store, "--json").stdout)[1] == {
        "spec_hash": FIRST,
        "engine": "reference",
        "version": "1",
        "wall_s": 2.0,
        "summary": SUMMARY,
    }


def test_a_failed_run_is_shown_with_its_reason(store: Path) -> None:
    reported = skycell("store", "get", SECOND[:12], store)
    assert "\n  failed: RunError: out of time\n" in reported.stdout
    (data,) = json.loads(skycell("store", "get", SECOND, store, "--json").stdout)
    assert data["reason"] == "RunError: out of time"
    assert "summary" not in data


@pytest.mark.parametrize(
    ("spec_hash", "reported"),
    [
        ("3f9a12", f"3f9a12 begins the hashes of several specs: {FIRST[:12]}, {SECOND[:12]}"),
        ("abcdef", "has no run of a spec whose hash begins with abcdef"),
        ("3f9a1", "'3f9a1': must be the first 6 to 64 digits"),
        ("3F9A12", "'3F9A12': must be the first 6 to 64 digits"),
    ],
)
def test_what_is_not_the_hash_of_one_spec_is_a_fault(
    store: Path, spec_hash: str, reported: str
) -> None:
    found = skycell("store", "get", spec_hash, store)
    assert (found.exit_code, found.stdout) == (2, "")
    assert reported in found.stderr
