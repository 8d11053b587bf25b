"""Runs ns-2 and reads what it leaves."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benches.peers.child import run_alone
from benches.peers.ns2.translate import Choices, parameter_file
from skycell.spec.declared.network import NetworkSpec

SCRIPT = Path(__file__).with_name("network.tcl")
PROGRAM = "ns"
VERSION = "2.35"
"""The version whose rules translate.py knows."""

MISSING = f"ns-2 {VERSION} is not installed (Debian, Ubuntu: apt install ns2)"


@dataclass(frozen=True)
class Flow:
    """What one sender and its receiver counted.

    Attributes:
        sent: data packets, repetitions included.
        resent: of those, repetitions.
        timeouts: expiries of the retransmission timer.
        acks: acknowledgements that arrived.
        octets: of packets that reached the receiver's application in order, headers included.
    """

    sent: int
    resent: int
    timeouts: int
    acks: int
    octets: int


@dataclass(frozen=True)
class Run:
    """What one run of ns-2 left.

    Attributes:
        flows: in the order of the spec.
        user_s: user CPU time of the process, its start-up included.
        trace: text of the trace file; "" without one.
    """

    flows: tuple[Flow, ...]
    user_s: float
    trace: str


def program() -> str | None:
    """Path of ns-2 in the version we know, or none."""
    path = shutil.which(PROGRAM)
    if path is None:
        return None
    asked = subprocess.run(
        [path, "-"], input="puts [ns-version]; exit 0\n", capture_output=True, text=True, timeout=60
    )
    # Another program may be called ns.
    return path if asked.stdout.strip() == VERSION else None


def run(path: str, spec: NetworkSpec, choices: Choices | None = None, traced: bool = False) -> Run:
    """Runs `spec` in the ns-2 at `path`.

    Raises:
        Untranslatable: ns-2 has no counterpart for a part of the spec.
        RuntimeError: ns-2 failed; with what it said.
    """
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace"
        parameters = Path(folder) / "parameters.tcl"
        text = parameter_file(spec, choices or Choices(), str(trace) if traced else "")
        parameters.write_text(text, encoding="utf-8")
        output, user_s = run_alone([path, str(SCRIPT), str(parameters)])
        return Run(_flows(output), user_s, trace.read_text(encoding="utf-8") if traced else "")


def event_loop_s(path: str, spec: NetworkSpec, choices: Choices | None = None) -> tuple[Run, float]:
    """One run and the user CPU time of its event loop: that of the run less that of its start-up.

    The start-up is the same network run for one picosecond; it reads the scripts, builds nodes and
    computes routes.
    """
    started = run(path, spec.model_copy(update={"duration_ps": 1}), choices)
    whole = run(path, spec, choices)
    return whole, max(whole.user_s - started.user_s, 0.0)


def _flows(output: str) -> tuple[Flow, ...]:
    flows = []
    for line in output.splitlines():
        words = line.split()
        if words[:1] == ["flow"]:
            counts = dict(zip(words[2::2], map(int, words[3::2]), strict=True))
            flows.append(Flow(**counts))
    return tuple(flows)


@dataclass(frozen=True)
class Sent:
    """One data segment that a sender gave to the network.

    Attributes:
        time_s: when; ns-2 rounds it to microseconds.
        segment: number of the segment, from 0.
        is_again: whether it had been sent before.
    """

    time_s: float
    segment: int
    is_again: bool


@dataclass(frozen=True)
class Exchange:
    """What the trace of a run with one flow says.

    Attributes:
        sent: every data segment, scripted losses included, in order.
        cwnd: time in s and cwnd in segments at each change; without the inflation of fast recovery.
        ssthresh: time in s and ssthresh in segments at each change.
    """

    sent: tuple[Sent, ...]
    cwnd: tuple[tuple[float, float], ...]
    ssthresh: tuple[tuple[float, float], ...]


def read_exchange(trace: str) -> Exchange:
    """Reads the trace of a run with one flow.

    A packet shows as `+` on its way to the sender's queue, before the scripted losses.
    """
    sent: list[Sent] = []
    windows: dict[str, list[tuple[float, float]]] = {"cwnd_": [], "ssthresh_": []}
    highest = -1
    for line in trace.splitlines():
        words = line.split()
        if words[0] == "+":
            segment = int(words[10])
            sent.append(Sent(float(words[1]), segment, segment <= highest))
            highest = max(highest, segment)
        elif len(words) == 7 and words[5] in windows:
            windows[words[5]].append((float(words[0]), float(words[6])))
    return Exchange(tuple(sent), tuple(windows["cwnd_"]), tuple(windows["ssthresh_"]))
