"""What the alternatives of a study's choices did, as the study's folder keeps it.

The file has one line for each alternative, so that one that is added to a study is measured alone
and joins the others. What has been measured stays as long as the tables as chosen stay what they
were; `fingerprint` tells whether they are.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from skycell.studies.compare import TableSummary
from skycell.studies.library import study_folder
from skycell.studies.model import Study
from skycell.studies.reproduction import Reproduction
from skycell.studies.sensitivity import Sensitivity

FILE = "sensitivity.json"
"""The name of the file in a study's folder."""

_DIGITS = 6  # of a kept number; what is shown of it has fewer


@dataclass(frozen=True)
class Effect:
    """A table under one alternative, or as chosen."""

    change: float | None
    """Mean over the compared rows of the absolute change of our mean; none as chosen, and where
    nothing is compared."""
    largest: float | None
    """The largest of these changes."""
    inside: int
    near: int
    off: int
    error: float | None
    """Mean absolute difference from the print; none without print, or in several units."""
    failed: int
    """Rows that have no value because runs failed."""

    @classmethod
    def of(
        cls, summary: TableSummary, change: float | None = None, largest: float | None = None
    ) -> "Effect":
        """The scores of a table's cells, and how far they moved."""
        cells = summary.cells
        return cls(
            _short(change),
            _short(largest),
            cells.inside,
            cells.near,
            cells.off,
            _short(cells.mean_absolute_error),
            summary.failed,
        )

    @property
    def has_print(self) -> bool:
        """Whether the table has printed values to compare with."""
        return bool(self.inside + self.near + self.off)

    def as_list(self) -> list[float | None]:
        """The values in the order of the fields, as the file has them."""
        values = (self.change, self.largest, self.inside, self.near, self.off, self.error)
        return [*values, self.failed]


@dataclass(frozen=True)
class Alternative:
    """What one alternative did to every table, and to the conclusions."""

    key: str
    value: Any
    effects: Mapping[str, Effect]
    """By table."""
    flips: Mapping[str, bool]
    """Conclusions that it decides otherwise than what was chosen does, and how."""

    @property
    def name(self) -> tuple[str, str]:
        """Key and value; `1` and `true` are different values."""
        return named(self.key, self.value)


@dataclass(frozen=True)
class KeptSensitivity:
    """The alternatives of one study that have been tried, in the same runs otherwise."""

    study: str
    replications: int
    tables: tuple[str, ...]
    """IDs of the tables, or of the study for all of them."""
    version: str
    """The release of skycell that simulated what is chosen."""
    fingerprint: str
    """Of the tables as chosen."""
    as_chosen: Mapping[str, Effect]
    """By table."""
    alternatives: tuple[Alternative, ...] = field(default=())
    note: str = ""
    """What a reader has to know of all of them, told beside the tables; gone once they are measured
    anew."""

    @classmethod
    def begun(cls, study: str, tables: Sequence[str], as_chosen: Reproduction) -> "KeptSensitivity":
        """The tables as chosen, and no alternative."""
        return cls(
            study,
            as_chosen.replications[study],
            tuple(tables),
            as_chosen.version.partition("+")[0],
            fingerprint(as_chosen),
            {entry.table: Effect.of(entry) for entry in as_chosen.summaries},
        )

    def goes_on(self, other: "KeptSensitivity") -> bool:
        """Whether alternatives of the one and the other stand beside the same tables."""
        return replace(self, alternatives=(), version="", note="") == replace(
            other, alternatives=(), version="", note=""
        )

    def missing(self, study: Study) -> dict[str, tuple[Any, ...]]:
        """Alternatives that the study names and that have not been tried, by choice."""
        known = {entry.name for entry in self.alternatives}
        found = {
            choice.name: tuple(
                value for value in choice.alternatives if named(choice.name, value) not in known
            )
            for choice in study.choices
        }
        return {name: values for name, values in found.items() if values}

    def with_alternatives(self, study: Study, more: Iterable[Alternative]) -> "KeptSensitivity":
        """These and others, in the order of the study; those that it no longer names are left."""
        by_name = {entry.name: entry for entry in (*self.alternatives, *more)}
        names = [
            named(choice.name, value) for choice in study.choices for value in choice.alternatives
        ]
        return replace(self, alternatives=tuple(by_name[name] for name in names if name in by_name))

    def joined(
        self, tables: Sequence[str], both: Reproduction, more: Iterable[Alternative]
    ) -> "KeptSensitivity":
        """These tables and others, under the alternatives that were tried of both.

        Args:
            tables: IDs of all of them, or of the study.
            both: all of them as chosen.
            more: the alternatives of the others.
        """
        others = {entry.name: entry for entry in more}
        alternatives = tuple(
            replace(
                entry,
                effects={**entry.effects, **others[entry.name].effects},
                flips={**entry.flips, **others[entry.name].flips},
            )
            for entry in self.alternatives
            if entry.name in others
        )
        begun = KeptSensitivity.begun(self.study, tables, both)
        return replace(begun, alternatives=alternatives, note=self.note)

    def write(self, file: Path) -> None:
        """Writes the file, an alternative a line."""
        head = {
            "study": self.study,
            "replications": self.replications,
            "tables": self.tables,
            "version": self.version,
            "fingerprint": self.fingerprint,
            "as_chosen": _effects_as_lists(self.as_chosen),
        }
        if self.note:
            head["note"] = self.note
        lines = [f"{json.dumps(name)}: {json.dumps(value)}," for name, value in head.items()]
        rows = [
            json.dumps(
                {
                    "key": entry.key,
                    "value": entry.value,
                    "effects": _effects_as_lists(entry.effects),
                    "flips": entry.flips,
                }
            )
            for entry in self.alternatives
        ]
        text = "\n".join(["{", *lines, '"alternatives": [', ",\n".join(rows), "]", "}", ""])
        file.write_text(text, encoding="utf-8")

    @classmethod
    def of_study(cls, study: Study) -> "KeptSensitivity | None":
        """What is kept in a study's folder; none where there is no file."""
        file = study_folder(study.id) / FILE
        return cls.read(file) if file.is_file() else None

    @classmethod
    def read(cls, file: Path | Traversable) -> "KeptSensitivity":
        """Reads what `write` wrote."""
        data = json.loads(file.read_text(encoding="utf-8"))
        alternatives = tuple(
            Alternative(entry["key"], entry["value"], _effects(entry["effects"]), entry["flips"])
            for entry in data["alternatives"]
        )
        return cls(
            data["study"],
            data["replications"],
            tuple(data["tables"]),
            data["version"],
            data["fingerprint"],
            _effects(data["as_chosen"]),
            alternatives,
            data.get("note", ""),
        )


