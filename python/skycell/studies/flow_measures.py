"""What a table of a study measures on flows by the counters of a run alone."""

from __future__ import annotations

from collections.abc import Mapping

from skycell.experiment.measure import Measure, RunView
from skycell.studies import privileged

_MBIT = 1e6

FLOW_MEASURES: Mapping[str, Measure[RunView]] = {
    "smallest_throughput": Measure(
        "Mbit/s", "throughput of the slowest flow", lambda run: min(run.rates_bps()) / _MBIT
    ),
    "mean_delay": Measure(
        "ms",
        "mean one-way delay of the data segments that arrived, from end to end",
        lambda run: privileged.delay_ms(run.summary, range(len(run.flows))),
    ),
    "timeouts_per_10mb": Measure(
        "events",
        "retransmission timeouts of the privileged source for each 10 MB",
        lambda run: privileged.per_10mb(run.summary, "timeouts"),
    ),
    "retransmitted_per_10mb": Measure(
        "kB",
        "octets that the privileged source sent again for each 10 MB",
        lambda run: privileged.per_10mb(run.summary, "octets_retransmitted"),
    ),
}
"""Measures of flows, by their names."""
