"""Child processes that draw for all tests of a process: one takes a second to start."""

from __future__ import annotations

import atexit
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from skycell.plots.render_workers import _Child

_FREE: list[_Child] = []


class KeptChild:
    """A child that is kept for the next command when its command ends."""

    def __init__(self, said: Path) -> None:
        while _FREE and _FREE[-1].process.poll() is not None:
            _FREE.pop()
        self._child = _FREE.pop() if _FREE else _begun()
        self.process = _KeptProcess(self._child)

    def draw(self, order: dict[str, Any]) -> None:
        """Has the child draw."""
        self._child.draw(order)


class _KeptProcess:
    """What `RenderWorkers` does with the process of a child."""

    def __init__(self, child: _Child) -> None:
        self._child = child

    def poll(self) -> int | None:
        return self._child.process.poll()

    def kill(self) -> None:
        _FREE.append(self._child)

    def communicate(self) -> None:
        pass


def _begun() -> _Child:
    """A child whose words are kept in a file that no command deletes."""
    with tempfile.NamedTemporaryFile(prefix="skycell-", delete=False) as said:
        child = _Child(Path(said.name))
    atexit.register(_end, child.process, Path(said.name))
    return child


def _end(process: subprocess.Popen[str], said: Path) -> None:
    process.kill()
    process.communicate()
    said.unlink(missing_ok=True)
