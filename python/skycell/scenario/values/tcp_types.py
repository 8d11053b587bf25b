"""The types of TCP's parameters as people write them, under their names in `crates/tcp`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from skycell.input.parameters import (
    REFUSED,
    Parameters,
    ValueType,
    param,
    quantity,
    read_number,
    when,
    whole_number,
)
from skycell.input.parameters import Flag as Flag
from skycell.input.quantities import PS_PER_SECOND, Dimension, Quantity, Refused
from skycell.scenario.values.parameter_types import AtLeastOne as AtLeastOne
from skycell.scenario.values.parameter_types import PartOfOne as PartOfOne
from skycell.scenario.values.parameter_types import TimeOrNone as TimeOrNone

_HOUR_PS = 3600 * PS_PER_SECOND
# RFC 7323 section 2.2: the window field's 65 535 octets shifted by at most 14 bits.
LARGEST_WINDOW = 65_535 << 14
#: Largest window without window scaling (RFC 793: 16 bits).
WINDOW_FIELD = 65_535
# An IP datagram holds 65 535 octets (RFC 791); 92 are kept for the largest headers and LLC/SNAP.
LARGEST_MSS = 65_535 - 92

Mss = Annotated[Quantity, quantity(Dimension.SIZE, low=1, high=LARGEST_MSS, example="9180 B")]
_WINDOW = (Dimension.SIZE, Dimension.SEGMENTS, Dimension.RTT, Dimension.BDP)
Cwnd = Annotated[Quantity, quantity(*_WINDOW, low=1, high=LARGEST_WINDOW, example="64 KiB")]
RTT_X_BANDWIDTH = "RTT x bandwidth"
RECEIVER_WINDOW = "receiver window"
ReceiverWindow = Annotated[
    Quantity | str,
    quantity(*_WINDOW, low=1, high=LARGEST_WINDOW, words=[RTT_X_BANDWIDTH], example="64 KiB"),
]
InitialWindow = Cwnd
Ssthresh = Annotated[
    Quantity | str,
    quantity(
        *_WINDOW,
        low=1,
        high=LARGEST_WINDOW,
        words=[RECEIVER_WINDOW, RTT_X_BANDWIDTH],
        example="64 KiB",
    ),
]
MaxCwnd = Annotated[
    Quantity | str,
    quantity(
        *_WINDOW,
        low=1,
        high=LARGEST_WINDOW,
        words=[RECEIVER_WINDOW, "window field"],
        example="64 KiB",
    ),
]
Tick = Annotated[Quantity, quantity(Dimension.TIME, low=1000, high=_HOUR_PS, example="100 ms")]
TickPhase = Annotated[
    Quantity | str,
    quantity(Dimension.TIME, high=_HOUR_PS, words=["drawn", "common"], example="30 ms"),
]
RtoMin = Annotated[
    Quantity,
    quantity(
        Dimension.TIME,
        Dimension.TICKS,
        above=0,
        high=24 * _HOUR_PS,
        what="rounded up to whole ticks",
        example="1 s",
    ),
]
RtoInitial = RtoMin
RtoMax = RtoMin
AckWait = Annotated[Quantity, quantity(Dimension.TIME, above=0, high=_HOUR_PS, example="200 ms")]
RetransmitDelay = Annotated[
    Quantity | str,
    quantity(Dimension.SEGMENTS, low=1, high=10**6, words=["none"], example="3 segments"),
]


def _read_backoff(value: Any) -> int:
    if isinstance(value, bool) or value not in _BACKOFFS:
        raise Refused("")
    return int(value)


_BACKOFFS = [2**k for k in range(17)]
_BACKOFF = ValueType("a power of two from 1 to 65 536", _read_backoff, {"enum": _BACKOFFS})
Backoff = Annotated[int, _BACKOFF]


def _read_cubic_c(value: Any) -> float:
    number = read_number(value)
    if not 0 < number <= _LARGEST_C:
        raise Refused("")
    return number


_LARGEST_C = 100
_CUBIC_C = ValueType(
    f"above 0, at most {_LARGEST_C} (segments/s^3)",
    _read_cubic_c,
    {"type": "number", "exclusiveMinimum": 0, "maximum": _LARGEST_C},
)
CubicC = Annotated[float, _CUBIC_C]
SegmentCount = Annotated[int, whole_number(1, 1000)]
SackBlocks = Annotated[int, whole_number(1, 4)]


class HeldBack(Parameters):
    """A receiver that holds acknowledgements back."""

    timeout: AckWait = param(
        "200 ms", "longest wait before an ACK", source="4.4BSD: the 200 ms fast timer"
    )
    max_timeout: AckWait | None = param(
        None,
        (
            "longest wait where segments come more than half of timeout apart: the wait grows to "
            "twice the interval, the handshake's round trip at most"
        ),
        source="RFC 1122 has one wait; Linux: icsk_ack.ato, TCP_DELACK_MAX",
    )
    every_segments: Annotated[int, whole_number(1, 1000)] = param(
        2, "segments after which an ACK is sent at once", source="RFC 1122 4.2.3.2"
    )
    quick_segments: Annotated[int, whole_number(0, 1000)] = param(
        0,
        (
            "data segments that are acknowledged at once, each: the first of a connection, and those "
            "after one that came twice or after a gap longer than the receiver's own RTO"
        ),
        source="RFC 1122 has none; Linux: up to 16, tcp_enter_quickack_mode, tcp_event_data_recv",
    )
    sack_timeout: AckWait | None = param(
        None,
        (
            "longest wait of the ACK of an early segment, from the fourth on; a twentieth of the "
            "handshake's round trip at most"
        ),
        source="RFC 5681 section 4.2: none waits; Linux: 1 ms, tcp_comp_sack_delay_ns",
    )
    sack_segments: Annotated[int, whole_number(1, 1000)] = param(
        44,
        "early segments whose ACKs wait at most",
        source="Linux tcp_comp_sack_nr",
        when=when("sack_timeout"),
    )


def _delayed_ack_by_word(value: Any) -> Any:
    if value is None or isinstance(value, Mapping | HeldBack):
        return value
    if value not in ("off", "on"):
        allowed = (
            '"off" or "on" or a table with timeout, max_timeout, every_segments, quick_segments, '
            "sack_timeout and sack_segments"
        )
        raise PydanticCustomError(REFUSED, "{allowed}", {"allowed": allowed})
    return None if value == "off" else {}


DelayedAck = Annotated[
    HeldBack | None,
    BeforeValidator(_delayed_ack_by_word, json_schema_input_type=HeldBack | Literal["off", "on"]),
]
