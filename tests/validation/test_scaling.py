"""All rates times ten and all times a tenth: the same run on a scaled clock."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import skycell
from tests.validation.generated import Values, scenarios

#: Columns that hold times, and so are ten times as large at a tenth of the rate.
TIMES = {"time_ps", "start_ps", "end_ps", "busy_ps", "connected_ps", "closing_ps", "duration_ps"}
TIMES |= {"delay_min_ps", "delay_max_ps", "delay_mean_ps"}


def _knows_no_second(pair: tuple[Values, Values]) -> bool:
    """Whether no rule of TCP has a time of its own, as HyStart and the timers of TLP have."""
    tcp = pair[0]["tcp"]
    of_seconds = ("rack_tlp", "hystart", "hystart_plus_plus")
    return all(tcp[rule]["kind"] not in of_seconds for rule in ("recovery", "slow_start"))


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(scenarios({"tcp.congestion": "reno"}).filter(_knows_no_second))
def test_a_faster_network_does_the_same_in_less_time(pair: tuple[Values, Values]) -> None:
    slow, fast = (skycell.run(skycell.parse(values)) for values in pair)
    for name, trace in slow.traces.items():
        for column in trace.columns:
            scale = 10 if column in TIMES else 1
            expected = fast.traces[name][column].to_numpy() * scale
            assert np.array_equal(trace[column].to_numpy(), expected), (name, column)
    for part in ("flows", "vcs", "ports", "ledger"):
        _compare(slow.records[part], fast.records[part], part)
    assert slow.records["engine_stats"] == fast.records["engine_stats"]


def _compare(slow: Any, fast: Any, where: str) -> None:
    """Whether two parts of the records are the same, times in proportion."""
    if isinstance(slow, dict):
        assert slow.keys() == fast.keys()
        for key in slow:
            _compare(slow[key], fast[key], f"{where}.{key}")
    elif isinstance(slow, list):
        assert len(slow) == len(fast)
        for place, (a, b) in enumerate(zip(slow, fast, strict=True)):
            _compare(a, b, f"{where}.{place}")
    elif isinstance(slow, float):
        # Means are quotients of whole numbers: the same but for the last bit.
        scale = 10 if where.rsplit(".", 1)[1] in TIMES else 1
        assert slow == pytest.approx(fast * scale, rel=1e-14, abs=0), where
    elif where.rsplit(".", 1)[1] in TIMES:
        assert slow == 10 * fast, where
    else:
        assert slow == fast, where
