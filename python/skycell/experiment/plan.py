"""From a sweep's file to its runs: scenario, spec and seed of each."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from skycell.experiment.batch import PlannedRun
from skycell.experiment.design import Cell, FactorLevel, SweepPlan
from skycell.experiment.runs import PlannedRuns
from skycell.experiment.subjects import CellsNote, notes_on_ports
from skycell.input.dotted_keys import steps_of
from skycell.input.faults import FaultCollector, Path, Verbatim, show_path
from skycell.input.idle_keys import IdleKey
from skycell.measures.measure import Measure
from skycell.measures.responses import RESPONSES, response_of
from skycell.measures.run_view import SweepView
from skycell.metrics import OTHER_CLASSES, Network
from skycell.metrics.recorded_ports import recorded_ports
from skycell.scenario import Fault, NetworkSpec, Scenario, ScenarioFaults
from skycell.scenario.file.idle_keys import idle_keys
from skycell.scenario.notes import notes_on
from skycell.scenario.sky_paths import notes_on_series, sky_paths
from skycell.spec.declared.network import SourcePatternEcho
from skycell.spec.declared.traces import TRACES

#: What combinations lack that have no flow with a kind of traffic.
_HAVING = {"web": "a web user", "transfers": "transfers"}


#: A number of a note.
_COUNT = re.compile(r"\d[\d .]*(?= cells| packets| more|%| [kMG]?bit/s)")


@dataclass(frozen=True)
class Design:
    """A sweep with every run of its cells, and what responses need to know of these."""

    plan: SweepPlan
    runs: PlannedRuns[Network]
    notes: tuple[CellsNote, ...] = ()

    @property
    def size(self) -> int:
        """Number of runs, those that cells share counted for each."""
        return len(self.plan.cells) * self.plan.replications


def design_runs(plan: SweepPlan) -> Design:
    """Works out every run of a sweep: cell by cell, replication by replication.

    Raises:
        ScenarioFaults: cells have scenarios that cannot be run; each fault once, at the level that
            brings it or in the scenario. Or a factor changes nothing, or a response asks for what
            is in no cell.
    """
    runs = PlannedRuns[Network]()
    notes: dict[str, CellsNote] = {}
    specs: dict[Cell, str] = {}
    parts = _Parts()
    faulty: dict[Cell, tuple[Fault, ...]] = {}
    traces = frozenset(
        trace
        for response in map(response_of, plan.responses)
        if response.traffic == "transfers"
        for trace in ("transfers", response.trace)
    )
    idle: list[IdleKey] | None = None
    for cell, scenario in _scenarios(plan, faulty):
        keys = idle_keys(scenario.values, scenario.written)
        paths = [key.path for key in keys]
        idle = keys if idle is None else [key for key in idle if key.path in paths]
        resolved = scenario.resolve()
        spec = _complete(resolved, traces)
        parts.add(spec)
        notes_here = (*notes_on(resolved, sky_paths(scenario)), *notes_on_series(scenario))
        for note in notes_here:
            found = notes.setdefault(_COUNT.sub("…", note), CellsNote(note))
            found.cells += 1
            found.varies |= found.note != note
        seeds = [seed_of(plan, cell, number + 1) for number in range(plan.replications)]
        if scenario.is_drawn:
            specs[cell] = spec.with_seed(plan.first_seed).hash()
            drawn = _Drawn(scenario, traces)
            own = [drawn.resolve(seed) for seed in seeds]
            planned = [PlannedRun.drawn(str(cell), each, drawn.resolve) for each in own]
            networks = [Network.of(each, plan.ceiling) for each in own]
        else:
            first, *planned = PlannedRun.replications(str(cell), spec, [plan.first_seed, *seeds])
            specs[cell] = first.spec_hash
            networks = [Network.of(spec, plan.ceiling)] * len(planned)
        for number, (run, network) in enumerate(zip(planned, networks, strict=True), 1):
            named = replace(run, name=f"{cell}, replication {number}")
            runs.add(cell, network, [(named,)])
    if faulty:
        raise ScenarioFaults(_reported(plan, faulty))
    faults = FaultCollector(plan.name, plan.positions)
    _note_idle_keys(plan, idle or [], faults)
    _note_idle_factors(plan, specs, faults)
    _note_unknown_parts(plan, parts, faults)
    faults.raise_if_any()
    of_ports = notes_on_ports(plan.responses, list(runs.known.values()))
    return Design(plan, runs, (*notes.values(), *of_ports))


@dataclass(frozen=True)
class _Drawn:
    """The replications of a cell whose network the seed draws."""

    scenario: Scenario
    traces: frozenset[str]

    def resolve(self, seed: int) -> NetworkSpec:
        """The run of a seed, with the network that it draws."""
        return _complete(self.scenario.resolve(seed), self.traces)


def _complete(spec: NetworkSpec, traces: frozenset[str]) -> NetworkSpec:
    """The spec with the traces on which times of transfers are measured."""
    if not traces or not any(flow.traffic.kind == "transfers" for flow in spec.flows):
        return spec
    kept = tuple(name for name in TRACES if name in {*spec.records.traces, *traces})
    records = spec.records.model_copy(update={"traces": kept})
    return spec.model_copy(update={"records": records})


def _scenarios(
    plan: SweepPlan, faulty: dict[Cell, tuple[Fault, ...]]
) -> Iterator[tuple[Cell, Scenario]]:
    """The cells that can be run with their scenarios; why the others cannot goes to `faulty`."""
    own = plan.template
    template = Scenario(own.name, own.values, own.positions, own.folder, is_template=True)
    for cell in plan.cells:
        try:
            scenario = template.with_values(cell.settings)
        except ScenarioFaults as faults:
            faulty[cell] = faults.faults
            continue
        yield cell, scenario


def seed_of(plan: SweepPlan, cell: Cell, replication: int) -> int:
    """Seed of a run: the same for all cells of a replication, or every run's own.

    A run's own seed is drawn from the first seed, the cell's levels and the replication, so that
    another level or replication more changes no run that there was.
    """
    if plan.common_random_numbers:
        return plan.first_seed + replication - 1
    text = f"{plan.first_seed}/{cell}/{replication}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


@dataclass(frozen=True)
class _Parts:
    """Names of the flows, and of what else a response may be of, that some cell has.

    Flows are also told by the kind of their traffic; ports are those with a limited buffer and
    classes those of their queues, VCs those whose cells' delay is measured.
    """

    flows: dict[str, None] = field(default_factory=dict)
    by_traffic: dict[str, dict[str, None]] = field(default_factory=dict)
    ports: dict[str, None] = field(default_factory=dict)
    classes: dict[str, None] = field(default_factory=dict)
    vcs: dict[str, None] = field(default_factory=dict)
    uplinks: dict[str, None] = field(default_factory=dict)
    probes: dict[str, None] = field(default_factory=dict)
    calls: dict[str, None] = field(default_factory=dict)
    users: dict[str, None] = field(default_factory=dict)
    skies: dict[str, None] = field(default_factory=dict)

    def add(self, spec: NetworkSpec) -> None:
        """Adds those of a cell."""
        self.flows.update(dict.fromkeys(flow.name for flow in spec.flows))
        for flow in spec.flows:
            self.by_traffic.setdefault(flow.traffic.kind, {})[flow.name] = None
        limited = [link for link in recorded_ports(spec).values() if link.port.is_limited]
        self.ports.update(dict.fromkeys(link.name for link in limited))
        several = [link.port.queues for link in limited if len(link.port.queues) > 1]
        names = (queue.class_ or OTHER_CLASSES for queues in several for queue in queues)
        self.classes.update(dict.fromkeys(names))
        self.vcs.update(dict.fromkeys(spec.vcs[vc].name for vc in spec.records.delay_vcs))
        self.uplinks.update(dict.fromkeys(uplink.name for uplink in spec.uplinks))
        self.calls.update(dict.fromkeys(calls.name for calls in spec.calls))
        groups = spec.users.groups if spec.users is not None else ()
        self.users.update(dict.fromkeys(group.name for group in groups))
        if spec.sky is not None:
            self.skies["constellation"] = None
        of_echoes = (of.pattern for of in spec.sources if isinstance(of.pattern, SourcePatternEcho))
        self.probes.update(dict.fromkeys(spec.sources[echo.of].name for echo in of_echoes))

    def of(self, response: Measure[SweepView]) -> tuple[Mapping[str, None], str, str]:
        """Names that a response may be of, what they are, and what a fault says without any."""
        flows, of_flows = self.flows, "flows"
        if response.traffic:
            flows, of_flows = self.by_traffic[response.traffic], f"flows with {response.traffic}"
        return {
            "flow": (flows, of_flows, "none"),
            "port": (self.ports, "ports", "none with a limited buffer"),
            "uplink": (self.uplinks, "uplinks", "none without [[uplink]]"),
            "probe": (self.probes, "probes", "none without [[probe]]"),
            "call": (self.calls, "classes of calls", "none without [[calls]]"),
            "user": (self.users, "groups of users", "none without [[traffic]] of users"),
            "sky": (self.skies, "constellations", "none without a topology of that kind"),
            "class": (self.classes, "classes", "none with a queue of its own"),
            "vc": (self.vcs, "VCs", "none without cell sources and records.delay_vcs"),
        }[response.part]


def _note_idle_keys(plan: SweepPlan, idle: list[IdleKey], faults: FaultCollector) -> None:
    """Notes keys that the sweep says and that have no effect in any combination."""
    own = plan.template
    for key in idle:
        steps = [str(step) for step in key.path]
        setting = [
            factor.name
            for factor in plan.factors
            if any(steps_of(other) == steps for level in factor.levels for other in level.settings)
        ]
        if setting:
            got = Verbatim(show_path(key.path))
            faults.add(("factors", setting[-1]), got, key.why, key.meaning)
        elif own.prefix:
            faults.add(("scenario", *key.path), key.got, key.why, key.meaning)
        else:
            of_file = FaultCollector(own.name, own.positions)
            of_file.add(key.path, key.got, key.why, key.meaning)
            faults.faults += of_file.faults


def _note_idle_factors(plan: SweepPlan, specs: Mapping[Cell, str], faults: FaultCollector) -> None:
    """Notes a factor whose levels, whatever the others', all come to the same spec."""
    for factor in plan.factors:
        found: dict[tuple[FactorLevel, ...], str] = {}
        for cell, spec in specs.items():
            others = tuple(level for name, level in cell.levels if name != factor.name)
            if found.setdefault(others, spec) != spec:
                break
        else:
            allowed = (
                "levels that change a run; if factors set the same key the last factor counts, "
                "and first_seed sets the seeds"
            )
            got = Verbatim("levels that change nothing")
            faults.add(("factors", factor.name), got, allowed, "a factor")


