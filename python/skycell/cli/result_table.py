"""A run's result as tables for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from skycell.cli.console import show_table, standard_output
from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND, show_amount
from skycell.metrics import Network, max_min_fairness, throughputs_bps
from skycell.metrics.network import units_in_words
from skycell.metrics.run_rows import (
    CELL_DELAY_HEADS,
    POLICED_HEADS,
    RESPONSE_HEADS,
    SOJOURN_HEADS,
    TRANSFER_HEADS,
    CellDelayRow,
    QueueRow,
    ResponseRow,
    SojournRow,
    TransferRow,
    cell_delay_rows,
    contract_rows,
    loss_in_words,
    lost_on_links,
    policed_rows,
    queue_rows,
    response_rows,
    share_of_ceiling,
    sojourn_rows,
    source_totals,
    transfer_rows,
)
from skycell.records.delay_rows import TERM_HEADS, term_row
from skycell.records.result import RunResult
from skycell.spec.network import NetworkSpec

#: Flows shown one by one.
_MOST_ROWS = 40
#: Columns where the output is not a terminal.
_PLAIN_WIDTH = 100


def show_result(result: RunResult) -> None:
    """Prints flows, congested ports, totals and the run's identity to standard output."""
    console = standard_output(_PLAIN_WIDTH)
    if result.spec.flows:
        show_table(console, _flows(result))
    show_ports(console, result.spec, result.records)
    promised = contract_rows(result.spec, result.records)
    if promised:
        show_table(console, _contracts(promised))
    policed = policed_rows(result.spec, result.records)
    if policed:
        show_table(console, _policed(policed))
    delays = cell_delay_rows(result.records)
    if delays:
        show_table(console, _cell_delays(delays))
    responses = response_rows(result.records)
    if responses:
        show_table(console, _responses(responses))
    transfers = transfer_rows(result.records, result.traces)
    if transfers:
        show_table(console, _transfers(transfers))
    if result.records.get("delay_terms"):
        show_table(console, _delay_terms(result.records["delay_terms"]))
    for line in _totals(result):
        console.print(line, soft_wrap=True)


def show_ports(console: Console, spec: NetworkSpec, records: Mapping[str, Any]) -> None:
    """Prints the congested ports of some records."""
    queues = queue_rows(spec, records)
    for unit in dict.fromkeys(row.unit for row in queues):
        show_table(console, _ports([row for row in queues if row.unit == unit], unit))
    sojourns = sojourn_rows(spec, records)
    if sojourns:
        show_table(console, _sojourns(sojourns))


def _table(title: str, first: str, *others: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE)
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _flows(result: RunResult) -> Table:
    flows = result.records["flows"]
    marks = any(flow["segments_marked"] for flow in flows)
    table = _table(
        "Flows",
        "flow",
        "Mbit/s",
        "segments",
        "sent again",
        "timeouts",
        "fast retransmits",
        *(["cut by marks"] if marks else []),
        "largest cwnd",
        "mean delay",
    )
    rates = throughputs_bps(result.records)
    for flow, rate in list(zip(flows, rates, strict=True))[:_MOST_ROWS]:
        table.add_row(
            flow["name"],
            f"{rate / 1e6:.2f}",
            show_amount(flow["segments_sent"]),
            show_amount(flow["segments_retransmitted"]),
            show_amount(flow["timeouts"]),
            show_amount(flow["fast_retransmits"]),
            *([show_amount(flow["ecn_reductions"])] if marks else []),
            f"{show_amount(flow['cwnd_max'])} B",
            _delay(flow),
        )
    if len(flows) > _MOST_ROWS:
        table.add_row(f"and {len(flows) - _MOST_ROWS} more")
    return table


def _delay(flow: Mapping[str, Any]) -> str:
    return f"{flow['delay_mean_ps'] / PS_PER_MS:.2f} ms" if flow["segments_received"] else "-"


def _ports(queues: list[QueueRow], unit: str) -> Table:
    marks = ["marked"] if any(row.marked for row in queues) else []
    table = _table(
        f"Ports with a limited buffer, in {unit}",
        "port",
        "buffer",
        "arrived",
        "discarded",
        *marks,
        "mean queue",
        "99 %",
        "largest",
        "busy",
    )
    for row in queues:
        queue = row.counts["queue"]
        table.add_row(
            row.name,
            row.held,
            show_amount(row.counts["arrived"]),
            show_amount(sum(row.counts["discarded"].values())),
            *([show_amount(row.marked)] if marks else []),
            f"{queue['mean']:.1f}",
            "-" if queue["p99"] is None else show_amount(queue["p99"]),
            show_amount(queue["max"]),
            "-" if row.busy is None else f"{row.busy:.1%}",
        )
    return table


