"""What a sweep gave: a row per run, and all that a later reader needs."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, TypeAdapter

from skycell.experiment.design import Level
from skycell.experiment.value import Value, values_of
from skycell.input.quantities import counted
from skycell.measures.measure import renamed
from skycell.measures.responses import better_of, range_of

if TYPE_CHECKING:
    import polars as pl

    from skycell.stats import Analysis

RESULT_FILE = "sweep.json"
"""File of a result's folder that the others can be drawn from again."""

_FORM = 1
_STRICT = ConfigDict(extra="forbid")
"""What is read back has the keys that were written, and no others."""


class NotASweepError(ValueError):
    """A file is not a result of a sweep; the message says which and why."""


@dataclass(frozen=True)
class SweepRun:
    """One run: its cell, replication, seed and responses, or why it has none."""

    __pydantic_config__ = _STRICT

    levels: Mapping[str, Level]
    replication: int
    seed: int
    spec_hash: str
    values: Mapping[str, float | None]
    """By response; none where it is not defined on this run, and for a failed run."""
    reason: str | None
    """Why the run failed; none for a finished one."""


@dataclass(frozen=True)
class SweepResult:
    """The runs of a sweep with what they were made from.

    Attributes:
        title: what the sweep is about.
        file: name of its file.
        factors: levels of each factor, in the order of the file.
        replications: runs of each cell.
        first_seed: that the seeds were counted or drawn from.
        common_random_numbers: whether replication k has the same seed in every cell.
        units: of each response, in the order of the file.
        engine: what simulated.
        version: of the engine.
        runs: cell by cell, replication by replication.
        from_store: runs that had been made before.
        factor_units: what the levels of a factor are counted in, of factors that have a unit.
        subjects: the port that a response is of where the file names none; of other responses
            nothing is said.
        meanings: of each response, in a sentence without a full stop.
    """

    __pydantic_config__ = _STRICT

    title: str
    file: str
    factors: Mapping[str, Sequence[Level]]
    replications: int
    first_seed: int
    common_random_numbers: bool
    units: Mapping[str, str]
    engine: str
    version: str
    runs: tuple[SweepRun, ...]
    from_store: int = 0
    factor_units: Mapping[str, str] = field(default_factory=dict)
    subjects: Mapping[str, str] = field(default_factory=dict)
    meanings: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        factors = " × ".join(f"{name} ({len(levels)})" for name, levels in self.factors.items())
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"<SweepResult: {self.title}: {factors}; {counted(len(self.runs), 'run')}{failed}>"

    def _repr_html_(self) -> str:
        """Its cells with the mean and the standard deviation of each response, for a notebook."""
        import polars as pl

        rows: dict[tuple[str, ...], dict[str, Any]] = {}
        for value in self.values():
            row = rows.setdefault(tuple(map(repr, value.factors.values())), dict(value.factors))
            of = f" of {value.subject}" if value.subject else ""
            row[f"{value.metric}{of} ({value.unit})"] = value.mean
            row[f"SD of {value.metric}"] = value.sd
        frame = pl.DataFrame(list(rows.values()), infer_schema_length=None, strict=False)
        return f"<p>{escape(repr(self)[1:-1])}</p>{frame._repr_html_()}"

    @property
    def responses(self) -> tuple[str, ...]:
        """Names of what was measured."""
        return tuple(self.units)

    @property
    def failed(self) -> list[SweepRun]:
        """The runs without a result."""
        return [run for run in self.runs if run.reason is not None]

    @property
    def cells(self) -> int:
        """Number of combinations of levels."""
        return len(self.runs) // self.replications

    def values(self) -> list[Value]:
        """What the replications of each cell gave, response by response."""
        ranges = {name: range_of(name) for name in self.units}
        return values_of(
            self.rows(), self.factors, self.units, subjects=self.subjects, ranges=ranges
        )

    def rows(self) -> list[dict[str, Any]]:
        """A row per run: factors, replication, seed, responses, state, spec hash."""
        return [
            {
                **run.levels,
                "replication": run.replication,
                "seed": run.seed,
                **run.values,
                "state": "finished" if run.reason is None else "failed",
                "spec_hash": run.spec_hash,
            }
            for run in self.runs
        ]

    def frame(self) -> pl.DataFrame:
        """The rows as a polars frame."""
        import polars as pl

        return pl.DataFrame(self.rows(), infer_schema_length=None, strict=False)

    def analyse(self, response: str, level: float = 0.9, *, order: int = 2) -> Analysis:
        """Effects, allocation of variation and intervals of a response.

        With common random numbers the replications are blocks: what all cells share by having the
        same draws is then no error.

        Raises:
            DesignError: the runs with a value do not decide the effects.
            ValueError: there is no such response, or an argument is out of range.
        """
        from skycell.stats import analyse

        if response not in self.units:
            known = ", ".join(self.units)
            raise ValueError(f"{response} was not measured; the sweep has {known}")
        block = "replication" if self.common_random_numbers else None  # a single one is none
        found = analyse(
            self.rows(),
            self.factors,
            response,
            level,
            order=order,
            block=block,
            range_=range_of(response),
        )
        return found.named(self.factor_units, self.subjects.get(response, ""))

    def to_csv(self) -> str:
        """Returns the rows as CSV with a header; a value that is not defined stays empty."""
        return _csv(self.rows())

    def columns_to_csv(self) -> str:
        """Returns what each column of the rows holds, as CSV with a header, a column a line."""
        unlike = {"replication": _REPLICATION, "seed": _SEED, "state": _STATE, "spec_hash": _HASH}
        rows = []
        for name in self.rows()[0]:
            about = {"column": name, "role": "run", "unit": "", "of": "", "better": ""}
            if name in self.units:
                about |= {
                    "role": "response",
                    "unit": self.units[name],
                    "of": name.partition(":")[2] or self.subjects.get(name, ""),
                    "better": better_of(name),
                    "meaning": self.meanings.get(name, ""),
                }
            elif name in self.factors:
                about |= {"role": "factor", "unit": self.factor_units.get(name, "")}
            rows.append({**about, "meaning": about.get("meaning") or unlike.get(name, "")})
        return _csv(rows)

    def as_dict(self) -> dict[str, Any]:
        """The result as plain data: the form of `sweep.json`."""
        return {
            "form": _FORM,
            "title": self.title,
            "file": self.file,
            "factors": {name: list(levels) for name, levels in self.factors.items()},
            "factor_units": dict(self.factor_units),
            "replications": self.replications,
            "first_seed": self.first_seed,
            "common_random_numbers": self.common_random_numbers,
            "units": dict(self.units),
            "meanings": dict(self.meanings),
            "subjects": dict(self.subjects),
            "engine": self.engine,
            "version": self.version,
            "runs": [asdict(run) for run in self.runs],
        }

    def to_json(self) -> str:
        """`as_dict` as JSON."""
        return json.dumps(self.as_dict(), indent=1, ensure_ascii=False, allow_nan=False)


_REPLICATION = "number of the replication, from 1"
_SEED = "seed of the run"
_STATE = "finished or failed; a failed run has no responses"
_HASH = "SHA-256 of the run's spec, by which the store has the run"


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    text = StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def is_sweep(folder: Path) -> bool:
    """Whether a folder holds the result of a sweep."""
    return (folder / RESULT_FILE).is_file()


def read_sweep(source: Path) -> SweepResult:
    """Reads back what `skycell sweep --out` wrote.

    Args:
        source: the folder, or the `sweep.json` in it.

    Raises:
        NotASweepError: the file is not a result of a sweep.
        OSError: it cannot be read.
    """
    file = source / RESULT_FILE if source.is_dir() else source
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        if data.pop("form") != _FORM:
            raise NotASweepError(f"{file} is of another form than this version writes")
        if old := [text for name in data["units"] if (text := renamed(name))]:
            raise NotASweepError(
                f"{file} is of an earlier version: {', '.join(old)}. Make the sweep again."
            )
        return TypeAdapter(SweepResult).validate_python(data)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, NotASweepError):
            raise
        raise NotASweepError(f"{file} is not a result of a sweep") from None
