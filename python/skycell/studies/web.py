"""What tables measure on runs with web users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from skycell.input.quantities import PS_PER_SECOND
from skycell.metrics import fairness_to_the_due, max_min_shares, scheduled_bps

_MBIT = 1e6


def max_min_fairness(
    summary: Mapping[str, Any], rates_bps: Sequence[float], ceiling_bps: float
) -> float | None:
    """Fairness index against the max-min shares of what the servers had to send.

    Servers that were asked for nothing take no part; none if nothing was delivered.

    Source: 98-0876R1 section 7.
    """
    return fairness_to_the_due(rates_bps, max_min_shares(scheduled_bps(summary), ceiling_bps))


def offered_load(summary: Mapping[str, Any]) -> float:
    """What all servers had to send, Mbit/s."""
    return sum(scheduled_bps(summary)) / _MBIT


def mean_file_kb(summary: Mapping[str, Any]) -> float | None:
    """Mean size of the files sent, kB of 1000 octets; none without any."""
    web = summary["web"]
    answered = web["requests_answered"]
    return web["octets_scheduled"] / answered / 1000 if answered else None


def response_time(
    summary: Mapping[str, Any],
    of: Literal["file_response", "page_response"],
    what: Literal["p50_ps", "p95_ps"],
) -> float | None:
    """A quantile of the response times over all clients, seconds; none where no file came."""
    time_ps = summary["web"][of][what]
    return None if time_ps is None else time_ps / PS_PER_SECOND