def value_in_words(value: Any) -> str:
    """A value of a choice as people read it.

    >>> value_in_words(True), value_in_words({"kind": "uniform", "low": "1 s", "high": "2 s"})
    ('true', 'uniform, 1 s, 2 s')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return value_in_words(list(value.values()))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(value_in_words, value))
    return str(value)


def named(key: str, value: Any) -> tuple[str, str]:
    """Key and value of an alternative as something to look it up by.

    >>> named("leo_access.z", 1) == named("leo_access.z", True)
    False
    """
    return key, json.dumps(value)


def fingerprint(result: Reproduction) -> str:
    """A digest of every value of ours and of every verdict on a conclusion, replication by each."""
    rows = [
        [row.table, row.metric, dict(row.factors), [_short(value) for value in row.by_replication]]
        for row in result.rows
    ]
    verdicts = [[entry.id, entry.ours_holds] for entry in result.conclusions]
    return sha256(json.dumps([rows, verdicts], sort_keys=True).encode()).hexdigest()[:16]


def alternatives_of(measured: Sensitivity) -> list[Alternative]:
    """What was measured of a study, alternative by alternative."""
    found: dict[tuple[str, str], Alternative] = {}
    for shift in measured.shifts:
        name = named(shift.key, shift.value)
        entry = found.get(name) or Alternative(shift.key, shift.value, {}, {})
        effect = Effect.of(shift.summary, shift.mean_absolute_change, shift.largest_change)
        found[name] = replace(entry, effects={**entry.effects, shift.table: effect})
    for flip in measured.flips:
        name = named(flip.key, flip.value)
        entry = found[name]
        found[name] = replace(entry, flips={**entry.flips, flip.conclusion: flip.holds})
    return list(found.values())


def _effects_as_lists(effects: Mapping[str, Effect]) -> dict[str, list[float | None]]:
    return {table: effect.as_list() for table, effect in effects.items()}


def _effects(lists: Mapping[str, Sequence[Any]]) -> dict[str, Effect]:
    return {table: Effect(*values) for table, values in lists.items()}


def _short(value: float | None) -> float | None:
    """A number as the file keeps it: what is below its last digit is no difference."""
    return None if value is None else float(f"{value:.{_DIGITS}g}")
