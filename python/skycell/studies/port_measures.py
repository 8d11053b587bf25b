"""Measures of ports and VCs that only tables of studies have: of several ports, or in per cent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skycell.input.quantities import PS_PER_MS
from skycell.measures.measure import Measures
from skycell.measures.ports import sojourn_of
from skycell.studies.measured_run import Measured

STUDY_PORTS: Measures[Measured] = Measures()


@STUDY_PORTS.declare(
    "cells", "largest of the mean queues of all ports with a limited buffer", better="smaller"
)
def mean_queue_worst_port(run: Measured) -> float:
    """In packets if the ports hold packets."""
    return max(float(port["queue"]["mean"]) for port in run.ports)


@STUDY_PORTS.declare(
    "cells",
    "largest queue of all ports with a limited buffer, or of those of the row's node, or of nodes "
    "whose names begin so",
    better="smaller",
)
def largest_queue_worst_port(run: Measured) -> float | None:
    """None without such a port."""
    return max((float(port["queue"]["max"]) for port in _ports_of_node(run)), default=None)


@STUDY_PORTS.declare(
    "ms",
    "largest of the 95th percentiles of the time that a packet stays in a port with a limited "
    "buffer",
    better="smaller",
)
def p95_sojourn_worst_port(run: Measured) -> float | None:
    """None without a port of packets."""
    sojourns = [sojourn_of(port) for port in run.ports]
    times = [stays["p95_ps"] / PS_PER_MS for stays in sojourns if stays and stays["packets"]]
    return max(times, default=None)


def _ports_of_node(run: Measured) -> list[Mapping[str, Any]]:
    node = str(run.factors.get("node", ""))
    return [port for port in run.ports if port["name"].startswith(node)]


@STUDY_PORTS.declare(
    "%",
    "cells, or packets, discarded as a part of those that arrived at the ports with a limited "
    "buffer, or at those of the row's node",
    better="smaller",
)
def discarded_percent(run: Measured) -> float | None:
    """None if nothing arrived."""
    ports = _ports_of_node(run)
    arrived = sum(port["arrived"] for port in ports)
    discarded = sum(sum(port["discarded"].values()) for port in ports)
    return 100 * discarded / arrived if arrived else None


@STUDY_PORTS.declare(
    "%",
    "cells, or packets, that found a full buffer, as a part of those that arrived at the ports "
    "with a limited buffer, or at those of the row's node",
    better="smaller",
)
def overflow_percent(run: Measured) -> float | None:
    """None if nothing arrived."""
    ports = _ports_of_node(run)
    arrived = sum(port["arrived"] for port in ports)
    return 100 * sum(port["discarded"]["overflow"] for port in ports) / arrived if arrived else None


@STUDY_PORTS.declare(
    "%",
    "cells of the VCs whose cell delay is measured that did not conform to their policers, as a "
    "part of those offered",
    better="smaller",
)
def nonconforming_percent(run: Measured) -> float | None:
    """None if nothing was offered."""
    offered = sum(vc["cells_offered"] for vc in run.vcs)
    return 100 * sum(vc["cells_nonconforming"] for vc in run.vcs) / offered if offered else None


@STUDY_PORTS.declare("1", "part of the congested link that cells of VBR took")
def vbr_share(run: Measured) -> float:
    """Of the time that the run takes."""
    return _link_part(run, "nrt_vbr")


@STUDY_PORTS.declare("1", "part of the congested link that cells of UBR took")
def ubr_share(run: Measured) -> float:
    """Of the time that the run takes."""
    return _link_part(run, None)


@STUDY_PORTS.declare(
    "1",
    "cells of full segments that came whole, as a part of the cells of UBR that the congested "
    "link carried",
    better="larger",
)
def whole_part(run: Measured) -> float | None:
    """None if the link carried no cell of UBR."""
    segments = zip(run.flows, run.facts.segment_cells, strict=True)
    whole = sum(flow["segments_received"] * cells for flow, cells in segments)
    carried = _departed(run, None)
    return whole / carried if carried else None


def _link_part(run: Measured, service: str | None) -> float:
    """Part of the run in which the congested link carried cells of a class."""
    cells = _departed(run, service)
    return float(cells * run.facts.bottleneck_cell_time_ps / run.summary["duration_ps"])


def _departed(run: Measured, service: str | None) -> int:
    """Cells of a class that the only port with a limited buffer sent."""
    (port,) = run.ports
    return sum(int(queue["departed"]) for queue in port["queues"] if queue["class"] == service)


@STUDY_PORTS.declare(
    "cells",
    "cells lost or led astray by bit errors in their headers, of each million that links with bit "
    "errors carried",
    better="smaller",
)
def lost_by_header(run: Measured) -> float | None:
    """None if no link has bit errors."""
    carried = sum(port["departed"] for port in run.ports if port.get("errors"))
    return 1e6 * _struck(run, "headers_lost", "misinserted") / carried if carried else None


@STUDY_PORTS.declare(
    "1", "headers that the HEC corrected, as a part of those with bit errors", better="larger"
)
def corrected_part(run: Measured) -> float | None:
    """None if no header had bit errors."""
    corrected = _struck(run, "headers_corrected")
    struck = corrected + _struck(run, "headers_lost", "misinserted")
    return corrected / struck if struck else None


def _struck(run: Measured, *kinds: str) -> int:
    errors = [port["errors"] for port in run.ports if port.get("errors")]
    return sum(int(entry[kind]) for entry in errors for kind in kinds)
