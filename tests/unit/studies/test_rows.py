"""From summaries of runs to the rows of a table, on runs made by hand."""

from dataclasses import replace
from typing import Any

import pytest

from skycell.experiment.batch import PlannedRun, RunEnd
from skycell.studies.compare import Row
from skycell.studies.design import cell_of
from skycell.studies.library import table_of
from skycell.studies.measured_run import Facts
from skycell.studies.plan import Plan, cells_of, printed_rows
from skycell.studies.rows import measure_rows


class NoText:
    """Of runs that nobody makes."""

    def with_seed(self, seed: int) -> str:
        raise AssertionError(seed)


TEXT = NoText()
TABLE = "atmf980876r1-t5"
TCPS = ("vanilla", "reno", "newreno", "sack")
BUFFERS = ("0.5", "1", "2")
# Steps from TCP to TCP and from buffer to buffer, by replication.
STEPS = ((0.10, 0.10), (0.10, 0.20))


def summary(mbps: float) -> dict[str, Any]:
    octets = round(mbps * 1e6)
    flow = {"octets_delivered": octets, "octets_highest": octets, "connected_ps": 8 * 10**12}
    return {"duration_ps": 8 * 10**12, "flows": [flow], "ports": []}


def rows(lost: tuple[str, int] | None = None) -> dict[str, Row]:
    """Parts of the variation of efficiency; of one TCP all runs of a replication may be lost."""
    found = table_of(TABLE)
    plan, ends = Plan(), {}
    parts = [part for part in found.table.parts if part.measure == "efficiency_share"]
    for part in parts:
        for printed in printed_rows(found.study, part):
            for levels in cells_of(part, printed.factors):
                cell = cell_of(found.study, found.table.experiment, levels)
                names = [f"{cell} {number}" for number, _ in enumerate(STEPS)]
                if cell not in plan.known:
                    runs = [(PlannedRun(str(cell), 0, name, 1, TEXT),) for name in names]
                    plan.add(cell, Facts(1024, True, False, 2_726_337, 1000, (), 0.03, None), runs)
                tcp = TCPS.index(str(levels["tcp"]))
                buffer = BUFFERS.index(str(levels["buffer_rtt_multiple"]))
                for number, (by_tcp, by_buffer) in enumerate(STEPS):
                    if lost == (levels["tcp"], number):
                        ends[names[number]] = RunEnd(None, "out of memory")
                    else:
                        mbps = 10 + 100 * (by_tcp * tcp + by_buffer * buffer)
                        ends[names[number]] = RunEnd(summary(mbps), None)
    shares = found.table.model_copy(update={"parts": tuple(parts)})
    made = measure_rows([replace(found, table=shares)], plan, ends, {})
    return {str(row.factors["component"]): row for row in made}


def test_parts_of_the_variation_are_worked_out_for_each_replication() -> None:
    made = rows()
    # 24 runs: six of each of four TCPs, 6 x 5 d^2, and eight of each of three buffers, 8 x 2 e^2.
    tcp = [100 * 30 * d**2 / (30 * d**2 + 16 * e**2) for d, e in STEPS]
    assert made["tcp"].by_replication == pytest.approx(tcp, abs=1e-3)
    assert made["buffer"].by_replication == pytest.approx([100 - part for part in tcp], abs=1e-3)
    assert made["policy"].by_replication == pytest.approx([0, 0], abs=1e-3)
    assert made["tcp"].failures == ()


def test_a_design_that_lacks_a_run_tells_no_part_and_why() -> None:
    made = rows(lost=("reno", 0))["tcp"]
    assert made.by_replication[0] is None
    assert made.by_replication[1] == pytest.approx(100 * 0.30 / 0.94, abs=1e-3)
    assert made.failures == ("out of memory",)
    assert len(made.spec_hashes) == 48
