"""Buffer policies of a switch port as a scenario file writes them.

Thresholds are a part of the buffer (0.9, "90 %") or a number of cells; parts become whole cells by
rounding down.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from skycell.scenario.cells import MOST_CELLS
from skycell.scenario.parameters import (
    Flag,
    Leaf,
    Parameters,
    param,
    part,
    quantity,
    read_each,
    read_number,
    whole_number,
)
from skycell.scenario.quantities import (
    DAY_PS,
    Dimension,
    Quantity,
    Refused,
    parse_quantity,
    unit_pattern,
)


def _read_threshold(value: Any) -> Quantity | float:
    if isinstance(value, str):
        written = parse_quantity(value)
        if written.dimension is Dimension.CELLS:
            if not 0 <= written.amount <= MOST_CELLS or written.amount.denominator != 1:
                raise Refused("")
            return written
        if written.dimension is not Dimension.PART:
            raise Refused(f'"{written.text}" is {written.dimension.value}')
        number = float(written.amount)
    else:
        number = read_number(value)
    if not 0 < number <= 1:
        raise Refused("")
    return number


_THRESHOLD = Leaf(
    "above 0, at most 1 or 100 % (fraction of the buffer's capacity), or whole cells such as "
    '"7168 cells"',
    _read_threshold,
    {
        "anyOf": [
            {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
            {
                "type": "string",
                "pattern": unit_pattern(Dimension.CELLS, Dimension.PART),
                "examples": ["7168 cells", "90 %"],
            },
        ]
    },
)
Threshold = Annotated[Quantity | float, _THRESHOLD]
UpToOne = Annotated[float, part("1 is an equal share")]
PartOfOne = Annotated[float, part("1 is the whole")]
CellCount = Annotated[
    Quantity, quantity(Dimension.CELLS, low=0, high=MOST_CELLS, example="917 cells")
]
_OWN_THRESHOLD = quantity(
    Dimension.CELLS, low=0, high=MOST_CELLS, words=["MBS"], example="400 cells"
)
_AS_FIFO = (
    "choice: as for the FIFO switch of Bonaventure, A simulation study of TCP with the GFR service "
    "category, which leaves it open for WFQ"
)
_ONE_VC = quantity(Dimension.CELLS, low=1, high=MOST_CELLS, example="917 cells")


def _read_vc_thresholds(value: Any) -> tuple[Quantity, ...] | dict[str, Quantity]:
    if isinstance(value, list | tuple):
        return tuple(_ONE_VC.read(v) for v in value)
    if isinstance(value, Mapping) and all(isinstance(k, str) for k in value):
        return read_each(value, _ONE_VC)
    raise Refused("")


_VC_THRESHOLDS = Leaf(
    f"a list, or a table by VC, each {_ONE_VC.allowed}",
    _read_vc_thresholds,
    {
        "anyOf": [
            {"type": "array", "items": _ONE_VC.schema},
            {"type": "object", "additionalProperties": _ONE_VC.schema},
        ]
    },
)


class TailDrop(Parameters):
    """Discards the cells that find the buffer full, whatever frame they belong to."""

    kind: Literal["tail_drop"] = param(..., "the policy")


class Ppd(Parameters):
    """Partial Packet Discard: once a cell of a frame is discarded, so is the rest of the frame."""

    kind: Literal["ppd"] = param(..., "the policy")


def _partial_discard() -> Any:
    """Whether the rest of a frame goes too; the same in all policies that leave a choice."""
    return param(
        True,
        "once a cell of a frame has been lost to a full buffer, the rest of the frame is discarded",
        source="choice: for EPD, as Romanow and Floyd do; ICCCN'97 section 5 does not say whether "
        "the rest of a packet that has begun is lost",
    )


class Epd(Parameters):
    """Early Packet Discard: discards frames that begin while the queue is above a threshold."""

    kind: Literal["epd"] = param(..., "the policy")
    drop_threshold: Threshold = param(
        0.9,
        "occupancy above which EPD discards frames that begin",
        symbol="R",
        source="Ka Band Utilization Conference 1997, section 3 (R = 0.9 for Selective Drop)",
    )
    partial_discard: Flag = _partial_discard()


class SelectiveDrop(Parameters):
    """Above a threshold, discards the frames of VCs that hold more than their fair share."""

    kind: Literal["selective_drop"] = param(..., "the policy")
    drop_threshold: Threshold = param(
        0.9,
        "occupancy above which Selective Drop may discard frames",
        symbol="R",
        source="Ka Band Utilization Conference 1997, section 3",
    )
    fairness_threshold: UpToOne = param(
        0.8,
        "fraction of its fair share of the buffer above which a VC's frames are discarded",
        symbol="Z",
        source="Ka Band Utilization Conference 1997, section 3; ATM Forum 98-0876R1",
    )
    partial_discard: Flag = _partial_discard()


class FairBufferAllocation(Parameters):
    """Like Selective Drop, with a share that shrinks as the buffer fills."""

    kind: Literal["fair_buffer_allocation"] = param(..., "the policy")
    drop_threshold: Threshold = param(
        0.9,
        "occupancy above which Fair Buffer Allocation may discard frames; below the capacity",
        symbol="R",
        source="as for Selective Drop: Ka Band Utilization Conference 1997, section 3",
    )
    fairness_threshold: UpToOne = param(
        0.8,
        "scales the fraction of the fair share above which a VC's frames are discarded",
        symbol="Z",
        source="as for Selective Drop: Ka Band Utilization Conference 1997, section 3",
    )
    partial_discard: Flag = _partial_discard()


class SingleDrop(Parameters):
    """Discards one frame of a VC each time its occupancy crosses the VC's threshold from below."""

    kind: Literal["single_drop"] = param(..., "the policy")
    thresholds: Annotated[tuple[Quantity, ...] | dict[str, Quantity], _VC_THRESHOLDS] = param(
        ...,
        "occupancy of each VC; when it is crossed, one of the VC's frames is discarded; by "
        "name of the VC, or a list in the order of the flows",
        symbol="r_i",
    )
    rearm_below: CellCount = param(
        "0 cells",
        "how many cells the occupancy must fall below the threshold before a crossing counts again",
        source="choice: the journal version of the fifteen-TCP study counts every crossing",
    )


