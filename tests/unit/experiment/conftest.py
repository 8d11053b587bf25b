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


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Work:
    """A stand-in for the engine that writes down what it was asked for; see sweep_double.py."""
    monkeypatch.syspath_prepend(Path(__file__).parent / "doubles")
    monkeypatch.setenv("SWEEP_DOUBLE", str(tmp_path))
    made: Work = importlib.import_module("sweep_double").run
    return made
