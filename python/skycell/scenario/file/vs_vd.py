"""The table [[vs_vd]]: switches that cut the control loops of ABR VCs."""

from __future__ import annotations

from skycell.input.parameters import Names, param
from skycell.scenario.declared.vs_vd import VsVd


class VsVdSwitches(VsVd):
    """Switches that end the control loop of each ABR VC that crosses them, and begin the next."""

    nodes: Names = param(..., "switches at which loops are cut")
