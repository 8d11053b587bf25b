"""Named sets of values of [[uplink]]."""

from __future__ import annotations

from collections.abc import Mapping

from skycell.input.presets import Preset, Presets


def uplink_presets() -> Mapping[str, Preset]:
    """All presets of uplinks by name, in alphabetical order; keys are those of [[uplink]]."""
    return Presets(__package__ or __name__)