def _sojourns(rows: list[SojournRow]) -> Table:
    table = _table("Octets in these ports, and how long packets stayed, ms", "port", "mean B")
    for head in ("largest B", *SOJOURN_HEADS):
        table.add_column(head, justify="right")
    for row in rows[:_MOST_ROWS]:
        shown = ("-" if time is None else f"{time:.3f}" for time in row.times_ms)
        octets = (row.mean_octets, row.largest_octets)
        held = ("-" if one is None else show_amount(round(one)) for one in octets)
        table.add_row(row.name, *held, *shown)
    if len(rows) > _MOST_ROWS:
        table.add_row(f"and {len(rows) - _MOST_ROWS} more")
    return table


def _of_four_digits(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if abs(value) < 100 else f"{value:.1f}"


def _delay_terms(every: list[Mapping[str, Any]]) -> Table:
    table = _table("Mean delay and its terms, ms", "flow", "sat.", *TERM_HEADS)
    for terms in every[:_MOST_ROWS]:
        row = term_row(terms)
        shown = (_of_four_digits(value) for value in row.numbers)
        table.add_row(row.flow, row.satellites, *shown)
    if len(every) > _MOST_ROWS:
        table.add_row(f"and {len(every) - _MOST_ROWS} more")
    return table


def _cell_delays(rows: list[CellDelayRow]) -> Table:
    table = _table("Cells whose delay is measured, ms", "VC", "offered", "lost", *CELL_DELAY_HEADS)
    for row in rows[:_MOST_ROWS]:
        shown = ("-" if time is None else f"{time:.3f}" for time in row.times_ms)
        table.add_row(row.vc, show_amount(row.offered), loss_in_words(row.lost), *shown)
    if len(rows) > _MOST_ROWS:
        table.add_row(f"and {len(rows) - _MOST_ROWS} more")
    return table


def _responses(rows: list[ResponseRow]) -> Table:
    table = _table(
        "How long web users waited, s", "all users", "asked for", "whole", *RESPONSE_HEADS
    )
    for row in rows:
        shown = (_of_four_digits(time) for time in row.times_s)
        table.add_row(row.what, show_amount(row.asked), show_amount(row.whole), *shown)
    return table


def _transfers(rows: list[TransferRow]) -> Table:
    title = "How long finished transfers took, s: to the last octet acknowledged"
    table = _table(title, "flow", "finished", *TRANSFER_HEADS)
    for row in rows[:_MOST_ROWS]:
        shown = ("-" if time is None else f"{time:.3f}" for time in row.times_s)
        table.add_row(row.flow, show_amount(row.finished), *shown)
    if len(rows) > _MOST_ROWS:
        table.add_row(f"and {len(rows) - _MOST_ROWS} more")
    return table


def _contracts(vcs: list[Mapping[str, Any]]) -> Table:
    table = _table(
        "VCs with a GFR contract",
        "VC",
        "frames",
        "eligible",
        "tagged",
        "refused",
        "cells got",
        "due",
        "run",
        "windows met",
    )
    for vc in vcs[:_MOST_ROWS]:
        windows, run = vc["guarantee"], vc["run_guarantee"]
        table.add_row(
            vc["name"],
            show_amount(vc["frames_offered"]),
            show_amount(vc["frames_eligible"]),
            show_amount(vc["frames_tagged"]),
            show_amount(vc["frames_refused"]),
            show_amount(vc["cells_whole"]),
            show_amount(run["due_cells"]),
            "met" if run["is_met"] else "missed",
            f"{windows['met']} of {windows['windows']}",
        )
    if len(vcs) > _MOST_ROWS:
        table.add_row(f"and {len(vcs) - _MOST_ROWS} more")
    return table


def _policed(vcs: list[Mapping[str, Any]]) -> Table:
    table = _table("Policing at the first switch, in cells", "VC", *POLICED_HEADS.values())
    for vc in vcs[:_MOST_ROWS]:
        table.add_row(vc["name"], *(show_amount(vc[key]) for key in POLICED_HEADS))
    if len(vcs) > _MOST_ROWS:
        table.add_row(f"and {len(vcs) - _MOST_ROWS} more")
    return table


def _totals(result: RunResult) -> list[str]:
    total = _total_of_flows(result) if result.spec.flows else _total_of_sources(result)
    seconds = result.records["duration_ps"] / PS_PER_SECOND
    run = f"{seconds:g} s simulated with seed {result.seed}, engine {result.engine_in_words}"
    identity = f"skycell {result.version}, spec {result.spec_hash}"
    lost = lost_on_links(result.records, units_in_words(result.spec.links))
    lines = [total, *([lost] if lost else []), f"{run}; the ledger balances"]
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
    flows, end_ps = result.records["flows"], result.records["duration_ps"]
    late = sum(flow["start_ps"] >= end_ps for flow in flows)
    if late:
        total += f"; {late} of {len(flows)} would begin after the end of the run"
    return total


def _total_of_sources(result: RunResult) -> str:
    found = source_totals(result.spec, result.records)
    who = "cell sources" if found.unit == "cells" else "sources"
    return f"All {who} {found.arrived_bps / 1e6:.2f} Mbit/s of {found.unit}; {found.in_words}"
