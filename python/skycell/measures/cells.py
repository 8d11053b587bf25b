"""Measures of the VCs whose cell delay is measured: losses, conformance, delays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from skycell.input.quantities import PS_PER_MS
from skycell.measures.measure import Measures
from skycell.measures.run_view import RunView
from skycell.metrics import cell_delay, lost_cells
from skycell.metrics.classes import cells_counted
from skycell.stats.ranges import PART, POSITIVE

VCS: Measures[RunView] = Measures()

_PART: Mapping[str, Any] = {"part": "vc", "better": "smaller", "range": PART}
_DELAY: Mapping[str, Any] = {"part": "vc", "better": "smaller", "range": POSITIVE}


def _part_of_cells(run: RunView, count: Callable[[Mapping[str, Any]], int]) -> float | None:
    """Cells of the VCs that `count` counts, as a part of all that it could count."""
    counted = float(sum(map(cells_counted, run.vcs)))
    return sum(map(count, run.vcs)) / counted if counted else None


@VCS.declare(
    "1",
    "cells lost at policers and contracts, in ports and on links, as a part of those offered",
    **_PART,
)
def cell_loss_ratio(run: RunView) -> float | None:
    """Of those offered in the time that counts, and those under way when it began."""
    return _part_of_cells(run, lost_cells)


@VCS.declare(
    "1", "cells that did not conform to their policer, as a part of those offered", **_PART
)
def nonconforming_part(run: RunView) -> float | None:
    """Of the same cells as the cell loss ratio."""
    return _part_of_cells(run, lambda vc: vc["cells_nonconforming"])


@VCS.declare("ms", "mean transfer delay of the cells that arrived", **_DELAY)
def mean_cell_delay(run: RunView) -> float | None:
    """Each cell counts alike."""
    delays = [vc["delay"] for vc in run.vcs]
    cells = float(sum(delay["cells"] for delay in delays))
    if not cells:
        return None
    weighted = sum(delay["mean_ps"] * delay["cells"] for delay in delays)
    return float(weighted) / cells / PS_PER_MS


def _largest(run: RunView, key: str) -> float | None:
    """The largest of a figure of the VCs, ms."""
    figures = [vc["delay"][key] for vc in run.vcs if vc["delay"]["cells"]]
    return float(max(figures)) / PS_PER_MS if figures else None


@VCS.declare("ms", "largest transfer delay of a cell", **_DELAY)
def largest_cell_delay(run: RunView) -> float | None:
    """None if no cell arrived."""
    return _largest(run, "max_ps")


@VCS.declare(
    "ms", "99.9th percentile of the cell transfer delay; of several VCs the largest", **_DELAY
)
def p999_cell_delay(run: RunView) -> float | None:
    """None if no cell arrived."""
    return _largest(run, "p999_ps")


@VCS.declare(
    "ms",
    "peak-to-peak cell delay variation: the 99.9th percentile of the delay less its fixed part; of "
    "several VCs the largest",
    **_DELAY,
)
def cell_delay_variation(run: RunView) -> float | None:
    """None if no cell arrived."""
    delays = [delay for vc in run.vcs if (delay := cell_delay(vc["delay"]))]
    return max(delay.peak_to_peak_cdv_s() for delay in delays) * 1e3 if delays else None
