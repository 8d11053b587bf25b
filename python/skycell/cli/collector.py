"""Faults of one call, told together before anything is run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from skycell.cli.sentences import say

COMMAND_LINE = "command line"
"""Where a fault is that is in no file."""


class ErrorCollector:
    """What is wrong with a call; each step looks at a part of it that needs no other part."""

    def __init__(self) -> None:
        from skycell.input.faults import FaultCollector

        self.faults = FaultCollector(COMMAND_LINE)
        """Takes faults of the command line itself."""
        self._usage: list[click.UsageError] = []

    @contextmanager
    def step(self) -> Iterator[None]:
        """Notes faults, a file that cannot be read among them, and goes on."""
        from skycell.input.faults import ScenarioFaults

        try:
            yield
        except ScenarioFaults as reported:
            self.faults.faults += reported.faults
        except click.UsageError as error:
            self._usage.append(error)
        except OSError as error:
            reason = error.strerror or str(error)
            named = f"{error.filename}: {reason}" if error.filename else reason
            self._usage.append(click.UsageError(named))

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
