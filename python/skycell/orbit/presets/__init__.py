"""Named constellations, each value with its source or the reason why it was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from skycell.input.presets import Preset, Presets


@cache
def constellations() -> Mapping[str, Preset]:
    """All constellations by name, in alphabetical order."""
    return Presets(__package__ or __name__)