_Z_RULES = ("1-w_i/w", "(1-w_i/w)^2")


def _read_z(value: Any) -> float | str:
    if isinstance(value, str):
        if value in _Z_RULES:
            return value
        raise Refused("")
    number = read_number(value)
    if not 0 <= number <= 1:
        raise Refused("")
    return number


_Z = Leaf(
    "from 0 to 1, or " + " or ".join(f'"{rule}"' for rule in _Z_RULES),
    _read_z,
    {"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"enum": list(_Z_RULES)}]},
)


def _read_share(value: Any) -> float:
    number = read_number(value)
    if not 0 <= number <= 1:
        raise Refused("")
    return number


_SHARE = Leaf("from 0 to 1", _read_share, {"type": "number", "minimum": 0, "maximum": 1})


class Dfba(Parameters):
    """Differential Fair Buffer Allocation: between two thresholds, frames of VCs above their share.

    A VC's share of the queue is that of its MCR among the active VCs; MCRs are given in [[gfr]].
    """

    kind: Literal["dfba"] = param(..., "the policy")
    low_threshold: Threshold = param(
        0.5,
        "occupancy up to which every frame is accepted",
        symbol="L",
        source="Buffer Management for TCP over the ATM GFR Service, section 5",
    )
    high_threshold: Threshold = param(
        0.9,
        "occupancy from which every frame is discarded; above low_threshold",
        symbol="H",
        source="Buffer Management for TCP over the ATM GFR Service, section 5",
    )
    alpha: Annotated[float, _SHARE] = param(
        0.5,
        "weight, in the probability of discard, of the VC's excess over its share; the "
        "queue's length has the remaining weight",
        source="Buffer Management for TCP over the ATM GFR Service, section 5",
    )
    z: Annotated[float | str, _Z] = param(
        1.0,
        "scales the probability of discard; W_i / W is the VC's share",
        symbol="Z_i",
        source="Buffer Management for TCP over the ATM GFR Service, section 5 (in most cases)",
    )
    keep_last_cells: Flag = param(
        True,
        "the last cell of a frame is accepted whenever there is room, even if its frame is lost",
        source="Buffer Management for TCP over the ATM GFR Service, appendix, Figure 13",
    )


_RED = "S. Floyd, V. Jacobson, Random Early Detection Gateways, 1993"
_CHOICE_OF_RED = "choice: max_th should be at least twice min_th (Floyd and Jacobson, section 6)"

Interval = Annotated[
    Quantity,
    quantity(Dimension.TIME, above=0, high=DAY_PS, example="10 ms"),
]


class PriorityDrop(Parameters):
    """Discards tagged frames above one threshold, and all frames above another."""

    kind: Literal["priority_drop"] = param(..., "the policy")
    tagged_threshold: Threshold = param(
        0.75,
        "occupancy above which tagged frames (CLP = 1) are discarded",
        symbol="LBO",
        source="Bonaventure, A simulation study of TCP with the GFR service category: 6144 of 8192",
    )
    drop_threshold: Threshold = param(
        0.875,
        "occupancy above which all frames are discarded; at least tagged_threshold",
        symbol="HBO",
        source="Bonaventure, A simulation study of TCP with the GFR service category: 7168 of 8192",
    )


class VcPriorityDrop(Parameters):
    """Discards tagged frames from one threshold on, from another all but those of short queues."""

    kind: Literal["vc_priority_drop"] = param(..., "the policy")
    tagged_threshold: Threshold = param(
        0.75,
        "occupancy from which tagged frames (CLP = 1) are discarded",
        symbol="LBO",
        source=_AS_FIFO,
    )
    drop_threshold: Threshold = param(
        0.875,
        "occupancy from which frames are discarded if their VC has reached its own "
        "threshold; at least tagged_threshold",
        symbol="HBO",
        source=_AS_FIFO,
    )
    vc_threshold: Annotated[Quantity | Literal["MBS"], _OWN_THRESHOLD] = param(
        "MBS",
        "occupancy of a VC with a GFR contract from which its frames are discarded above "
        "drop_threshold: cells, or the VC's MBS; 0 for a VC without a contract",
        symbol="T_i",
        source="Guerin and Heinanen (ATM96-1598), as described by Bonaventure, section 3",
    )


class Red(Parameters):
    """Random Early Detection: discards frames at random while the average queue is long."""

    kind: Literal["red"] = param(..., "the policy")
    min_threshold: Threshold = param(
        0.2,
        "average queue below which nothing is discarded",
        symbol="min_th",
        source=_CHOICE_OF_RED,
    )
    max_threshold: Threshold = param(
        0.6,
        "average queue from which every frame is discarded; above min_threshold",
        symbol="max_th",
        source=_CHOICE_OF_RED,
    )
    max_probability: PartOfOne = param(
        0.02, "probability of discard just below max_threshold", symbol="max_p", source=_RED
    )
    weight: PartOfOne = param(
        0.002, "weight of a new queue length in the average", symbol="w_q", source=_RED
    )


class Fred(Red):
    """Flow Random Early Drop: RED that spares VCs with little in the queue."""

    kind: Literal["fred"] = param(..., "the policy")  # type: ignore[assignment]
    protected_frames: Annotated[int, whole_number(1, 1000)] = param(
        4,
        "full frames that a VC may have in the buffer before its frames are discarded at random",
        symbol="minq",
        source="D. Lin, R. Morris, Dynamics of Random Early Detection, 1997: 4, small buffers 2",
    )


def _virtual_queue_threshold() -> Any:
    return param(
        0.25,
        "virtual queue above which a VC's frames are discarded",
        source="choice: the documents we have give no value; with a quarter of the buffer, four "
        "VCs can fill it",
    )


class VirtualQueueing(Parameters):
    """Discards frames of VCs whose virtual queue, as under round robin, is above a threshold."""

    kind: Literal["virtual_queueing"] = param(..., "the policy")
    vc_threshold: Threshold = _virtual_queue_threshold()


class DynamicEpd(Parameters):
    """Virtual Queueing; the threshold is what VCs below their equal share leave to the others."""

    kind: Literal["dynamic_epd"] = param(..., "the policy")
    drop_threshold: Threshold = param(
        0.9,
        "cells that the VCs' virtual queues share",
        symbol="R",
        source="as for Selective Drop: Ka Band Utilization Conference 1997, section 3",
    )


class McrScheduling(Parameters):
    """Virtual Queueing under a server that gives each VC its MCR first.

    MCRs are given in [[gfr]].
    """

    kind: Literal["mcr_scheduling"] = param(..., "the policy")
    vc_threshold: Threshold = _virtual_queue_threshold()
    interval: Interval = param(
        "1 ms",
        "time after which MCRs are served",
        symbol="T",
        source="choice: a few hundred cells of a 155 Mbit/s link",
    )


class PmeEred(Red):
    """Marks frames of VCs below their MCR, and spares marked frames in RED.

    MCRs are given in [[gfr]].
    """

    kind: Literal["pme_ered"] = param(..., "the policy")  # type: ignore[assignment]
    interval: Interval = param(
        "10 ms",
        "time over which the rate of a VC is measured",
        source="choice: hundreds of frames, and no longer than a round trip",
    )
    step: PartOfOne = param(
        0.1,
        "change of the marking probability in an interval without any frame",
        source="choice: from never to always in ten intervals",
    )
    marked_part: Annotated[float, _SHARE] = param(
        0.0,
        "fraction of RED's probability with which marked frames are discarded",
        source="choice: the guarantee first; marked frames are lost only to a full buffer",
    )


def _policy_by_name(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


_Policies = (
    TailDrop
    | Ppd
    | Epd
    | SelectiveDrop
    | FairBufferAllocation
    | SingleDrop
    | Dfba
    | PriorityDrop
    | VcPriorityDrop
    | Red
    | Fred
    | VirtualQueueing
    | DynamicEpd
    | McrScheduling
    | PmeEred
)
#: Policies that need no more than their name.
_Names = Literal[
    "tail_drop",
    "ppd",
    "epd",
    "selective_drop",
    "fair_buffer_allocation",
    "dfba",
    "priority_drop",
    "vc_priority_drop",
    "red",
    "fred",
    "virtual_queueing",
    "dynamic_epd",
    "mcr_scheduling",
    "pme_ered",
]
Policy = Annotated[
    Annotated[_Policies, Field(discriminator="kind")],
    BeforeValidator(_policy_by_name, json_schema_input_type=_Policies | _Names),
]
