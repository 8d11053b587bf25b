"""How much each choice for an unstated parameter moves the tables, one choice at a time."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Unpack

from skycell.studies.compare import Row, TableSummary, summarise_tables
from skycell.studies.findings import ConclusionResult
from skycell.studies.library import select
from skycell.studies.overrides import refuse_faulty
from skycell.studies.plan import plan_runs
from skycell.studies.reproduce import FIRST_SEED, Options, reproduce
from skycell.studies.reproduction import Reproduction


@dataclass(frozen=True)
class Shift:
    """What one alternative does to one table."""

    key: str
    value: Any
    table: str
    mean_absolute_change: float | None
    """Mean over the compared rows of the absolute change of our mean; see `compared_rows`."""
    largest_change: float | None
    summary: TableSummary

    def as_dict(self) -> dict[str, Any]:
        """The shift for a program."""
        cells = self.summary.cells
        return {
            "key": self.key,
            "value": self.value,
            "table": self.table,
            "mean_absolute_change": self.mean_absolute_change,
            "largest_change": self.largest_change,
            "inside": cells.inside,
            "near": cells.near,
            "off": cells.off,
            "mean_absolute_error": cells.mean_absolute_error,
            "failed": self.summary.failed,
        }


@dataclass(frozen=True)
class Flip:
    """A conclusion that an alternative decides otherwise."""

    key: str
    value: Any
    study: str
    conclusion: str
    holds: bool
    """Whether it holds in ours with the alternative; as chosen it is the other way round."""

    def as_dict(self) -> dict[str, Any]:
        """The flip for a program."""
        return asdict(self)


@dataclass(frozen=True)
class Sensitivity:
    """The tables as chosen, and what each alternative does to them."""

    engine: str
    replications: int | None
    baseline: tuple[TableSummary, ...]
    shifts: tuple[Shift, ...]
    flips: tuple[Flip, ...]
    undecided: tuple[ConclusionResult, ...] = ()
    """Conclusions on the tables that need others as well, so that no alternative can flip them."""

    def as_dict(self) -> dict[str, Any]:
        """Baseline and shifts as plain data."""
        return {
            "engine": self.engine,
            "baseline": [
                {
                    "table": entry.table,
                    "inside": entry.cells.inside,
                    "near": entry.cells.near,
                    "off": entry.cells.off,
                    "mean_absolute_error": entry.cells.mean_absolute_error,
                    "failed": entry.failed,
                }
                for entry in self.baseline
            ],
            "shifts": [shift.as_dict() for shift in self.shifts],
            "flips": [flip.as_dict() for flip in self.flips],
            "undecided": [
                {"study": entry.study, "conclusion": entry.id, "without": list(entry.without)}
                for entry in self.undecided
            ],
        }


def alternatives(ids: Iterable[str]) -> dict[str, tuple[Any, ...]]:
    """Every alternative that the studies of some tables name, by choice.

    Raises:
        UnknownStudyError: an ID names nothing.
    """
    found: dict[str, list[Any]] = {}
    for study in {found.study.id: found.study for found in select(ids)}.values():
        for choice in study.choices:
            known = found.setdefault(choice.name, [])
            known += [value for value in choice.alternatives if value not in known]
    return {name: tuple(values) for name, values in found.items() if values}


def sensitivity(
    ids: Sequence[str],
    vary: Mapping[str, Sequence[Any]] | None = None,
    *,
    named: bool = False,
    on_variant: Callable[[str], None] | None = None,
    replications: int | None = None,
    seed: int = FIRST_SEED,
    overrides: Mapping[str, Any] | None = None,
    **options: Unpack[Options],
) -> Sensitivity:
    """Reproduces tables with one choice at a time set otherwise.

    Args:
        ids: tables, studies or `all`.
        vary: values to try by choice or scenario key; every alternative that the studies name if
            not given.
        named: try what the studies name also where `vary` is given.
        on_variant: told the name of each variant before its runs, such as `tcp.tick=500 ms`.
        replications: runs per case, as for `reproduce`.
        seed: seed of the first replication.
        overrides: what holds for the baseline and for every variant.
        **making: as for `reproduce`.

    Raises:
        UnknownStudyError: an ID names nothing.
        ScenarioFaults: a value does not fit; told before anything is run.
        ValueError: as of `reproduce`.
    """
    common = dict(overrides or {})
    own = [(key, value) for key, values in (vary or {}).items() for value in values]
    of_studies = alternatives(ids) if named or vary is None else {}
    variants = [(key, value) for key, values in of_studies.items() for value in values]
    variants += [new for place, new in enumerate(own) if new not in [*variants, *own[:place]]]

    def with_changes(changes: Mapping[str, Any]) -> Reproduction:
        return reproduce(
            ids,
            replications=replications,
            seed=seed,
            overrides={**common, **changes},
            **options,
        )

    if own:  # what the studies name has been checked
        selection = select(ids)
        refuse_faulty(selection, [{**common, key: value} for key, value in own], seed)
        for key, value in own:
            plan_runs(selection, seed, 1, {**common, key: value}, options.get("jobs"))
    if on_variant is not None:
        on_variant("as chosen")
    baseline = with_changes({})
    shifts: list[Shift] = []
    flips: list[Flip] = []
    for key, value in variants:
        if on_variant is not None:
            on_variant(f"{key}={value}")
        varied = with_changes({key: value})
        shifts += _shifts(key, value, baseline.rows, varied.rows)
        flips += _flips(key, value, baseline.conclusions, varied.conclusions)
    summaries = tuple(summarise_tables(baseline.rows))
    undecided = tuple(entry for entry in baseline.conclusions if entry.without)
    return Sensitivity(
        baseline.engine, replications, summaries, tuple(shifts), tuple(flips), undecided
    )


def compared_rows(rows: Sequence[Row], table: str) -> list[int]:
    """Places of the rows that tell how far a table moves: rows of one kind, in one unit.

    Those with a published value, averages left out, of the unit of the first; in a table without
    any, those of its first measure.
    """
    own = [place for place, row in enumerate(rows) if row.table == table and not row.is_average]
    printed = [place for place in own if rows[place].published is not None]
    if printed:
        return [place for place in printed if rows[place].unit == rows[printed[0]].unit]
    return [place for place in own if rows[place].metric == rows[own[0]].metric]


def _flips(
    key: str,
    value: Any,
    baseline: Sequence[ConclusionResult],
    varied: Sequence[ConclusionResult],
) -> list[Flip]:
    """Conclusions that are decided in both, and differently."""
    return [
        Flip(key, value, after.study, after.id, after.ours_holds)
        for before, after in zip(baseline, varied, strict=True)
        if before.ours_holds is not None
        and after.ours_holds is not None
        and before.ours_holds is not after.ours_holds
    ]


def _shifts(key: str, value: Any, baseline: Sequence[Row], varied: Sequence[Row]) -> list[Shift]:
    shifts = []
    for summary in summarise_tables(varied):
        changes = [
            abs(after.mean - before.mean)
            for place in compared_rows(varied, summary.table)
            if (before := baseline[place]).mean is not None
            and (after := varied[place]).mean is not None
        ]
        shifts.append(
            Shift(
                key,
                value,
                summary.table,
                statistics.fmean(changes) if changes else None,
                max(changes, default=None),
                summary,
            )
        )
    return shifts
