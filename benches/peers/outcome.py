"""What one run of one simulator left, in the terms in which simulators are compared."""

from __future__ import annotations

import json
import resource
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from benches.peers.scenarios import Dumbbell
from skycell.metrics.efficiency import efficiency
from skycell.metrics.fairness import fairness_index
from skycell.scenario import parse
from skycell.spec.declared.network import NetworkSpec


@dataclass(frozen=True)
class Outcome:
    """One run.

    Attributes:
        efficiency: throughput of all connections over the link's ceiling.
        fairness: Jain's index over the connections.
        sent: data segments, repetitions included.
        resent: of those, repetitions.
        timeouts: expiries of retransmission timers.
        event_loop_s: user CPU time of the event loop, s: without reading the scenario, building the
            network, or computing routes.
    """

    efficiency: float
    fairness: float
    sent: int
    resent: int
    timeouts: int
    event_loop_s: float

    @property
    def us_per_segment(self) -> float:
        """User CPU time per data segment and its acknowledgement, microseconds."""
        return self.event_loop_s / self.sent * 1e6


class Simulator(Protocol):
    """A simulator that can run a dumbbell."""

    @property
    def name(self) -> str:
        """How the race calls it."""

    @property
    def is_slow(self) -> bool:
        """Whether one round must do: it takes most of a minute."""

    def missing(self) -> str | None:
        """What is not installed, with how to get it; none where it can run."""

    def can_run(self, dumbbell: Dumbbell) -> bool:
        """Whether it has what the dumbbell asks for."""

    def run(self, dumbbell: Dumbbell) -> Outcome:
        """Runs the dumbbell once."""


def outcome(
    dumbbell: Dumbbell,
    delivered_octets: Sequence[float],
    counts: tuple[int, int, int],
    event_loop_s: float,
) -> Outcome:
    """An outcome from what each connection's application got, and (sent, resent, timeouts)."""
    rates = [octets * 8 / dumbbell.duration_s for octets in delivered_octets]
    return Outcome(
        efficiency(rates, dumbbell.ceiling_bps()), fairness_index(rates), *counts, event_loop_s
    )


def spec_of(dumbbell: Dumbbell, seed: int = 1) -> NetworkSpec:
    """The dumbbell as an engine takes it."""
    return parse(dumbbell.scenario(), dumbbell.name).resolve(seed)


@dataclass(frozen=True)
class Skycell:
    """This package, in this process."""

    engine: str = "fast"
    seed: int = 1
    is_slow: bool = False

    @property
    def name(self) -> str:
        """The package and its engine."""
        return f"skycell ({self.engine})"

    def missing(self) -> str | None:
        """It is always there."""
        return None

    def can_run(self, dumbbell: Dumbbell) -> bool:
        """All of them."""
        return True

    def run(self, dumbbell: Dumbbell) -> Outcome:
        """Runs the dumbbell once. The time holds the border too: both ways' JSON."""
        from skycell import _core

        text = spec_of(dumbbell, self.seed).canonical_json()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        records_json, _ = _core.run(text, self.engine, None)
        used = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
        flows = json.loads(records_json)["flows"]
        counts = tuple(
            sum(flow[key] for flow in flows)
            for key in ("segments_sent", "segments_retransmitted", "timeouts")
        )
        octets = [flow["octets_delivered"] for flow in flows]
        return outcome(dumbbell, octets, (counts[0], counts[1], counts[2]), used)
