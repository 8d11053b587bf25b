"""A published value beside ours: mean, spread and verdict."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skycell.experiment.value import Value, Verdict
from skycell.studies.design import Overrides
from skycell.studies.library import Selection
from skycell.studies.model import Part
from skycell.studies.published import PublishedValue, doubt_of

SLACK = 0.02
"""By how much the span of our replications is widened, in the row's unit, besides the rounding."""
NEAR_ABSOLUTE = 0.10
"""Largest difference of a `near` value of efficiency, fairness or another pure number."""
NEAR_RELATIVE = 0.15
"""Largest relative difference of a `near` value of anything with a unit."""

# A number such as 0.62 - 0.60 is not exactly 0.02 in binary.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Row(Value):
    """One number of a table: as printed, and as our replications have it."""

    study: str
    table: str
    is_suspect: bool = False
    is_average: bool = False
    overrides: Mapping[str, Any] | None = None
    is_computed: bool = False
    """Whether nothing was drawn: a second replication would give the same number."""

    @property
    def sd(self) -> float | None:
        """Standard deviation over the replications (n - 1); none for fewer than two draws."""
        return 0.0 if self.is_computed and self.values else super().sd

    def as_dict(self) -> dict[str, Any]:
        """The row for a program."""
        row = {"study": self.study, "table": self.table, **super().as_dict()}
        specs = row.pop("specs")
        row |= {"average": self.is_average, "suspect": self.is_suspect}
        if self.doubt:
            row["doubt"] = self.doubt
        if self.failures:
            row["failures"] = list(self.failures)
        if self.overrides:
            row["set"] = dict(self.overrides)
        return {**row, "specs": specs}


def row_of(
    found: Selection,
    part: Part,
    printed: PublishedValue,
    by_replication: Sequence[float | None],
    failures: Sequence[str],
    overrides: Overrides,
    *,
    spec_hashes: Sequence[str] = (),
    is_computed: bool = False,
) -> Row:
    """A printed number beside ours, with what is doubted about it and the verdict.

    Args:
        found: its table.
        part: the part of the table.
        printed: the number, or the case without one.
        by_replication: ours, one per replication; none where there is no number.
        failures: why runs have no result.
        overrides: what was set otherwise than the study says.
        spec_hashes: of the runs, where there were some.
        is_computed: whether nothing was drawn.
    """
    values = [value for value in by_replication if value is not None]
    published = printed.nearest(statistics.fmean(values) if values else None)
    verdict = (
        own_verdict(failures)
        if found.study.is_own
        else verdict_of(printed, part.unit, values, failures)
    )
    return Row(
        study=found.study.id,
        table=found.table.id,
        factors=printed.factors,
        metric=part.measure,
        unit=part.unit,
        published=published,
        published_range=printed.range,
        by_replication=tuple(by_replication),
        verdict=verdict,
        doubt=doubt_of(found.study, found.table, part, printed),
        is_suspect=printed.is_suspect,
        is_average=bool(part.average_over),
        failures=tuple(failures),
        spec_hashes=tuple(spec_hashes),
        overrides=overrides or None,
        is_computed=is_computed,
    )


def verdict_of(
    printed: PublishedValue, unit: str, values: Sequence[float], failures: Sequence[str] = ()
) -> Verdict:
    """Whether a published value is what our replications give.

    `inside`: within their span, widened by the rounding of the print and by `SLACK`; of a range, as
    soon as one of its values is. `near`: their mean is within 0.10 of it, or within 15 % if it has
    a unit. Else `off`, also where ours is not defined, as the fairness of runs that delivered
    nothing. `unpublished` without a published value, `failed` where runs failed and leave none of
    ours.

    >>> six = PublishedValue({}, 0.60, 0.005, is_suspect=False, likely=None)
    >>> verdict_of(six, "1", [0.61, 0.64]), verdict_of(six, "1", [0.68])
    ('inside', 'near')
    >>> from dataclasses import replace
    >>> to_eight = replace(six, upper=0.80)
    >>> verdict_of(to_eight, "1", [0.68]), verdict_of(to_eight, "1", [0.91])
    ('inside', 'off')
    """
    if failures and not values:
        return "failed"
    published = printed.nearest(statistics.fmean(values) if values else None)
    if published is None:
        return "unpublished"
    if not values:
        return "off"
    margin = printed.half_unit + SLACK + _ROUNDING
    if min(values) - margin <= published <= max(values) + margin:
        return "inside"
    near = NEAR_ABSOLUTE if unit == "1" else NEAR_RELATIVE * abs(published)
    off_by = abs(statistics.fmean(values) - published)
    return "near" if off_by <= near + _ROUNDING else "off"


def own_verdict(failures: Sequence[str]) -> Verdict:
    """The verdict on a row of a study of our own, which has nothing to be compared with.

    A row without a value whose runs all finished is not defined, and has not failed.
    """
    return "failed" if failures else "own"


@dataclass(frozen=True)
class Score:
    """How many values of some rows are reproduced."""

    inside: int
    near: int
    off: int
    mean_absolute_error: float | None
    """None where nothing is compared, and of rows in several units."""
    unit: str | None = None
    """Of the error; None where there is none."""

    @property
    def compared(self) -> int:
        """Rows with a published value and one of ours."""
        return self.inside + self.near + self.off


@dataclass(frozen=True)
class TableSummary:
    """Scores of one table; suspect values and averages over other rows are counted apart."""

    table: str
    cells: Score
    suspect: Score
    averages: Score
    unpublished: int
    own: int
    failed: int


def score(rows: Iterable[Row]) -> Score:
    """Counts verdicts and averages the absolute difference between our mean and the print."""
    compared = [row for row in rows if row.verdict in ("inside", "near", "off")]
    errors = [
        abs(row.mean - row.published)
        for row in compared
        if row.mean is not None and row.published is not None
    ]
    units = {row.unit for row in compared}
    counts = dict.fromkeys(("inside", "near", "off"), 0)
    for row in compared:
        counts[row.verdict] += 1
    has_error = bool(errors) and len(units) == 1
    return Score(
        counts["inside"],
        counts["near"],
        counts["off"],
        math.fsum(errors) / len(errors) if has_error else None,
        units.pop() if has_error else None,
    )


def summarise_tables(rows: Sequence[Row]) -> list[TableSummary]:
    """One summary per table, in the order of the rows."""
    summaries = []
    for table in dict.fromkeys(row.table for row in rows):
        own = [row for row in rows if row.table == table]
        cells = [row for row in own if not row.is_average]
        summaries.append(
            TableSummary(
                table,
                cells=score(row for row in cells if not row.is_suspect),
                suspect=score(row for row in cells if row.is_suspect),
                averages=score(row for row in own if row.is_average),
                unpublished=sum(row.verdict == "unpublished" for row in own),
                own=sum(row.verdict == "own" for row in own),
                failed=sum(row.verdict == "failed" for row in own),
            )
        )
    return summaries
