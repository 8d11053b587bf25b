"""The types of TCP's parameters as people write them, under their names in `crates/tcp`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from skycell.input.parameters import (
    REFUSED,
    Parameters,
    param,
    quantity,
    when,
    whole_number,
)
from skycell.input.quantities import PS_PER_SECOND, Dimension, Quantity

_HOUR_PS = 3600 * PS_PER_SECOND
# RFC 7323 section 2.2: the window field's 65 535 octets shifted by at most 14 bits.
LARGEST_WINDOW = 65_535 << 14
#: Largest window without window scaling (RFC 793: 16 bits).
WINDOW_FIELD = 65_535

RTT_X_BANDWIDTH = "RTT x bandwidth"
RECEIVER_WINDOW = "receiver window"
TickPhase = Annotated[
    Quantity | str,
    quantity(Dimension.TIME, high=_HOUR_PS, words=["drawn", "common"], example="30 ms"),
]
AckWait = Annotated[Quantity, quantity(Dimension.TIME, above=0, high=_HOUR_PS, example="200 ms")]
RetransmitDelay = Annotated[
    Quantity | str,
    quantity(Dimension.SEGMENTS, low=1, high=10**6, words=["none"], example="3 segments"),
]


class HeldBack(Parameters):
    """A receiver that holds acknowledgements back."""

    timeout: AckWait = param(
        "200 ms",
        "longest wait before an ACK; with max_timeout the shortest wait",
        source="4.4BSD: the 200 ms fast timer",
    )
    max_timeout: AckWait | None = param(
        None,
        (
            "longest wait if segments come more than half of timeout apart: the wait grows to "
            "twice the interval, at most to the handshake's round trip"
        ),
        source="RFC 1122 has one wait; Linux: icsk_ack.ato, TCP_DELACK_MAX",
    )
    every_segments: Annotated[int, whole_number(1, 1000)] = param(
        2, "segments after which an ACK is sent at once", source="RFC 1122 4.2.3.2"
    )
    quick_segments: Annotated[int, whole_number(0, 1000)] = param(
        0,
        (
            "data segments that are acknowledged at once, each by its own ACK: the first of a "
            "connection, and those after a segment that came twice or after a gap longer than "
            "the receiver's own RTO"
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
