"""A line that says that a command is at work, as long as it says nothing else."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import get_terminal_size
from typing import Self

import click

from skycell.input.printable import printable

QUIET_S = 1.5
"""A line follows at the next look, half a second later at most."""
_LOOK_EVERY_S = 0.5
_META = "skycell.at_work"


class AtWork:
    """The line, on standard error where that is a terminal.

    It stands where the output goes on, and is gone before anything else is written there.
    """

    def __init__(
        self, what: str, files: Sequence[Path], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Counts the time from now on.

        Args:
            what: the command.
            files: those that it has read so far; the list grows.
            clock: seconds since any moment.
        """
        self._what, self._files, self._clock = what, files, clock
        self._begun = self._quiet_since = clock()
        self._has_line = self._is_held = False
        self._lock = threading.Lock()
        self._over = threading.Event()

    def look(self) -> None:
        """Writes the line where there was nothing to read for long."""
        with self._lock:
            now = self._clock()
            if self._is_held or now - self._quiet_since < QUIET_S:
                return
            on = f" on {self._files[-1].name}" if self._files else ""
            text = printable(f"{self._what}: at work{on}, {now - self._begun:.0f} s so far")
            # A line that is folded cannot be told anew in its place.
            room = get_terminal_size().columns - 1
            click.echo(f"\r{text[:room]}\x1b[K", err=True, nl=False)
            self._has_line = True

    def make_room(self, *, hold: bool = False) -> None:
        """Takes the line away, and counts the time anew; with `hold` until the next call."""
        with self._lock:
            if self._has_line:
                click.echo("\r\x1b[K", err=True, nl=False)
            self._has_line, self._is_held = False, hold
            self._quiet_since = self._clock()

    def _watch(self) -> None:
        while not self._over.wait(_LOOK_EVERY_S):
            self.look()

    def __enter__(self) -> Self:
        context = click.get_current_context(silent=True)
        if context is not None and sys.stderr.isatty():
            context.meta[_META] = self
            threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._over.set()
        self.make_room(hold=True)


def make_room(*, hold: bool = False) -> None:
    """Has the line of the command at work, if there is one, make room for what is written now."""
    context = click.get_current_context(silent=True)
    at_work = None if context is None else context.meta.get(_META)
    if at_work is not None:
        at_work.make_room(hold=hold)
