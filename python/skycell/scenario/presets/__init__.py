"""Named sets of parameters of scenarios, each value with its source or why it was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from skycell.input.presets import Preset, Presets


@cache
def presets() -> Mapping[str, Preset]:
    """All presets by name, in alphabetical order."""
    return Presets(__package__ or __name__)
