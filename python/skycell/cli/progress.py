"""How far a run is, on standard error, once it takes longer than two seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType

import click

_QUIET_S = 2.0
#: Between two lines where the output is not a terminal.
_LINE_EVERY_S = 10.0
_PS_PER_S = 10**12


class RunProgress:
    """Tells the progress of one run; hand it to the engine as `on_progress`."""

    def __init__(self, duration_ps: int) -> None:
        self._duration_ps = duration_ps
        self._begun = time.monotonic()
        self._said = self._begun + _QUIET_S - _LINE_EVERY_S
        self._is_terminal = sys.stderr.isatty()
        self._has_line = False

    def __call__(self, now_ps: int) -> bool:
        """Tells the simulated time; the run always goes on."""
        now = time.monotonic()
        elapsed = now - self._begun
        if elapsed >= _QUIET_S and (self._is_terminal or now - self._said >= _LINE_EVERY_S):
            self._said = now
            self._say(now_ps, elapsed)
        return True

    def _say(self, now_ps: int, elapsed: float) -> None:
        done = now_ps / self._duration_ps
        left = f", about {elapsed * (1 - done) / done:.0f} s left" if done > 0 else ""
        text = (
            f"{now_ps / _PS_PER_S:.2f} of {self._duration_ps / _PS_PER_S:g} s simulated "
            f"({done:.0%}){left}"
        )
        if self._is_terminal:
            click.echo(f"\r{text}\x1b[K", err=True, nl=False)
            self._has_line = True
        else:
            click.echo(text, err=True)

    def __enter__(self) -> RunProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._has_line:
            click.echo("\r\x1b[K", err=True, nl=False)
