"""`--shard` of `skycell sweep` and `reproduce`, and `skycell store merge`."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.calling import skycell

SWEEP = """
title = "Two by two"
replications = 2
responses = ["efficiency", "timeouts"]

[scenario]
preset = "icccn97-lan"
run.duration = "100 ms"

[factors.tcp]
key = "tcp.recovery"
levels = ["reno", "sack"]

[factors.buffer]
key = "topology.bottleneck.buffer"
form = "{} cells"
levels = [300, 3000]
"""


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a folder of its own; on a busy machine these runs would tell their progress."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("skycell.cli.progress.QUIET_S", 1e9)
    Path("sweep.toml").write_text(SWEEP, encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "runs", "files"),
    [
        (("sweep", "sweep.toml"), 8, ("sweep.json", "runs.csv", "columns.csv", "report.html")),
        (("reproduce", "icccn97-s4"), 80, ("rows.csv", "report.html")),
    ],
)
def test_shards_merged_give_the_files_of_one_call_to_the_octet(
    command: tuple[object, ...], runs: int, files: tuple[str, ...]
) -> None:
    reported = skycell(*command, "--out", "one", "--store", "one.sqlite")
    assert reported.exit_code == 0, reported.output
    made = []
    for number in (1, 2):
        reported = skycell(
            *command, "--shard", f"{number}/2", "--store", f"{number}.sqlite", "--json"
        )
        assert reported.exit_code == 0, reported.output
        made.append(json.loads(reported.stdout))
    assert [counts["simulated"] for counts in made] == [counts["runs"] for counts in made]
    total = sum(counts["runs"] for counts in made)
    assert total == runs
    reported = skycell("store", "merge", "1.sqlite", "2.sqlite", "--into", "all.sqlite")
    assert reported.stdout == (
        f"all.sqlite has got {total} runs of 2 stores, and had 0 of theirs already: "
        f"{total} finished runs in all.\n"
    )
    reported = skycell(*command, "--out", "merged", "--store", "all.sqlite")
    assert reported.exit_code == 0, reported.output
    for name in files:
        assert Path("merged", name).read_bytes() == Path("one", name).read_bytes()
