"""How far a run or a report is, on standard error, within two seconds of its begin."""

from __future__ import annotations

import sys
import time
from shutil import get_terminal_size
from typing import Self

import click

from skycell.cli.at_work import QUIET_S, make_room
from skycell.input.printable import printable
from skycell.input.quantities import PS_PER_SECOND

#: Between two lines where the output is not a terminal.
_LINE_EVERY_S = 10.0


class ProgressLine:
    """A line on standard error, told anew now and then: in place on a terminal, else below."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._said = self._begun + QUIET_S - _LINE_EVERY_S
        self._is_terminal = sys.stderr.isatty()
        self._has_line = False

    def begin_anew(self) -> None:
        """Counts the time from now on."""
        self._begun = time.monotonic()

    def elapsed_if_due(self) -> float | None:
        """Seconds since the beginning when it is time to tell something."""
        now = time.monotonic()
        elapsed = now - self._begun
        if elapsed < QUIET_S or not (self._is_terminal or now - self._said >= _LINE_EVERY_S):
            return None
        self._said = now
        return elapsed

    def say(self, text: str) -> None:
        """Tells `text` in the place of what was told before."""
        text = printable(text)
        make_room(hold=True)
        if self._is_terminal:
            # A line that is folded cannot be told anew in its place.
            room = get_terminal_size().columns - 1
            click.echo(f"\r{text[:room]}\x1b[K", err=True, nl=False)
            self._has_line = True
        else:
            click.echo(text, err=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._has_line:
            click.echo("\r\x1b[K", err=True, nl=False)
        make_room()


class ShareProgress(ProgressLine):
    """Tells which share of some work is done; hand it over as `on_progress`."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what

    def __call__(self, share: float) -> bool:
        """Tells the share, from 0 to 1; the work always goes on."""
        elapsed = self.elapsed_if_due()
        if elapsed is not None:
            left = f", about {elapsed * (1 - share) / share:.0f} s left" if share > 0 else ""
            self.say(f"{self._done(share)}{left}")
        return True

    def _done(self, share: float) -> str:
        """How much is done, in words."""
        return f"{share:.0%} {self._what}"


class RunProgress(ShareProgress):
    """Tells the progress of one run; hand it to the engine as `on_progress`."""

    def __init__(self, duration_ps: int) -> None:
        super().__init__("simulated")
        self._duration_ps = duration_ps

    def __call__(self, now_ps: float) -> bool:
        """Tells the simulated time in ps; the run always goes on."""
        return super().__call__(now_ps / self._duration_ps)

    def _done(self, share: float) -> str:
        duration_s = self._duration_ps / PS_PER_SECOND
        return f"{share * duration_s:.2f} of {duration_s:g} s simulated ({share:.0%})"


class DrawingProgress(ProgressLine):
    """Tells how many figures of a report are drawn; hand it over as `on_drawn`."""

    def __call__(self, drawn: int, ordered: int) -> None:
        """Tells the figures that are drawn, of those that are ordered."""
        if drawn < ordered and self.elapsed_if_due() is not None:
            self.say(f"{drawn} of {ordered} figures drawn")
