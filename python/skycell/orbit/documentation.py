"""The reference page of constellation files, from the declarations of their parameters."""

from __future__ import annotations

from skycell.input.pages import page_of
from skycell.orbit.file import ConstellationFile
from skycell.orbit.presets import constellations

_PREAMBLE = """# The constellation file

Written by `skycell orbit list --markdown` from the declarations of the parameters; change those,
not this page. [Constellations](README.md) explains what the parameters do.

A constellation is a TOML file. Values carry their unit (`"780 km"`, `"86 deg"`). `preset` at the
top of the file names a built-in constellation to build on.
"""


def page() -> str:
    """The page, in Markdown."""
    return page_of(ConstellationFile, _PREAMBLE, constellations())
