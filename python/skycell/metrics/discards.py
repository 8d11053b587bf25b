"""What ports discarded, and why."""

from collections.abc import Mapping
from typing import Any


def discards_by_reason(port: Mapping[str, Any], *, frames: bool = False) -> dict[str, int]:
    """Cells (or frames) that a port discarded, by reason; reasons that never occurred left out.

    Args:
        port: one entry of the records' `ports`.
        frames: count frames that lost at least one cell, by the reason of the first.

    >>> discards_by_reason({"discarded": {"overflow": 3, "rest_of_frame": 0}})
    {'overflow': 3}
    """
    counts = port["frames_discarded" if frames else "discarded"]
    return {reason: count for reason, count in counts.items() if count}


def discard_ratio(port: Mapping[str, Any]) -> float:
    """Share of the cells in a port that it discarded, 0 to 1; 0 if there were none.

    >>> counts = {"departed": 180, "queued": 10, "discarded": {"overflow": 3, "above_threshold": 7}}
    >>> discard_ratio(counts)
    0.05
    """
    discarded: int = sum(port["discarded"].values())
    counted = units_counted(port)
    return discarded / counted if counted else 0.0


def units_counted(port: Mapping[str, Any]) -> int:
    """Cells, or packets, that a port could discard in the time that counts.

    They are those that arrived then and those that were there when counting began: what has left,
    what was discarded and what is there at the end are together the same.

    Args:
        port: one entry of the records' `ports`, or of a port's `queues`.
    """
    counted: int = port["departed"] + sum(port["discarded"].values()) + port["queued"]
    return counted
