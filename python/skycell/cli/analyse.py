"""`skycell analyse`: which factors of a sweep, or of any table, matter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skycell.cli.axes import AxesOptions
from skycell.cli.collector import ErrorCollector
from skycell.cli.options import (
    NAME,
    NamedPath,
    RowsOptions,
    engine_option,
    latex_option,
    level_option,
    store_option,
    table_json_option,
)
from skycell.cli.runs_table import Runs, asked_for, read_runs, runs_of_sweep, wanted_rows
from skycell.cli.sentences import say_json
from skycell.cli.store import look_into_store, refuse_unfit_store
from skycell.cli.verb import Call, Verb, argument, option, shared

if TYPE_CHECKING:
    from skycell.experiment.plan import Design
    from skycell.experiment.result import SweepResult
    from skycell.plots.values import Axes
    from skycell.stats import Analysis

_SWEEP = ".toml"


class Analyse(Call):
    """Show means, effects, allocation of variation and intervals for the runs in SOURCE.

    SOURCE is a folder that `skycell sweep --out` wrote, the file of a sweep whose runs are in the
    store, or any table with a column per factor and response: .csv, .tsv or .parquet.

    Exits with 0, or with 2 if the input is faulty or does not determine the effects.
    """

    source: Path = argument(metavar="SOURCE", type=NamedPath(path_type=Path))
    responses: tuple[str, ...] = option(
        "--response",
        type=NAME,
        multiple=True,
        help="Column to explain; may be repeated. If not given, all that a sweep measured.",
    )
    rows = shared(RowsOptions)
    axes = shared(AxesOptions)
    level: float = level_option()
    order: int = option(
        "--order",
        type=click.IntRange(1),
        default=2,
        show_default=True,
        help="Largest number of factors in an interaction of the model.",
    )
    as_json: bool = table_json_option()
    as_latex: bool = latex_option()
    engine: str = engine_option("Engine whose runs to take from the store.")
    store_path: Path | None = store_option()

    def check(self, collector: ErrorCollector) -> tuple[Runs, Axes | None] | None:
        """Also reads the rows asked for."""
        wanted = wanted_rows(collector, self.rows.filters)
        if self.source.suffix == _SWEEP:
            read = self._runs_of_file(collector)
        else:
            read = collector.read(lambda: read_runs(self.source))
        if read is None:
            return None
        asked = (self.rows.factors, self.responses, self.rows.block)
        runs = asked_for(collector, read, wanted, *asked)
        return runs, self.axes.chosen(collector, runs.asked(*asked)[0])

    def _runs_of_file(self, collector: ErrorCollector) -> Runs | None:
        """The runs of a sweep's file as the store has them, or else as they are planned."""
        found: Runs | None = None
        is_fit = False
        with collector.step():
            refuse_unfit_store(self.store_path, to_look=True)
            is_fit = True
        with collector.step():
            design = _design(self.source)
            found = _planned(design)
            if is_fit:
                found = runs_of_sweep(_stored(design, self.engine, self.store_path))
        return found

    def run(self, found: tuple[Runs, Axes | None]) -> None:
        from skycell.stats import DesignError

        runs, axes = found
        names, asked, of_block = runs.asked(self.rows.factors, self.responses, self.rows.block)
        collector = ErrorCollector()
        analyses: dict[str, Analysis | str] = {}
        for name in asked:
            try:
                analyses[name] = runs.analysed(names, name, self.level, self.order, of_block)
            except DesignError as error:
                analyses[name] = str(error)
        refused = [why for why in analyses.values() if isinstance(why, str)]
        # Of responses that nobody named, one that no run has keeps no other back.
        if self.responses or len(refused) == len(analyses):
            for why in dict.fromkeys(refused):
                with collector.step():
                    raise click.UsageError(why)
            collector.refuse_if_any()
        if axes is not None and not self.as_json:
            from skycell.cli.console import Output
            from skycell.cli.sweep_output import show_pivots

            show_pivots(Output(), runs.values(names, asked), axes, self.level, runs.factor_units)
        _show(analyses, runs.units, self.as_json)


analyse = Verb(
    Analyse,
    "skycell analyse out/policies",
    "skycell analyse examples/sweeps/policy-and-buffer.toml --response efficiency --level 95",
    "skycell analyse out/policies/runs.csv --factor policy --response efficiency",
)


def _show(found: Mapping[str, Analysis | str], units: Mapping[str, str], as_json: bool) -> None:
    if as_json:
        data = {
            "analyses": [own.as_dict() for own in found.values() if not isinstance(own, str)],
            "refused": {name: why for name, why in found.items() if isinstance(why, str)},
        }
        say_json(data, allow_nan=False)
        return
    from skycell.cli.sweep_output import show_analysis, show_refusal

    for name, own in found.items():
        unit = units.get(name, "")
        if isinstance(own, str):
            show_refusal(name, unit, own)
        else:
            show_analysis(own, unit)


def _planned(design: Design) -> Runs:
    """The rows of a sweep before it is made, with the columns of `SweepResult.rows`."""
    plan = design.plan
    rows = [
        {
            **cell.labels,
            "replication": number,
            "seed": run.seed,
            **dict.fromkeys((*plan.responses, "state")),
            "spec_hash": run.spec_hash,
        }
        for cell, replications in design.runs.of_cell.items()
        for number, (run,) in enumerate(replications, 1)
    ]
    factors = [factor.name for factor in plan.factors]
    return Runs(rows, factors, plan.responses, unknown={*plan.responses, "state"})


def _design(source: Path) -> Design:
    from skycell.experiment.file import load_plan
    from skycell.experiment.plan import design_runs

    return design_runs(load_plan(source))


def _stored(design: Design, engine: str, store_path: Path | None) -> SweepResult:
    from skycell.experiment.batch import MissingRunsError
    from skycell.experiment.sweep import sweep

    with look_into_store(store_path) as store:
        try:
            return sweep(design, engine=engine, store=store, only_stored=True)
        except MissingRunsError as error:
            place = "" if store_path is None else f" --store {store_path}"
            made_by = "" if engine == "fast" else f" --engine {engine}"
            hint = f"`skycell sweep {design.plan.name}{made_by}{place}` makes them"
            raise click.UsageError(f"{error}; {hint}") from None
