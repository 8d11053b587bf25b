"""The notebook among the examples runs, and whatever ends a cell shows itself."""

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.structure.tree import ROOT

NOTEBOOK = ROOT / "examples" / "notebooks" / "results.ipynb"


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The code cells of the notebook, executed."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    folder = str(tmp_path_factory.mktemp("notebook"))
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": folder}}).execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(cell: dict[str, Any]) -> dict[str, Any]:
    (data,) = [output["data"] for output in cell["outputs"] if "data" in output]
    return dict(data)


def test_every_cell_shows_what_it_ends_with(executed: list[dict[str, Any]]) -> None:
    scenario, run, figure, ports, sweep, analysis = map(shown, executed)
    assert "<td>topology.sources</td><td>2</td>" in scenario["text/html"]
    assert "<td>flow1</td>" in run["text/html"]
    assert figure["application/vnd.vegalite.v6+json"]["description"]
    for frame in (ports, sweep, analysis):
        assert "<table" in frame["text/html"]


def test_the_notebook_is_kept_without_outputs() -> None:
    cells = json.loads(Path(NOTEBOOK).read_text(encoding="utf-8"))["cells"]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
