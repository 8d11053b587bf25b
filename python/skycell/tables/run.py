"""The tables of a run: one list for the terminal, for LaTeX and for the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from skycell.metrics.run_rows import is_of_many
from skycell.tables import applications, flows, ports, probes, sky, sky_pairs, vcs
from skycell.tables.recorded import Recorded
from skycell.tables.table import Table, first_rows, largest_first, shortened

Section = Literal["flows", "ports", "vcs", "ledger"]
"""What a table is about: where it stands on a page."""

Medium = Literal["terminal", "page"]
"""What shows a table; LaTeX has those of the terminal."""

_MOST_ROWS = 40
"""Rows that a terminal shows of a table."""


@dataclass(frozen=True)
class RunTable:
    """A table of a run, or one for each unit.

    Attributes:
        make: returns the table or tables; None if the run has nothing to show in it.
        section: what it is about.
        by: heading by which a page shortens it if the run has very many flows, VCs or links; empty
            if it stays as it is.
        records: key of the records that have all of its rows; empty for pairs of a constellation.
        medium: the only one that shows it; None for both.
    """

    make: Callable[[Recorded], Table | Sequence[Table] | None]
    section: Section
    by: str = ""
    records: str = ""
    medium: Medium | None = None

    def tables(self, run: Recorded) -> list[Table]:
        """Returns its tables of a run."""
        made = self.make(run)
        if made is None:
            return []
        return [made] if isinstance(made, Table) else list(made)


RUN_TABLES = (
    RunTable(applications.applications, "flows"),
    RunTable(flows.flows_in_brief, "flows", medium="terminal"),
    RunTable(flows.flows, "flows", "throughput (Mbit/s)", "flows", medium="page"),
    RunTable(sky_pairs.pairs_in_brief, "flows", medium="terminal"),
    RunTable(sky_pairs.pairs, "flows", sky_pairs.BY, medium="page"),
    RunTable(flows.recovery, "flows", "sent again", "flows", medium="page"),
    RunTable(ports.queues_in_brief, "ports", "busy", medium="terminal"),
    RunTable(ports.queues, "ports", "busy", "ports", medium="page"),
    RunTable(sky.links, "ports"),
    RunTable(sky.nodes, "ports"),
    RunTable(ports.sojourns, "ports", "largest", "ports"),
    RunTable(ports.bit_errors, "ports", "sent", "ports"),
    RunTable(ports.other_ports, "ports", "busy", "ports", medium="page"),
    RunTable(vcs.contracts, "vcs", "cells got", "vcs"),
    RunTable(vcs.policed, "vcs", "not conforming", "vcs"),
    RunTable(vcs.cell_delays, "vcs", "largest", "cell_delays"),
    RunTable(vcs.qos, "vcs"),
    RunTable(vcs.calls, "vcs"),
    RunTable(vcs.resequencers, "vcs"),
    RunTable(ports.uplinks, "vcs"),
    RunTable(vcs.vc_queues, "vcs", "largest", "ports", medium="page"),
    RunTable(vcs.counts, "vcs", "discarded", "vcs", medium="page"),
    RunTable(flows.responses, "flows"),
    RunTable(flows.transfers, "flows"),
    RunTable(flows.deliveries, "flows"),
    RunTable(probes.probes, "flows", "sent", "probes"),
    RunTable(flows.proxies, "flows", "most held", "flows"),
    RunTable(flows.delay_terms, "flows", "D", "delay_terms"),
    RunTable(vcs.ledger, "ledger", "put in", "ledger", medium="page"),
)
"""The tables in the order of the terminal. A page has them section by section."""


def terminal_tables(run: Recorded, section: Section | None = None) -> list[Table]:
    """Returns the tables that a terminal shows, of one section or of all, with their first rows."""
    return [
        first_rows(_fullest_first(table, entry), _MOST_ROWS)
        for entry in RUN_TABLES
        if entry.medium != "page" and section in (None, entry.section)
        for table in entry.tables(run)
    ]


def _fullest_first(table: Table, entry: RunTable) -> Table:
    """The ports that say most first, where not all are shown; other rows keep their order."""
    is_cut = entry.section == "ports" and len(table.rows) > _MOST_ROWS
    return largest_first(table, entry.by) if is_cut and entry.by else table


def page_tables(run: Recorded, *sections: Section) -> list[Table]:
    """Returns the tables of some sections of a page; those of many rows are shortened."""
    is_long = is_of_many(run.spec)
    return [
        shortened(table, entry.by, _where(entry.records)) if is_long and entry.by else table
        for entry in RUN_TABLES
        if entry.medium != "terminal" and entry.section in sections
        for table in entry.tables(run)
    ]


def _where(key: str) -> str:
    if not key:
        return "`skycell.records.sky_pairs` makes all of them."
    return (
        f"All are under \u201c{key}\u201d in records.json, which `skycell run --out` writes, "
        "and in what `skycell run --json` prints."
    )
