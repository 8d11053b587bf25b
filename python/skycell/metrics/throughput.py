"""Throughput of TCP connections, by each definition that the published studies use."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skycell.input.quantities import PS_PER_SECOND

_BITS_PER_OCTET = 8

# A definition: which octets of a flow count, and over which time in picoseconds.
_Definition = Callable[[Mapping[str, Any], int], tuple[int, int]]


def _delivered_over_duration(flow: Mapping[str, Any], duration_ps: int) -> tuple[int, int]:
    # ICCCN'97 6.2, 97-0424, 97-0616: octets delivered to the application / simulation time.
    # 96-0518 counts octets in sequence at the destination TCP: the same octets.
    return flow["octets_delivered"], duration_ps


def _received_over_duration(flow: Mapping[str, Any], duration_ps: int) -> tuple[int, int]:
    # Different octets that arrived, in order or not.
    return flow["octets_received"], duration_ps


def _delivered_over_connection(flow: Mapping[str, Any], duration_ps: int) -> tuple[int, int]:
    # IJSC 2.1: without retransmissions / total connection time.
    return flow["octets_delivered"], flow["connected_ps"]


def _highest_over_duration(flow: Mapping[str, Any], duration_ps: int) -> tuple[int, int]:
    # 98-0876R1 6: highest sequence number received at the client / simulation time.
    return flow["octets_highest"], duration_ps


_DEFINITIONS: dict[str, _Definition] = {
    "delivered_over_duration": _delivered_over_duration,
    "received_over_duration": _received_over_duration,
    "delivered_over_connection": _delivered_over_connection,
    "highest_over_duration": _highest_over_duration,
}

THROUGHPUT_DEFINITIONS: tuple[str, ...] = tuple(_DEFINITIONS)
"""Names that `throughputs_bps` knows."""


def throughputs_bps(
    records: Mapping[str, Any],
    definition: str = "delivered_over_duration",
    since: Mapping[str, Any] | None = None,
) -> list[float]:
    """Throughput of every flow of a run, bit/s of TCP payload, in the order of the spec.

    Args:
        records: the run's records (the JSON form of `RunRecords`).
        definition: one of `THROUGHPUT_DEFINITIONS`.
        since: records of the same run ended earlier; octets and times are then counted from its
            end on. A run is a function of its spec, so the shorter run is the beginning of the
            longer one.

    Returns:
        One rate per flow; 0 for a flow whose time is 0 (never connected).

    Raises:
        ValueError: the definition is unknown, or `since` is not a shorter run of as many flows.

    Source: the documents named at each definition in this module.

    >>> flow = {"octets_delivered": 1_250_000, "connected_ps": 2_000_000_000_000}
    >>> throughputs_bps({"duration_ps": 4_000_000_000_000, "flows": [flow]})
    [2500000.0]
    >>> throughputs_bps(
    ...     {"duration_ps": 4_000_000_000_000, "flows": [flow]}, "delivered_over_connection"
    ... )
    [5000000.0]
    """
    try:
        count = _DEFINITIONS[definition]
    except KeyError:
        allowed = ", ".join(THROUGHPUT_DEFINITIONS)
        raise ValueError(f"throughput definition {definition!r}: allowed are {allowed}") from None
    counts = [count(flow, records["duration_ps"]) for flow in records["flows"]]
    if since is not None:
        if since["duration_ps"] >= records["duration_ps"]:
            raise ValueError("the earlier records must be of a shorter run")
        earlier = [count(flow, since["duration_ps"]) for flow in since["flows"]]
        if len(earlier) != len(counts):
            raise ValueError("the earlier records have another number of flows")
        counts = [
            (octets - before, time - time_before)
            for (octets, time), (before, time_before) in zip(counts, earlier, strict=True)
        ]
    return _rates(counts)


def scheduled_bps(records: Mapping[str, Any]) -> list[float]:
    """The largest throughput that each flow of a run could have, bit/s of TCP payload.

    Args:
        records: of the run, or a summary that has its flows.

    Returns:
        One rate per flow: of a web user what was asked of its server, over the simulated time;
        endless of others.

    Source: 98-0876R1 section 7, S_i.

    >>> flows = [{"web": {"octets_scheduled": 500_000}}, {}]
    >>> scheduled_bps({"duration_ps": 4_000_000_000_000, "flows": flows})
    [1000000.0, inf]
    """
    seconds = records["duration_ps"] / PS_PER_SECOND
    return [
        flow["web"]["octets_scheduled"] * _BITS_PER_OCTET / seconds if "web" in flow else math.inf
        for flow in records["flows"]
    ]


def _rates(counts: Sequence[tuple[int, int]]) -> list[float]:
    return [
        octets * _BITS_PER_OCTET * PS_PER_SECOND / time_ps if time_ps > 0 else 0.0
        for octets, time_ps in counts
    ]
