"""`Scenario`: a checked scenario file that can be varied and resolved."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from html import escape
from os import PathLike, fspath
from pathlib import Path as FilePath
from typing import Any

from skycell.input.checking import check_against
from skycell.input.dotted_keys import set_value, steps_of
from skycell.input.faults import (
    Fault,
    FaultCollector,
    Positions,
    ScenarioFaults,
    Verbatim,
    show_value,
)
from skycell.input.forms import meaning_at
from skycell.input.plain_values import plain_value
from skycell.input.quantities import show_amount
from skycell.input.text import read_text
from skycell.input.toml_text import read_toml
from skycell.scenario.file.beam import Beam
from skycell.scenario.file.constellation import ConstellationNetwork
from skycell.scenario.file.idle_keys import note_idle_keys
from skycell.scenario.file.scenario_file import ScenarioFile, WrittenFile
from skycell.scenario.file.topology import Dumbbell, Graph, ParkingLot
from skycell.scenario.packets.trace import read_packet_traces
from skycell.scenario.plan.beam import Places, as_graph
from skycell.scenario.plan.calls import plan_calls
from skycell.scenario.plan.classifier import classify
from skycell.scenario.plan.framings import check_framings
from skycell.scenario.plan.generators import lay_out_dumbbell, lay_out_parking_lot
from skycell.scenario.plan.graph import lay_out_graph
from skycell.scenario.plan.layout import Layout, plan_layout
from skycell.scenario.plan.link_schedules import draws_schedules, resolve_schedules
from skycell.scenario.plan.onboard_switching import add_satellites
from skycell.scenario.plan.plan import Plan
from skycell.scenario.plan.sky import plan_sky
from skycell.scenario.plan.sources import plan_sources
from skycell.scenario.plan.users import refuse_tables_of_others
from skycell.scenario.presets.expand import expand
from skycell.scenario.resolve.network import resolve
from skycell.scenario.resolve.probes import plan_probes
from skycell.scenario.resolve.resolution import Resolution
from skycell.spec.declared.network import NetworkSpec
from skycell.spec.part import OutOfRange


@dataclass(frozen=True)
class Scenario:
    """One run in people's words, checked: it can be simulated as it stands.

    `values` is what the file says, presets still by name. Files that it names are looked for from
    `folder`.
    """

    name: str
    values: Mapping[str, Any]
    positions: Positions = field(default_factory=dict, repr=False)
    folder: FilePath = FilePath()
    #: Other scenarios have the same values, and a key without effect here may have one there.
    is_template: bool = False

    @cached_property
    def written(self) -> WrittenFile:
        """The file with presets and defaults filled in, as it is written."""
        faults = FaultCollector(self.name, self.positions)
        values, preset_is_known = expand(self.values, faults)
        return check_against(WrittenFile, values, faults, preset_is_known)

    @property
    def file(self) -> ScenarioFile:
        """The file with presets and defaults filled in, and a graph in place of a beam."""
        return self._as_graph[0]

    @cached_property
    def _as_graph(self) -> tuple[ScenarioFile, Places]:
        written = self.written
        if not isinstance(written.topology, Beam):
            return written, {}
        meaning = partial(meaning_at, written)
        faults = FaultCollector(self.name, self.positions, meaning_at=meaning)
        found = as_graph(written, written.topology, faults)
        faults.raise_if_any()
        return found

    def _repr_html_(self) -> str:
        """What it says, key by key, and how much that is, for a notebook."""
        run, users = self.file.run, self.resolve().users_in_words
        title = f"Scenario {self.name}: {users} over {run.duration}, seed {run.seed}"
        rows = "".join(
            f"<tr><td>{escape(key)}</td><td>{escape(value)}</td></tr>"
            for key, value in _leaves(self.values)
        )
        head = "<tr><th>key</th><th>value</th></tr>"
        return f"<p>{escape(title)}</p><table>{head}{rows}</table>"

    def with_values(self, values: Mapping[str, Any]) -> Scenario:
        """The scenario with other values, given as they would stand in the file.

        Args:
            values: by dotted key, such as `tcp.recovery`, `flow.0.start` or
                `topology.bottleneck.buffer`.

        Raises:
            ScenarioFaults: with these values it cannot be run.
        """
        changed = copy.deepcopy(dict(self.values))
        faults = FaultCollector(self.name)
        for key, value in values.items():
            set_value(changed, key, plain_value(value), faults, WrittenFile)
        touched = [".".join(steps_of(key)) for key in values]
        kept = {
            path: place
            for path, place in self.positions.items()
            if not any(path.startswith(f"{key}.") for key in touched)
        }
        kept.update(dict.fromkeys(touched))
        varied = replace(self, values=changed, positions=kept)
        if faults.faults:
            try:
                _ = varied.file
            except ScenarioFaults as found:
                faults.faults += found.faults
            faults.raise_if_any()
        return _checked(varied)

    def resolve(self, seed: int | None = None) -> NetworkSpec:
        """The complete spec of the run; `seed` replaces the file's.

        Raises:
            ValueError: the seed is out of range.
            ScenarioFaults: with this seed, what is drawn cannot be run.
        """
        spec = self._resolved
        if seed is None or seed == spec.seed:
            return spec
        other = spec.with_seed(seed)
        return self._resolved_with(seed) if self.is_drawn else other

    @cached_property
    def is_drawn(self) -> bool:
        """Whether a part of the network is drawn by the seed: specs then differ in more than it."""
        return draws_schedules(self.file) or bool(self.file.calls)

    @cached_property
    def _resolved(self) -> NetworkSpec:
        return self._resolved_with(self.file.run.seed)

    @cached_property
    def plan(self) -> Plan:
        """Who is joined to whom, quantities as the file has them."""
        return self.resolution.plan

    @cached_property
    def resolution(self) -> Resolution:
        """What its spec is made from, whose parts can be asked for one by one."""
        return self._planned(self.file.run.seed, self._collector())

    def _collector(self) -> FaultCollector:
        """A collector for the faults of the network, which knows the meaning of each key."""
        meaning = partial(meaning_at, self.written)
        places = self._as_graph[1]
        return FaultCollector(self.name, self.positions, meaning_at=meaning, places=places)

    def _resolved_with(self, seed: int) -> NetworkSpec:
        faults = self._collector()
        if not self.is_template:
            note_idle_keys(self.values, self.written, faults)
        try:
            return resolve(self._planned(seed, faults))
        except OutOfRange as error:
            # Each value is within its bounds, and together they are beyond what is counted.
            for keys, value, greatest in error.found:
                place = ".".join(map(str, keys))
                got = Verbatim(f"{place} = {show_value(value)} in the run's network")
                allowed = f"a whole number from 0 to {show_amount(greatest)}"
                faults.add((), got, allowed, "what several values come to")
            faults.raise_if_any()
            raise

    def _planned(self, seed: int, faults: FaultCollector) -> Resolution:
        """Returns the network of a file, with what its links and sources do over time."""
        file, schedules = resolve_schedules(self.file, self.folder, seed, faults)
        packets = read_packet_traces(file, self.folder, faults)
        plan = self._plan(file, seed, faults)
        plan_sources(plan, file, faults)
        plan_probes(plan, file, faults)
        plan_calls(plan, file, seed, faults)
        classify(plan, file, faults)
        add_satellites(plan, schedules.chains, faults)
        check_framings(plan, faults)
        faults.raise_if_any()
        return Resolution(file, plan, schedules, packets, seed, faults)

    def _plan(self, file: ScenarioFile, seed: int, faults: FaultCollector) -> Plan:
        refuse_tables_of_others(file, faults)
        if isinstance(file.topology, ConstellationNetwork):
            return plan_sky(file.topology, file, self.folder, seed, faults)
        return plan_layout(_lay_out(file.topology, faults), faults)


def load(path: str | PathLike[str], values: Mapping[str, Any] | None = None) -> Scenario:
    """Reads and checks a scenario file.

    Args:
        path: the file.
        values: what replaces values of the file, as for `Scenario.with_values`.

    Raises:
        ScenarioFaults: with every fault of the file and of the values.
        OSError: the file cannot be read.
    """
    name = fspath(path)
    return parse(read_text(path), name, FilePath(path).parent, values)


def parse(
    source: Mapping[str, Any] | str,
    name: str = "scenario",
    folder: FilePath = FilePath(),
    values: Mapping[str, Any] | None = None,
    is_template: bool = False,
) -> Scenario:
    """Checks a scenario given as TOML text or as the data that such a text stands for.

    Args:
        source: the text or the data.
        name: what faults call it.
        folder: where the files that it names are.
        values: what replaces values of it, as for `Scenario.with_values`.
        is_template: the source is a template that others are made of too, so that a key may
            have an effect in those only.

    Raises:
        ScenarioFaults: with every fault of the scenario and of the values.
    """
    if isinstance(source, str):
        written, positions = read_toml(source, name)
    else:
        written, positions = plain_value(dict(source)), {}
    refuse_other_files(written, name)
    scenario = Scenario(name, written, positions, folder, is_template)
    return scenario.with_values(values) if values else _checked(scenario)


def refuse_other_files(values: Mapping[str, Any], name: str) -> None:
    """Refuses a sweep or a carrier where a scenario should be; raises `ScenarioFaults`."""
    if {"scenario", "factors"} <= values.keys():
        allowed = "a scenario; `skycell sweep` takes files with factors, and its --plan checks them"
        raise ScenarioFaults([Fault(name, "", "a sweep", allowed)])
    if "carrier" in values and not {"topology", "preset"} & values.keys():
        allowed = "a scenario; `skycell budget` takes files with a table [carrier]"
        raise ScenarioFaults([Fault(name, "", "a carrier", allowed)])


#: A scenario, or what one can be made of: a file, or the data that a file stands for.
ScenarioLike = Scenario | str | PathLike[str] | Mapping[str, Any]


def as_scenario(source: ScenarioLike) -> Scenario:
    """A checked scenario; raises `ScenarioFaults`."""
    if isinstance(source, Scenario):
        return source
    if isinstance(source, Mapping):
        return parse(source)
    if not isinstance(source, str | PathLike):
        raise TypeError(
            "a scenario is a Scenario, the name of a file or the data that a file stands for, "
            f"not {type(source).__name__}"
        )
    return load(source)


def check(source: ScenarioLike) -> tuple[Fault, ...]:
    """The faults of a scenario; none when it can be run.

    >>> check({"preset": "icccn97-geo", "tcp": {"recovery": "westwood"}})[0].got
    '"westwood"'
    """
    try:
        as_scenario(source)
    except ScenarioFaults as found:
        return found.faults
    return ()


def _leaves(values: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Dotted keys with the values that stand there, as they are written."""
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(values, Mapping):
        items = values.items()
    elif isinstance(values, list) and any(isinstance(value, Mapping) for value in values):
        items = enumerate(values)
    else:
        yield key, values if isinstance(values, str) else json.dumps(values, default=str)
    for step, value in items:
        yield from _leaves(value, f"{key}.{step}" if key else str(step))


def _checked(scenario: Scenario) -> Scenario:
    scenario.resolve()
    return scenario


def _lay_out(topology: Dumbbell | ParkingLot | Graph, faults: FaultCollector) -> Layout:
    if isinstance(topology, Dumbbell):
        return lay_out_dumbbell(topology, faults)
    if isinstance(topology, ParkingLot):
        return lay_out_parking_lot(topology, faults)
    return lay_out_graph(topology, faults)
