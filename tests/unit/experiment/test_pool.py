"""Many runs at a time: what becomes of those that raise, die or are interrupted."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from skycell.experiment.cores import default_jobs
from skycell.experiment.pool import OnOutcomes, OnUnderWay, Outcome, run_tasks
from skycell.experiment.processes import ProcessPool
from skycell.experiment.tasks import Task, Work, make_batch
from skycell.spec.text import SpecText

TEXT = SpecText('{"seed":0}', 0)


def tasks(*names: str, duration_ps: int = 1_000) -> list[Task]:
    return [Task(name, TEXT, 0, "double", duration_ps) for name in names]


def work_through(
    todo: Iterable[Task],
    note: OnOutcomes,
    double: Work,
    jobs: int = 2,
    on_under_way: OnUnderWay | None = None,
) -> None:
    with ProcessPool(jobs, double) as pool:
        run_tasks(todo, 1_000, pool, note, on_under_way=on_under_way)


def run(names: list[str], double: Work, jobs: int = 2) -> dict[str, Outcome]:
    ended: dict[str, Outcome] = {}

    def note(outcomes: Sequence[Outcome]) -> None:
        for outcome in outcomes:
            assert outcome.task.name not in ended, "reported twice"
            ended[outcome.task.name] = outcome

    work_through(tasks(*names), note, double, jobs)
    return ended


@pytest.mark.parametrize(("runs", "jobs", "threads"), [(1, 4, 4), (2, 4, 2), (3, 4, 1), (4, 4, 1)])
def test_runs_share_the_cores_that_they_leave(
    runs: int, jobs: int, threads: int, double: Work
) -> None:
    found: list[int] = []

    def note(outcomes: Sequence[Outcome]) -> None:
        found.extend(json.loads(outcome.summary_json or "")["threads"] for outcome in outcomes)

    with ProcessPool(jobs, double) as pool:
        run_tasks(tasks(*(f"quick:{i}" for i in range(runs))), runs, pool, note)
    assert found == [threads] * runs


def test_every_run_is_reported_once_with_its_summary(double: Work) -> None:
    names = [f"quick:{i}" for i in range(7)]
    ended = run(names, double)
    assert sorted(ended) == sorted(names)
    for name, outcome in ended.items():
        assert outcome.summary_json is not None
        summary = json.loads(outcome.summary_json)
        assert summary["name"] == name
        assert summary["pid"] != os.getpid()
        assert outcome.reason is None


def test_a_run_that_raises_fails_with_its_reason_and_the_rest_goes_on(double: Work) -> None:
    ended = run(["quick:1", "raises:this", "quick:2"], double)
    assert ended["raises:this"].reason == "ValueError: cannot run this"
    assert ended["raises:this"].summary_json is None
    assert ended["quick:1"].summary_json is not None
    assert ended["quick:2"].summary_json is not None


def test_a_run_whose_process_dies_takes_no_other_with_it(double: Work) -> None:
    ended = run(["quick:1", "dies:", "quick:2", "quick:3", "quick:4"], double)
    assert ended["dies:"].reason == (
        "its worker process died, and died again when the run was tried alone"
    )
    others = [outcome for name, outcome in ended.items() if name != "dies:"]
    assert len(others) == 4
    assert all(outcome.summary_json is not None for outcome in others)


def test_a_process_that_dies_once_costs_no_run(double: Work, tmp_path: Path) -> None:
    name = f"dies once:{tmp_path / 'died'}"
    ended = run([name, "quick:1"], double)
    assert ended[name].summary_json is not None
    assert (tmp_path / "died").exists()


def test_tasks_are_drawn_as_processes_get_free(double: Work) -> None:
    drawn: list[str] = []
    ended: list[str] = []
    ahead: list[int] = []

    def draw() -> Iterator[Task]:
        for task in tasks(*(f"takes:0.2:{i}" for i in range(8))):
            drawn.append(task.name)
            ahead.append(len(drawn) - len(ended))
            yield task

    work_through(draw(), lambda ends: ended.extend(end.task.name for end in ends), double, jobs=1)
    assert max(ahead) == 2  # one at work, and one that waits for it


def test_quick_runs_are_handed_over_in_batches_that_grow_and_shrink_again(double: Work) -> None:
    sizes: list[int] = []
    todo = tasks(*(f"quick:{i}" for i in range(3_000)))
    with ProcessPool(1, double) as pool:
        run_tasks(todo, len(todo), pool, lambda ends: sizes.append(len(ends)))
    assert sum(sizes) == 3_000
    assert sizes[0] == 1
    assert max(sizes) >= 10
    assert sizes[-1] <= max(sizes) / 2  # else one process would end long before another


@pytest.mark.parametrize(("batch_s", "made"), [(0.0, 1), (1e9, 3)])
def test_a_batch_makes_one_run_at_least_and_begins_no_other_when_its_time_is_over(
    double: Work, batch_s: float, made: int
) -> None:
    begun: list[tuple[int, int]] = []

    def on_progress(place: int, time_ps: int) -> bool:
        begun.append((place, time_ps))
        return True

    reports = make_batch(tasks("quick:1", "quick:2", "quick:3"), double, batch_s, on_progress)
    assert len(reports) == made
    assert begun[:made] == [(place, 0) for place in range(made)]


def test_what_a_batch_had_no_time_for_is_handed_over_again(double: Work) -> None:
    # After many quick runs the estimate is far off.
    names = [f"quick:{i}" for i in range(200)] + [f"takes:0.05:{i}" for i in range(20)]
    assert sorted(run(names, double)) == sorted(names)


def test_progress_of_runs_under_way_is_told(double: Work) -> None:
    seen: list[int] = []
    slow = tasks("slow:", duration_ps=10**12)
    work_through(slow, lambda _: None, double, 1, lambda times: seen.extend(times.values()))
    assert seen == sorted(seen)
    assert 0 < seen[-1] < 10**12


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT as a terminal does")
def test_an_interrupt_gives_up_what_is_under_way_and_keeps_what_has_ended(double: Work) -> None:
    ended: list[str] = []

    def note(outcomes: Sequence[Outcome]) -> None:
        ended.extend(end.task.name for end in outcomes)
        if "quick:1" in ended:
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        work_through(tasks("quick:1", "slow:1", "slow:2"), note, double)
    assert ended == ["quick:1"]
    assert time.monotonic() - began < 8  # a slow one takes 10 s


def test_runs_whose_report_is_interrupted_are_reported_again(double: Work) -> None:
    ended: list[str] = []

    def note(outcomes: Sequence[Outcome]) -> None:
        ended.extend(end.task.name for end in outcomes)
        if len(ended) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work_through(tasks("quick:1"), note, double, jobs=1)
    assert ended == ["quick:1", "quick:1"]


_KILLED_WHILE_A_RUN_IS_UNDER_WAY = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
import run_doubles
from skycell.experiment.pool import run_tasks
from skycell.experiment.processes import ProcessPool
from skycell.experiment.tasks import Task
from skycell.spec.text import SpecText

def kill(under_way):
    if under_way["slow:1"] > 0:
        os.kill(os.getpid(), signal.SIGKILL)

slow = Task("slow:1", SpecText('{"seed":0}', 0), 0, "double", 10**12)
run_tasks([slow], 1, ProcessPool(1, run_doubles.run), print, on_under_way=kill)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGKILL")
def test_workers_of_a_process_that_is_killed_end_too() -> None:
    doubles = Path(__file__).with_name("doubles")
    command = [sys.executable, "-c", _KILLED_WHILE_A_RUN_IS_UNDER_WAY, str(doubles)]
    began = time.monotonic()
    # Its output ends when the last process that has it is gone, the worker among them.
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert output == b""
    assert time.monotonic() - began < 8  # a slow one takes 10 s


def test_at_least_one_job_is_needed(double: Work) -> None:
    with pytest.raises(ValueError, match="0 jobs: must be 1 or more"):
        ProcessPool(0, double)


def test_all_cores_are_used_unless_said_otherwise() -> None:
    assert default_jobs() >= 1


PROGRAM = """
import sys
from pathlib import Path

