"""How far the runs of a study are, on standard error, once they take longer than two seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from skycell.studies import Progress

_QUIET_S = 2.0
#: Between two lines where the output is not a terminal.
_LINE_EVERY_S = 10.0


class StudyProgress:
    """Tells the progress of many runs; hand it to `skycell.studies.reproduce` as `on_progress`."""

    def __init__(self, store: str) -> None:
        self._store = store
        self._begun = time.monotonic()
        self._said = self._begun + _QUIET_S - _LINE_EVERY_S
        self._is_terminal = sys.stderr.isatty()
        self._has_line = False
        self._name = ""
        self._last: Progress | None = None

    def name(self, name: str) -> None:
        """What the runs from now on belong to."""
        self._name = f"{name}: "
        self._begun = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        """Tells how far the runs are."""
        self._last = progress
        now = time.monotonic()
        elapsed = now - self._begun
        if (
            progress.runs_to_do
            and elapsed >= _QUIET_S
            and (self._is_terminal or now - self._said >= _LINE_EVERY_S)
        ):
            self._said = now
            self._say(progress, elapsed)

    def _say(self, progress: Progress, elapsed: float) -> None:
        if not progress.simulated_s_to_do:
            return  # the store had every run
        part = progress.simulated_s / progress.simulated_s_to_do
        left = f", about {_minutes(elapsed * (1 - part) / part)} left" if 0 < part < 1 else ""
        text = (
            f"{self._name}{progress.runs_done} of {progress.runs_to_do} runs, "
            f"{progress.simulated_s:.0f} of {progress.simulated_s_to_do:.0f} s simulated "
            f"({part:.0%}){left}"
        )
        if self._is_terminal:
            click.echo(f"\r{text}\x1b[K", err=True, nl=False)
            self._has_line = True
        else:
            click.echo(text, err=True)

    def __enter__(self) -> StudyProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._has_line:
            click.echo("\r\x1b[K", err=True, nl=False)
        if isinstance(error, KeyboardInterrupt) and self._last is not None:
            click.echo(
                f"Interrupted: {self._last.runs_done} of {self._last.runs_to_do} runs are finished "
                f"and kept in {self._store}; the same command goes on from there.",
                err=True,
            )


def _minutes(seconds: float) -> str:
    """A time to wait, for people.

    >>> _minutes(42.4), _minutes(150)
    ('42 s', '2 min 30 s')
    """
    whole = round(seconds)
    return f"{whole} s" if whole < 90 else f"{whole // 60} min {whole % 60} s"
