"""Answers to numbered packets: ping and fping."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND
from skycell.scenario.steps.logs.log import Log, Sample, in_order, refused

DEFAULT_INTERVAL_PS = PS_PER_SECOND
"""Time between the packets of a tool that does not say it: what ping and fping in a loop do."""
_STAMP = r"^(?:\[(?P<at>\d+(?:\.\d+)?)\]\s*)?"
PING = re.compile(_STAMP + r".*\b(?:icmp_)?seq[= ](?P<seq>\d+)(?P<rest>.*)$", re.MULTILINE)
_PING_TIME = re.compile(r"time[=<](?P<ms>\d+(?:\.\d+)?) ?ms")
FPING = re.compile(
    _STAMP + r"(?P<host>\S+)\s+: \[(?P<seq>\d+)\], "
    r"(?:\d+ bytes, (?P<ms>\d+(?:\.\d+)?) ms|(?P<lost>timed out))",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one line says of one packet: `ms` is none where it was lost."""

    line: int
    seq: int
    at_s: Fraction | None
    ms: Fraction | None


def read_pings(name: str, text: str, interval_ps: int | None) -> Log:
    """Source: ping(8) of iputils and fping(8); a time stamp, of -D, is that of the answer."""
    answers: list[Answer] = []
    hosts: set[str] = set()
    tool = "fping" if FPING.search(text) else "ping"
    for number, line in enumerate(text.splitlines(), 1):
        match = FPING.match(line) if tool == "fping" else PING.match(line)
        if match is None or "(DUP!)" in line:
            continue
        if tool == "fping":
            hosts.add(match["host"])
            ms = match["ms"]
        else:
            time = _PING_TIME.search(match["rest"])
            ms = time["ms"] if time else None
        at = Fraction(match["at"]) if match["at"] else None
        answers.append(Answer(number, int(match["seq"]), at, Fraction(ms) if ms else None))
    if len(hosts) > 1:
        got = f"{len(hosts)} hosts: {', '.join(sorted(hosts)[:3])}"
        raise refused(name, "", got, "the answers of one host")
    return of_answers(name, tool, answers, interval_ps)


def of_answers(name: str, tool: str, answers: list[Answer], interval_ps: int | None) -> Log:
    """The log of answers to numbered packets; a number that never comes is a lost packet."""
    by_seq: dict[int, Answer] = {}
    turn, before = 0, 0
    for answer in answers:  # numbers have 16 bits and begin anew
        if answer.seq < before - 2**15:
            turn += 2**16
        before = answer.seq
        seq = answer.seq + turn
        if answer.ms is not None or seq not in by_seq:
            by_seq[seq] = answer
    timed = {
        seq: answer.at_s - answer.ms / 1000
        for seq, answer in by_seq.items()
        if answer.at_s is not None and answer.ms is not None
    }
    if not any(answer.ms is not None for answer in by_seq.values()):
        raise refused(name, "", "no answer", f"an answer or more of {tool}")
    first, last = min(by_seq), max(by_seq)
    notes: tuple[str, ...] = ()
    if len(timed) >= 2:
        if interval_ps is not None:
            raise refused(name, "", f"times by {tool} -D, and interval", "interval without times")
        moments = sorted(timed)
        mean = (timed[moments[-1]] - timed[moments[0]]) / (moments[-1] - moments[0])
        when = _between(timed, moments, mean)
    else:
        step = Fraction(interval_ps or DEFAULT_INTERVAL_PS, PS_PER_SECOND)

        def when(seq: int) -> Fraction:
            return (seq - first) * step

        if interval_ps is None:
            notes = (f"{tool} wrote no times (-D does): a packet each second is assumed.",)
    samples = []
    for seq in range(first, last + 1):
        found = by_seq.get(seq)
        ms = found.ms if found else None
        at_ps = round(when(seq) * PS_PER_SECOND)
        delay_ps = None if ms is None else round(ms * PS_PER_MS)
        samples.append(Sample(at_ps, delay_ps, is_lost=ms is None))
    log = Log(f"round trips of {tool}", tuple(samples), 0, has_round_trips=True, notes=notes)
    return in_order(log)


def _between(
    timed: dict[int, Fraction], moments: list[int], mean: Fraction
) -> Callable[[int], Fraction]:
    """When each packet was sent: those without a time go by the neighbour before them."""
    known = dict(timed)
    for seq in range(moments[0] - 1, -1, -1):
        known[seq] = known[seq + 1] - mean
    for seq in range(moments[0], moments[-1]):
        if seq + 1 not in known:
            known[seq + 1] = known[seq] + mean

    def when(seq: int) -> Fraction:
        late = seq - moments[-1]
        return known[moments[-1]] + late * mean if late > 0 else known[seq]

    return when