def _note_unknown_parts(plan: SweepPlan, parts: _Parts, faults: FaultCollector) -> None:
    """Notes a response that asks for what is in no cell, by its name or at all."""
    for place, name in enumerate(plan.responses):
        part = name.partition(":")[2]
        response = response_of(name)
        if response.is_of_flows and not parts.flows:
            others = [
                known
                for known, other in RESPONSES.items()
                if not other.is_of_flows
                and (parts.uplinks or other.part != "uplink")
                and (parts.calls or other.part != "call")
                and (parts.probes or other.part != "probe")
                and (parts.users or other.part != "user")
                and (parts.skies or other.part != "sky")
            ]
            allowed = f"{', '.join(others)}: no combination has a TCP connection"
        elif response.traffic and response.traffic not in parts.by_traffic:
            others = [
                known
                for known, other in RESPONSES.items()
                if not other.traffic or other.traffic in parts.by_traffic
            ]
            allowed = f"{', '.join(others)}: no combination has {_HAVING[response.traffic]}"
        elif part or response.part in {"vc", "uplink", "call", "probe", "user", "sky"}:
            known, plural, none = parts.of(response)
            if part in known or (known and not part):
                continue
            allowed = f"{plural}: {', '.join(known) or none}"
        else:
            continue
        faults.add(("responses", place), name, allowed, "what is measured on each run")


