"""What is set otherwise than some studies say, checked before anything is run."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from skycell.experiment.design import Cell, FactorLevel
from skycell.input.faults import Fault, FaultCollector, ScenarioFaults, Verbatim, did_you_mean
from skycell.orbit.file import ConstellationFile
from skycell.scenario.file.scenario_file import WrittenFile
from skycell.studies.design import Overrides, choices_in_force, specs_of
from skycell.studies.evaluation import evaluation_of
from skycell.studies.library import ALL, OWN, Selection, select
from skycell.studies.paths import check_paths
from skycell.studies.plan import cells_of_table

_UNKNOWN = Verbatim("an unknown key")


def refuse_faulty(
    selection: Sequence[Selection], variants: Iterable[Overrides], seed: int = 1
) -> None:
    """Tries overrides at every level of every experiment's factors, and tells all that is wrong.

    Args:
        selection: the tables that are to be reproduced.
        variants: choices or scenario keys set otherwise, one variant after the other.
        seed: of a replication.

    Raises:
        ScenarioFaults: with every fault of every variant; what cases of an experiment, or
            experiments, have alike is told once, of the first.
    """
    # Whatever runs an experiment shares, its tables compute on values of their own.
    experiments = {
        (found.study.id, found.table.id if _is_computed(found) else found.table.experiment): found
        for found in selection
    }
    several = len({found.study.id for found in selection}) > 1
    faults: list[Fault] = []
    for overrides in variants:
        for found in experiments.values() if overrides else ():
            unknown = _unknown(found, overrides, several)
            faults += unknown.values()
            known = {key: value for key, value in overrides.items() if key not in unknown}
            faults += _of_factors(found, known)
            faults += _faults(found, known, seed)
    if faults:
        raise ScenarioFaults(_each_once(faults))


def refuse_unknown_everywhere(variants: Iterable[Overrides]) -> None:
    """Raises `ScenarioFaults` for keys that no study knows: all there is to tell of no study."""
    faults = FaultCollector("every study")
    selection = select([ALL, OWN])
    for key in dict.fromkeys(key for overrides in variants for key in overrides):
        if all(_unknown(found, {key: None}, several=True) for found in selection):
            allowed = "a choice of the study, or a key of the scenario or constellation it varies"
            faults.add(tuple(key.split(".")), _UNKNOWN, allowed)
    faults.raise_if_any()


def _unknown(found: Selection, overrides: Overrides, several: bool) -> dict[str, Fault]:
    """Faults of keys that are neither choices of a study nor keys of the file that it varies."""
    study = found.study
    is_constellation = study.kind_of(found.table) == "paths"
    sections = ["preset", *(ConstellationFile if is_constellation else WrittenFile).model_fields]
    choices = list(choices_in_force(study, {}))
    what = "constellation" if is_constellation else "scenario"
    names = "" if several else f" ({', '.join(choices)})"
    allowed = f"a choice of the study{names} or a key of a {what} file, in {', '.join(sections)}"
    unknown: dict[str, Fault] = {}
    for key in overrides:
        if key not in choices and key.split(".")[0].split("[")[0] not in sections:
            faults = FaultCollector(study.id)
            hint = did_you_mean(key, [*choices, *sections])
            faults.add(tuple(key.split(".")), _UNKNOWN, allowed + hint)
            (unknown[key],) = faults
    return unknown


def _of_factors(found: Selection, overrides: Overrides) -> FaultCollector:
    """Faults of keys that tell levels of a factor apart: with one value, rows would be misnamed."""
    study = found.study
    choices = choices_in_force(study, {})
    faults = FaultCollector(study.id)
    for key, value in overrides.items():
        for name, factor in study.experiments[found.table.experiment].factors.items():
            if key in choices or factor.label:
                continue
            if factor.levels is None:
                is_of_factor = _covers(key, str(factor.key))
            else:
                all_set = [sorted(map(str, level.items())) for level in factor.levels.values()]
                rest = [
                    sorted(str(item) for item in level.items() if not _covers(key, item[0]))
                    for level in factor.levels.values()
                ]
                is_of_factor = _different(rest) < _different(all_set)
            if is_of_factor:
                allowed = f"any other key: this one is set by the factor {name} of the tables"
                meaning = "rows would be named after levels that nothing tells apart"
                faults.add(tuple(key.split(".")), value, allowed, meaning)
    return faults


def _covers(key: str, of_level: str) -> bool:
    return of_level == key or of_level.startswith((f"{key}.", f"{key}["))


def _different(settings: Sequence[Sequence[str]]) -> int:
    return len(set(map(tuple, settings)))


def _faults(found: Selection, overrides: Overrides, seed: int) -> list[Fault]:
    """What is wrong with the values of overrides for the experiment that a table shows."""
    checks: list[Callable[[], object]]
    if _is_computed(found):
        checks = [partial(check_paths, found, overrides)]
    else:
        checks = [partial(evaluation_of, found.study, found.table.experiment, overrides)]
        checks += [
            partial(specs_of, found.study, cell, overrides, seed) for cell in _of_every_level(found)
        ]
    faults: dict[Fault, Fault] = {}
    for check in checks:
        try:
            check()
        except ScenarioFaults as refused:
            for fault in refused.faults:
                faults.setdefault(replace(fault, file=""), fault)
    return list(faults.values())


def _of_every_level(found: Selection) -> Iterator[Cell]:
    """The first cell of a table, and each that brings another level of a factor.

    What only the policy of the second cell reads is wrong in that cell alone.
    """
    seen: set[tuple[str, FactorLevel]] = set()
    for cell in cells_of_table(found):
        if not seen.issuperset(cell.levels):
            seen.update(cell.levels)
            yield cell


def _is_computed(found: Selection) -> bool:
    return found.study.is_computed(found.table)


def _each_once(faults: Iterable[Fault]) -> list[Fault]:
    """Faults that differ in more than where they are."""
    where: dict[Fault, dict[str, None]] = {}
    for fault in faults:
        where.setdefault(replace(fault, file=""), {})[fault.file] = None
    return [replace(fault, file=_first_of(list(places))) for fault, places in where.items()]


def _first_of(places: Sequence[str]) -> str:
    """Some places, in few words.

    >>> _first_of(["icccn97", "ijsc", "dfba"])
    'icccn97 and 2 more'
    """
    return places[0] if len(places) == 1 else f"{places[0]} and {len(places) - 1} more"
