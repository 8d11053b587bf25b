"""From the summaries of finished runs to the rows of tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skycell.experiment.batch import PlannedRun, RunEnd
from skycell.experiment.design import Cell, Level
from skycell.studies.compare import Row, row_of
from skycell.studies.design import Overrides, cell_of
from skycell.studies.effects import EFFECT_MEASURES, effect_of
from skycell.studies.evaluation import evaluation_of
from skycell.studies.library import Selection
from skycell.studies.measured_run import Evaluation, Measured
from skycell.studies.measures import MEASURES
from skycell.studies.model import Part
from skycell.studies.paths import path_rows
from skycell.studies.plan import Plan, cells_of, printed_rows


def measure_rows(
    selection: Sequence[Selection],
    plan: Plan,
    ends: Mapping[str, RunEnd],
    overrides: Overrides,
) -> list[Row]:
    """The rows of some tables.

    Args:
        selection: the tables.
        plan: their runs.
        ends: how each run ended, by spec hash.
        overrides: choices set otherwise than the studies say.

    Raises:
        ScenarioFaults: an override does not fit a constellation.
    """
    measurer = _Measurer(plan, ends, overrides)
    rows: list[Row] = []
    for found in selection:
        computed = found.study.is_computed(found.table)
        for part in found.table.parts:
            rows += path_rows(found, part, overrides) if computed else measurer.rows(found, part)
    return rows


@dataclass(frozen=True)
class _Measurer:
    plan: Plan
    ends: Mapping[str, RunEnd]
    overrides: Overrides
    measured: dict[tuple[Level, ...], float | None] = field(default_factory=dict)
    """Numbers of single runs that several rows of an analysis share."""

    def rows(self, found: Selection, part: Part) -> list[Row]:
        """The rows of one part of a table."""
        rows = []
        for printed in printed_rows(found.study, part):
            values, hashes = self._replications(found, part, printed.factors)
            reasons = [self.ends[name].reason for name in hashes]
            failures = tuple(dict.fromkeys(reason for reason in reasons if reason))
            rows.append(
                row_of(found, part, printed, values, failures, self.overrides, spec_hashes=hashes)
            )
        return rows

    def _replications(
        self, found: Selection, part: Part, factors: Mapping[str, Level]
    ) -> tuple[list[float | None], list[str]]:
        """One number per replication, none where a run of it has none; and the runs' hashes."""
        cells = cells_of(part, factors)
        planned = [cell_of(found.study, found.table.experiment, cell) for cell in cells]
        of_cells = [self.plan.of_cell[cell] for cell in planned]
        evaluation = self._evaluation(found)
        of_design = EFFECT_MEASURES.get(part.measure)
        measure = of_design.response if of_design else part.measure
        values: list[float | None] = []
        for replication in zip(*of_cells, strict=True):
            per_cell = [
                self._measure(cell, runs, evaluation, measure, {} if of_design else factors_of_cell)
                for cell, runs, factors_of_cell in zip(planned, replication, cells, strict=True)
            ]
            finished = [value for value in per_cell if value is not None]
            if len(finished) < len(per_cell):
                values.append(None)
            elif of_design:
                values.append(effect_of(part.measure, cells, finished, factors, part.design))
            else:
                values.append(sum(finished) / len(finished))
        return values, [run.spec_hash for own in of_cells for runs in own for run in runs]

    def _measure(
        self,
        cell: Cell,
        runs: Sequence[PlannedRun],
        evaluation: Evaluation,
        measure: str,
        factors: Mapping[str, Level],
    ) -> float | None:
        key = (measure, *(run.spec_hash for run in runs), *factors.values())
        if key not in self.measured:
            self.measured[key] = self._measure_anew(cell, runs, evaluation, measure, factors)
        return self.measured[key]

    def _measure_anew(
        self,
        cell: Cell,
        runs: Sequence[PlannedRun],
        evaluation: Evaluation,
        measure: str,
        factors: Mapping[str, Level],
    ) -> float | None:
        whole, *earlier = [self.ends[run.spec_hash].summary for run in runs]
        if whole is None or None in earlier:
            return None
        run = Measured(
            summary=whole,
            since=earlier[0] if earlier else None,
            facts=self.plan.known_of(cell, runs[0]),
            evaluation=evaluation,
            factors=factors,
        )
        return MEASURES[measure].measure(run)

    def _evaluation(self, found: Selection) -> Evaluation:
        return evaluation_of(found.study, found.table.experiment, self.overrides)
