"""The figures of a study that show one of its runs over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import PS_PER_SECOND
from skycell.plots.figure import Figure
from skycell.report.study_figures import reserved_mbps

if TYPE_CHECKING:
    from skycell.records.result import RunResult
    from skycell.spec.declared.network import NetworkSpec
    from skycell.studies.figures import TracedFigure
    from skycell.studies.model import Study


def traced_figure(
    study: Study,
    wanted: TracedFigure,
    *,
    seed: int,
    overrides: Mapping[str, Any],
    engine: str,
) -> Figure:
    """Simulates a case of a study as long as a figure of it lasts, and draws the figure.

    Args:
        study: the study.
        wanted: one of its traced figures.
        seed: of the run.
        overrides: choices or scenario keys set otherwise.
        engine: what simulates.

    Raises:
        RunError: the run failed.
    """
    from skycell.experiment.run import run_spec

    spec = traced_spec(study, wanted, seed=seed, overrides=overrides)
    return figure_of_traced(run_spec(spec, engine), wanted).of_study_set(overrides)


def traced_spec(
    study: Study, wanted: TracedFigure, *, seed: int, overrides: Mapping[str, Any]
) -> NetworkSpec:
    """The run that a figure of a study shows: one of its cases, as long as the figure lasts."""
    from skycell.plots.run import TRACE_OF
    from skycell.studies.design import cell_of, scenario_of

    scenario = scenario_of(study, cell_of(study, wanted.experiment, wanted.case), overrides)
    # What follows the figure does not change it.
    shortened = scenario.with_values(
        {"run.duration": f"{wanted.to_s:g} s", "records.traces": [TRACE_OF[wanted.kind]]}
    )
    return shortened.resolve(seed)


def figure_of_traced(result: RunResult, wanted: TracedFigure) -> Figure:
    """The figure of the run of `traced_spec`."""
    from skycell.plots.run import run_figure

    reserved = wanted.reserved
    figure = run_figure(
        result,
        wanted.kind,
        flows=[wanted.flow] if wanted.flow else None,
        from_ps=round(wanted.from_s * PS_PER_SECOND),
        to_ps=round(wanted.to_s * PS_PER_SECOND),
        reserved_mbps=None if reserved is None else reserved_mbps(wanted.reserved_mcr, reserved),
    )
    return replace(
        figure,
        name=wanted.id,
        title=wanted.title,
        subtitle=f"{wanted.printed_as}, redrawn" if wanted.printed_as else None,
    )
