"""Measures of what users wait for: web pages and files, and transfers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skycell.measures.measure import Measures
from skycell.measures.run_view import RunView
from skycell.metrics.run_rows import mean_closing_s
from skycell.stats.ranges import PART, POSITIVE

WEB: Measures[RunView] = Measures()
TRANSFERS: Measures[RunView] = Measures()

_OF_FLOW: Mapping[str, Any] = {"part": "flow", "traffic": "transfers"}


WEB.times(
    "page_response",
    "time from a web page's first request to its last octet",
    lambda run: run.summary.get("web", {}).get("page_response"),
    "mean p50 p90 p95 p99",
    traffic="web",
)
WEB.times(
    "file_response",
    "time from a web file's request to its last octet",
    lambda run: run.summary.get("web", {}).get("file_response"),
    "mean p50 p90 p95 p99",
    traffic="web",
)


@WEB.declare(
    "1",
    "web files that had not come whole when the run ended, as a part of those requested",
    traffic="web",
    better="smaller",
    range=PART,
)
def late_files_part(run: RunView) -> float | None:
    """Of the files requested in the time that counts."""
    web = run.summary.get("web")
    if not web or not web["requests"]:
        return None
    requests = int(web["requests"])
    return (requests - int(web["file_response"]["count"])) / requests


TRANSFERS.times(
    "transfer_time",
    "time from the moment a transfer is handed over until its last octet is acknowledged",
    lambda run: run.transfers and run.transfers["times"],
    "mean p50 p90 p95 p99",
    **_OF_FLOW,
)
TRANSFERS.times(
    "delivery_time",
    "time from the moment a transfer is handed over until its last octet is in the application at "
    "the destination, behind all proxies",
    lambda run: run.transfers and run.transfers.get("deliveries"),
    "mean p50 p90 p95 p99",
    trace="deliveries",
    **_OF_FLOW,
)


@TRANSFERS.declare(
    "ms",
    "mean time from a transfer's last octet acknowledged until its connection is closed",
    better="smaller",
    range=POSITIVE,
    **_OF_FLOW,
)
def mean_closing_time(run: RunView) -> float | None:
    """None if no connection was closed."""
    seconds = mean_closing_s(run.flows)
    return None if seconds is None else seconds * 1e3


@TRANSFERS.declare(
    "1",
    "transfers that were not acknowledged when the run ended, as a part of those with data sent",
    better="smaller",
    range=PART,
    **_OF_FLOW,
)
def late_transfers_part(run: RunView) -> float | None:
    """None without transfers."""
    transfers = run.transfers
    if not transfers or not transfers["begun"]:
        return None
    begun = int(transfers["begun"])
    return (begun - int(transfers["times"]["count"])) / begun
