"""What a sweep can measure on a run: one number each, from the run's summary and its spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from skycell.experiment.run_view import RunView
from skycell.metrics import (
    cell_delay,
    efficiency,
    lost_cells,
    max_min_fairness,
)
from skycell.scenario.quantities import PS_PER_MS

DEFAULT_RESPONSES = ("efficiency", "fairness")
"""What is measured unless the file says otherwise."""

_MBIT = 1e6


@dataclass(frozen=True)
class Response:
    """What a response is.

    Attributes:
        unit: of its values; `1` for a number without unit.
        meaning: in one sentence without a full stop.
        part: `flow`, `port`, `vc` or `class` where NAME:PART measures a single one of them; else
            empty. Those of a flow or of none are of TCP flows, those of a VC of the VCs whose
            cells' delay is measured.
        traffic: kind of the traffic of the flows that it says something of, `web` or `transfers`;
            empty where it is of any.
    """

    unit: str
    meaning: str
    part: str
    measure: Callable[[RunView], float | None]
    traffic: str = ""

    @property
    def is_of_flows(self) -> bool:
        """Whether it says something of TCP connections only."""
        return self.part in {"", "flow"}


def _efficiency(run: RunView) -> float | None:
    if run.network.ceiling_bps == 0:
        return None  # nothing was left to use
    return efficiency(run.rates_bps(), run.network.ceiling_bps)


def _fairness(run: RunView) -> float | None:
    return max_min_fairness(run.network, run.summary, run.definition)


def _throughput(run: RunView) -> float:
    return sum(run.rates_bps()) / _MBIT


def _smallest(run: RunView) -> float:
    return min(run.rates_bps()) / _MBIT


def _largest(run: RunView) -> float:
    return max(run.rates_bps()) / _MBIT


def _sent_again(run: RunView) -> float | None:
    sent = run.total("segments_sent")
    return run.total("segments_retransmitted") / sent if sent else None


def _mean_delay(run: RunView) -> float | None:
    received = run.total("segments_received")
    if not received:
        return None
    weighted = sum(f["delay_mean_ps"] * f["segments_received"] for f in run.flows)
    return float(weighted) / received / PS_PER_MS


def _largest_delay(run: RunView) -> float | None:
    largest = [flow["delay_max_ps"] for flow in run.flows if flow["segments_received"]]
    return float(max(largest)) / PS_PER_MS if largest else None


def _discarded(run: RunView) -> float:
    return float(sum(sum(port["discarded"].values()) for port in run.ports))


def _discarded_part(run: RunView) -> float | None:
    arrived = sum(port["arrived"] for port in run.ports)
    return _discarded(run) / float(arrived) if arrived else None


def _mean_queue(run: RunView) -> float | None:
    port = run.port()
    return None if port is None else float(port["queue"]["mean"])


def _largest_queue(run: RunView) -> float | None:
    port = run.port()
    return None if port is None else float(port["queue"]["max"])


def _part_of_cells(run: RunView, count: Callable[[Mapping[str, Any]], int]) -> float | None:
    """Cells of the measured VCs that are counted, as a part of those offered."""
    offered = float(sum(vc["cells_offered"] for vc in run.vcs))
    return sum(map(count, run.vcs)) / offered if offered else None


def _mean_cell_delay(run: RunView) -> float | None:
    delays = [vc["delay"] for vc in run.vcs]
    cells = float(sum(delay["cells"] for delay in delays))
    if not cells:
        return None
    weighted = sum(delay["mean_ps"] * delay["cells"] for delay in delays)
    return float(weighted) / cells / PS_PER_MS


def _largest_cell_delay(run: RunView) -> float | None:
    largest = [vc["delay"]["max_ps"] for vc in run.vcs if vc["delay"]["cells"]]
    return float(max(largest)) / PS_PER_MS if largest else None


def _p999_cell_delay(run: RunView) -> float | None:
    quantiles = [vc["delay"]["p999_ps"] for vc in run.vcs if vc["delay"]["cells"]]
    return float(max(quantiles)) / PS_PER_MS if quantiles else None


def _cell_delay_variation(run: RunView) -> float | None:
    delays = [found for vc in run.vcs if (found := cell_delay(vc["delay"]))]
    return max(delay.peak_to_peak_cdv_s() for delay in delays) * 1e3 if delays else None


def _link_share(run: RunView) -> float | None:
    port = run.port()
    if port is None:
        return None
    busy = float(port["busy_ps"]) / float(run.summary["duration_ps"])
    if not port["queues"] or not port["departed"]:
        return busy
    sent: int = sum(queue["departed"] for queue in port["queues"])
    return busy * (sent / float(port["departed"]))


def _of_times(times: Mapping[str, Any] | None, key: str) -> float | None:
    """A figure of some times, milliseconds."""
    if not times or not times["count"]:
        return None
    return float(times[key]) / PS_PER_MS


def _web(run: RunView, times: str, key: str) -> float | None:
    return _of_times(run.summary.get("web", {}).get(times), key)


def _transfers(run: RunView, key: str) -> float | None:
    return _of_times(run.transfers and run.transfers["times"], key)


def _late_transfers(run: RunView) -> float | None:
    found = run.transfers
    if not found or not found["begun"]:
        return None
    begun = int(found["begun"])
    return (begun - int(found["times"]["count"])) / begun


def _late_files(run: RunView) -> float | None:
    web = run.summary.get("web")
    if not web or not web["requests"]:
        return None
    requests = int(web["requests"])
    return (requests - int(web["file_response"]["count"])) / requests


RESPONSES: Mapping[str, Response] = {
    "efficiency": Response(
        "1", "sum of the TCP throughputs as a part of the ceiling", "", _efficiency
    ),
    "fairness": Response(
        "1", "fairness index of the throughputs against their max-min fair shares", "", _fairness
    ),
    "throughput": Response("Mbit/s", "TCP throughput, all flows together", "flow", _throughput),
    "smallest_throughput": Response("Mbit/s", "throughput of the slowest flow", "", _smallest),
    "largest_throughput": Response("Mbit/s", "throughput of the fastest flow", "", _largest),
    "timeouts": Response(
        "events", "retransmission timeouts", "flow", lambda run: run.total("timeouts")
    ),
    "fast_retransmits": Response(
        "events", "fast retransmits", "flow", lambda run: run.total("fast_retransmits")
    ),
    "retransmitted_part": Response(
        "1", "segments sent again as a part of those sent", "flow", _sent_again
    ),
    "mean_delay": Response(
        "ms", "mean one-way delay of the data segments that arrived", "flow", _mean_delay
    ),
    "largest_delay": Response(
        "ms", "largest one-way delay of a data segment", "flow", _largest_delay
    ),
    "cells_discarded": Response(
        "cells", "cells discarded by ports with a limited buffer", "port", _discarded
    ),
    "discarded_part": Response(
        "1", "cells discarded as a part of those that arrived there", "port", _discarded_part
    ),
    "mean_queue": Response(
        "cells",
        "time average of the queue at the port with a limited buffer, of several the slowest",
        "port",
        _mean_queue,
    ),
    "largest_queue": Response("cells", "largest queue at that port", "port", _largest_queue),
    "link_share": Response(
        "1",
        "cells that the port with a limited buffer sent, of several that of the slowest link, as "
        "a part of those that its link carries",
        "class",
        _link_share,
    ),
    "cell_loss_ratio": Response(
        "1",
        "cells lost at policers and contracts, in ports and on links, as a part of those offered",
        "vc",
        lambda run: _part_of_cells(run, lost_cells),
    ),
    "nonconforming_part": Response(
        "1",
        "cells that did not conform to their policer, as a part of those offered",
        "vc",
        lambda run: _part_of_cells(run, lambda vc: vc["cells_nonconforming"]),
    ),
    "mean_cell_delay": Response(
        "ms", "mean transfer delay of the cells that arrived", "vc", _mean_cell_delay
    ),
    "largest_cell_delay": Response(
        "ms", "largest transfer delay of a cell", "vc", _largest_cell_delay
    ),
    "p999_cell_delay": Response(
        "ms",
        "transfer delay within which 99.9 % of the cells came; of several VCs the largest",
        "vc",
        _p999_cell_delay,
    ),
    "cell_delay_variation": Response(
        "ms",
        "peak-to-peak cell delay variation, the 99.9 % quantile of the delay less its fixed part; "
        "of several VCs the largest",
        "vc",
        _cell_delay_variation,
    ),
    "mean_page_response": Response(
        "ms",
        "mean time from a web page's first request to its last octet",
        "",
        lambda run: _web(run, "page_response", "mean_ps"),
        traffic="web",
    ),
    "p95_page_response": Response(
        "ms",
        "time within which 95 % of the web pages came",
        "",
        lambda run: _web(run, "page_response", "p95_ps"),
        traffic="web",
    ),
    "mean_file_response": Response(
        "ms",
        "mean time from a web file's request to its last octet",
        "",
        lambda run: _web(run, "file_response", "mean_ps"),
        traffic="web",
    ),
    "p95_file_response": Response(
        "ms",
        "time within which 95 % of the web files came",
        "",
        lambda run: _web(run, "file_response", "p95_ps"),
        traffic="web",
    ),
    "late_files_part": Response(
        "1",
        "web files that had not come whole when the run ended, of those asked for",
        "",
        _late_files,
        traffic="web",
    ),
    "mean_transfer_time": Response(
        "ms",
        "mean time from the moment a transfer is handed over until its last octet is acknowledged",
        "flow",
        lambda run: _transfers(run, "mean_ps"),
        traffic="transfers",
    ),
    "p95_transfer_time": Response(
        "ms",
        "time within which 95 % of the transfers were acknowledged",
        "flow",
        lambda run: _transfers(run, "p95_ps"),
        traffic="transfers",
    ),
    "late_transfers_part": Response(
        "1",
        "transfers that were not acknowledged when the run ended, of those with data sent",
        "flow",
        _late_transfers,
        traffic="transfers",
    ),
}
"""Responses by name. Where `part` says so, `NAME:FLOW`, `NAME:PORT` and so on measure one alone."""


def response_of(name: str) -> Response:
    """The response of a name, with or without a part; KeyError for any other."""
    base, colon, part = name.partition(":")
    response = RESPONSES[base]
    if colon and not (response.part and part):
        raise KeyError(name)
    return response


def is_response(name: str) -> bool:
    """Whether there is a response of this name.

    >>> is_response("timeouts:flow1"), is_response("efficiency:flow1"), is_response("speed")
    (True, False, False)
    """
    try:
        response_of(name)
    except KeyError:
        return False
    return True


def measure(name: str, run: RunView) -> float | None:
    """The value of a response on a run; none where it is not defined there."""
    response = response_of(name)
    if response.is_of_flows and not run.flows:
        return None
    part = name.partition(":")[2]
    view = run.narrowed(response.part, part) if part else run
    return None if view is None else response.measure(view)
