"""Published values: the files as copied from print, and what is doubted about them."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from io import StringIO

from skycell.experiment.design import Level
from skycell.studies.library import study_folder
from skycell.studies.model import Part, Study, Table, read_level


class PublishedError(Exception):
    """A file of published values is not what the study says it is."""


@dataclass(frozen=True)
class PublishedValue:
    """One printed number."""

    factors: Mapping[str, Level]
    value: float | None
    """None where the print is lost; of a range, its lower end."""
    half_unit: float
    """Half a unit of the last digit that the column prints."""
    is_suspect: bool
    likely: float | None
    """What the number is likely to be, where the print contradicts itself."""
    upper: float | None = None
    """The upper end, where a range is printed."""

    @property
    def range(self) -> tuple[float, float] | None:
        """Both ends, where a range is printed."""
        return None if self.value is None or self.upper is None else (self.value, self.upper)

    @property
    def ends(self) -> tuple[float, ...]:
        """Both ends of a range, or the number; nothing where the print is lost."""
        return self.range or (() if self.value is None else (self.value,))

    def nearest(self, mean: float | None) -> float | None:
        """What is printed; of a range, what is nearest to our mean."""
        if self.range is None or mean is None:
            return self.value
        low, upper = self.range
        return min(max(mean, low), upper)


def decimals(text: str) -> int:
    """Digits after the point of a printed number.

    >>> decimals("0.60"), decimals("7")
    (2, 0)
    """
    return len(text.partition(".")[2])


def read_rows(study: Study, file: str) -> list[dict[str, str]]:
    """The rows of a file of published values.

    Raises:
        PublishedError: the file is not the one whose provenance the study states.
    """
    data = (study_folder(study.id) / "published" / file).read_bytes()
    digest = sha256(data).hexdigest()
    if digest != study.provenance(file).sha256:
        raise PublishedError(
            f"{study.id}/published/{file}: differs from the file whose provenance is stated "
            f"(SHA-256 {digest[:12]}…)"
        )
    return list(csv.DictReader(StringIO(data.decode("utf-8"), newline="")))


def published_values(study: Study, part: Part) -> list[PublishedValue]:
    """The printed numbers of one part of a table, in the order of the file.

    Numbers of one column are printed to one precision, that of the longest: `0.6` beside `0.72`
    stands for 0.60.
    """
    if part.file is None or part.column is None:
        return []
    rows = [row for row in read_rows(study, part.file) if _is_meant(row, part)]
    half_unit = 0.5 * 10.0 ** -max(decimals(row[part.column]) for row in rows)
    return [
        PublishedValue(
            factors={name: read_level(row[name]) for name in part.factors},
            value=float(row[part.column]) if row[part.column] else None,
            half_unit=half_unit,
            is_suspect=row.get("suspect") == "1",
            likely=_number(row.get(f"likely_{part.column}")),
            upper=_number(row[part.upper]) if part.upper else None,
        )
        for row in rows
    ]


def _number(text: str | None) -> float | None:
    return float(text) if text else None


def _is_meant(row: Mapping[str, str], part: Part) -> bool:
    return all(read_level(row[name]) in levels for name, levels in part.only.items())


def doubt_of(study: Study, table: Table, part: Part, value: PublishedValue) -> str:
    """What is doubted about a printed number; empty if nothing is."""
    doubts = []
    if value.is_suspect and part.file is not None:
        doubts.append(study.provenance(part.file).doubt)
    if value.likely is not None:
        doubts.append(f"likely {value.likely:g}")
    for entry in study.disagreements:
        if table.id in entry.tables and _matches(value.factors, entry.where):
            doubts.append(f"{entry.copies} ({entry.judgement})")
    return "; ".join(doubts)


def _matches(factors: Mapping[str, Level], where: Mapping[str, Level]) -> bool:
    return bool(where) and all(factors.get(name) == level for name, level in where.items())
