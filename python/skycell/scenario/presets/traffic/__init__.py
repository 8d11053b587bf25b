"""Named sets of values of [[traffic]] with users."""

from __future__ import annotations

from collections.abc import Mapping

from skycell.input.presets import Preset, read_presets


def traffic_presets() -> Mapping[str, Preset]:
    """All presets of applications by name, in alphabetical order; keys are those of [[traffic]]."""
    return read_presets(__package__ or __name__)
