"""Several processes on one store: each run is made once, also where a process dies."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import sleep

import pytest

from skycell.cli import progress
from skycell.cli.study_progress import StudyProgress
from skycell.experiment import claims
from skycell.experiment.batch import Batch, PlannedRun, Progress
from skycell.experiment.claims import BEAT_S, PATIENCE_S, Claims, Taken
from skycell.experiment.store import RunKey, RunStore
from skycell.spec.text import SpecText

_DONE_BY = textwrap.dedent(
    '''
    """A process of its own that makes the runs of a store; each is noted in a file."""
    import os, sys, time
    from pathlib import Path
    from skycell.experiment.batch import Batch, PlannedRun
    from skycell.experiment.store import RunStore

    FOLDER = Path(__file__).parent

    def work(task, on_progress):
        with (FOLDER / "made.txt").open("a") as made:
            made.write(task.name + "\\n")
        while (FOLDER / f"hold-{task.name}").exists():
            time.sleep(0.01)
        if task.name == "bad":
            raise RuntimeError("it is bad")
        time.sleep(0.02)
        return '{"flows": []}'

    class Text:
        def with_seed(self, seed):
            return "{}"

    def main(names, patience_s):
        runs = [PlannedRun(name, 1, name, 1, Text()) for name in names]
        with RunStore(FOLDER / "runs.sqlite") as store:
            made = Batch(store, "fast", "1").make(
                runs, jobs=2, work=work, patience_s=patience_s
            )
        print(made.from_store, made.simulated, [run.reason for run in made.failed])

    if __name__ == "__main__":
        main(sys.argv[2:], float(sys.argv[1]))
    '''
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "process_of_runs.py").write_text(_DONE_BY)
    (tmp_path / "made.txt").touch()
    return tmp_path


@contextmanager
def process(folder: Path, *names: str, patience_s: float = 60) -> Iterator[subprocess.Popen[str]]:
    """A process that makes runs of these names."""
    program = "import sys; sys.path.insert(0, sys.argv.pop(1)); import process_of_runs as p; "
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            program + "p.main(sys.argv[2:], float(sys.argv[1]))",
            str(folder),
            str(patience_s),
            *names,
        ],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(folder)},
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def made(folder: Path) -> list[str]:
    return (folder / "made.txt").read_text().split()


def wait_until_made(folder: Path, name: str, process: subprocess.Popen[str]) -> None:
    while name not in made(folder):
        assert process.poll() is None
        sleep(0.01)


def counts(process: subprocess.Popen[str]) -> tuple[int, int]:
    reported, _ = process.communicate()
    assert process.returncode == 0
    from_store, simulated = reported.split()[:2]
    return int(from_store), int(simulated)


def test_two_processes_make_each_run_once_and_both_have_all(folder: Path) -> None:
    names = [f"run{number}" for number in range(40)]
    with ExitStack() as stack:
        both = [stack.enter_context(process(folder, *names)) for _ in range(2)]
        found = [counts(one) for one in both]
    assert sorted(made(folder)) == sorted(names)
    assert sum(simulated for _, simulated in found) == 40
    assert all(from_store + simulated == 40 for from_store, simulated in found)


def test_runs_of_a_process_that_was_killed_are_taken_over(folder: Path) -> None:
    hold = folder / "hold-run0"
    hold.touch()
    with process(folder, "run0", "run1") as first:
        wait_until_made(folder, "run0", first)
        first.send_signal(signal.SIGKILL)
        first.wait()
    hold.unlink()
    with process(folder, "run0", "run1", patience_s=2) as second:
        from_store, simulated = counts(second)
    assert from_store + simulated == 2
    with RunStore(folder / "runs.sqlite") as store:
        assert len(store) == 2
        assert store._db.execute("SELECT count(*) FROM claims").fetchone() == (0,)


def test_a_maker_is_waited_for_while_it_gives_signs_of_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(claims, "monotonic", lambda: now)
    runs = [RunKey(name, "fast", "1") for name in "ab"]
    file = tmp_path / "runs.sqlite"
    with RunStore(file) as own, RunStore(file) as of_another:
        first, second = Claims(own), Claims(of_another)
        assert [first.take(run) for run in runs] == [Taken.BY_US] * 2
        while now < 10 * PATIENCE_S:
            now += BEAT_S
            first.keep()
            assert second.take(runs[0]) is Taken.BY_ANOTHER
        for silent_s, taken in ((PATIENCE_S, Taken.BY_ANOTHER), (BEAT_S, Taken.BY_US)):
            now += silent_s
            assert second.take(runs[0]) is taken
        # Nothing is left of the other, and its other run is free at once.
        assert own._db.execute("SELECT count(*) FROM makers").fetchone() == (1,)
        assert second.take(runs[1]) is Taken.BY_US


def test_a_damaged_claim_is_none(tmp_path: Path) -> None:
    run = RunKey("a", "fast", "1")
    with RunStore(tmp_path / "runs.sqlite") as store:
        store.take(run, "another")
        store._db.execute("UPDATE claims SET maker = x'ff'")
        assert Claims(store).take(run) is Taken.BY_US


def test_a_process_gives_signs_of_life_through_a_long_run_and_is_waited_for(folder: Path) -> None:
    hold = folder / "hold-run0"
    hold.touch()
    with process(folder, "run0") as first:
        wait_until_made(folder, "run0", first)
        with process(folder, "run0", "run1") as second, RunStore(folder / "runs.sqlite") as store:
            wait_until_made(folder, "run1", second)
            (maker,) = store._db.execute("SELECT maker FROM claims WHERE spec_hash = 'run0'")
            begun = store.beat_of(*maker)
            assert begun is not None
            while (store.beat_of(*maker) or 0) < begun + 2:
                assert first.poll() is None
                sleep(0.05)
            hold.unlink()
            assert counts(second) == (1, 1)
        assert counts(first) == (0, 1)
    assert sorted(made(folder)) == ["run0", "run1"]


def test_how_many_runs_another_process_has_begun_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "QUIET_S", 0.0)
    monkeypatch.setattr(progress, "_LINE_EVERY_S", 0.0)
    key, file = RunKey("a", "fast", "1"), tmp_path / "runs.sqlite"
    reported: list[int] = []

    class NeverAsked:
        def with_seed(self, seed: int) -> str:
            raise AssertionError("the other process makes the run")

    def report_it(done: Progress) -> None:
        line(done)
        reported.append(done.runs_waited_for)
        if reported[-1]:
            another.put_finished(key, "{}", 0.0)

    with RunStore(file) as another, RunStore(file) as store, StudyProgress("here") as line:
        assert another.take(key, "another") == "another"
        another.beat("another")
        run = PlannedRun("a", 1, "a", 1, NeverAsked())
        made = Batch(store, "fast", "1").make([run], on_progress=report_it)
    assert (made.from_store, made.simulated) == (1, 0)
    assert (max(reported), reported[-1]) == (1, 0)
    assert "waiting for 1 that another process has begun" in capsys.readouterr().err


def test_a_run_that_fails_in_another_process_is_not_tried_again(folder: Path) -> None:
    hold = folder / "hold-bad"
    hold.touch()
    with process(folder, "bad") as first:
        wait_until_made(folder, "bad", first)
        with process(folder, "bad", "run1") as second:
            wait_until_made(folder, "run1", second)
            hold.unlink()
            reported, _ = second.communicate()
    assert reported == "0 1 ['RuntimeError: it is bad']\n"
    assert sorted(made(folder)) == ["bad", "run1"]


def test_an_interrupt_leaves_what_was_taken_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    with RunStore(tmp_path / "runs.sqlite") as store:
        run = PlannedRun("a", 1, "a", 1, SpecText('{"seed":0}', 0))
        monkeypatch.setattr(store, "put", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Batch(store, "fast", "1").make([run], jobs=1)
        assert store.take(RunKey("a", "fast", "1"), "another") == "another"
