"""A command that takes long says so, and hears of signals."""

import gc
import io
import json
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest

from skycell import _core
from skycell.cli import check
from skycell.cli.at_work import QUIET_S, AtWork
from skycell.cli.main import main
from skycell.cli.progress import ShareProgress
from skycell.cli.sentences import say
from skycell.input.json_text import read_json
from skycell.orbit import as_constellation
from tests.unit.cli.calling import skycell


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def at_work(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[AtWork, Clock, Terminal]]:
    """A command at work that looks at nothing by itself, its clock, and the terminal of both."""
    terminal, clock = Terminal(), Clock()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(AtWork, "_watch", lambda _self: None)
    files = [Path("a.toml"), Path("pi\x9bng.txt")]
    with click.Context(main), AtWork("skycell trace", files, clock) as line:
        yield line, clock, terminal


LINE = "\rskycell trace: at work on pi\\u009bng.txt, {} s so far\x1b[K"
NO_LINE = "\r\x1b[K"


def test_a_line_stands_within_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    with at_work(monkeypatch) as (line, clock, terminal):
        for now in (0.0, 0.5, 1.0):
            clock.now = now
            line.look()
        assert terminal.getvalue() == ""
        assert QUIET_S + 0.5 <= 2
        for now in (1.5, 3.0):
            clock.now = now
            line.look()
        assert terminal.getvalue() == LINE.format(2) + LINE.format(3)


def test_the_line_is_gone_before_anything_else_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    with at_work(monkeypatch) as (line, clock, terminal):
        clock.now = 2.0
        line.look()
        say("found")
        line.look()
        assert terminal.getvalue() == f"{LINE.format(2)}{NO_LINE}found\n"
        clock.now = 3.5
        line.look()
        assert terminal.getvalue().endswith(LINE.format(4))


def test_what_says_more_has_the_place_of_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with at_work(monkeypatch) as (line, clock, terminal):
        with ShareProgress("done") as progress:
            clock.now = 2.0
            line.look()  # the other one has nothing to say yet
            progress.say("half of it")
            clock.now = 9.0
            line.look()
            assert terminal.getvalue() == f"{LINE.format(2)}{NO_LINE}\rhalf of it\x1b[K"
        line.look()
        clock.now = 11.0
        line.look()
        assert terminal.getvalue().endswith(f"{NO_LINE}{LINE.format(11)}")


def test_no_line_is_left_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    with at_work(monkeypatch) as (line, clock, terminal):
        clock.now = 2.0
        line.look()
    clock.now = 9.0
    line.look()
    assert terminal.getvalue() == f"{LINE.format(2)}{NO_LINE}"


def test_a_command_that_reads_seldom_looks_for_cycles(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen = []
    monkeypatch.setattr(check, "_check", lambda name: seen.append(gc.get_threshold()))
    before = gc.get_threshold()
    skycell("check", tmp_path / "a.toml")
    assert seen[0][0] >= 100_000
    assert gc.get_threshold() == before


class StopHereError(Exception):
    pass


@contextmanager
def interrupted(after_s: float, look: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Raises an exception after some time of the processor."""

    def stop(*_: object) -> None:
        look()
        raise StopHereError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, after_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def test_a_signal_is_heard_while_json_is_read() -> None:
    text = json.dumps([1] * 3_000_000)
    with pytest.raises(StopHereError) as found, interrupted(0.01):
        read_json(text)
    assert "whole" in [frame.name for frame in traceback.extract_tb(found.value.__traceback__)]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts the threads of Linux")
def test_a_signal_is_heard_while_satellites_are_moved() -> None:
    values = {"pattern.planes": 40, "pattern.satellites_per_plane": 100, "pattern.phasing": 0}
    sky = as_constellation("starlink-like").with_values({**values, "links.kind": "nearest"})
    spec = json.dumps(sky.spec())
    tasks = Path("/proc/self/task")
    before, during = len(list(tasks.iterdir())), []
    with (
        pytest.raises(StopHereError),
        interrupted(0.1, lambda: during.append(len(list(tasks.iterdir())))),
    ):
        _core.orbit_absent_links(spec, 0, 3600 * 10**12)
    assert during[0] > before
