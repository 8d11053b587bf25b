"""One run of a study over time: which one, and its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from skycell.plots.figure import Figure, NothingToDrawError
from skycell.plots.labels import described
from skycell.report.traced import figure_of_traced, traced_spec

if TYPE_CHECKING:
    from skycell.records.result import RunResult
    from skycell.spec.declared.network import NetworkSpec
    from skycell.studies.compare import Row
    from skycell.studies.model import Study
    from skycell.studies.reproduction import Reproduction

PREFERRED = {"policy": "sd", "tcp": "sack"}
"""Levels that the example run has where the study has them: what its authors recommend."""


@dataclass(frozen=True)
class Example:
    """One run of a study over time.

    Attributes:
        text: which run it is.
        figures: its windows, and the queue of its congested port.
    """

    text: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class PlannedExample:
    """The runs that show a study over time, before they are made.

    Attributes:
        study: the study.
        text: which run is shown.
        specs: that run with its traces, then the run of each figure of the study that shows one.
        overrides: choices or scenario keys set otherwise in all of them.
    """

    study: Study
    text: str
    specs: tuple[NetworkSpec, ...]
    overrides: Mapping[str, Any]

    def example(self, results: Sequence[RunResult]) -> Example:
        """The figures, from the results of the runs in the order of `specs`."""
        from skycell.plots.run import run_figure

        first, *others = results
        figures = []
        for kind in self.specs[0].records.traces:
            try:
                figure = run_figure(first, kind)
            except NothingToDrawError:
                continue
            figures.append(replace(figure, name=f"{self.study.id}-run-{kind}"))
        figures += map(figure_of_traced, others, self.study.traced)
        reported = (figure.of_study_set(self.overrides) for figure in figures)
        return Example(self.text, tuple(reported))


def planned_example(reproduction: Reproduction, study: Study) -> PlannedExample | None:
    """Chooses one case of a study, to be simulated again with traces.

    The first replication of the case with the preferred levels, the fewest sources and a buffer of
    middle size is taken. Its spec differs from the study's in the traces that are kept, so the run
    is the same one.

    Figures of the study that show a run over time follow, each of a run of its own.

    Returns:
        None where no run of the study has a result.
    """
    from skycell.studies.design import cell_of, scenario_of
    from skycell.studies.library import table_of

    row = _chosen(reproduction, study)
    if row is None:
        return None
    experiment = table_of(row.table).table.experiment
    case = cell_of(study, experiment, row.factors)
    scenario = scenario_of(study, case, reproduction.overrides)
    original = scenario.resolve(reproduction.seed)
    limited = any(link.port.is_limited for link in original.links)
    traces = ["cwnd", "queue"] if limited else ["cwnd"]
    spec = scenario.with_values({"records.traces": traces}).resolve(reproduction.seed)
    levels = described({key: row.factors[key] for key, _ in case.levels})
    text = f"{levels}; seed {reproduction.seed}."
    named = original.hash()
    if named in row.spec_hashes:
        text += f" The same run as {named[:12]} in the tables, with its traces kept."
    others = [
        traced_spec(study, wanted, seed=reproduction.seed, overrides=reproduction.overrides)
        for wanted in study.traced
    ]
    return PlannedExample(study, text, (spec, *others), reproduction.overrides)


def _chosen(reproduction: Reproduction, study: Study) -> Row | None:
    rows = [
        row
        for row in reproduction.rows
        if row.study == study.id and row.n and not row.is_average and not row.is_computed
    ]

    def rank(row: Row) -> tuple[int, float]:
        misses = sum(row.factors.get(key, level) != level for key, level in PREFERRED.items())
        return misses, float(row.factors.get("n_sources", 0))

    best = min(map(rank, rows), default=None)
    equal = sorted(
        (row for row in rows if rank(row) == best),
        key=lambda row: float(row.factors.get("buffer_cells", 0)),
    )
    return equal[(len(equal) - 1) // 2] if equal else None
