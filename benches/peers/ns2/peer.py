"""ns-2 as a rival in the race."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from benches.peers.ns2 import simulator
from benches.peers.ns2.translate import Choices, octets_on_line
from benches.peers.outcome import Outcome, outcome, spec_of
from benches.peers.scenarios import Dumbbell


@dataclass
class Ns2:
    """ns-2 2.35.

    Attributes:
        choices: what the scenario does not decide.
        name: how the race calls it.
        is_slow: whether one round must do.
    """

    choices: Choices = field(default_factory=Choices)
    name: str = "ns-2"
    is_slow: bool = False

    @cached_property
    def _program(self) -> str | None:
        return simulator.program()

    def missing(self) -> str | None:
        """What is not installed."""
        return simulator.MISSING if self._program is None else None

    def can_run(self, dumbbell: Dumbbell) -> bool:
        """All but those with a policy that packets have no twin for."""
        return dumbbell.net.is_packets or dumbbell.policy == "epd"

    def run(self, dumbbell: Dumbbell) -> Outcome:
        """Runs the dumbbell once, and its start-up once more to subtract it.

        Raises:
            RuntimeError: ns-2 is not installed, or failed.
        """
        if self._program is None:
            raise RuntimeError(simulator.MISSING)
        spec = spec_of(dumbbell)
        run, event_loop_s = simulator.event_loop_s(self._program, spec, self.choices)
        tcp = spec.flows[0].tcp
        # The receiver counts whole packets; each carries one MSS.
        frame_octets = octets_on_line(spec, tcp.mss, tcp)
        octets = [flow.octets / frame_octets * tcp.mss for flow in run.flows]
        counts = (
            sum(flow.sent for flow in run.flows),
            sum(flow.resent for flow in run.flows),
            sum(flow.timeouts for flow in run.flows),
        )
        return outcome(dumbbell, octets, counts, event_loop_s)
