"""What every test of this folder has."""

from collections.abc import Iterator
from typing import Any

import pytest

from skycell.plots import render_workers
from skycell.plots.figure import Figure
from tests.unit.kept_children import KeptChild


@pytest.fixture(autouse=True, scope="session")
def children_that_draw_are_kept() -> Iterator[None]:
    """Has all tests draw with the same children, which take a second to start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(render_workers, "_Child", KeptChild)
        yield


@pytest.fixture(autouse=True)
def charts_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Holds every figure that a test looks at to Vega-Lite's schema, which a report does not."""
    bare_spec = Figure.bare_spec

    def checked(figure: Figure) -> dict[str, Any]:
        figure.chart.to_dict(validate=True)
        return bare_spec(figure)

    monkeypatch.setattr(Figure, "bare_spec", checked)
