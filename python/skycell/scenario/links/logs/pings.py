"""Answers to numbered packets: ping of Unix and of Windows, and fping."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import NoReturn

from skycell.input.account import Assumed, LeftAside
from skycell.input.faults import show_value
from skycell.input.printable import printable
from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND, show_amount, show_time
from skycell.scenario.links.limits import OutOfLimitsError, delay_ps, moment_ps, number
from skycell.scenario.links.logs.log import Asked, Log, Sample, in_order, refused
from skycell.scenario.links.schedule import MOST_STEPS

DEFAULT_INTERVAL_PS = PS_PER_SECOND
"""Time between the packets of a tool that does not say it: what ping and fping in a loop do."""
_STAMP = r"^(?:\[(?P<at>\d+(?:\.\d+)?)\]\s*)?"
PING = re.compile(_STAMP + r".*\b(?:icmp_)?seq[= ](?P<seq>\d+)(?P<rest>.*)$", re.MULTILINE)
_PING_TIME = re.compile(r"time[=<] ?(?P<ms>\d+(?:[.,]\d+)?) ?ms")
_PING_HEAD = re.compile(r"PING \S")
FPING = re.compile(
    _STAMP + r"(?P<host>\S+)[ \t]+: \[(?P<seq>\d+)\], "
    r"(?:\d+ bytes, (?P<ms>\d+(?:\.\d+)?) ms|(?P<lost>timed out))",
    re.MULTILINE,
)
WINDOWS = re.compile(
    r"^(?:(?P<answer>Reply from \S+: .*?time[=<] ?(?P<ms>\d+) ?ms.*)"
    r"|(?P<lost>Request timed out\.|General failure\.|"
    r"(?:Reply from \S+: )?(?:Destination (?:host|net) unreachable\.|TTL expired in transit\.)))"
    r"\s*$",
    re.MULTILINE,
)
"""Source: Microsoft's documentation of ping, in English."""
_FRAME_OF_PING = re.compile(
    r"^--- .* statistics ---|packets transmitted|^(?:rtt|round-trip) min/|^PING |xmt/rcv/"
)
_FRAME_OF_WINDOWS = re.compile(
    r"^Ping statistics for|^\s+Packets: Sent|^Approximate round trip|^\s+Minimum = |^with \d+ bytes"
)
"""Heads and sums around the answers, which say nothing more."""
WINDOWS_ELSEWHERE = re.compile(r"^\S.*[=<] ?\d+ ?ms,? TTL=\d+\s*$", re.MULTILINE)
"""An answer as Windows writes it in any language: the word TTL stays."""
FLENT_PING = "flent's ping"
_OF_ICMP = ("ping", FLENT_PING)
_MOST_SEQ = 2**16
"""Numbers of ICMP have 16 bits (RFC 792)."""
_JUMP = 100
"""Numbers that may be missing before the stamps are asked whether they can be."""
_FACTOR = 3
"""How much more time than by the stamps the missing numbers may take, beside a jump's own."""


@dataclass(frozen=True)
class Answer:
    """What one line says of one packet: `ms` is none where it was lost."""

    line: int
    seq: int
    at_s: Fraction | None
    ms: Fraction | None


def read_pings(name: str, text: str, asked: Asked) -> Log:
    """Source: ping(8) of iputils and fping(8); a time stamp, of -D, is that of the answer."""
    answers: list[Answer] = []
    hosts: set[str] = set()
    doubles = 0
    others: list[str] = []
    tool = "fping" if FPING.search(text) else "ping"
    for line, written in enumerate(text.splitlines(), 1):
        match = FPING.match(written) if tool == "fping" else PING.match(written)
        if match is None:
            if tool == "ping" and _PING_HEAD.match(written):
                if answers:
                    _refuse_second(name, line, written)
            elif written.strip() and not _FRAME_OF_PING.search(written):
                others.append(written.strip())
            continue
        if "(DUP!)" in written:
            doubles += 1
            continue
        if tool == "fping":
            hosts.add(match["host"])
            ms = match["ms"]
        else:
            time = _PING_TIME.search(match["rest"])
            ms = time["ms"] if time else None
        try:
            seq = number(match["seq"])
            at = number(match["at"]) if match["at"] else None
            answer = Answer(line, int(seq), at, number(ms, decimal_comma=True) if ms else None)
        except OutOfLimitsError as error:
            raise refused(name, "", error.got, error.allowed, line) from None
        answers.append(answer)
    if len(hosts) > 1:
        shown = ", ".join(printable(host) for host in sorted(hosts)[:3])
        raise refused(name, "", f"{len(hosts)} hosts: {shown}", "the answers of one host")
    left = []
    if doubles:
        left.append(LeftAside("line", doubles, (), "each is a second answer, marked (DUP!)"))
    left += _not_understood(others)
    return of_answers(name, tool, answers, asked, left)


