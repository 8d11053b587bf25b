"""The rows of tables that are computed once: on constellations, and on runs over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from skycell.experiment.design import Cell, Level
from skycell.input.faults import FaultCollector, ScenarioFaults
from skycell.measures.measure import Measures
from skycell.orbit import Constellation, as_constellation
from skycell.scenario import parse
from skycell.studies.compare import Row, row_of
from skycell.studies.design import (
    Overrides,
    cell_of,
    choices_in_force,
    refuse_choice,
    resolve_choices,
    scenario_values,
)
from skycell.studies.library import Selection, study_folder
from skycell.studies.model import Part
from skycell.studies.network_measures import NETWORK_MEASURES, Network
from skycell.studies.pair_measures import PAIR_MEASURES
from skycell.studies.path_measures import PATH_MEASURES, QUEUING_POINTS, Computed
from skycell.studies.plan import printed_rows

_ON_CONSTELLATIONS: Measures[Computed] = Measures(PATH_MEASURES, PAIR_MEASURES)


def check_paths(found: Selection, overrides: Overrides) -> None:
    """Tries overrides on the first row of every part of a table that is computed.

    Raises:
        ScenarioFaults: an override does not fit; with every fault.
    """
    faults = FaultCollector(found.study.id)
    choices = choices_in_force(found.study, overrides)
    for part in found.table.parts:
        fixed = resolve_choices(part.fixed, choices)
        points = fixed.get(QUEUING_POINTS, 1)
        if type(points) is not int or points < 1:
            allowed = "a whole number above 0"
            refuse_choice(found.study, str(part.fixed[QUEUING_POINTS]), choices, allowed, faults)
        factors = {**fixed, **printed_rows(found.study, part)[0].factors}
        cell = cell_of(found.study, found.table.experiment, factors)
        values = scenario_values(found.study, cell, overrides)
        try:
            if found.study.kind_of(found.table) == "networks":
                parse(values, name=str(cell), folder=_folder(cell), is_template=True)
            else:
                _constellation(values, cell)
        except ScenarioFaults as refused:
            faults.faults += [replace(fault, file=str(cell)) for fault in refused.faults]
    faults.raise_if_any()


def path_rows(found: Selection, part: Part, overrides: Overrides) -> list[Row]:
    """The rows of one part of a table that is computed.

    Raises:
        ScenarioFaults: an override does not fit the constellation.
    """
    fixed = resolve_choices(part.fixed, choices_in_force(found.study, overrides))
    rows = []
    for printed in printed_rows(found.study, part):
        factors = {**fixed, **printed.factors}
        cell = cell_of(found.study, found.table.experiment, factors)
        values = scenario_values(found.study, cell, overrides)
        computed = _computed(found, part, values, factors, cell)
        listed = () if computed is None else (computed,)
        failures = () if listed else ("there is no path",)
        rows.append(row_of(found, part, printed, listed, failures, overrides, is_computed=True))
    return rows


def _computed(
    found: Selection,
    part: Part,
    values: Mapping[str, Any],
    factors: Mapping[str, Level],
    cell: Cell,
) -> float | None:
    if found.study.kind_of(found.table) == "networks":
        return NETWORK_MEASURES[part.measure].measure(Network(values, _folder(cell), factors))
    of = Computed(_constellation(values, cell), factors)
    return _ON_CONSTELLATIONS[part.measure].measure(of)


def _constellation(values: Mapping[str, Any], cell: Cell) -> Constellation:
    """The constellation of a cell, whose files are in the study's folder."""
    return as_constellation(values, _folder(cell))


def _folder(cell: Cell) -> Path:
    """Folder of the study that a cell is of."""
    return Path(str(study_folder(cell.of[0])))
