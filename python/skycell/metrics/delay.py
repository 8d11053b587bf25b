"""One-way delay of data segments."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from skycell.input.quantities import PS_PER_SECOND


class FlowDelay(NamedTuple):
    """One-way delay of a flow's data segments, seconds, from the sender's port to the last cell."""

    mean_s: float
    smallest_s: float
    largest_s: float


def flow_delays_s(records: Mapping[str, Any]) -> list[FlowDelay | None]:
    """Delay of every flow of a run; none for a flow of which no segment arrived.

    >>> flow = {"segments_received": 2, "delay_mean_ps": 2e11, "delay_min_ps": 10**11,
    ...         "delay_max_ps": 3 * 10**11}
    >>> flow_delays_s({"flows": [flow]})
    [FlowDelay(mean_s=0.2, smallest_s=0.1, largest_s=0.3)]
    """
    return [
        FlowDelay(
            flow["delay_mean_ps"] / PS_PER_SECOND,
            flow["delay_min_ps"] / PS_PER_SECOND,
            flow["delay_max_ps"] / PS_PER_SECOND,
        )
        if flow["segments_received"]
        else None
        for flow in records["flows"]
    ]
