"""A peer as a process of its own, and the user CPU time it took."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence


def run_alone(command: Sequence[str]) -> tuple[str, float]:
    """What a command printed (errors included), and its user CPU time in s.

    Raises:
        RuntimeError: it failed; with what it printed.
    """
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with code {process.returncode}:\n{text.strip()}")
    return text, usage.ru_utime
