"""Many runs at a time: what becomes of those that raise, die or are interrupted."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from skycell.experiment.pool import Outcome, default_jobs, run_tasks
from skycell.experiment.tasks import Task, Work


def tasks(*names: str) -> list[Task]:
    return [Task(name, "{}", "double", 1_000) for name in names]


def run(names: list[str], double: Work, jobs: int = 2) -> dict[str, Outcome]:
    ended: dict[str, Outcome] = {}

    def note(outcome: Outcome) -> None:
        assert outcome.task.name not in ended, "reported twice"
        ended[outcome.task.name] = outcome

    run_tasks(tasks(*names), note, jobs=jobs, work=double)
    return ended


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

    def draw() -> object:
        for task in tasks(*(f"quick:{i}" for i in range(8))):
            drawn.append(task.name)
            ahead.append(len(drawn) - len(ended))
            yield task

    run_tasks(
        draw(),  # type: ignore[arg-type]
        lambda outcome: ended.append(outcome.task.name),
        jobs=1,
        work=double,
    )
    assert max(ahead) == 2  # one at work, and one that waits for it


def test_progress_of_runs_under_way_is_told(double: Work) -> None:
    seen: list[int] = []
    run_tasks(
        [Task("slow:", "{}", "double", 10**12)],
        lambda outcome: None,
        jobs=1,
        on_under_way=lambda times: seen.extend(times.values()),
        work=double,
    )
    assert seen == sorted(seen)
    assert 0 < seen[-1] < 10**12


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT as a terminal does")
def test_an_interrupt_gives_up_what_is_under_way_and_keeps_what_has_ended(double: Work) -> None:
    ended: list[str] = []

    def note(outcome: Outcome) -> None:
        ended.append(outcome.task.name)
        if outcome.task.name == "quick:1":
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_tasks(tasks("quick:1", "slow:1", "slow:2"), note, jobs=2, work=double)
    assert ended == ["quick:1"]
    assert time.monotonic() - began < 8  # a slow one takes 10 s


def test_a_run_whose_report_is_interrupted_is_reported_again(double: Work) -> None:
    ended: list[str] = []

    def note(outcome: Outcome) -> None:
        ended.append(outcome.task.name)
        if len(ended) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_tasks(tasks("quick:1"), note, jobs=1, work=double)
    assert ended == ["quick:1", "quick:1"]


_KILLED_WHILE_A_RUN_IS_UNDER_WAY = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
import run_doubles
from skycell.experiment.pool import run_tasks
from skycell.experiment.tasks import Task

def kill(under_way):
    if under_way["slow:1"] > 0:
        os.kill(os.getpid(), signal.SIGKILL)

slow = Task("slow:1", "{}", "double", 10**12)
run_tasks([slow], print, jobs=1, on_under_way=kill, work=run_doubles.run)
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
        run_tasks([], lambda outcome: None, jobs=0, work=double)


def test_all_cores_are_used_unless_said_otherwise() -> None:
    assert default_jobs() >= 1


PROGRAM = """
import sys
from pathlib import Path

sys.path.insert(0, {doubles!r})

import run_doubles
from skycell.experiment.pool import run_tasks
from skycell.experiment.tasks import Task

with Path({begun!r}).open("a") as file:
    file.write("begun ")
run_tasks(
    [Task("quick:1", "{{}}", "double", 1)],
    lambda outcome: print(outcome.reason),
    jobs=1,
    work=run_doubles.run,
)
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
