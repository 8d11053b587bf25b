"""Recording: what becomes of a run on real hosts, and one such run where the machine allows it."""

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skycell import _core
from skycell.validation.record import COLUMNS, FILE, record_linux
from skycell.validation.scenarios import linux, recordings, select

TAIL = "tail-cubic-10M-100ms-100p-100000B"
TWO = "two-cubic-10M-20ms-17p"


def recording(late_us: float = 20, **flow: Any) -> dict[str, Any]:
    """What the recorder gives of two flows over 60 s."""
    own = {
        "start_s": 0.0,
        "read_octets": 45_000_000,
        "completion_s": None,
        "retransmissions": 4,
        "recoveries": 3,
        "timeouts": 0,
        "exit_s": 0.075,
        "exit_segments": 30,
        "first_loss_s": None,
        "first_loss_segments": None,
        "mean_cwnd": 28.5,
    }
    port = {
        "queue": {"mean": 11.25, "max": 17},
        "octets": {"sojourn": {"p95_ps": 19_500_000_000}},
        "discarded": {"overflow": 27, "drawn": 1},
    }
    ports = [port, {"discarded": {"overflow": 50}}]
    late = {"p99_ps": late_us * 1e6, "max_ps": late_us * 3e6}
    flows = [own | flow, own | flow | {"start_s": 5.0}]
    found = {"kernel": "6.18", "seconds": 60.0, "ports": ports, "late": late, "flows": flows}
    return found | {"is_good": late_us < 1_000}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Any]], list[tuple[Any, ...]]]:
    """Has the recorder give a recording; returns the list of its calls."""

    def gives(found: dict[str, Any]) -> list[tuple[Any, ...]]:
        made: list[tuple[Any, ...]] = []

        def record(*arguments: Any) -> str:
            made.append(arguments)
            return json.dumps(found)

        monkeypatch.setattr(_core, "record", record)
        return made

    return gives


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / FILE).open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_run_becomes_a_row_for_each_flow(tmp_path: Path, calls: Any) -> None:
    made = calls(recording())
    record_linux(select([TWO]), tmp_path, replications=1)
    first, second = rows(tmp_path)
    assert list(first) == list(COLUMNS)
    assert (first["scenario"], first["flow"], second["flow"]) == (TWO, "0", "1")
    # 360 Mbit in 60 s, and in the 55 s from the second one's start.
    assert (first["goodput_mbit_s"], second["goodput_mbit_s"]) == ("6", "6.545455")
    assert (first["drops"], first["mean_queue_packets"], first["late_p99_us"]) == (
        "28",
        "11.25",
        "20",
    )
    assert (first["completion_s"], first["first_loss_s"]) == ("", "")
    ((_, congestion, settings),) = made
    assert congestion == ["cubic", "cubic"]
    assert dict(settings) == dict(linux().settings)


def test_what_was_recorded_is_not_recorded_again(tmp_path: Path, calls: Any) -> None:
    made = calls(recording())
    record_linux(select([TWO]), tmp_path, replications=1)
    runs = record_linux(select([TWO]), tmp_path, replications=3)
    assert [run.replication for run in runs] == [1, 2]
    # What links lose is drawn anew in each.
    assert [json.loads(spec)["seed"] for spec, *_ in made] == [1, 2, 3]
    assert len(made) == 3
    assert len(rows(tmp_path)) == 6


def test_a_run_that_was_too_late_is_not_kept(tmp_path: Path, calls: Any) -> None:
    calls(recording(late_us=1_001))
    (run,) = record_linux(select([TWO]), tmp_path, replications=1)
    assert not run.is_good
    assert not (tmp_path / FILE).exists()


def _namespaces() -> set[str]:
    """Network namespaces of this process's threads."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        try:
            found.add(str((task / "ns" / "net").readlink()))
        except FileNotFoundError:  # a thread that has just ended
            continue
    return found


def _devices() -> set[str]:
    return {device.name for device in Path("/sys/class/net").iterdir()}


@pytest.mark.skipif(
    not Path("/dev/net/tun").exists() or os.geteuid() != 0,
    reason="real hosts need Linux, root and /dev/net/tun",
)
def test_this_machine_s_kernel_is_recorded_and_leaves_nothing_behind(tmp_path: Path) -> None:
    before = _namespaces(), _devices()
    # A recorder that other work delays by more than its limit keeps nothing: it is asked again.
    runs = [run for _ in range(4) for run in record_linux(select([TAIL]), tmp_path, replications=1)]
    assert (_namespaces(), _devices()) == before
    assert (tmp_path / FILE).exists() == runs[-1].is_good
    if not runs[-1].is_good:
        pytest.skip(f"other work on this machine delays packets in each of {len(runs)} runs")
    (row,) = rows(tmp_path)
    # The last of 70 segments is lost: one repetition, no drop by the queue, and at least the time
    # of the handshake, three round trips of slow start and one more for the repetition.
    assert (row["retransmissions"], row["drops"]) == ("1", "0")
    assert float(row["completion_s"]) > 0.5
    known = [float(entry["completion_s"]) for entry in recordings()[TAIL]]
    assert float(row["completion_s"]) == pytest.approx(sum(known) / len(known), rel=0.25)
