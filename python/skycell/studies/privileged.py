"""What the privileged source of Bonaventure's study and the background sources beside it got."""

from collections.abc import Mapping
from typing import Any

from skycell.input.quantities import PS_PER_MS

FLOW = 0
"""The privileged source is the first flow; the others are the background."""

_TRANSFER = 10**7
"""Octets of a transfer, to which the paper's counts are related."""


def flows_of(source: str, flows: int) -> range:
    """The flows that `privileged`, `background` or `each` stands for.

    >>> flows_of("background", 10)
    range(1, 10)
    """
    return {
        "privileged": range(FLOW, FLOW + 1),
        "background": range(FLOW + 1, flows),
        "each": range(flows),
    }[source]


def per_10mb(summary: Mapping[str, Any], count: str) -> float | None:
    """A count of the privileged source for each 10 MB that it delivered, octets as kB.

    None where it delivered nothing.
    """
    flow = summary["flows"][FLOW]
    if flow["octets_delivered"] == 0:
        return None
    unit = 1000 if count.startswith("octets") else 1
    return float(flow[count]) / unit * _TRANSFER / float(flow["octets_delivered"])


def tagged_share(summary: Mapping[str, Any], vc: int) -> float:
    """Part of a VC's frames that went on tagged; control segments are frames as well."""
    (found,) = (entry for entry in summary["gfr_vcs"] if entry["vc"] == vc)
    return float(found["frames_tagged"]) / float(found["frames_offered"])


def round_trip_ms(summary: Mapping[str, Any], rtt_s: float) -> float:
    """Mean round trip of the privileged source's segments, ms.

    From the moment a segment is handed to the port until all of it has arrived, and back by
    propagation alone: acknowledgements of two cells meet no queue.
    """
    return float(summary["flows"][FLOW]["delay_mean_ps"]) / PS_PER_MS + rtt_s / 2 * 1e3


def delay_ms(summary: Mapping[str, Any], flows: range) -> float:
    """Mean one-way delay of the segments of some flows, each flow alike, ms."""
    delays = [float(summary["flows"][flow]["delay_mean_ps"]) for flow in flows]
    return sum(delays) / len(delays) / PS_PER_MS


def mean_queue(summary: Mapping[str, Any]) -> float:
    """Mean of the queue at the fullest of the ports with a limited buffer, cells."""
    return max(float(port["queue"]["mean"]) for port in summary["ports"])


def sojourn_ms(summary: Mapping[str, Any], quantile: str) -> float | None:
    """A quantile of the time in a port with a limited buffer, the longest of them; packets only."""
    found = [port.get("octets", {}).get("sojourn") for port in summary["ports"]]
    times = [one[quantile] / PS_PER_MS for one in found if one and one["packets"]]
    return max(times, default=None)


def frames_above_hbo(summary: Mapping[str, Any]) -> float:
    """Frames that ports discarded because the queue was above HBO or the buffer full."""
    lost = [port["frames_discarded"] for port in summary["ports"]]
    return float(sum(frames["above_threshold"] + frames["overflow"] for frames in lost))
