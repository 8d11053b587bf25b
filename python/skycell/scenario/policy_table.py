"""Every buffer policy in one table: its class, how it discards, its parameters, its source.

The classes are those of "Buffer Management for TCP over the ATM GFR Service", section 7 and Table
10: one count of cells (SA) or one for each VC (MA), one threshold (ST) or several (MT). The column
of fairness is that of Table 1 of the Communications Magazine paper, for the policies in that table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skycell.input.faults import show_value
from skycell.input.forms import keys_of
from skycell.scenario.declared.policies import POLICIES
from skycell.scenario.values.rule_specs import RuleSpec


@dataclass(frozen=True)
class PolicyRow:
    """One policy of the table."""

    kind: str
    rule: str
    facts: Mapping[str, Any]
    """What its declaration says: class, threshold, discards, fairness, source, chosen."""
    parameters: dict[str, str]
    """Default by name; empty for a parameter that must be given."""

    @property
    def sees_tags(self) -> bool:
        """Whether it matters that a frame is tagged."""
        return bool(self.facts.get("sees_tags", False))

    def as_dict(self) -> dict[str, Any]:
        """The row for a program."""
        return {
            "kind": self.kind,
            "rule": self.rule,
            "class": self.facts["class"],
            "threshold": self.facts["threshold"],
            "drop": self.facts["discards"],
            "sees_tags": self.sees_tags,
            "fairness": self.facts.get("fairness", ""),
            "parameters": self.parameters,
            "source": self.facts["source"],
            "chosen": self.facts.get("chosen", ""),
        }


def policy_rows() -> list[PolicyRow]:
    """Every policy that a scenario file can name, in the order of the list of kinds."""
    return [_row(kind, rule) for kind, rule in POLICIES.items()]


def _row(kind: str, rule: RuleSpec) -> PolicyRow:
    reported = " ".join((rule.written.__doc__ or "").split("\n\n")[0].split())
    return PolicyRow(kind, reported, rule.facts, _parameters(rule))


def _parameters(rule: RuleSpec) -> dict[str, str]:
    return {
        name: "" if field.is_required() else show_value(field.default)
        for name, field in keys_of(rule.written).items()
        if name != "kind"
    }


def defaults_of(rule: RuleSpec) -> str:
    """The parameters of a rule with their defaults, as Markdown."""
    parameters = _parameters(rule).items()
    return ", ".join(f"`{name}` {value}".strip() for name, value in parameters) or "–"


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as Markdown."""
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def policy_page() -> str:
    """The table as Markdown, for the reference pages."""
    heads = (
        *("kind", "class", "threshold", "discards", "sees tags", "fairness in print"),
        *("parameters and defaults", "source", "chosen by us"),
    )
    rows = (
        (
            f"[`{row.kind}`]({row.kind}.md)",
            row.facts["class"],
            row.facts["threshold"],
            row.facts["discards"],
            "yes" if row.sees_tags else "no",
            row.facts.get("fairness", "–"),
            defaults_of(POLICIES[row.kind]),
            row.facts["source"],
            row.facts.get("chosen", "–"),
        )
        for row in policy_rows()
    )
    return markdown_table(heads, rows)
