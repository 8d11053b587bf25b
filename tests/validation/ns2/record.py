"""Runs ns-2 on every exchange and steady state and stores what it leaves:

    python -m tests.validation.ns2.record

Needs ns-2 2.35 (Debian: apt install ns2). The stored files are what the tests compare with.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import skycell
from benches.peers.ns2 import simulator
from benches.peers.ns2.peer import Ns2
from benches.peers.ns2.translate import Choices
from tests.validation.ns2 import cubic, queues
from tests.validation.ns2.cases import DURATION_S, LOSSES, RTT_S, RULES, Case
from tests.validation.ns2.exchange import Reported, from_text, of_ns2, quiet_times, to_text
from tests.validation.ns2.steady import STEADY, Steady

STORED = Path(__file__).with_name("stored")

LEAN = Choices(only_needed_headers=True)
"""Quicker, with the same results."""

CUBIC_HEADER = f"""\
# cwnd, in segments in the middle of each round trip, of the CUBIC of ns-2 {simulator.VERSION}
# (Debian package ns2 2.35+dfsg-5; Agent/TCP/Linux, beta 717/1024), stored by
# tests/validation/ns2/record.py.
"""

HEADER = f"""\
# What ns-2 {simulator.VERSION} did (Debian package ns2 2.35+dfsg-5), stored by
# tests/validation/ns2/record.py. Losses are ordinals of transmissions, from 0.
# 0.600229 new 63 +3 us 33 65 98: at that time (s) segment 63 went out for the first time, and the
# three after it followed so many microseconds later; "again" where they had been sent before.
# cwnd (without the inflation of fast recovery) and ssthresh are in segments.
"""


def run_exchange(program: str, case: Case) -> Reported:
    """What ns-2 does in one exchange."""
    spec = skycell.parse(case.scenario()).resolve()
    trace = simulator.run(program, spec, LEAN, traced=True).trace
    return of_ns2(simulator.read_exchange(trace), quiet_times(DURATION_S, RTT_S))


def run_steady(steady: Steady) -> list[dict[str, float]]:
    """What ns-2 leaves of each dumbbell."""
    rows = []
    for dumbbell in steady.dumbbells():
        left = Ns2(LEAN).run(dumbbell)
        rows.append(
            {
                "stagger_ms": dumbbell.stagger_ms,
                "efficiency": round(left.efficiency, 5),
                "fairness": round(left.fairness, 5),
                "sent": left.sent,
                "resent": left.resent,
                "timeouts": left.timeouts,
            }
        )
    return rows


def run_cubic(program: str, stage: cubic.Stage) -> list[float]:
    """cwnd of ns-2's CUBIC in the middle of each round trip."""
    spec = skycell.parse(stage.scenario()).resolve()
    choices = Choices(only_needed_headers=True, linux_cubic=True)
    trace = simulator.run(program, spec, choices, traced=True).trace
    return cubic.windows_at(stage.quiet_times(), simulator.read_exchange(trace).cwnd)


def cubic_text(program: str) -> str:
    """The file of CUBIC: a section for each stage."""
    return CUBIC_HEADER + "".join(
        f"\n[{stage.name}]\n{cubic.to_text(run_cubic(program, stage))}" for stage in cubic.STAGES
    )


def stored_cubic(stage: cubic.Stage) -> list[float]:
    """One stage as it was stored."""
    text = (STORED / "cubic.txt").read_text(encoding="utf-8")
    sections = dict(section.split("]\n", 1) for section in text.split("\n[")[1:])
    return cubic.from_text(sections[stage.name])


def exchanges_text(program: str, rules: str) -> str:
    """The file of one set of rules: a section for each set of losses."""
    sections = [
        f"\n[{losses}] lost {' '.join(map(str, ordinals))}\n"
        + to_text(run_exchange(program, Case(rules, losses)))
        for losses, ordinals in LOSSES.items()
    ]
    return HEADER + "".join(sections)


def stored_exchange(case: Case) -> Reported:
    """One exchange as it was stored.

    Raises:
        KeyError: it was not; or with other losses.
    """
    text = (STORED / f"{case.rules}.txt").read_text(encoding="utf-8")
    sections = dict(section.split("\n", 1) for section in text.split("\n[")[1:])
    ordinals = " ".join(map(str, LOSSES[case.losses]))
    return from_text(sections[f"{case.losses}] lost {ordinals}"])


def stored_steady(steady: Steady) -> list[dict[str, float]]:
    """The rows of one steady state as they were stored."""
    stored = json.loads((STORED / "steady.json").read_text(encoding="utf-8"))
    rows: list[dict[str, float]] = stored["rows"][steady.name]
    return rows


def main() -> int:
    """Stores everything anew."""
    program = simulator.program()
    if program is None:
        print(simulator.MISSING, file=sys.stderr)
        return 1
    STORED.mkdir(exist_ok=True)
    for rules in RULES:
        text = exchanges_text(program, rules)
        (STORED / f"{rules}.txt").write_text(text, encoding="utf-8")
    (STORED / "cubic.txt").write_text(cubic_text(program), encoding="utf-8")
    for kind in queues.KINDS:
        (STORED / f"{kind}.txt").write_text(queues.text_of(program, kind), encoding="utf-8")
    stored = {
        "source": f"ns-2 {simulator.VERSION} (Debian package ns2 2.35+dfsg-5), "
        "stored by tests/validation/ns2/record.py",
        "rows": {steady.name: run_steady(steady) for steady in STEADY},
    }
    (STORED / "steady.json").write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
