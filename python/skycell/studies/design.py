"""From a table to its runs: cells, scenarios, specs and seeds."""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from skycell.experiment.design import Cell, Level
from skycell.input.dotted_keys import set_value
from skycell.input.faults import FaultCollector, ScenarioFaults
from skycell.input.quantities import Dimension, Refused, parse_quantity, rounded, show_time
from skycell.scenario import NetworkSpec, Scenario, parse
from skycell.scenario.file.scenario_file import WrittenFile
from skycell.spec.declared.network import StartAt, StartDrawn
from skycell.studies.library import study_folder
from skycell.studies.model import Experiment, Study

_REFERENCE = re.compile(r"\{([a-z0-9_.]+)\}")
#: Key of a template's table of which one value is taken.
_CHOOSE = "choose"

Overrides = Mapping[str, Any]
"""Choices (by name) or scenario keys that are set otherwise than the study says."""


def cell_of(study: Study, experiment: str, factors: Mapping[str, Level]) -> Cell:
    """The cell that a table's row is measured on: its levels of the experiment's factors.

    Factors of the row that only say what is measured (a destination, a group), and labels, do not
    tell runs apart.

    Raises:
        ValueError: a factor has no such level.
    """
    known = study.experiments[experiment].factors
    levels = [
        (name, factor.level(name, factors[name]))
        for name, factor in known.items()
        if not factor.label
    ]
    return Cell(tuple(levels), (study.id, experiment))


def experiment_of(study: Study, cell: Cell) -> Experiment:
    """The experiment of a study that a cell is one of."""
    return study.experiments[cell.of[-1]]


def choices_in_force(study: Study, overrides: Overrides) -> dict[str, Any]:
    """Value of every choice of a study, overrides applied."""
    return {choice.name: overrides.get(choice.name, choice.value) for choice in study.choices}


