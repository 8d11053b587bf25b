"""The scenario that a command is given: a file, or standard input."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skycell.scenario import Scenario

STDIN = "-"


def load_given(file: str, values: Mapping[str, Any] | None = None) -> Scenario:
    """Reads and checks the scenario of an argument; that of standard input has no folder.

    Args:
        file: a file, or `-`.
        values: what replaces values of the scenario.

    Raises:
        ScenarioFaults: with every fault.
        OSError: it cannot be read.
    """
    from skycell.scenario import load, parse
    from skycell.scenario.scenario import decoded

    if file != STDIN:
        return load(file, values)
    name = shown_name(file)
    return parse(decoded(_standard_input(), name), name, values=values)


def shown_name(file: str) -> str:
    """What an argument is called in what is told of it."""
    return "<stdin>" if file == STDIN else file


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return sys.stdin.buffer.read()
