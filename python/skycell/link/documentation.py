"""The reference page of a carrier's file, from the declarations of its parameters."""

from __future__ import annotations

from skycell.input.pages import page_of
from skycell.link.file import CarrierFile

_PREAMBLE = """# The carrier file

Written by `make generate` from the declarations of the parameters; change those, not this page.
[From antennas to MODCOD](../how-to/from-antennas-to-modcod.md) explains what the parameters do.

A carrier is a TOML file with a table `[carrier]`, which `skycell budget` reads. Values have their
unit: `"19.7 GHz"`, `"1.2 m"`, `"49 dBW"`, `"46 dBi"`, `"15.8 dB/K"`.
"""


def page() -> str:
    """The page, in Markdown."""
    return page_of(CarrierFile, _PREAMBLE, {})
