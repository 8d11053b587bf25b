"""One run of a study over time: which one, and its figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from skycell.plots.figure import Figure, NothingToDrawError
from skycell.plots.words import described
from skycell.report.traced import traced_figure

if TYPE_CHECKING:
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


def example_run(reproduction: Reproduction, study: Study) -> Example | None:
    """Simulates one case of a study again, with traces.

    The first replication of the case with the preferred levels, the fewest sources and a buffer of
    middle size is taken. Its spec differs from the study's in the traces that are kept, so the run
    is the same one.

    Figures of the study that show a run over time follow, each of a run of its own.

    Returns:
        None where no run of the study has a result.
    """
    from skycell.experiment.run import run_spec
    from skycell.plots.run import run_figure
    from skycell.studies.design import case_of, scenario_of
    from skycell.studies.library import table_of

    row = _chosen(reproduction, study)
    if row is None:
        return None
    experiment = table_of(row.table).table.experiment
    case = case_of(study, experiment, row.factors)
    scenario = scenario_of(study, case, reproduction.overrides)
    limited = any(link.port.capacity_cells for link in scenario.resolve().links)
    traces = ["cwnd", "queue"] if limited else ["cwnd"]
    spec = scenario.with_values({"records.traces": traces}).resolve(reproduction.seed)
    result = run_spec(spec, reproduction.engine)
    figures = []
    for kind in traces:
        try:
            figure = run_figure(result, kind)
        except NothingToDrawError:
            continue
        figures.append(replace(figure, name=f"{study.id}-run-{kind}"))
    levels = described({key: row.factors[key] for key, _ in case.levels})
    text = f"{levels}; seed {reproduction.seed}."
    original = scenario.resolve(reproduction.seed).hash()
    if original in row.spec_hashes:
        text += f" The same run as {original[:12]} in the tables, with its traces kept."
    figures += [
        traced_figure(
            study,
            wanted,
            seed=reproduction.seed,
            overrides=reproduction.overrides,
            engine=reproduction.engine,
        )
        for wanted in study.traced
    ]
    return Example(text, tuple(figures))


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
