"""`RunResult`: the records of one run with the identity of what was run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND, counted
from skycell.metrics.network import ceiling_of_all_bps
from skycell.records.tables import cell_delay_rows, class_queue_rows, rows, vc_queue_rows
from skycell.records.traces import TraceTables
from skycell.scenario.notes import notes_on
from skycell.spec.declared.network import NetworkSpec

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class RunResult:
    """What one run left.

    Attributes:
        spec: the spec that was run.
        records_json: summary of the run, as `RunRecords` of `crates/records` writes it. With
            thousands of flows it is tens of MB, and many times that as objects: `records` are made
            of it when they are first asked for.
        traces: the traces that the spec asked for, by name, each a polars frame.
        version: version of skycell that ran it.
        notes: what to know of the network before the records are read, a sentence or two each.
    """

    spec: NetworkSpec
    records_json: str = field(repr=False)
    traces: Mapping[str, pl.DataFrame] = field(repr=False)
    version: str
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        spec: NetworkSpec,
        records_json: str,
        trace_columns: Mapping[str, Mapping[str, Any]],
        version: str,
    ) -> RunResult:
        """The result from what the engine hands back."""
        return cls(spec, records_json, TraceTables(trace_columns), version, notes_on(spec))

    @cached_property
    def records(self) -> Mapping[str, Any]:
        """The summary of the run as plain data."""
        records: dict[str, Any] = json.loads(self.records_json)
        return records

    @property
    def engine(self) -> str:
        """Name of the engine that was asked for."""
        return str(self.records["engine"])

    @property
    def stepped_ports(self) -> dict[str, str]:
        """Ports that the fast engine steps unit by unit, having no closed form, and why."""
        ports = self.records["engine_stats"].get("stepped_ports", [])
        return {str(port["port"]): str(port["reason"]) for port in ports}

    @property
    def engine_in_words(self) -> str:
        """The engine, how many ports it stepped, and the regions of a divided network."""
        engine = self._engine_and_steps
        regions = self.regions
        return engine if regions is None else f"{engine} {self._regions_in_words(regions)}"

    @property
    def regions(self) -> dict[str, Any] | None:
        """The regions of the network that acted beside one another; none if it was not divided."""
        regions: dict[str, Any] | None = self.records["engine_stats"].get("regions")
        return regions

    def _regions_in_words(self, regions: Mapping[str, Any]) -> str:
        events = regions["events"]
        return (
            f"in {counted(regions['regions'], 'region')} (lookahead "
            f"{regions['lookahead_ps'] / PS_PER_MS:.3g} ms, largest share "
            f"{regions['largest_events'] / max(events, 1):.0%}, work over critical path "
            f"{events / max(regions['path_events'], 1):.2f})"
        )

    @property
    def why_one_region(self) -> str:
        """Why the network was not divided."""
        if self.engine != "fast":
            return f"engine {self.engine} does not divide networks."
        return (
            "no division pays. The run is short, its nodes have too little to do between two "
            "exchanges of regions, or they share what cannot be divided."
        )

    @property
    def _engine_and_steps(self) -> str:
        if not self.stepped_ports:
            return self.engine
        count, of = len(self.stepped_ports), len(self.records["ports"])
        if self.spec.sky is not None:
            return f"{self.engine} (steps {counted(count, 'port')})"
        return f"{self.engine} (steps {count} of {of} ports)"

    @property
    def seed(self) -> int:
        """Seed of the run's random streams."""
        return self.spec.seed

    @cached_property
    def spec_hash(self) -> str:
        """SHA-256 of the spec's canonical text, the seed included."""
        return self.spec.hash()

    @cached_property
    def ceiling_bps(self) -> float | None:
        """The most that all flows could get together, bit/s of TCP payload.

        Over a link that varies it is the mean of what it could carry over the run, losses aside.
        None where no single number says so (:func:`skycell.metrics.ceiling_of_all_bps`).
        """
        return ceiling_of_all_bps(self.spec)

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow: octets, segments, timeouts, delays."""
        from skycell.records.frame import Frame

        return Frame(rows(self.records["flows"]))

    @cached_property
    def vcs(self) -> pl.DataFrame:
        """One row per VC: what became of its cells and frames."""
        from skycell.records.frame import Frame

        return Frame(rows(self.records["vcs"]), infer_schema_length=None)

    @cached_property
    def ports(self) -> pl.DataFrame:
        """One row per port: cells, discards by reason, queue lengths in cells."""
        from skycell.records.frame import Frame

        return Frame(rows(self.records["ports"]), infer_schema_length=None)

    @cached_property
    def vc_queues(self) -> pl.DataFrame:
        """Sampled occupancy in cells, one row per port and VC."""
        from skycell.records.frame import Frame

        names = [vc.name for vc in self.spec.vcs]
        return Frame(vc_queue_rows(self.records["ports"], names))

    @cached_property
    def class_queues(self) -> pl.DataFrame:
        """One row per queue of the ports with several: cells, discards, queue lengths in cells."""
        from skycell.records.frame import Frame

        queues = class_queue_rows(self.records["ports"])
        return Frame(queues, infer_schema_length=None)

    @cached_property
    def cell_delays(self) -> pl.DataFrame:
        """Cell transfer delay in picoseconds, one row per VC where it was measured."""
        from skycell.records.frame import Frame

        names = [vc.name for vc in self.spec.vcs]
        return Frame(cell_delay_rows(self.records["cell_delays"], names))

    @cached_property
    def class_delays(self) -> pl.DataFrame:
        """Cell transfer delay in picoseconds, one row per service class of those VCs."""
        from skycell.records.frame import Frame

        return Frame(rows(self.records["class_delays"]))

    @cached_property
    def sources(self) -> pl.DataFrame:
        """One row per cell source: cells and frames sent."""
        from skycell.records.frame import Frame

        return Frame(rows(self.records["sources"]))

    @cached_property
    def uplinks(self) -> pl.DataFrame:
        """One row per uplink that terminals share: slots, requests, grants, access delay."""
        from skycell.records.frame import Frame

        return Frame(rows(self.records.get("uplinks", [])))

    @cached_property
    def calls(self) -> pl.DataFrame:
        """One row per class of calls: asked for, blocked, carried."""
        from skycell.records.frame import Frame

        return Frame(rows(self.records.get("calls", [])))

    def summary(self) -> dict[str, Any]:
        """The records with the run's identity, as plain data."""
        return self._identity() | dict(self.records)

    def to_json(self) -> str:
        """The summary as JSON, in one line."""
        identity = json.dumps(self._identity(), separators=(",", ":"))
        return f"{identity[:-1]},{self.records_json[1:]}"

    def _identity(self) -> dict[str, Any]:
        """What the records themselves do not say of the run."""
        return {
            "version": self.version,
            "seed": self.seed,
            "spec_hash": self.spec_hash,
            "notes": list(self.notes),
            "ceiling_bps": self.ceiling_bps,
        }

    def __str__(self) -> str:
        lines = [self._title()]
        lines += [f"  {_flow_line(flow, self._seconds)}" for flow in self.records["flows"][:20]]
        hidden = len(self.records["flows"]) - 20
        if hidden > 0:
            lines.append(f"  and {counted(hidden, 'more flow')}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<RunResult: {self._title()}>"

    def _repr_html_(self) -> str:
        title = f"<p>{escape(self._title())}</p>"
        if not self.spec.flows:
            return title
        cells = ("name", "Mbit/s", "timeouts", "retransmitted segments")
        head = "".join(f"<th>{cell}</th>" for cell in cells)
        body = "".join(
            f"<tr><td>{escape(flow['name'])}</td>"
            f"<td>{_mbit_s(flow, self._seconds):.2f}</td><td>{flow['timeouts']}</td>"
            f"<td>{flow['segments_retransmitted']}</td></tr>"
            for flow in self.records["flows"]
        )
        return f"{title}<table><tr>{head}</tr>{body}</table>"

    @property
    def _seconds(self) -> float:
        return float(self.records["duration_ps"] / PS_PER_SECOND)

    def _title(self) -> str:
        return (
            f"{simulated(self.records)}, seed {self.seed}, engine {self.engine}, "
            f"skycell {self.version}, spec {self.spec_hash[:12]}"
        )


def simulated(records: Mapping[str, Any]) -> str:
    """How long a run was, and from when on it counts.

    >>> simulated({"duration_ps": 15 * 10**12, "measured_from_ps": 5 * 10**12})
    '20 s simulated (measured from 5 s on)'
    """
    from_ps = records.get("measured_from_ps", 0)
    text = f"{(from_ps + records['duration_ps']) / PS_PER_SECOND:g} s simulated"
    return f"{text} (measured from {from_ps / PS_PER_SECOND:g} s on)" if from_ps else text


def as_text(records: Mapping[str, Any]) -> str:
    """Records as the engine writes them."""
    return json.dumps(records, separators=(",", ":"))


def _mbit_s(flow: Mapping[str, Any], seconds: float) -> float:
    return float(flow["octets_delivered"]) * 8 / seconds / 1e6


def _flow_line(flow: Mapping[str, Any], seconds: float) -> str:
    return (
        f"{flow['name']}: {_mbit_s(flow, seconds):.2f} Mbit/s delivered, "
        f"{counted(flow['timeouts'], 'timeout')}, "
        f"{counted(flow['segments_retransmitted'], 'segment')} sent again"
    )
