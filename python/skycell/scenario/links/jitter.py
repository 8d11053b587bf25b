"""Times that hosts take at random before they send, and the waits of the studies' ports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from skycell.input.faults import FaultCollector, Path
from skycell.input.parameters import Parameters, param, quantity
from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND, Dimension, Quantity

MEANING = "time, drawn for each segment, after which a host hands the segment to its port"
SOURCE = (
    "up to 1 frame at the slowest link that the data share with other data (Floyd and Jacobson, "
    "On Traffic Phase Effects, 1992); up to 20 us beside acknowledgements alone (measured at Linux "
    "hosts); 0 s for a connection that is alone"
)

OF_HOSTS_PS = PS_PER_MS // 50
"""What real hosts take: within it 99 of 100 packets of the median recording were handed over."""

#: Longest processing time, picoseconds; a frame at a cell a second takes 23 minutes.
LONGEST_PS = 3600 * PS_PER_SECOND

ProcessingTime = Annotated[
    Quantity,
    quantity(
        Dimension.TIME,
        Dimension.FRAMES,
        high=LONGEST_PS,
        what="frames at the slowest link of the data's way",
        example="1.5 ms",
    ),
]
Wait = Annotated[
    Quantity,
    quantity(
        Dimension.TIME,
        Dimension.CELLS,
        high=PS_PER_SECOND,
        what="cells of the link",
        example="12 cells",
    ),
]


class Sender(Parameters):
    """A host takes a random time from TCP to its port, where no segment overtakes another.

    A port that still sends loses nothing by it. Each end of a connection draws its own times.
    """

    kind: Literal["sender"] = param(..., "the rule")
    up_to: ProcessingTime = param(
        "1 frame",
        "end of the range, from 0 s; a frame is that of a full segment at the slowest link of the "
        "data's way, for acknowledgements too",
        source="Floyd and Jacobson, 1992",
    )


class PortGap(Parameters):
    """A port of a host or router waits before each frame, also before frames that are queued."""

    kind: Literal["port_gap"] = param(..., "the rule")
    up_to: Wait = param("1 cell", "end of the range, from 0 s", source="choice of the studies")


def _sender_by_time(value: Any) -> Any:
    return {"kind": "sender", "up_to": value} if isinstance(value, str) else value


_Jitters = Sender | PortGap
FrameJitter = Annotated[
    Annotated[_Jitters, Field(discriminator="kind")] | None,
    BeforeValidator(_sender_by_time, json_schema_input_type=_Jitters | ProcessingTime),
]


def refuse_without_host(
    jitter: Sender | PortGap | None, path: Path, ends: Iterable[str], faults: FaultCollector
) -> None:
    """Notes a processing time that was given for a link which no host feeds, if it is one."""
    if isinstance(jitter, Sender) and jitter.up_to.amount and "host" not in ends:
        allowed = '"0 s", or a table with kind = "port_gap": no host sends over this link'
        faults.add((*path, "frame_jitter"), str(jitter.up_to), allowed)
