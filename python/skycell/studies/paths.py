"""The rows of tables that are computed on constellations."""

from __future__ import annotations

from dataclasses import replace

from skycell.input.faults import FaultCollector, ScenarioFaults
from skycell.orbit import as_constellation
from skycell.studies.compare import Row, row_of
from skycell.studies.design import (
    Overrides,
    cell_of,
    choices_in_force,
    refuse_choice,
    resolve_choices,
    scenario_values,
)
from skycell.studies.library import Selection
from skycell.studies.model import Part
from skycell.studies.path_measures import PATH_MEASURES, QUEUING_POINTS, Computed
from skycell.studies.plan import printed_rows


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
        try:
            as_constellation(scenario_values(found.study, cell, overrides))
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
        computed = PATH_MEASURES[part.measure].measure(Computed(as_constellation(values), factors))
        listed = () if computed is None else (computed,)
        failures = () if listed else ("there is no path",)
        rows.append(row_of(found, part, printed, listed, failures, overrides, is_computed=True))
    return rows
