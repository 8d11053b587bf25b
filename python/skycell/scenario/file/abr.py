"""The table [[abr]]: VCs of class abr, and what their sources and destinations keep to."""

from __future__ import annotations

from skycell.input.parameters import Names, param
from skycell.scenario.declared.abr import Abr


class AbrControl(Abr):
    """What the sources and destinations of some ABR VCs keep to, the same for each of them.

    The VC the other way, such as `flow1.reverse` of `flow1.forward`, is ABR too; it keeps to the
    same unless a table of its own names it.
    """

    vcs: Names = param(..., "VCs that are of class abr")