def resolve_choices(value: Any, choices: Mapping[str, Any]) -> Any:
    """A template with its `"{name}"` replaced by the value of the choice of that name.

    A table with the key `choose` is replaced by what it has under the value of that choice.

    >>> resolve_choices({"tick": "{tcp.tick}"}, {"tcp.tick": "100 ms"})
    {'tick': '100 ms'}
    >>> resolve_choices({"choose": "{number.is}", "on": "6 s", "cycle": "3 s"}, {"number.is": "on"})
    '6 s'
    >>> resolve_choices({"choose": "{cells}", "1": "1 ms", "4": "4 ms"}, {"cells": 4})
    '4 ms'

    Raises:
        ScenarioFaults: a table has nothing under the value of its choice.
    """
    if isinstance(value, str):
        reference = _REFERENCE.fullmatch(value)
        return choices[reference.group(1)] if reference else value
    if isinstance(value, Mapping):
        if _CHOOSE in value:
            return resolve_choices(_chosen(value, choices), choices)
        return {key: resolve_choices(item, choices) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [resolve_choices(item, choices) for item in value]
    return value


def _chosen(table: Mapping[str, Any], choices: Mapping[str, Any]) -> Any:
    known = {key: item for key, item in table.items() if key != _CHOOSE}
    chosen = resolve_choices(table[_CHOOSE], choices)
    if str(chosen) in known:  # keys of TOML are texts
        return known[str(chosen)]
    (name,) = references(table[_CHOOSE])
    faults = FaultCollector("choices")
    faults.add(tuple(name.split(".")), chosen, " or ".join(f'"{key}"' for key in known))
    raise ScenarioFaults(list(faults))


def refuse_choice(
    study: Study, template: str, choices: Mapping[str, Any], allowed: str, faults: FaultCollector
) -> None:
    """Notes that the value of the choice that a template refers to is not allowed."""
    (name,) = references(template)  # what a study itself says is in order
    meaning = next(choice.meaning for choice in study.choices if choice.name == name)
    faults.add(tuple(name.split(".")), choices[name], allowed, meaning)


def references(value: Any) -> Iterator[str]:
    """Names of the choices that a template refers to."""
    if isinstance(value, str):
        reference = _REFERENCE.fullmatch(value)
        if reference:
            yield reference.group(1)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from references(item)


def scenario_values(study: Study, cell: Cell, overrides: Overrides) -> dict[str, Any]:
    """The scenario of a cell as plain data, as it would stand in a file."""
    choices = choices_in_force(study, overrides)
    values = deepcopy(experiment_of(study, cell).scenario)
    for key, value in cell.settings.items():
        _set(values, key, value)
    resolved: dict[str, Any] = resolve_choices(values, choices)
    for key, value in overrides.items():
        if key not in choices:
            _set(resolved, key, value)
    return resolved


def scenario_of(study: Study, cell: Cell, overrides: Overrides | None = None) -> Scenario:
    """The scenario of a cell.

    Raises:
        ScenarioFaults: an override names no scenario key, or has a value that is not allowed.
    """
    return _parsed(scenario_values(study, cell, overrides or {}), cell)


def _parsed(values: dict[str, Any], cell: Cell) -> Scenario:
    """The scenario of a cell, whose keys may have an effect in other cells of the study only."""
    folder = Path(str(study_folder(cell.of[0])))
    return parse(values, name=str(cell), folder=folder, is_template=True)


def _resolved(values: dict[str, Any], cell: Cell, experiment: Experiment, seed: int) -> NetworkSpec:
    """The spec of a cell with seed 0, and with the network that a seed draws."""
    scenario = _parsed(values, cell)
    if scenario.is_drawn and not experiment.is_drawn:
        raise ValueError(f"{cell}: a network that the seed draws; the experiment says is_drawn")
    return scenario.resolve(seed).with_seed(0) if experiment.is_drawn else scenario.resolve(0)


def specs_of(
    study: Study, cell: Cell, overrides: Overrides, seed: int = 1
) -> Sequence[NetworkSpec]:
    """The runs that one replication of a cell needs, the longest first, with seed 0 in the spec.

    Two runs if the study measures from a later moment on: the second ends there.

    Args:
        study: the study.
        cell: one of its cells.
        overrides: choices or scenario keys set otherwise.
        seed: of the replication, for experiments whose replications differ in more.

    Raises:
        ScenarioFaults: an override does not fit the scenario, or that moment lies behind the end of
            the run.
    """
    experiment = experiment_of(study, cell)
    choices = choices_in_force(study, overrides)
    values = scenario_values(study, cell, overrides)
    moment = experiment.each_replication
    if moment is not None and moment.key not in overrides and _has_table(values, moment.key):
        _set(values, moment.key, moment.value(seed))
    specs = [_resolved(values, cell, experiment, seed)]
    measured_from = str(resolve_choices(experiment.measured_from, choices))
    if not _is_nothing(measured_from):
        duration_ps = specs[0].duration_ps
        if not 0 < _time_ps(measured_from) < duration_ps:
            faults = FaultCollector(str(cell))
            allowed = f"a time below {show_time(duration_ps)}, when the run ends"
            refuse_choice(study, experiment.measured_from, choices, allowed, faults)
            faults.raise_if_any()
        _set(values, "run.duration", measured_from)
        beginning = _beginning(specs[0], measured_from)
        specs.append(beginning or _resolved(values, cell, experiment, seed))
    return specs


def _beginning(spec: NetworkSpec, end: str) -> NetworkSpec | None:
    """The run up to a moment, where nothing but its end depends on that; none where more may.

    The steps of schedules reach to the end of a run, and what begins behind it is a fault.
    """
    try:
        moment = parse_quantity(end)
    except Refused:
        return None
    end_ps = rounded(moment.amount)
    starts = [*(flow.start for flow in spec.flows), *(source.start for source in spec.sources)]
    if (
        moment.dimension is not Dimension.TIME
        or not 0 < end_ps <= spec.duration_ps
        or any(link.schedule is not None for link in spec.links)
        or any(_earliest_ps(start) >= end_ps for start in starts)
    ):
        return None
    return spec.model_copy(update={"duration_ps": end_ps})


def _earliest_ps(start: StartAt | StartDrawn) -> int:
    return start.time_ps if isinstance(start, StartAt) else start.from_ps


def _has_table(values: Mapping[str, Any], key: str) -> bool:
    """Whether a scenario has the table that a dotted key stands in."""
    here: Any = values
    for part in key.split(".")[:-1]:
        if not isinstance(here, Mapping) or part not in here:
            return False
        here = here[part]
    return True


def _is_nothing(time: str) -> bool:
    return _time_ps(time) == 0


def _time_ps(text: str) -> int:
    """A time in ps; -1 if the text is none."""
    try:
        stated = parse_quantity(text)
    except Refused:
        return -1
    return rounded(stated.amount) if stated.dimension is Dimension.TIME else -1


def _set(values: dict[str, Any], key: str, value: Any) -> None:
    faults = FaultCollector("study")
    set_value(values, key, value, faults, WrittenFile)
    faults.raise_if_any()
