"""A run's result as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skycell.cli.console import Output
from skycell.input.quantities import PS_PER_MS
from skycell.metrics import Network, max_min_fairness, throughputs_bps
from skycell.metrics.run_rows import (
    QueueRow,
    lost_on_links,
    queue_rows,
    share_of_ceiling,
    source_totals,
)
from skycell.records.result import RunResult, simulated
from skycell.spec.network import NetworkSpec
from skycell.tables import run as tables
from skycell.tables.table import (
    NOTHING,
    Cell,
    Table,
    columns,
    count,
    first_rows,
    number,
    words,
)

#: Flows shown one by one.
_MOST_ROWS = 40
#: Columns where the output is not a terminal.
_PLAIN_WIDTH = 100


def show_result(result: RunResult) -> None:
    """Prints flows, congested ports, totals and the run's identity to standard output."""
    output = Output(_PLAIN_WIDTH)
    if result.spec.flows:
        output.show(first_rows(_flows(result), _MOST_ROWS))
    show_ports(output, result.spec, result.records)
    others = (
        tables.contracts(result),
        tables.policed(result),
        tables.cell_delays(result),
        tables.qos(result.records),
        tables.calls(result.records),
        tables.resequencers(result.records),
        tables.uplinks(result.records),
        tables.responses(result),
        tables.transfers(result),
        tables.deliveries(result),
        tables.proxies(result),
        tables.delay_terms(result.records, digits=2),
    )
    for table in others:
        if table is not None:
            output.show(first_rows(table, _MOST_ROWS))
    for line in _totals(result):
        output.say(line)


def show_ports(output: Output, spec: NetworkSpec, records: Mapping[str, Any]) -> None:
    """Prints the congested ports of some records."""
    queues = queue_rows(spec, records)
    for unit in dict.fromkeys(row.unit for row in queues):
        output.show(_ports([row for row in queues if row.unit == unit], unit))
    sojourns = tables.sojourns(spec, records)
    if sojourns is not None:
        output.show(first_rows(sojourns, _MOST_ROWS))
    bit_errors = tables.bit_errors(records)
    if bit_errors is not None:
        output.show(first_rows(bit_errors, _MOST_ROWS))


def _flows(result: RunResult) -> Table:
    flows = result.records["flows"]
    marks = any(flow["segments_marked"] for flow in flows)
    rows = [
        (
            words(flow["name"]),
            number(rate / 1e6, 2),
            count(flow["segments_sent"]),
            count(flow["segments_retransmitted"]),
            count(flow["timeouts"]),
            count(flow["fast_retransmits"]),
            *([count(flow["ecn_reductions"])] if marks else []),
            Cell(f"{count(flow['cwnd_max']).text} B", flow["cwnd_max"]),
            # Of a split flow the record has the delay of its last connection, not from end to end.
            _delay(
                flow["delay_mean_ps"]
                if flow["segments_received"] and "connections" not in flow
                else None
            ),
        )
        for flow, rate in zip(flows, throughputs_bps(result.records), strict=True)
    ]
    heads = (
        "Mbit/s",
        "segments",
        "sent again",
        "timeouts",
        "fast retransmits",
        *(["cut by marks"] if marks else []),
        "largest cwnd",
        "mean delay",
    )
    return Table("Flows", columns("flow", *heads, numeric=heads), tuple(rows))


def _delay(delay_ps: float | None) -> Cell:
    if delay_ps is None:
        return Cell(NOTHING, sort="")
    return Cell(f"{number(delay_ps / PS_PER_MS, 2).text} ms", delay_ps)


def _ports(queues: Sequence[QueueRow], unit: str) -> Table:
    marks = any(row.marked for row in queues)
    rows = [
        (
            words(row.name),
            words(row.held),
            count(row.counts["arrived"]),
            count(sum(row.counts["discarded"].values())),
            *([count(row.marked)] if marks else []),
            words(f"{row.counts['queue']['mean']:.1f}"),
            count(row.counts["queue"]["p99"]),
            count(row.counts["queue"]["max"]),
            words(NOTHING if row.busy is None else f"{row.busy:.1%}"),
        )
        for row in queues
    ]
    marked = ["marked"] if marks else []
    heads = ("buffer", "arrived", "discarded", *marked, "mean queue", "99 %", "largest", "busy")
    title = f"Ports with a limited buffer, in {unit}"
    return Table(title, columns("port", *heads, numeric=heads), tuple(rows))


def _totals(result: RunResult) -> list[str]:
    total = _total_of_flows(result) if result.spec.flows else _total_of_sources(result)
    run = f"{simulated(result.records)} with seed {result.seed}, engine {result.engine_in_words}"
    identity = f"skycell {result.version}, spec {result.spec_hash}"
    lost = lost_on_links(result.spec, result.records)
    lines = [total, *lost, f"{run}; the ledger balances"]
    notes = (f"Note: {note}" for note in result.notes)
    return [*(f"{line}." for line in lines), *notes, identity]


def _total_of_flows(result: RunResult) -> str:
    rates = throughputs_bps(result.records)
    total = f"All flows {sum(rates) / 1e6:.2f} Mbit/s"
    ceiling = result.ceiling_bps
    if ceiling:
        total += f", {share_of_ceiling(result.spec, sum(rates), ceiling)}"
    fairness = max_min_fairness(Network.of(result.spec), result.records)
    if len(rates) > 1 and fairness is not None:
        total += f"; fairness {fairness:.3f}"
    flows, end_ps = result.records["flows"], result.spec.duration_ps
    late = sum(flow["start_ps"] >= end_ps for flow in flows)
    if late:
        total += f"; {late} of {len(flows)} would begin after the end of the run"
    return total


def _total_of_sources(result: RunResult) -> str:
    found = source_totals(result.spec, result.records)
    who = "cell sources" if found.unit == "cells" else "sources"
    return f"All {who} {found.arrived_bps / 1e6:.2f} Mbit/s of {found.unit}; {found.in_words}"
