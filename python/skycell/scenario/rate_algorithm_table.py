"""Every rate algorithm of switches in one table: its feedback, its parameters, its source."""

from __future__ import annotations

from skycell.scenario.declared.rate_algorithms import RATE_ALGORITHMS
from skycell.scenario.policy_table import defaults_of, markdown_table


def rate_algorithm_page() -> str:
    """The table as Markdown, for the reference pages."""
    rows = []
    for kind, rule in RATE_ALGORITHMS.items():
        facts = rule.facts
        row = (facts["label"], f"`{kind}`", facts["feedback"], defaults_of(rule), facts["source"])
        rows.append(row)
    heads = ("algorithm", "kind", "feedback", "parameters and defaults", "source")
    return markdown_table(heads, rows)
