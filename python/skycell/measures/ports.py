"""Measures of ports with a limited buffer: discards, queues, sojourn times, shares of the link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skycell.measures.measure import Measures
from skycell.measures.run_view import RunView
from skycell.metrics.discards import units_counted
from skycell.stats.ranges import PART, POSITIVE

PORTS: Measures[RunView] = Measures()


@PORTS.declare(
    "cells",
    "cells, or packets, discarded by ports with a limited buffer",
    part="port",
    better="smaller",
    range=POSITIVE,
)
def cells_discarded(run: RunView) -> float:
    """For whatever reason, at all ports."""
    return float(sum(sum(port["discarded"].values()) for port in run.ports))


@PORTS.declare(
    "1",
    "cells, or packets, discarded by ports with a limited buffer as a part of those that came",
    part="port",
    better="smaller",
    range=PART,
)
def discarded_part(run: RunView) -> float | None:
    """Of all that arrived in the time that counts, or were in the ports when it began."""
    counted = sum(map(units_counted, run.ports))
    return cells_discarded(run) / float(counted) if counted else None


def _queue(run: RunView, key: str) -> float | None:
    port = run.port()
    length = None if port is None else port["queue"][key]
    return None if length is None else float(length)


_OF_ONE_PORT: Mapping[str, Any] = {"part": "port", "of_one_port": True}
_OF_QUEUE: Mapping[str, Any] = {**_OF_ONE_PORT, "better": "smaller", "range": POSITIVE}


@PORTS.declare(
    "cells",
    "time average of the queue at a port with a limited buffer, by default the slowest "
    "that data cross; in packets if the port holds packets",
    **_OF_QUEUE,
)
def mean_queue(run: RunView) -> float | None:
    """None without such a port."""
    return _queue(run, "mean")


@PORTS.declare("cells", "largest queue at a port with a limited buffer", **_OF_QUEUE)
def largest_queue(run: RunView) -> float | None:
    """None without such a port."""
    return _queue(run, "max")


@PORTS.declare(
    "cells",
    "99th percentile of the queue at a port with a limited buffer, over its samples",
    **_OF_QUEUE,
)
def p99_queue(run: RunView) -> float | None:
    """None without samples."""
    return _queue(run, "p99")


@PORTS.declare(
    "1",
    "part of the run in which a port with a limited buffer was sending",
    better="larger",
    range=PART,
    **_OF_ONE_PORT,
)
def utilisation(run: RunView) -> float | None:
    """None without such a port."""
    port = run.port()
    return None if port is None else float(port["busy_ps"]) / float(run.summary["duration_ps"])


def sojourn_of(port: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Returns the record of how long packets stayed in a port; None if the port holds cells."""
    return port and port.get("octets", {}).get("sojourn")


PORTS.times(
    "sojourn",
    "time that a packet stays in a port with a limited buffer",
    lambda run: sojourn_of(run.port()),
    "mean p50 p90 p95 p99 largest",
    note="; none if the port holds cells",
    **_OF_ONE_PORT,
)


@PORTS.declare(
    "1",
    "cells, or packets, of the class that a port with a limited buffer sent, as a part of those "
    "that its link could carry; by default the slowest port that data cross",
    part="class",
    of_one_port=True,
    range=PART,
)
def link_share(run: RunView) -> float | None:
    """None without such a port."""
    port, busy = run.port(), utilisation(run)
    if port is None or busy is None:
        return None
    if not port["queues"] or not port["departed"]:
        return busy
    sent: int = sum(queue["departed"] for queue in port["queues"])
    return busy * (sent / float(port["departed"]))
