"""The table [[gfr]]: what a VC is promised, and who tags."""

from __future__ import annotations

from typing import Annotated, Literal

from skycell.input.parameters import Names, Parameters, param, quantity, word
from skycell.input.quantities import (
    PS_PER_SECOND,
    Dimension,
    Quantity,
)
from skycell.scenario.values.cells import CellRate

_MFS = quantity(Dimension.CELLS, low=1, high=1366, example="200 cells")
#: Cells of a burst.
MOST_BURST = 10**9
_BURST = quantity(
    Dimension.CELLS,
    Dimension.FRAMES,
    low=1,
    high=MOST_BURST,
    what="frames of MFS",
    example="400 cells",
)
_TOLERANCE = quantity(Dimension.TIME, high=PS_PER_SECOND, example="100 us")
_WINDOW = quantity(Dimension.TIME, low=10**9, high=3600 * PS_PER_SECOND, example="1 s")


class GfrContract(Parameters):
    """What the Guaranteed Frame Rate service promises some VCs, the same for each of them."""

    vcs: Names = param(..., "VCs with this contract")
    mcr: CellRate = param(
        ...,
        "minimum cell rate that each VC gets if it has that much to send",
        symbol="MCR",
    )
    pcr: CellRate | None = param(
        None,
        "peak cell rate of each VC; at least mcr",
        symbol="PCR",
        source="the rate of the VC's first link",
    )
    mfs: Annotated[Quantity, _MFS] | None = param(
        None,
        "longest frame to which the guarantee applies",
        symbol="MFS",
        source="the longest frame of the scenario's flows",
    )
    mbs: Annotated[Quantity, _BURST] = param(
        "2 frames",
        "burst at PCR that is eligible; at least MFS",
        symbol="MBS",
        source="Bonaventure, A simulation study of TCP with the GFR service category",
    )
    cdvt: Annotated[Quantity, _TOLERANCE] = param(
        "0 s",
        "tolerance for delay variation on the way to the network",
        symbol="CDVT",
        source="each host reaches the network over its own link",
    )
    tagging: Annotated[
        Literal["none", "network", "adapter"], word("none", "network", "adapter")
    ] = param(
        "none",
        "who tags frames beyond the guarantee: nobody (GFR.1), the network at the first switch "
        "(GFR.2), or the end system before it sends",
        source="the DFBA papers describe no tagging",
    )
    excess: Annotated[Literal["pass", "discard"], word("pass", "discard")] = param(
        "pass",
        "action of the first switch on frames with CLP = 0 beyond the guarantee: "
        "they pass (tagged, if the network tags) or are discarded whole",
        source="Traffic Management 4.1: the network carries them as far as it has room",
    )
    nonconforming: Annotated[Literal["count", "discard"], word("count", "discard")] = param(
        "count",
        "action of the first switch on frames longer than MFS and on frames whose cells differ in "
        "CLP",
        source="choice: they are seen in the records before they change a result",
    )
    pcr_policing: Annotated[
        Literal["none", "count", "tag", "discard"], word("none", "count", "tag", "discard")
    ] = param(
        "none",
        "action of the first switch on cells beyond GCRA(1/PCR, cdvt)",
        source="hosts send at the rate of their link, which is the PCR unless stated otherwise",
    )
    window: Annotated[Quantity, _WINDOW] = param(
        "1 s",
        "length of the windows over which the guarantee is checked",
        source="choice: the shortest time that people notice",
    )
    window_step: Annotated[Quantity, _WINDOW] = param(
        "100 ms",
        "time from the start of one window to the next; a window is a whole number of steps",
        source="choice: ten starts per window",
    )