def _not_understood(lines: list[str]) -> list[LeftAside]:
    return [LeftAside("line", len(lines), tuple(lines), "not understood")] if lines else []


def read_windows(name: str, text: str, asked: Asked) -> Log:
    """Ping of Windows, which writes no numbers and no times: a line is a packet."""
    answers: list[Answer] = []
    others: list[str] = []
    for line, written in enumerate(text.splitlines(), 1):
        match = WINDOWS.match(written)
        if match is None:
            if WINDOWS_ELSEWHERE.match(written):
                raise refused(name, "", show_value(written), WINDOWS_IN_ENGLISH, line)
            if written.startswith("Pinging "):
                if answers:
                    _refuse_second(name, line, written)
            elif written.strip() and not _FRAME_OF_WINDOWS.search(written):
                others.append(written.strip())
            continue
        try:
            ms = number(match["ms"]) if match["answer"] else None
        except OutOfLimitsError as error:
            raise refused(name, "", error.got, error.allowed, line) from None
        answers.append(Answer(line, len(answers), None, ms))
    return of_answers(name, "ping of Windows", answers, asked, _not_understood(others))


WINDOWS_IN_ENGLISH = (
    "ping of Windows in English: the lines for a lost packet in another language are not known. "
    "A table with the columns time_s and rtt_ms is read, with nothing as rtt_ms of a lost packet"
)


def _refuse_second(name: str, line: int, written: str) -> NoReturn:
    got = f"a second measurement: {show_value(written)}"
    raise refused(name, "", got, "one measurement: put each into a file of its own", line)


def of_answers(
    name: str, tool: str, answers: list[Answer], asked: Asked, left: list[LeftAside]
) -> Log:
    """The log of answers to numbered packets; a number that never comes is a lost packet."""
    by_seq = _by_number(name, tool, answers)
    if not any(answer.ms is not None for answer in by_seq.values()):
        raise refused(name, "", "no answer", f"an answer or more of {tool}")
    is_answered = asked.stamp != "sent"
    timed = {
        seq: answer.at_s - (answer.ms / 1000 if is_answered else 0)
        for seq, answer in by_seq.items()
        if answer.at_s is not None and answer.ms is not None
    }
    first, last = min(by_seq), max(by_seq)
    assumed = []
    if len(timed) >= 2:
        if asked.interval_ps is not None:
            raise refused(name, "", f"times by {tool} -D, and interval", "interval without times")
        when = _between(timed)
        what = "answering" if is_answered else "sending"
        other = "sent" if is_answered else "answered"
        by = "key" if asked.stamp else "default"
        sentence = f"The stamps are moments of {what}."
        if not asked.stamp:
            sentence = f"The stamps are moments of {what}, as {tool} -D writes them."
        assumed.append(Assumed("stamps", sentence, by, f'stamp = "{other}"'))
    else:
        step_ps = asked.interval_ps or DEFAULT_INTERVAL_PS
        step = Fraction(step_ps, PS_PER_SECOND)

        def when(seq: int) -> Fraction:
            return (seq - first) * step

        wrote = "no times" if tool == "ping of Windows" else "no times (-D does)"
        sentence = f"{tool} wrote {wrote}: it sent a packet each {show_time(step_ps)}."
        by = "key" if asked.interval_ps else "default"
        assumed.append(Assumed("times", sentence, by, "" if asked.interval_ps else "interval"))
    samples = []
    for seq in range(first, last + 1):
        found = by_seq.get(seq)
        ms = found.ms if found else None
        line = found.line if found else None
        try:
            delay = None if ms is None else delay_ps(ms, PS_PER_MS)
            samples.append(Sample(moment_ps(when(seq)), delay, is_lost=ms is None, line=line))
        except OutOfLimitsError as error:
            raise refused(name, "", error.got, error.allowed, line) from None
    log = Log(
        f"round trips of {tool}",
        tuple(samples),
        noun="packets",
        has_round_trips=True,
        has_stamps=len(timed) >= 2,
        left_aside=tuple(left),
        assumed=tuple(assumed),
    )
    return in_order(name, log)


