"""The tables of a run: one list for the terminal and for the page."""

from pathlib import Path

import pytest

import skycell
from skycell.records.result import RunResult
from skycell.tables.run import RUN_TABLES, page_tables, terminal_tables

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def result() -> RunResult:
    """A run with flows, calls, cells and a bound on their losses."""
    scenario = skycell.load(EXAMPLES / "calls.toml")
    return skycell.run(scenario.with_values({"run": {"duration": "9 s", "measure_from": "1 s"}}))


def test_terminal_and_page_show_the_same_tables_but_those_of_one_medium(result: RunResult) -> None:
    both = [t for entry in RUN_TABLES if not entry.medium for t in entry.tables(result)]
    assert len(both) >= 2
    terminal = terminal_tables(result)
    page = page_tables(result, "flows", "ports", "vcs", "ledger")
    assert all(table in terminal and table in page for table in both)
    of_one = [e for e in RUN_TABLES if e.medium == "terminal"]
    assert len(terminal) == len(both) + sum(len(entry.tables(result)) for entry in of_one)


def test_a_table_is_shortened_by_a_heading_that_it_has(result: RunResult) -> None:
    for entry in RUN_TABLES:
        for table in entry.tables(result):
            assert entry.by in ["", *(column.title for column in table.columns)]


def test_a_run_without_flows_has_no_table_of_flows(result: RunResult) -> None:
    scenario = skycell.load(EXAMPLES / "calls.toml").with_values({"topology.sources": 0})
    alone = skycell.run(scenario.with_values({"run": {"duration": "9 s", "measure_from": "1 s"}}))
    assert page_tables(alone, "flows") == terminal_tables(alone, "flows") == []
    assert page_tables(result, "flows") != []
