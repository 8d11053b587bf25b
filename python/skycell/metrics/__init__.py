"""What users got from a run: pure functions on run records and specs, in base units.

A rate is in bit/s, a time in seconds, a queue in cells. Nothing here reads a file or draws a
number.
"""

from skycell.metrics.abr import abr_rates
from skycell.metrics.ceiling import (
    ceiling_bps,
    cells_per_frame,
    link_cell_bps,
    segment_frame_cells,
    tcp_share,
)
from skycell.metrics.classes import (
    OTHER_CLASSES,
    cell_delay,
    cell_loss_ratio,
    link_shares,
    lost_cells,
)
from skycell.metrics.delay import flow_delays_s
from skycell.metrics.discards import discard_ratio, discards_by_reason
from skycell.metrics.efficiency import efficiency
from skycell.metrics.fairness import fairness_index, fairness_to_the_due, max_min_shares
from skycell.metrics.max_min import max_min_rates
from skycell.metrics.network import Network, ceiling_of_all_bps, max_min_fairness
from skycell.metrics.queues import queue_bound_delay_s, queue_lengths
from skycell.metrics.round_trips import round_trips
from skycell.metrics.throughput import THROUGHPUT_DEFINITIONS, scheduled_bps, throughputs_bps

__all__ = [
    "OTHER_CLASSES",
    "THROUGHPUT_DEFINITIONS",
    "Network",
    "abr_rates",
    "ceiling_bps",
    "ceiling_of_all_bps",
    "cell_delay",
    "cell_loss_ratio",
    "cells_per_frame",
    "discard_ratio",
    "discards_by_reason",
    "efficiency",
    "fairness_index",
    "fairness_to_the_due",
    "flow_delays_s",
    "link_cell_bps",
    "link_shares",
    "lost_cells",
    "max_min_fairness",
    "max_min_rates",
    "max_min_shares",
    "queue_bound_delay_s",
    "queue_lengths",
    "round_trips",
    "scheduled_bps",
    "segment_frame_cells",
    "tcp_share",
    "throughputs_bps",
]