def _by_number(name: str, tool: str, answers: list[Answer]) -> dict[int, Answer]:
    """Each packet's answer by its number, which goes on where that of the tool begins anew.

    Raises:
        ScenarioFaults: a number comes for a second time, is too high, or jumps further than the
            time stamps allow.
    """
    by_seq: dict[int, Answer] = {}
    pace = _pace(answers)
    first = last = before = None
    for answer in answers:
        seq = answer.seq
        if tool in _OF_ICMP and seq >= _MOST_SEQ:
            got = f"the number {show_amount(seq)}"
            raise refused(name, "", got, f"numbers below {_MOST_SEQ}, of 16 bits", answer.line)
        if first is None or last is None or before is None:
            first, last, before = seq, seq - 1, answer
        elif tool in _OF_ICMP:
            ahead = (seq - last) % _MOST_SEQ
            seq = last + ahead - (_MOST_SEQ if ahead >= _MOST_SEQ // 2 else 0)
        _check_jump(name, before, answer, seq - last, pace)
        first, last, before = min(first, seq), max(last, seq), answer
        seen = by_seq.get(seq)
        if seen is not None and seen.ms is not None and answer.ms is not None:
            got = f"packet {answer.seq} for a second time; line {seen.line} has it too"
            allowed = (
                "one answer to each packet, or (DUP!) behind a second one. Put each measurement "
                "into a file of its own"
            )
            raise refused(name, "", got, allowed, answer.line)
        if answer.ms is not None or seen is None:
            by_seq[seq] = answer
        if last - first >= MOST_STEPS:
            got = f"{show_amount(last - first + 1)} packets by their numbers"
            allowed = f"up to {show_amount(MOST_STEPS)} packets"
            raise refused(name, "", got, allowed, answer.line)
    return by_seq


def _pace(answers: list[Answer]) -> Fraction | None:
    """Seconds from one packet to the next, by the stamps of neighbours; none without stamps."""
    steps = [
        after.at_s - before.at_s
        for before, after in itertools.pairwise(answers)
        if after.at_s is not None and before.at_s is not None and after.seq == before.seq + 1
    ]
    return Fraction(median(steps)) if steps else None


def _check_jump(
    name: str, before: Answer, answer: Answer, ahead: int, pace: Fraction | None
) -> None:
    """Refuses numbers that are further ahead than the stamps allow."""
    if not pace or pace < 0 or ahead <= _JUMP or answer.at_s is None or before.at_s is None:
        return
    by_number, by_stamp = ahead * pace, answer.at_s - before.at_s
    if by_number <= _FACTOR * by_stamp + _JUMP * pace:
        return
    got = (
        f"packet {show_amount(answer.seq)} after packet {show_amount(before.seq)}, "
        f"{_seconds(by_stamp)} later"
    )
    allowed = (
        f"numbers that fit the stamps: {show_amount(ahead)} packets take {_seconds(by_number)}"
    )
    raise refused(name, "", got, allowed, answer.line)


def _seconds(time_s: Fraction) -> str:
    return f"{show_amount(Fraction(round(1000 * time_s), 1000))} s"


def _between(timed: dict[int, Fraction]) -> Callable[[int], Fraction]:
    """When each packet was sent: those without a time lie evenly between their neighbours.

    Before the first and after the last time the mean pace goes on.
    """
    moments = sorted(timed)
    mean = (timed[moments[-1]] - timed[moments[0]]) / (moments[-1] - moments[0])
    known = dict(timed)
    for seq, at in _filled(moments, timed):
        known[seq] = at

    def when(seq: int) -> Fraction:
        if seq < moments[0]:
            return known[moments[0]] - (moments[0] - seq) * mean
        if seq > moments[-1]:
            return known[moments[-1]] + (seq - moments[-1]) * mean
        return known[seq]

    return when


def _filled(moments: list[int], timed: dict[int, Fraction]) -> Iterator[tuple[int, Fraction]]:
    for begin, end in itertools.pairwise(moments):
        step = (timed[end] - timed[begin]) / (end - begin)
        for seq in range(begin + 1, end):
            yield seq, timed[begin] + (seq - begin) * step
