"""A simulator of packet counts in the manner of htsim, as a rival in the race."""

from __future__ import annotations

import re
import shutil
from functools import cached_property
from pathlib import Path

from benches.peers.child import NO_COMPILER, compiled, folder_of, run_alone
from benches.peers.outcome import Outcome, outcome, spec_of
from benches.peers.scenarios import LINK_BPS, Dumbbell

SOURCE = Path(__file__).with_name("dumbbell.cc")


class Counts:
    """dumbbell.cc: queues, pipes and NewReno, over links of packets."""

    name = "packet counts"
    is_slow = False

    def missing(self) -> str | None:
        """What is not installed."""
        return None if shutil.which("g++") else NO_COMPILER

    def can_run(self, dumbbell: Dumbbell) -> bool:
        """Packets, and the one loss recovery that it has."""
        return dumbbell.net.is_packets and dumbbell.recovery == "new_reno"

    @cached_property
    def _program(self) -> Path:
        """The compiled program."""
        return compiled(SOURCE, folder_of(self))

    def run(self, dumbbell: Dumbbell) -> Outcome:
        """Runs the dumbbell once, and its start-up once more to subtract it.

        Raises:
            RuntimeError: there is no compiler, or the program failed.
            ValueError: it has no cells, and no other loss recovery.
        """
        if not self.can_run(dumbbell):
            raise ValueError(f"{dumbbell.name}: only packets with NewReno")
        inputs = arguments(dumbbell)
        _, started_s = run_alone([str(self._program), *inputs[:-1], "0"])
        output, whole_s = run_alone([str(self._program), *inputs])
        delivered = [int(octets) for octets in re.findall(r"delivered (\d+)", output)]
        counts = re.search(r"total sent (\d+) resent (\d+) timeouts (\d+)", output)
        if counts is None or len(delivered) != dumbbell.sources:
            raise RuntimeError(f"dumbbell.cc printed something else:\n{output}")
        sent, resent, timeouts = map(int, counts.groups())
        return outcome(dumbbell, delivered, (sent, resent, timeouts), max(whole_s - started_s, 0.0))


def arguments(dumbbell: Dumbbell) -> list[str]:
    """The dumbbell as dumbbell.cc takes it."""
    spec = spec_of(dumbbell)
    tcp = spec.flows[0].tcp
    delays_s = [link.delay_ps * 1e-12 for link in spec.links]
    tick_s = tcp.tick_ps * 1e-12
    values = (
        dumbbell.sources,
        tcp.mss,
        tcp.rwnd,
        dumbbell.buffer,
        LINK_BPS,
        dumbbell.net.access_bps,
        delays_s[0],
        max(delays_s),
        dumbbell.stagger_ms * 1e-3,
        tick_s,
        tcp.rto_min_ticks * tick_s,
        tcp.rto_initial_ticks * tick_s,
        dumbbell.duration_s,
    )
    return [repr(value) for value in values]
