"""Faults of one call, told together before anything is run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from skycell.cli.sentences import say

_Read = TypeVar("_Read")

COMMAND_LINE = "command line"
"""Where a fault is that is in no file."""


class Unread(Exception):
    """A value that was given could not be read, so that nothing can be said of it."""


class _Step:
    def __init__(self, collector: ErrorCollector) -> None:
        self._collector = collector

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        return self._collector.note(error)


class ErrorCollector:
    """What is wrong with a call; each step looks at a part of it that needs no other part."""

    def __init__(self) -> None:
        from skycell.input.faults import FaultCollector

        self.faults = FaultCollector(COMMAND_LINE)
        """Takes faults of the command line itself."""
        self._usage: list[click.UsageError] = []

    def step(self) -> _Step:
        """A context that notes faults, a file that cannot be read among them, and goes on.

        The rest of a step that needs an unread value is left out.
        """
        return _Step(self)

    def note(self, error: BaseException | None) -> bool:
        """Notes an error that is a fault of the call; whether it is one."""
        from skycell.input.faults import ScenarioFaults

        if isinstance(error, ScenarioFaults):
            self.faults.faults += error.faults
        elif isinstance(error, click.UsageError):
            self._usage.append(error)
        elif isinstance(error, OSError):
            reason = error.strerror or str(error)
            named = f"{error.filename}: {reason}" if error.filename else reason
            self._usage.append(click.UsageError(named))
        else:
            return isinstance(error, Unread)
        return True

    def read(self, read: Callable[[], _Read]) -> _Read | None:
        """Reads as a step; none where there is a fault, which is noted, or an unread value."""
        with self.step():
            return read()
        return None

    def add(self, *errors: click.UsageError) -> None:
        """Notes faults of the command's use, which are told before those found so far."""
        self._usage[:0] = errors

    def __bool__(self) -> bool:
        """Whether there is a fault."""
        return bool(self._usage or self.faults.faults)

    def refuse_if_wrong_use(self) -> None:
        """Ends the command as `refuse_if_any` does, where one of the faults is of its use."""
        if self._usage:
            self.refuse_if_any()

    def refuse_if_any(self) -> None:
        """Ends the command when there is a fault.

        Raises:
            ScenarioFaults: every fault says what is allowed.
            click.UsageError: the only fault is one of the command's use.
            click.exceptions.Exit: there are both, and they are told; with code 2.
        """
        if not self._usage:
            self.faults.raise_if_any()
            return
        if len(self._usage) == 1 and not self.faults.faults:
            raise self._usage[0]
        from skycell.input.faults import reported_together
        from skycell.input.quantities import with_short_numbers

        usage = [with_short_numbers(error.format_message()) for error in self._usage]
        say(reported_together([*usage, *self.faults]), err=True)
        raise click.exceptions.Exit(2)
