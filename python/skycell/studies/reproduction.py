"""What reproducing some tables gave."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import counted
from skycell.studies.compare import Row, TableSummary, summarise_tables
from skycell.studies.findings import ConclusionResult
from skycell.studies.library import load_study, table_of
from skycell.studies.model import MEANINGS, Choice, Study

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class ChoiceInForce:
    """A choice of a study, with the value that was used."""

    study: str
    name: str
    value: Any
    chosen: Any
    """What the study says; differs from `value` where it was overridden."""
    alternatives: tuple[Any, ...]
    meaning: str
    reason: str

    @classmethod
    def of(cls, study: Study, choice: Choice, value: Any) -> ChoiceInForce:
        """The choice of a study with the value in force."""
        return cls(
            study.id,
            choice.name,
            value,
            choice.value,
            choice.alternatives,
            choice.meaning,
            choice.reason,
        )


@dataclass(frozen=True)
class SuspectPrint:
    """A doubt about a printed number, or two copies of it that differ."""

    table: str
    factors: Mapping[str, Any]
    published: float | None
    doubt: str


@dataclass(frozen=True)
class FailedRun:
    """A run that has no result."""

    case: str
    seed: int
    reason: str


@dataclass(frozen=True)
class RunCounts:
    """How the runs were come by."""

    needed: int
    """Different runs that the tables need."""
    from_store: int
    simulated: int
    failed: int
    shared: Mapping[tuple[str, ...], int] = field(default_factory=dict)
    """Runs that serve more than one table, by the tables they serve."""
    wall_s: float = 0.0


@dataclass(frozen=True)
class Reproduction:
    """Tables beside ours, conclusions, choices and doubts."""

    engine: str
    version: str
    seed: int
    replications: Mapping[str, int]
    """Replications of each study."""
    tables: tuple[str, ...]
    rows: tuple[Row, ...]
    conclusions: tuple[ConclusionResult, ...]
    choices: tuple[ChoiceInForce, ...]
    overrides: Mapping[str, Any]
    runs: RunCounts
    failed_runs: tuple[FailedRun, ...] = ()

    def __repr__(self) -> str:
        return f"<Reproduction: {', '.join(self.tables)}; {counted(len(self.rows), 'row')}>"

    def _repr_html_(self) -> str:
        """Its rows beside the published values, and its conclusions, for a notebook."""
        import polars as pl

        rows = [
            {"table": row.table, **row.factors, "metric": row.metric, "published": row.published}
            | {"mean": row.mean, "sd": row.sd, "unit": row.unit, "verdict": row.verdict}
            for row in self.rows
        ]
        held = [
            {"conclusion": each.id, "says": each.text, "holds here": each.ours_holds}
            for each in self.conclusions
        ]
        frames = (pl.DataFrame(part, infer_schema_length=None) for part in (rows, held) if part)
        shown = "".join(frame._repr_html_() for frame in frames)
        return f"<p>{escape(repr(self)[1:-1])}</p>{shown}"

    @property
    def studies(self) -> list[Study]:
        """The studies whose tables were reproduced."""
        return [load_study(name) for name in dict.fromkeys(row.study for row in self.rows)]

    @property
    def summaries(self) -> list[TableSummary]:
        """Scores table by table."""
        return summarise_tables(self.rows)

    @property
    def doubts(self) -> list[SuspectPrint]:
        """Doubts about the published numbers of the rows."""
        return [
            SuspectPrint(row.table, row.factors, row.published, row.doubt)
            for row in self.rows
            if row.doubt
        ]

    def rows_of(self, table: str) -> list[Row]:
        """The rows of one table."""
        return [row for row in self.rows if row.table == table]

    def title_of(self, table: str) -> str:
        """What a table shows."""
        return table_of(table).table.title

    def conclusion_score(self) -> tuple[int, int]:
        """Of the conclusions that hold in print and that we decided: those that hold, and all."""
        asked = self.decided_of_print()
        return sum(bool(entry.ours_holds) for entry in asked), len(asked)

    def own_conclusion_score(self) -> tuple[int, int]:
        """Of the conclusions of our own studies that our runs decide: those that hold, and all."""
        own = self.decided_of_our_own()
        return sum(bool(entry.ours_holds) for entry in own), len(own)

    def decided_of_print(self) -> list[ConclusionResult]:
        """The conclusions that hold in print and that our numbers decide."""
        return [e for e in self.conclusions if e.published_holds and e.ours_holds is not None]

    def decided_of_our_own(self) -> list[ConclusionResult]:
        """The conclusions of our own studies that our numbers decide."""
        return [
            entry
            for entry in self.conclusions
            if entry.ours_holds is not None and load_study(entry.study).is_own
        ]

    def as_dict(self) -> dict[str, Any]:
        """All that a later reader needs, as plain data: the form of result.json."""
        return {
            "engine": self.engine,
            "version": self.version,
            "seed": self.seed,
            "replications": dict(self.replications),
            "rows": [row.as_dict() for row in self.rows],
            "conclusions": [entry.as_dict() for entry in self.conclusions],
            "meanings": self.meanings(),
        }

    def meanings(self) -> dict[str, str]:
        """What each measure of the rows is, by its name."""
        names = dict.fromkeys(row.metric for row in self.rows)
        return {name: MEANINGS[name] for name in names if name in MEANINGS}

    def to_json(self) -> str:
        """Engine, rows and conclusions as one JSON object: all that programs are promised."""
        promised = ("engine", "rows", "conclusions")
        return json_of({key: value for key, value in self.as_dict().items() if key in promised})

    def to_result_json(self) -> str:
        """The content of result.json, from which reports and figures are drawn again."""
        return json_of(self.as_dict()) + "\n"

    def frame(self) -> pl.DataFrame:
        """The rows as a polars frame: one column per factor that any row has."""
        import polars as pl

        return pl.DataFrame(_flat(self.rows), infer_schema_length=None, strict=False)

    def to_csv(self) -> str:
        """The rows as CSV: one column per factor that any row has."""
        return rows_to_csv(self.rows)


def json_of(data: Mapping[str, Any]) -> str:
    """A result as JSON for people and programs."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)


def rows_to_csv(rows: Sequence[Row]) -> str:
    """Rows as CSV with a header; factors that a row does not have stay empty."""
    import csv
    from io import StringIO

    text = StringIO()
    flat = _flat(rows)
    writer = csv.DictWriter(text, list(flat[0]) if flat else _columns(rows), lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: "" if value is None else value for name, value in row.items()} for row in flat
    )
    return text.getvalue()


_NUMBERS = ("published", "mean", "sd", "n", "low", "high", "verdict", "suspect", "doubt")


def _columns(rows: Sequence[Row]) -> list[str]:
    factors = dict.fromkeys(name for row in rows for name in row.factors)
    return ["study", "table", *factors, "metric", "unit", *_NUMBERS]


def _flat(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Each row with all columns; None where it has none."""
    columns = _columns(rows)
    named = ({**row.as_dict(), **row.factors} for row in rows)
    return [{column: row.get(column) for column in columns} for row in named]
