"""Named sets of values of [[traffic]] with users."""

from __future__ import annotations

from collections.abc import Mapping

from skycell.input.presets import Preset, Presets


def traffic_presets() -> Mapping[str, Preset]:
    """All presets of applications by name, in alphabetical order; keys are those of [[traffic]]."""
    return Presets(__package__ or __name__)
