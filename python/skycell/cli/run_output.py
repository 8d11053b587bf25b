"""A run's result as tables for people."""

from __future__ import annotations

from skycell.cli.console import Output
from skycell.metrics import Network, max_min_fairness, throughputs_bps
from skycell.metrics.applications import carried_in_words
from skycell.metrics.run_rows import (
    lost_on_links,
    share_of_ceiling,
    source_totals,
)
from skycell.records.result import RunResult, simulated
from skycell.tables.run import terminal_tables

#: Columns where the output is not a terminal.
_PLAIN_WIDTH = 100


def show_result(result: RunResult) -> None:
    """Prints the tables of a run, totals and the run's identity to standard output."""
    output = Output(_PLAIN_WIDTH)
    for table in terminal_tables(result):
        output.show(table)
    for line in _totals(result):
        output.say(line)


def _totals(result: RunResult) -> list[str]:
    total = _total_of_flows(result) if result.spec.flows else _total_of_sources(result)
    if result.spec.users is not None:
        total = f"All connections of users {carried_in_words(result.records)}"
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
        total += f"; max-min fairness {fairness:.3f}"
    flows, end_ps = result.records["flows"], result.spec.duration_ps
    late = sum(flow["start_ps"] >= end_ps for flow in flows)
    if late:
        total += f"; {late} of {len(flows)} would begin after the end of the run"
    return total


def _total_of_sources(result: RunResult) -> str:
    found = source_totals(result.spec, result.records)
    who = "cell sources" if found.unit == "cells" else "sources"
    return f"All {who} {found.arrived_bps / 1e6:.2f} Mbit/s of {found.unit}; {found.in_words}"