sys.path.insert(0, {doubles!r})

import run_doubles
from skycell.experiment.pool import run_tasks
from skycell.experiment.processes import ProcessPool
from skycell.experiment.tasks import Task
from skycell.spec.text import SpecText

with Path({begun!r}).open("a") as file:
    file.write("begun ")
with ProcessPool(1, run_doubles.run) as pool:
    quick = Task("quick:1", SpecText('{{"seed":0}}', 0), 0, "double", 1)
    run_tasks([quick], 1, pool, lambda ends: print(ends[0].reason))
"""


@pytest.mark.parametrize("over_standard_input", [False, True])
def test_a_program_needs_no_guard_and_no_file(over_standard_input: bool, tmp_path: Path) -> None:
    begun, file = tmp_path / "begun", tmp_path / "program.py"
    doubles = str(Path(__file__).parent / "doubles")
    file.write_text(PROGRAM.format(doubles=doubles, begun=str(begun)))
    command = [sys.executable, "-" if over_standard_input else str(file)]
    program = file.read_text() if over_standard_input else ""
    reported = subprocess.run(command, input=program, capture_output=True, text=True, timeout=60)
    assert (reported.stdout, reported.stderr) == ("None\n", "")
    assert begun.read_text() == "begun ", "workers do not run it again"
