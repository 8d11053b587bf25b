"""The reference page of figures: its example runs, its table is whole."""

import re
from pathlib import Path

import pytest

from skycell.plots.factorial import FACTORIAL_KINDS
from skycell.plots.run import TRACE_OF

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "figures-and-reports.md"


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(example, {})  # what the page tells people to do
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cwnd.pdf", "cwnd.svg"]


def test_every_kind_is_in_the_table_with_its_trace() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| ([^|]*) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    needs = {kind: f"the trace `{trace}`" if trace else "a run" for kind, trace in TRACE_OF.items()}
    needs |= dict.fromkeys(FACTORIAL_KINDS, "a sweep or a table")
    assert dict(rows) == needs
