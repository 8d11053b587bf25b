"""Makes the test doubles importable by worker processes, which inherit the path of this one."""

import importlib
from pathlib import Path

import pytest

from skycell.experiment.tasks import Work


@pytest.fixture
def double(monkeypatch: pytest.MonkeyPatch) -> Work:
    """A stand-in for the engine; see run_doubles.py."""
    monkeypatch.syspath_prepend(Path(__file__).parent / "doubles")
    work: Work = importlib.import_module("run_doubles").run
    return work
