"""Figures that cannot be drawn."""

import pytest

from skycell.plots.figure import Figure


def spoil(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Makes the renderer refuse the figure of this name."""
    bare = Figure.bare_spec

    def spoilt(figure: Figure) -> dict[str, object]:
        spec = bare(figure)
        if figure.name != name:
            return spec
        return {key: spec[key] for key in ("$schema", "config")} | {"nonsense": 1}

    monkeypatch.setattr(Figure, "bare_spec", spoilt)
