"""Fixtures of the studies' tests."""

import importlib
from pathlib import Path

import pytest

from tests.unit.studies.double import Double


@pytest.fixture
def double(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Double:
    """See study_doubles.py."""
    monkeypatch.syspath_prepend(Path(__file__).parent / "doubles")
    module = importlib.import_module("study_doubles")
    monkeypatch.setenv(module.FOLDER, str(tmp_path))
    return Double(module.run, tmp_path)
