"""A path as packet opportunities of mahimahi, and the command that replays them.

Source: mm-link(1), and R. Netravali et al., Mahimahi: Accurate Record-and-Replay for HTTP, USENIX
ATC 2015. A line is a millisecond at which 1504 octets may leave, a packet of 1500 and the 4 of the
tunnel; after its last line the file begins again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from skycell.exports.named import NothingToExport
from skycell.exports.path_steps import QUEUES
from skycell.input.printable import printable
from skycell.scenario.links.logs.mahimahi import OCTETS
from skycell.scenario.links.steps_table import decimal
from skycell.spec.values import WHOLE_PPB

if TYPE_CHECKING:
    from skycell.exports.path_steps import PathSteps
    from skycell.spec.steps import Steps

_PS_PER_MS = 10**9
_PACKET = OCTETS * 8 * 10**15
"""An opportunity in thousandths of a bit/s times picoseconds, in which all is counted."""
_MEANING = (
    "A trace has rates only.",
    (
        "mm-delay has one delay and mm-loss one loss for the whole time: means over the time with "
        "a path, the delay in whole ms."
    ),
    "A trace counts packets of 1504 octets in whole ms, and begins again after its last line.",
)


FILES = ("up.trace", "down.trace", "replay.sh")
"""What is written: a trace for each direction, and the script."""


def foreseen_octets(path: PathSteps) -> int:
    """How many octets both traces of a path take, at most: a line has no more than the last."""
    lines = sum(_amount(steps, path.end_ps) // _PACKET for steps in path.ways.values())
    return lines * (len(str(-(-path.end_ps // _PS_PER_MS))) + 1)


def mahimahi_files(path: PathSteps) -> dict[str, str]:
    """The traces of a path for both directions, and the shell script that replays them, by name.

    Raises:
        NothingToExport: the path has no rate, or less than a packet may leave in all its time.
    """
    if not path.there.rates:
        raise NothingToExport("a trace of mahimahi is of rates, and the file has none: --rate RATE")
    traces = {}
    for way, name in (("forward", "up.trace"), ("reverse", "down.trace")):
        lines = list(_lines(path.ways[way], path.end_ps))
        if not lines:
            raise NothingToExport(
                f"less than {OCTETS} octets may leave in all the time of the path ({way}): a trace "
                "of mahimahi has one line at least"
            )
        traces[name] = "".join(f"{line}\n" for line in lines)
    return {**traces, "replay.sh": _script(path, traces)}


def _lines(steps: Steps, end_ps: int) -> Iterator[int]:
    """The millisecond by whose end each further packet could have left."""
    left = 0  # of a packet that began to leave in the steps before
    for begin, end, rate in _spans(steps, end_ps):
        if rate:
            count = (left + rate * (end - begin)) // _PACKET
            for number in range(1, count + 1):
                at_ps = begin + -(-(number * _PACKET - left) // rate)
                yield -(-at_ps // _PS_PER_MS)
            left += rate * (end - begin) - count * _PACKET


def _spans(steps: Steps, end_ps: int) -> Iterator[tuple[int, int, int]]:
    """Beginning, end and rate of each step; no rate where there is no path."""
    ends = (*steps.times_ps[1:], end_ps)
    for at, (begin, end) in enumerate(zip(steps.times_ps, ends, strict=True)):
        yield begin, end, 0 if steps.delays_ps[at] is None else steps.rates[at]


def _amount(steps: Steps, end_ps: int) -> int:
    if not steps.rates:
        return 0
    return sum(rate * (end - begin) for begin, end, rate in _spans(steps, end_ps))


def _script(path: PathSteps, traces: dict[str, str]) -> str:
    notes = [f"{path.title}.", *path.notes, QUEUES, *_MEANING]
    for name, text in traces.items():
        last_ms = int(text.rsplit(maxsplit=1)[-1])
        if last_ms * _PS_PER_MS < path.end_ps:
            notes.append(
                f"{name} begins again after {last_ms} ms, before the end of the path at "
                f"{decimal(path.end_ps, 9)} ms: nothing may leave after that."
            )
    words = []
    if path.has_delays:
        # mm-delay holds packets for the same time in both directions.
        means = [_mean(steps, steps.delays_ps, path.end_ps) for steps in path.ways.values()]
        words.append(f"mm-delay {round(sum(means) / 2 / _PS_PER_MS)}")
    for way, link in (("forward", "uplink"), ("reverse", "downlink")):
        steps = path.ways[way]
        losses = steps.losses_ppb or (0,) * len(steps.times_ps)
        loss = _mean(steps, losses, path.end_ps) / WHOLE_PPB
        if loss:
            words.append(f"mm-loss {link} {loss:.9f}".rstrip("0"))
    words.append('mm-link "$here/up.trace" "$here/down.trace"')
    heading = "\n".join(f"# {printable(note)}" for note in notes)
    return (
        f"#!/bin/sh\n{heading}\n#\n# Usage: sh replay.sh COMMAND...\n"
        'set -eu\nhere=$(dirname "$0")\n'
        f'exec {" ".join(words)} -- "$@"\n'
    )


def _mean(steps: Steps, values: Sequence[int | None], end_ps: int) -> float:
    """Mean of what steps have of something over the time with a path; 0 where nothing is known."""
    ends = (*steps.times_ps[1:], end_ps)
    rows = zip(steps.times_ps, ends, steps.delays_ps, values, strict=True)
    known = [
        (end - begin, value)
        for begin, end, delay, value in rows
        if delay is not None and value is not None
    ]
    time = sum(length for length, _ in known)
    return sum(length * value for length, value in known) / time if time else 0.0
