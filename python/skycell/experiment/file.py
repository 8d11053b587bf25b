"""The file of a sweep: read, checked, and all its faults told at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from os import PathLike, fspath
from pathlib import Path as FilePath
from typing import Any

from skycell.experiment.design import (
    MOST_RUNS,
    FactorLevel,
    SweepFactor,
    SweepPlan,
    Template,
    is_same,
)
from skycell.input.faults import (
    NOTHING,
    Fault,
    FaultCollector,
    Path,
    ScenarioFaults,
    Verbatim,
    show_value,
)
from skycell.input.plain_values import plain_value
from skycell.input.quantities import show_amount
from skycell.input.spelling import hint
from skycell.input.text import read_text
from skycell.input.toml_text import read_toml
from skycell.measures.measure import renamed
from skycell.measures.responses import DEFAULT_RESPONSES, RESPONSES, is_response
from skycell.metrics import THROUGHPUT_DEFINITIONS
from skycell.metrics.ceiling import stated_bps_of
from skycell.scenario.scenario import refuse_other_files

KEYS = {
    "title": "what the sweep is about, in one line",
    "scenario": "scenario of all runs: a table as in a scenario file, or the name of such a file",
    "factors": "factors of the runs: a table for each factor, with its levels",
    "replications": "runs of each combination of levels",
    "first_seed": "seed of the first replication; the others have the seeds that follow",
    "common_random_numbers": "whether a replication has the same seed in every combination",
    "responses": "what is measured on each run",
    "ceiling": "cell rate whose TCP share is an efficiency of 1",
    "throughput": "which octets count as throughput, and over which time",
}
"""Keys of the file with their meanings."""

FACTOR_KEYS = {
    "key": "scenario key that takes the levels as values",
    "form": "text with {} in the place of the level",
    "levels": "a list of values of the key, or a table of named levels",
}
"""Keys of a factor with their meanings."""

RESERVED = ("replication", "seed", "spec_hash", "state", "reason")
"""Columns of the table of runs, which no factor may be called."""

_MOST_REPLICATIONS = 10_000
_LARGEST_SEED = 2**63 - 1
_LONGEST_NAME = 64


def load_plan(path: str | PathLike[str], replications: int | None = None) -> SweepPlan:
    """Reads and checks the file of a sweep.

    Args:
        path: the file.
        replications: as for `parse_plan`.

    Raises:
        ScenarioFaults: with every fault of the file; the scenarios of the cells are not tried.
        OSError: the file cannot be read.
    """
    return parse_plan(read_text(path), fspath(path), FilePath(path).parent, replications)


def parse_plan(
    source: Mapping[str, Any] | str,
    name: str = "sweep",
    folder: FilePath | None = None,
    replications: int | None = None,
) -> SweepPlan:
    """Checks a sweep given as TOML text or as the data that such a text stands for.

    Args:
        source: the text or the data.
        name: what faults call the file.
        folder: where a scenario file is looked for; the current directory if not given.
        replications: of each combination, instead of what the source says.

    Raises:
        ScenarioFaults: with every fault.
    """
    values, positions = (
        read_toml(source, name) if isinstance(source, str) else (plain_value(dict(source)), {})
    )
    if {"topology", "preset"} & values.keys() and not {"scenario", "factors"} & values.keys():
        allowed = "a sweep: a scenario with factors; `skycell run` takes a scenario alone"
        raise ScenarioFaults([Fault(name, "", "a scenario", allowed)])
    if replications is not None:
        values = {**values, "replications": replications}
        positions = {**positions, "replications": None}
    faults = FaultCollector(name, positions)
    return _Reader(values, faults, name, folder or FilePath()).plan()


class _Reader:
    """Reads the parts of a file; what is wrong goes to the collector, and is None or left out."""

    def __init__(
        self, values: Mapping[str, Any], faults: FaultCollector, name: str, folder: FilePath
    ) -> None:
        self.values, self.faults, self.name, self.folder = values, faults, name, folder

    def plan(self) -> SweepPlan:
        """The whole file; raises `ScenarioFaults` with every fault."""
        _unknown_keys(self.values, KEYS, (), self.faults)
        parts: dict[str, Any] = {
            "title": self._title(),
            "template": self._template(),
            "factors": self._factors(),
            "replications": self._whole("replications", 1, _MOST_REPLICATIONS, 1),
            "first_seed": self._whole("first_seed", 0, _LARGEST_SEED, 1),
            "common_random_numbers": self._flag("common_random_numbers", True),
            "responses": self._responses(),
            "ceiling": self._ceiling(),
            "throughput": self._throughput(),
        }
        self.faults.raise_if_any()
        plan = SweepPlan(name=self.name, positions=self.faults.positions, **parts)
        runs = plan.replications * prod(len(factor.levels) for factor in plan.factors)
        if runs > MOST_RUNS:
            got = Verbatim(f"{show_amount(runs)} runs")
            allowed = f"up to {show_amount(MOST_RUNS)} runs"
            self.faults.add(("factors",), got, allowed, KEYS["factors"])
            self.faults.raise_if_any()
        return plan

    def _title(self) -> str | None:
        title = self.values.get("title", FilePath(self.name).stem)
        if not isinstance(title, str) or not title.strip() or "\n" in title:
            self.faults.add(("title",), title, "a text of one line", KEYS["title"])
            return None
        return title.strip()

    def _template(self) -> Template | None:
        scenario = self.values.get("scenario")
        if isinstance(scenario, str):
            return self._template_file(scenario)
        if not isinstance(scenario, Mapping):
            got = NOTHING if scenario is None else scenario
            self.faults.add(("scenario",), got, "a table or the name of a file", KEYS["scenario"])
            return None
        prefix = "scenario."
        positions = {
            path.removeprefix(prefix): place
            for path, place in self.faults.positions.items()
            if path.startswith(prefix)
        }
        return Template(self.name, prefix, scenario, positions, self.folder)

    def _template_file(self, scenario: str) -> Template | None:
        file = self.folder / scenario
        try:
            values, positions = read_toml(read_text(file), fspath(file))
            refuse_other_files(values, fspath(file))
        except OSError as error:
            allowed = f"the name of a scenario file, relative to this file; {error.strerror}"
            self.faults.add(("scenario",), scenario, allowed, KEYS["scenario"])
            return None
        except ScenarioFaults as faults:
            self.faults.faults.extend(faults.faults)
            return None
        return Template(fspath(file), "", values, positions, file.parent)

    def _whole(self, key: str, low: int, high: int, default: int) -> int | None:
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            allowed = f"a whole number from {show_amount(low)} to {show_amount(high)}"
            self.faults.add((key,), value, allowed, KEYS[key])
            return None
        return value

    def _flag(self, key: str, default: bool) -> bool | None:
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            self.faults.add((key,), value, "true or false", KEYS[key])
            return None
        return value

    def _responses(self) -> tuple[str, ...] | None:
        names = self.values.get("responses", list(DEFAULT_RESPONSES))
        if not isinstance(names, list) or not names:
            allowed = f"a list of one or more of {', '.join(RESPONSES)}"
            self.faults.add(("responses",), names, allowed, KEYS["responses"])
            return None
        for place, name in enumerate(names):
            if not isinstance(name, str) or not is_response(name):
                allowed = (
                    renamed(str(name)) or f"{', '.join(RESPONSES)}{hint(str(name), RESPONSES)}"
                )
                self.faults.add(("responses", place), name, allowed, KEYS["responses"])
            elif name in names[:place]:
                self.faults.add(("responses", place), name, "each once", KEYS["responses"])
        return tuple(name for name in names if isinstance(name, str))

    def _ceiling(self) -> str | None:
        value = self.values.get("ceiling", "link")
        if value not in ("link", "left") and stated_bps_of(value) is None:
            allowed = (
                '"link" (the rate of the congested link), "left" (the rate that cell sources leave '
                'on average) or a rate above 0, such as "63 Mbit/s"'
            )
            self.faults.add(("ceiling",), value, allowed, KEYS["ceiling"])
            return None
        return str(value)

    def _throughput(self) -> str | None:
        value = self.values.get("throughput", THROUGHPUT_DEFINITIONS[0])
        if value not in THROUGHPUT_DEFINITIONS:
            allowed = " or ".join(f'"{name}"' for name in THROUGHPUT_DEFINITIONS)
            self.faults.add(("throughput",), value, allowed, KEYS["throughput"])
            return None
        return str(value)

    def _factors(self) -> tuple[SweepFactor, ...]:
        factors = self.values.get("factors")
        if not isinstance(factors, Mapping) or not factors:
            got = NOTHING if factors is None else factors
            allowed = "a table with one table or more, such as [factors.tcp]"
            self.faults.add(("factors",), got, allowed, KEYS["factors"])
            return ()
        found = [_factor(str(name), value, self.faults) for name, value in factors.items()]
        return tuple(factor for factor in found if factor is not None)


def _factor(name: str, value: Any, faults: FaultCollector) -> SweepFactor | None:
    path: Path = ("factors", name)
    _check_name(name, path, faults)
    if not isinstance(value, Mapping):
        allowed = 'a table with levels, such as { key = "tcp.recovery", levels = ["reno", "sack"] }'
        faults.add(path, value, allowed, "a factor")
        return None
    _unknown_keys(value, FACTOR_KEYS, path, faults)
    key = value.get("key")
    if key is not None and (not isinstance(key, str) or not key.strip(" .")):
        faults.add((*path, "key"), key, "a dotted key such as tcp.recovery", FACTOR_KEYS["key"])
        return None
    levels = value.get("levels")
    if isinstance(levels, list):
        form = _form(value, path, faults)
        found = _listed_levels(levels, key, form, path, faults)
    elif isinstance(levels, Mapping):
        if "form" in value:
            allowed = "nothing: named levels have their values in full"
            faults.add((*path, "form"), value["form"], allowed, FACTOR_KEYS["form"])
        found = _named_levels(levels, key, path, faults)
    else:
        got = NOTHING if levels is None else levels
        allowed = "a list of two or more values, or a table of two or more named levels"
        faults.add((*path, "levels"), got, allowed, FACTOR_KEYS["levels"])
        return None
    if len(levels) < 2:
        allowed = "two or more levels; a value that does not vary belongs in the scenario"
        faults.add((*path, "levels"), levels, allowed, FACTOR_KEYS["levels"])
    return SweepFactor(name, tuple(found), _unit_of(value.get("form")))


def _check_name(name: str, path: Path, faults: FaultCollector) -> None:
    if name in RESERVED or is_response(name):
        faults.add(path, name, "a name that no column of the results has", "a factor")
    elif not 0 < len(name) <= _LONGEST_NAME or not name.replace("_", "").replace("-", "").isalnum():
        allowed = f"a name of up to {_LONGEST_NAME} letters, digits, '_' and '-'"
        faults.add(path, name, allowed, "a factor")


def _form(value: Mapping[str, Any], path: Path, faults: FaultCollector) -> str | None:
    form = value.get("form")
    if form is None:
        return None
    rest = str(form).replace("{}", "", 1)
    if not isinstance(form, str) or "{}" not in form or "{" in rest or "}" in rest:
        allowed = 'a text with one {}, such as "{} RTT"'
        faults.add((*path, "form"), form, allowed, FACTOR_KEYS["form"])
        return None
    return form


def _unit_of(form: Any) -> str:
    """The unit that a form writes behind its numbers.

    >>> _unit_of("{} RTT"), _unit_of(None)
    ('RTT', '')
    """
    return form[2:].strip() if isinstance(form, str) and form.startswith("{}") else ""


def _listed_levels(
    levels: list[Any], key: str | None, form: str | None, path: Path, faults: FaultCollector
) -> list[FactorLevel]:
    if key is None:
        faults.add((*path, "key"), NOTHING, "a dotted key such as tcp.recovery", FACTOR_KEYS["key"])
        return []
    found: list[FactorLevel] = []
    for place, level in enumerate(levels):
        where = (*path, "levels", place)
        if not isinstance(level, str | int | float):
            allowed = "a text, a number, true or false; anything else needs a name: levels = "
            allowed += "{ name = … }"
            faults.add(where, level, allowed, "a level")
            continue
        if any(is_same(level, other.label) for other in found):
            faults.add(where, level, "each level once", "a level")
            continue
        found.append(FactorLevel.of_key(level, key, form, where))
    return found


def _named_levels(
    levels: Mapping[str, Any], key: str | None, path: Path, faults: FaultCollector
) -> list[FactorLevel]:
    found = []
    for name, value in levels.items():
        where = (*path, "levels", name)
        if key is not None:
            found.append(FactorLevel(str(name), {key: value}, where))
        elif isinstance(value, Mapping):
            settings: dict[str, Any] = {}
            for own, setting in _flat(value):
                if own in settings:
                    faults.add(
                        where, Verbatim(f"{show_value(own)} twice"), "each key once", "a level"
                    )
                settings[own] = setting
            found.append(FactorLevel(str(name), settings, where))
        else:
            allowed = 'a table of scenario keys, such as { "tcp.mss" = "512 B" }, or else a key of '
            allowed += "the factor"
            faults.add(where, value, allowed, "a level")
    return found


def _flat(tables: Mapping[str, Any], above: str = "") -> Iterable[tuple[str, Any]]:
    """Dotted keys and values; a table with a kind is a value, any other a way to its keys."""
    for name, value in tables.items():
        key = f"{above}.{name}" if above else str(name)
        if isinstance(value, Mapping) and "kind" not in value:
            yield from _flat(value, key)
        else:
            yield key, value


def _unknown_keys(
    table: Mapping[str, Any], known: Mapping[str, str], path: Path, faults: FaultCollector
) -> None:
    for key in table:
        if key not in known:
            allowed = f"{', '.join(known)}{hint(str(key), known)}"
            faults.add(
                (*path, str(key)), Verbatim(f"the unknown key {show_value(str(key))}"), allowed
            )