def _reported(plan: SweepPlan, faulty: Mapping[Cell, tuple[Fault, ...]]) -> list[Fault]:
    """The faults of all cells in the words of the sweep's file, each once."""
    found: dict[tuple[Fault, FactorLevel | None], list[Cell]] = {}
    for cell, faults in faulty.items():
        for fault in faults:
            placed, level = _placed(plan, cell, fault)
            cells = found.setdefault((placed, level), [])
            if cell not in cells:
                cells.append(cell)
    reported = []
    for (fault, level), cells in found.items():
        all_cells = [c for c in plan.cells if level is None or _has(c, level)]
        note = ""
        if len(cells) < len(all_cells):
            note = f"in {len(cells)} of {len(all_cells)} cells, such as {cells[0]}"
        meaning = "; ".join(part for part in (fault.meaning, note) if part)
        reported.append(replace(fault, meaning=meaning))
    return reported


def _has(cell: Cell, level: FactorLevel) -> bool:
    return any(own is level for _, own in cell.levels)


def _placed(plan: SweepPlan, cell: Cell, fault: Fault) -> tuple[Fault, FactorLevel | None]:
    """A fault of a cell's scenario, where the file of the sweep brings it about."""
    for name, level in reversed(cell.levels):
        key = next((key for key in level.settings if _is_of(fault, key)), None)
        if key is None:
            continue
        path: Path = level.path
        # A key that there is not is the factor's fault and not each level's.
        if fault.got.startswith("the unknown key") and f"factors.{name}.key" in plan.positions:
            path = ("factors", name, "key")
        line, column = plan.positions.get(".".join(map(str, path))) or (None, None)
        meaning = f"{fault.path}: {fault.meaning}" if fault.meaning else fault.path
        placed = Fault(plan.name, show_path(path), fault.got, fault.allowed, meaning, line, column)
        return placed, level if path == level.path else None
    if not plan.template.prefix:
        return fault, None
    line, column = fault.line, fault.column
    if line is None:
        line, column = plan.positions.get("scenario") or (None, None)
    path_in_file = f"{plan.template.prefix}{fault.path}" if fault.path else "scenario"
    placed = replace(fault, file=plan.name, path=path_in_file, line=line, column=column)
    return placed, None


_INDEX = re.compile(r"\.(\d+)(?=\.|$)")


def _is_of(fault: Fault, key: str) -> bool:
    """Whether a fault concerns what a key sets."""
    shown = _INDEX.sub(r"[\1]", key)
    if fault.path == shown or fault.path.startswith((f"{shown}.", f"{shown}[")):
        return True
    # A key that leads through a value which is no table or has no such entry, or that makes a table
    # where a value should stand.
    above = _INDEX.sub(r"[\1]", fault.path)
    is_above = shown.startswith((f"{above}.", f"{above}["))
    has_no_way = fault.allowed.startswith(("a table, to set", "an index of "))
    return is_above and (has_no_way or fault.got.startswith("{"))
