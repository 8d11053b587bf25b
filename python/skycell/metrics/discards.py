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
    """Share of the cells offered to a port that it discarded, 0 to 1; 0 if none were offered.

    >>> discard_ratio({"arrived": 200, "discarded": {"overflow": 3, "above_threshold": 7}})
    0.05
    """
    arrived: int = port["arrived"]
    discarded: int = sum(port["discarded"].values())
    return discarded / arrived if arrived else 0.0
