"""ns-3 as a rival in the race."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from benches.peers import child
from benches.peers.child import NO_COMPILER, run_alone
from benches.peers.ns2.translate import CELL_OCTETS, aal5_cells
from benches.peers.outcome import Outcome, outcome, spec_of
from benches.peers.scenarios import LINK_BPS, Dumbbell
from skycell.spec.declared.network import EpdSpec

SOURCE = Path(__file__).with_name("dumbbell.cc")
VERSION = "3.44"
LIBRARIES = ("applications", "internet", "point-to-point", "traffic-control", "network", "core")
SKY_LIBRARIES = ("applications", "internet", "point-to-point", "network", "core")
PREFIX_VARIABLE = "NS3_PREFIX"

MISSING = (
    f"ns-3 {VERSION} is not installed (pip install --no-deps --target FOLDER 'ns3~={VERSION}.0', "
    f"then set {PREFIX_VARIABLE}=FOLDER/ns3)"
)


def prefix() -> Path | None:
    """The folder that holds ns-3's include and lib64, or none."""
    found = importlib.util.find_spec("ns3")
    named = os.environ.get(PREFIX_VARIABLE)
    candidates = [Path(named)] if named else []
    candidates += [Path(place) for place in (found and found.submodule_search_locations) or []]
    for candidate in candidates:
        if (candidate / "lib64" / f"libns{VERSION}-core.so").exists():
            return candidate
    return None


def missing() -> str | None:
    """What of ns-3 and its compiler is not installed, with how to get it; none where both are."""
    if prefix() is None:
        return MISSING
    return None if shutil.which("g++") else NO_COMPILER


def compiled(source: Path, libraries: Sequence[str], folder: str) -> Path:
    """The program of a C++ file with these of ns-3's libraries, in a folder.

    Raises:
        RuntimeError: ns-3 or the compiler is not installed, or the file does not compile.
    """
    place = prefix()
    if place is None:
        raise RuntimeError(MISSING)
    options = [f"-I{place / 'include'}", f"-L{place / 'lib64'}", f"-Wl,-rpath,{place / 'lib64'}"]
    # The package's libraries find what they need beside themselves, at run time.
    options += ["-Wl,--allow-shlib-undefined"]
    options += [f"-lns{VERSION}-{library}" for library in libraries]
    return child.compiled(source, folder, options)


class Ns3:
    """ns-3 in the version whose headers and libraries a Python package carries.

    SACK only: its senders without SACK are NewReno, which is none of the race's variants.
    """

    name = "ns-3"
    is_slow = True

    def missing(self) -> str | None:
        """What is not installed."""
        return missing()

    def can_run(self, dumbbell: Dumbbell) -> bool:
        """Whether ns-3 has the loss recovery, and the policy a twin."""
        return dumbbell.recovery == "sack" and dumbbell.policy == "epd"  # of cells

    @cached_property
    def _program(self) -> Path:
        """The compiled program."""
        return compiled(SOURCE, LIBRARIES, child.folder_of(self))

    def run(self, dumbbell: Dumbbell) -> Outcome:
        """Runs the dumbbell once, and its start-up once more to subtract it.

        Raises:
            RuntimeError: ns-3 or the compiler is not installed, or failed.
            ValueError: ns-3 has no such loss recovery or policy.
        """
        if not self.can_run(dumbbell):
            raise ValueError(f"{dumbbell.name}: only SACK with EPD")
        inputs = arguments(dumbbell)
        _, started_s = run_alone([str(self._program), *inputs, "--duration=0.000001"])
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
    policy = next(link.port.policy for link in spec.links if link.port.capacity_cells is not None)
    if not isinstance(policy, EpdSpec):
        raise ValueError(f"{dumbbell.name}: only EPD")
    frame_octets = CELL_OCTETS * aal5_cells(tcp.mss, tcp)
    delays_s = [link.delay_ps * 1e-12 for link in spec.links]
    access_s, bottleneck_s = delays_s[0], max(delays_s)
    tick_s = tcp.tick_ps * 1e-12
    values = {
        "sources": dumbbell.sources,
        "mss": tcp.mss,
        "frameOctets": frame_octets,
        "window": tcp.rwnd,
        # EPD takes a frame in whole while the queue holds at most R cells.
        "queueOctets": CELL_OCTETS * policy.threshold_cells + frame_octets,
        "linkBps": LINK_BPS,
        "accessDelay": access_s,
        "bottleneckDelay": bottleneck_s,
        "stagger": dumbbell.stagger_ms * 1e-3,
        "tick": tick_s,
        "minRto": tcp.rto_min_ticks * tick_s,
        "initialRto": tcp.rto_initial_ticks * tick_s,
        "duration": dumbbell.duration_s,
    }
    return [f"--{name}={value}" for name, value in values.items()]
