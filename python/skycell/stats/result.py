"""An analysis of a factorial study: its numbers, in sentences and as plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from skycell.input.quantities import counted
from skycell.stats.findings import Estimate, Findings
from skycell.stats.sentences import summary


@dataclass(frozen=True, repr=False)
class Analysis(Findings):
    """An analysis of one response of a factorial study, which says what it finds."""

    def __repr__(self) -> str:
        factors = ", ".join(factor.name for factor in self.factors)
        return f"<Analysis of {self.response} by {factors}: {counted(self.runs, 'run')}>"

    def __str__(self) -> str:
        return "\n".join(self.summary())

    def _repr_html_(self) -> str:
        """Its findings and where the variation comes from, for a notebook."""
        import polars as pl

        found = "".join(f"<li>{escape(line)}</li>" for line in self.summary())
        frame = pl.DataFrame(self.as_dict()["variation"], infer_schema_length=None)
        return f"<p>{escape(repr(self)[1:-1])}</p><ul>{found}</ul>{frame._repr_html_()}"

    def summary(self) -> list[str]:
        """The findings in sentences."""
        return summary(self)

    def as_dict(self) -> dict[str, Any]:
        """Everything but the single residuals, as plain data."""
        return {
            "response": self.response,
            **({"subject": self.subject} if self.subject else {}),
            "level": self.level,
            "design": self.design,
            "runs": self.runs,
            "cells": self.cells,
            "possible_cells": self.possible_cells,
            "mean": self.mean.as_dict(),
            "sum_of_squares": {
                "values": self.values_sum,
                "mean": self.values_sum - self.total,
                "total": self.total,
            },
            "variation": [_plain(row) for row in self.variation],
            "error": _plain(self.error),
            "dominant": self.dominant,
            "factors": [
                {
                    "name": factor.name,
                    **({"unit": factor.unit} if factor.unit else {}),
                    "levels": [_plain(level) for level in factor.levels],
                    "differences": [_plain(pair) for pair in factor.differences],
                }
                for factor in self.factors
            ],
            "interactions": [_plain(interaction) for interaction in self.interactions],
            "diagnostics": _plain(self.diagnostics),
            "notes": list(self.notes),
            "summary": self.summary(),
        }

    def to_json(self) -> str:
        """`as_dict` as JSON."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        return value.as_dict()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return value
