"""What a sweep can measure on a run: one number each, from the run's summary and its spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from skycell.experiment.call_measures import CALL_MEASURES
from skycell.experiment.measure import COMMON, Measure, cells_discarded, total_mbps
from skycell.experiment.run_view import SweepView
from skycell.experiment.uplink_measures import UPLINK_MEASURES
from skycell.experiment.value import Better
from skycell.input.quantities import PS_PER_MS
from skycell.metrics import cell_delay, efficiency, lost_cells, max_min_fairness
from skycell.metrics.classes import cells_counted
from skycell.metrics.discards import units_counted
from skycell.metrics.run_rows import mean_closing_s
from skycell.stats.ranges import ANY, PART, POSITIVE, Range

DEFAULT_RESPONSES = ("efficiency", "fairness")
"""What is measured unless the file says otherwise."""

_MBIT = 1e6


def _efficiency(run: SweepView) -> float | None:
    if run.network.ceiling_bps == 0:
        return None  # nothing was left to use
    return efficiency(run.rates_bps(), run.network.ceiling_bps)


def _fairness(run: SweepView) -> float | None:
    return max_min_fairness(run.network, run.summary, run.definition)


def _smallest(run: SweepView) -> float:
    return min(run.rates_bps()) / _MBIT


def _largest(run: SweepView) -> float:
    return max(run.rates_bps()) / _MBIT


def _sent_again(run: SweepView) -> float | None:
    sent = run.total("segments_sent")
    return run.total("segments_retransmitted") / sent if sent else None


def _mean_delay(run: SweepView) -> float | None:
    received = run.total("segments_received")
    if not received or _is_split(run):
        return None
    weighted = sum(f["delay_mean_ps"] * f["segments_received"] for f in run.flows)
    return float(weighted) / received / PS_PER_MS


def _largest_delay(run: SweepView) -> float | None:
    largest = [flow["delay_max_ps"] for flow in run.flows if flow["segments_received"]]
    return float(max(largest)) / PS_PER_MS if largest and not _is_split(run) else None


def _is_split(run: SweepView) -> bool:
    """Whether a flow is: its record has the delay of its last connection, not from end to end."""
    return any("connections" in flow for flow in run.flows)


def _discarded_part(run: SweepView) -> float | None:
    counted = sum(map(units_counted, run.ports))
    return cells_discarded(run) / float(counted) if counted else None


def _queue(run: SweepView, key: str) -> float | None:
    port = run.port()
    found = None if port is None else port["queue"][key]
    return None if found is None else float(found)


def _utilisation(run: SweepView) -> float | None:
    port = run.port()
    return None if port is None else float(port["busy_ps"]) / float(run.summary["duration_ps"])


def _sojourn(run: SweepView, key: str) -> float | None:
    port = run.port()
    found = port and port.get("octets", {}).get("sojourn")
    return float(found[key]) / PS_PER_MS if found and found["packets"] else None


def _part_of_cells(run: SweepView, count: Callable[[Mapping[str, Any]], int]) -> float | None:
    """Cells of the measured VCs that `count` counts, as a part of all that it could."""
    counted = float(sum(map(cells_counted, run.vcs)))
    return sum(map(count, run.vcs)) / counted if counted else None


def _mean_cell_delay(run: SweepView) -> float | None:
    delays = [vc["delay"] for vc in run.vcs]
    cells = float(sum(delay["cells"] for delay in delays))
    if not cells:
        return None
    weighted = sum(delay["mean_ps"] * delay["cells"] for delay in delays)
    return float(weighted) / cells / PS_PER_MS


def _largest_cell_delay(run: SweepView) -> float | None:
    largest = [vc["delay"]["max_ps"] for vc in run.vcs if vc["delay"]["cells"]]
    return float(max(largest)) / PS_PER_MS if largest else None


def _p999_cell_delay(run: SweepView) -> float | None:
    quantiles = [vc["delay"]["p999_ps"] for vc in run.vcs if vc["delay"]["cells"]]
    return float(max(quantiles)) / PS_PER_MS if quantiles else None


def _cell_delay_variation(run: SweepView) -> float | None:
    delays = [found for vc in run.vcs if (found := cell_delay(vc["delay"]))]
    return max(delay.peak_to_peak_cdv_s() for delay in delays) * 1e3 if delays else None


def _link_share(run: SweepView) -> float | None:
    port, busy = run.port(), _utilisation(run)
    if port is None or busy is None:
        return None
    if not port["queues"] or not port["departed"]:
        return busy
    sent: int = sum(queue["departed"] for queue in port["queues"])
    return busy * (sent / float(port["departed"]))


def _of_times(times: Mapping[str, Any] | None, key: str) -> float | None:
    """A figure of some times, milliseconds."""
    if not times or not times["count"]:
        return None
    return float(times[key]) / PS_PER_MS


def _web(run: SweepView, times: str, key: str) -> float | None:
    return _of_times(run.summary.get("web", {}).get(times), key)


def _transfers(run: SweepView, key: str) -> float | None:
    return _of_times(run.transfers and run.transfers["times"], key)


def _deliveries(run: SweepView, key: str) -> float | None:
    return _of_times(run.transfers and run.transfers.get("deliveries"), key)


def _closing(run: SweepView) -> float | None:
    seconds = mean_closing_s(run.flows)
    return None if seconds is None else seconds * 1e3


def _late_transfers(run: SweepView) -> float | None:
    found = run.transfers
    if not found or not found["begun"]:
        return None
    begun = int(found["begun"])
    return (begun - int(found["times"]["count"])) / begun


def _late_files(run: SweepView) -> float | None:
    web = run.summary.get("web")
    if not web or not web["requests"]:
        return None
    requests = int(web["requests"])
    return (requests - int(web["file_response"]["count"])) / requests


RESPONSES: Mapping[str, Measure[SweepView]] = {
    "efficiency": Measure(
        "1",
        "sum of the TCP throughputs as a part of the ceiling",
        _efficiency,
        better="larger",
        range=PART,
    ),
    "fairness": Measure(
        "1",
        "fairness index of the throughputs against their max-min fair shares",
        _fairness,
        better="larger",
        range=PART,
    ),
    "throughput": Measure(
        "Mbit/s",
        "TCP throughput, all flows together",
        total_mbps,
        part="flow",
        better="larger",
        range=POSITIVE,
    ),
    "smallest_throughput": Measure(
        "Mbit/s",
        "throughput of the slowest flow",
        _smallest,
        better="larger",
        range=POSITIVE,
    ),
    "largest_throughput": Measure(
        "Mbit/s", "throughput of the fastest flow", _largest, range=POSITIVE
    ),
    "ceiling": Measure(
        "Mbit/s",
        "largest sum of TCP throughputs, of which an efficiency is a part",
        lambda run: run.network.ceiling_bps / _MBIT,
        range=POSITIVE,
    ),
    "timeouts": COMMON["timeouts"],
    "fast_retransmits": COMMON["fast_retransmits"],
    "retransmitted_part": Measure(
        "1",
        "segments sent again as a part of those sent",
        _sent_again,
        part="flow",
        better="smaller",
        range=PART,
    ),
    "mean_delay": Measure(
        "ms",
        "mean one-way delay of the data segments that arrived",
        _mean_delay,
        part="flow",
        better="smaller",
        range=POSITIVE,
    ),
    "largest_delay": Measure(
        "ms",
        "largest one-way delay of a data segment",
        _largest_delay,
        part="flow",
        better="smaller",
        range=POSITIVE,
    ),
    "cells_discarded": COMMON["cells_discarded"],
    "discarded_part": Measure(
        "1",
        "cells, or packets, discarded as a part of those that arrived there",
        _discarded_part,
        part="port",
        better="smaller",
        range=PART,
    ),
    "mean_queue": Measure(
        "cells",
        "time average of the queue at a port with a limited buffer, by default that of the "
        "slowest link that data cross; packets where it holds those",
        lambda run: _queue(run, "mean"),
        part="port",
        better="smaller",
        of_one_port=True,
        range=POSITIVE,
    ),
    "largest_queue": Measure(
        "cells",
        "largest queue at that port",
        lambda run: _queue(run, "max"),
        part="port",
        better="smaller",
        of_one_port=True,
        range=POSITIVE,
    ),
    "p99_queue": Measure(
        "cells",
        "queue at that port that 99 % of its samples did not exceed",
        lambda run: _queue(run, "p99"),
        part="port",
        better="smaller",
        of_one_port=True,
        range=POSITIVE,
    ),
    **UPLINK_MEASURES,
    **CALL_MEASURES,
    "utilisation": Measure(
        "1",
        "part of the run in which that port was sending",
        _utilisation,
        part="port",
        better="larger",
        of_one_port=True,
        range=PART,
    ),
    "mean_sojourn": Measure(
        "ms",
        "mean time that packets stayed in that port; none where it holds cells",
        lambda run: _sojourn(run, "mean_ps"),
        part="port",
        better="smaller",
        of_one_port=True,
        range=POSITIVE,
    ),
    "p50_sojourn": Measure(
        "ms",
        "time that half of the packets did not stay longer in that port",
        lambda run: _sojourn(run, "p50_ps"),
        part="port",
        better="smaller",
        of_one_port=True,
        range=POSITIVE,
    ),
    "p95_sojourn": Measure(
        "ms",
        "time that 95 % of the packets did not stay longer in that port",
        lambda run: _sojourn(run, "p95_ps"),
        part="port",
        better="smaller",
        of_one_port=True,
        range=POSITIVE,
    ),
    "p99_sojourn": Measure(
        "ms",
        "time that 99 % of the packets did not stay longer in that port",
        lambda run: _sojourn(run, "p99_ps"),
        part="port",
        better="smaller",
        of_one_port=True,
        range=POSITIVE,
    ),
    "largest_sojourn": Measure(
        "ms",
        "largest time that a packet stayed in that port",
        lambda run: _sojourn(run, "max_ps"),
        part="port",
        better="smaller",
        of_one_port=True,
        range=POSITIVE,
    ),
    "link_share": Measure(
        "1",
        "cells, or packets, that a port with a limited buffer sent, by default that of the slowest "
        "link that data cross, as a part of those that its link carries",
        _link_share,
        part="class",
        of_one_port=True,
        range=PART,
    ),
    "cell_loss_ratio": Measure(
        "1",
        "cells lost at policers and contracts, in ports and on links, as a part of those offered",
        lambda run: _part_of_cells(run, lost_cells),
        part="vc",
        better="smaller",
        range=PART,
    ),
    "nonconforming_part": Measure(
        "1",
        "cells that did not conform to their policer, as a part of those offered",
        lambda run: _part_of_cells(run, lambda vc: vc["cells_nonconforming"]),
        part="vc",
        better="smaller",
        range=PART,
    ),
    "mean_cell_delay": Measure(
        "ms",
        "mean transfer delay of the cells that arrived",
        _mean_cell_delay,
        part="vc",
        better="smaller",
        range=POSITIVE,
    ),
    "largest_cell_delay": Measure(
        "ms",
        "largest transfer delay of a cell",
        _largest_cell_delay,
        part="vc",
        better="smaller",
        range=POSITIVE,
    ),
    "p999_cell_delay": Measure(
        "ms",
        "transfer delay within which 99.9 % of the cells came; of several VCs the largest",
        _p999_cell_delay,
        part="vc",
        better="smaller",
        range=POSITIVE,
    ),
    "cell_delay_variation": Measure(
        "ms",
        "peak-to-peak cell delay variation, the 99.9 % quantile of the delay less its fixed part; "
        "of several VCs the largest",
        _cell_delay_variation,
        part="vc",
        better="smaller",
        range=POSITIVE,
    ),
    "mean_page_response": Measure(
        "ms",
        "mean time from a web page's first request to its last octet",
        lambda run: _web(run, "page_response", "mean_ps"),
        traffic="web",
        better="smaller",
        range=POSITIVE,
    ),
    "p95_page_response": Measure(
        "ms",
        "time within which 95 % of the web pages came",
        lambda run: _web(run, "page_response", "p95_ps"),
        traffic="web",
        better="smaller",
        range=POSITIVE,
    ),
    "mean_file_response": Measure(
        "ms",
        "mean time from a web file's request to its last octet",
        lambda run: _web(run, "file_response", "mean_ps"),
        traffic="web",
        better="smaller",
        range=POSITIVE,
    ),
    "p95_file_response": Measure(
        "ms",
        "time within which 95 % of the web files came",
        lambda run: _web(run, "file_response", "p95_ps"),
        traffic="web",
        better="smaller",
        range=POSITIVE,
    ),
    "late_files_part": Measure(
        "1",
        "web files that had not come whole when the run ended, of those asked for in the time that "
        "counts",
        _late_files,
        traffic="web",
        better="smaller",
        range=PART,
    ),
    "mean_transfer_time": Measure(
        "ms",
        "mean time from the moment a transfer is handed over until its last octet is acknowledged",
        lambda run: _transfers(run, "mean_ps"),
        part="flow",
        traffic="transfers",
        better="smaller",
        range=POSITIVE,
    ),
    "p95_transfer_time": Measure(
        "ms",
        "time within which 95 % of the transfers were acknowledged",
        lambda run: _transfers(run, "p95_ps"),
        part="flow",
        traffic="transfers",
        better="smaller",
        range=POSITIVE,
    ),
    "mean_delivery_time": Measure(
        "ms",
        "mean time from the moment a transfer is handed over until its last octet is in the "
        "application at the destination, behind all proxies",
        lambda run: _deliveries(run, "mean_ps"),
        part="flow",
        traffic="transfers",
        better="smaller",
        trace="deliveries",
        range=POSITIVE,
    ),
    "p95_delivery_time": Measure(
        "ms",
        "time within which 95 % of the transfers had come to the application at the destination",
        lambda run: _deliveries(run, "p95_ps"),
        part="flow",
        traffic="transfers",
        better="smaller",
        trace="deliveries",
        range=POSITIVE,
    ),
    "mean_closing_time": Measure(
        "ms",
        "mean time from a transfer's last octet acknowledged to its connection closed",
        _closing,
        part="flow",
        traffic="transfers",
        better="smaller",
        range=POSITIVE,
    ),
    "late_transfers_part": Measure(
        "1",
        "transfers that were not acknowledged when the run ended, of those with data sent",
        _late_transfers,
        part="flow",
        traffic="transfers",
        better="smaller",
        range=PART,
    ),
}
"""Responses by name. Where `part` says so, `NAME:FLOW`, `NAME:PORT` and so on measure one alone."""


def response_of(name: str) -> Measure[SweepView]:
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


def better_of(name: str) -> Better:
    """Which values of a response users would rather have; empty also for another column.

    >>> better_of("throughput:flow1"), better_of("mean_delay"), better_of("speed")
    ('larger', 'smaller', '')
    """
    return response_of(name).better if is_response(name) else ""


def meaning_of(name: str) -> str:
    """What a response is, in a sentence without a full stop; empty also for another column.

    A measure of a study may have the same name and be another one.

    >>> meaning_of("fairness"), meaning_of("speed")
    ('fairness index of the throughputs against their max-min fair shares', '')
    """
    return response_of(name).meaning if is_response(name) else ""


def range_of(name: str) -> Range:
    """What the values of a response can be; anything also for another column.

    >>> range_of("throughput:flow1"), range_of("speed") == ANY
    (Range(low=0.0, high=inf), True)
    """
    return response_of(name).range if is_response(name) else ANY


def measure(name: str, run: SweepView) -> float | None:
    """The value of a response on a run; none where it is not defined there."""
    response = response_of(name)
    if response.is_of_flows and not run.flows:
        return None
    part = name.partition(":")[2]
    view = run.narrowed(response.part, part) if part else run
    return None if view is None else response.measure(view)
