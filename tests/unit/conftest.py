"""What every test of this folder has."""

from typing import Any

import pytest

from skycell.plots.figure import Figure


@pytest.fixture(autouse=True)
def charts_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Holds every figure that a test looks at to Vega-Lite's schema, which a report does not."""
    bare_spec = Figure.bare_spec

    def checked(figure: Figure) -> dict[str, Any]:
        figure.chart.to_dict(validate=True)
        return bare_spec(figure)

    monkeypatch.setattr(Figure, "bare_spec", checked)
