"""The network of the closed forms: one connection or a few over links whose times are whole.

Every link carries 100 000 cells/s, so a cell takes 10 us. A segment of 1000 octets rides in 22
cells (1000 + 40 + 8 + 8 octets), an acknowledgement in 2. Hosts send without a gap and begin at
time 0, so that every time below can be worked out.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

import skycell
from skycell import RunResult, Scenario

MSS = 1000
"""Octets of a segment."""

CELL_MS = 0.01
FRAME_MS = 22 * CELL_MS

ONE_WAY_MS = FRAME_MS + 5 + 40 + 5 + 2 * CELL_MS
"""A lone segment: 22 cells leave the host, three links, one cell time at each switch: 50.24 ms."""

RTT_MS = ONE_WAY_MS + 2 * CELL_MS + 5 + 40 + 5 + 2 * CELL_MS
"""And the acknowledgement's two cells back: 100.28 ms."""

_SENT, _RESENT, _ACKED = 0, 1, 2


def scenario(window: int, values: Mapping[str, Any] | None = None) -> Scenario:
    """One connection whose cwnd and ssthresh begin at `window` segments; `values` go over it."""
    base: dict[str, Any] = {
        "run": {"duration": "2 s"},
        "topology": {
            "kind": "dumbbell",
            "sources": 1,
            "bottleneck": {"rate": "100000 cells/s", "delay": "40 ms", "buffer": "unlimited"},
            "access": {"delay": "5 ms", "frame_jitter": "0 s"},
        },
        "tcp": {
            "mss": f"{MSS} B",
            "receiver_window": "640000 B",
            "window_scaling": True,
            "initial_cwnd": f"{window} segments",
            "initial_ssthresh": f"{window} segments",
            "tick_phase": "common",
            "rto_initial": "5 ticks",
        },
        "start": "together",
        "records": {"traces": ["cwnd", "sequence"]},
    }
    return skycell.parse(base).with_values(dict(values or {}))


def run(window: int, values: Mapping[str, Any] | None = None) -> RunResult:
    """A run of `scenario`."""
    return skycell.run(scenario(window, values))


def resent_ms(result: RunResult) -> list[float]:
    """When the first flow sent segments again."""
    return _times_ms(result, _RESENT)


def sent_ms(result: RunResult) -> list[float]:
    """When the first flow sent new segments."""
    return _times_ms(result, _SENT)


def windows(result: RunResult) -> list[tuple[float, float, float]]:
    """Time in ms, cwnd and ssthresh in segments, at each change at the first flow."""
    table = result.traces["cwnd"].filter(pl.col("flow") == 0)
    return [(row[1] / 1e9, row[2] / MSS, row[3] / MSS) for row in table.iter_rows()]


def flow(result: RunResult) -> Mapping[str, Any]:
    """The record of the first flow."""
    record: Mapping[str, Any] = result.records["flows"][0]
    return record


def _times_ms(result: RunResult, event: int) -> list[float]:
    table = result.traces["sequence"].filter((pl.col("flow") == 0) & (pl.col("event") == event))
    return [time / 1e9 for time in table["time_ps"].to_list()]
