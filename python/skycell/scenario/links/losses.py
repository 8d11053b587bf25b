"""What lost packets of a log are: losses alone, bursts of losses, or outages. The log decides.

The question is whether losses are independent. Of n packets k are lost; where they are independent,
every order is as likely as any, and the number of runs of losses is hypergeometric (W. L. Stevens,
Distribution of groups in a sequence of alternatives, Annals of Eugenics 9, 1939; the runs test of
A. Wald and J. Wolfowitz, Annals of Mathematical Statistics 11, 1940, counts both kinds of runs).
Losses are in bursts where so few runs have a chance below `SIGNIFICANCE`. A burst is then as RFC
3611 (4.7.2) has it: from a loss to a loss, with fewer than 16 answers in a row between.

- A burst without any answer is an outage: there was no path.
- A burst with answers, where its losses are independent, is a loss of its own for its own time.
- In any other burst the runs that are too long for chance are outages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import exp, lgamma, log

SIGNIFICANCE = 0.001
"""Chance below which losses are no longer independent: one log in a thousand by mistake."""
_G_MIN = 16
"""Answers in a row that end a burst (RFC 3611, 4.7.2: Gmin, 16 is recommended)."""


@dataclass(frozen=True)
class Burst:
    """Losses that are close together: of the packets from `begin` to `end`, without `end`."""

    begin: int
    end: int
    lost: int
    sent: int


@dataclass(frozen=True)
class Pattern:
    """How the lost packets of a log lie.

    Attributes:
        sent: packets.
        lost: packets that never came back.
        in_runs: lost packets with a lost one for a neighbour.
        runs: of lost packets that follow each other.
        runs_expected: where losses are independent.
        chance: of so few runs where losses are independent.
        outages: packets from and to, without the last, of times without a path.
        bursts: times with a loss of their own.
    """

    sent: int
    lost: int
    in_runs: int
    runs: int
    runs_expected: float
    chance: float
    outages: tuple[tuple[int, int], ...] = ()
    bursts: tuple[Burst, ...] = ()

    @property
    def is_in_bursts(self) -> bool:
        """Whether losses depend on each other."""
        return self.chance < SIGNIFICANCE

    @property
    def in_outages(self) -> int:
        """Lost packets that are outages."""
        return sum(end - begin for begin, end in self.outages)

    @property
    def in_bursts(self) -> int:
        """Lost packets of times with a loss of their own."""
        return sum(burst.lost for burst in self.bursts)


def pattern_of(is_lost: Sequence[bool]) -> Pattern:
    """How losses lie in packets, in the order in which they were sent."""
    runs = _runs(is_lost)
    sent, lost = len(is_lost), sum(is_lost)
    expected = lost * (sent - lost + 1) / sent if sent else 0.0
    chance = chance_of_runs(sent, lost, len(runs))
    in_runs = sum(end - begin for begin, end in runs if end - begin > 1)
    outages: list[tuple[int, int]] = []
    bursts: list[Burst] = []
    if chance < SIGNIFICANCE:
        for group in _grouped(runs):
            off, burst = _of_burst(group)
            outages += off
            bursts += [burst] if burst else []
    return Pattern(sent, lost, in_runs, len(runs), expected, chance, tuple(outages), tuple(bursts))


def chance_of_runs(sent: int, lost: int, runs: int) -> float:
    """Chance of at most so many runs of losses where every order of the packets is alike.

    Two lost packets of four are neighbours in three of six orders.

    >>> round(chance_of_runs(4, 2, 1), 9)
    0.5
    """
    spaces = sent - lost + 1
    if not lost or runs >= min(lost, spaces):
        return 1.0
    # P(g) = C(lost - 1, g - 1) C(spaces, g) / C(sent, lost); from P(runs) down to P(1).
    term = exp(
        _log_choose(lost - 1, runs - 1) + _log_choose(spaces, runs) - _log_choose(sent, lost)
    )
    total = 0.0
    for count in range(runs, 0, -1):
        total += term
        term *= (count - 1) * count / ((lost - count + 1) * (spaces - count + 1))
        if term <= total * 1e-12:
            break
    return min(total, 1.0)


def _log_choose(of: int, chosen: int) -> float:
    return lgamma(of + 1) - lgamma(chosen + 1) - lgamma(of - chosen + 1)


def _runs(is_lost: Sequence[bool]) -> list[tuple[int, int]]:
    """Beginning and end of each run of losses."""
    found = []
    at = 0
    for lost, group in groupby(is_lost):
        length = sum(1 for _ in group)
        if lost:
            found.append((at, at + length))
        at += length
    return found


def _grouped(runs: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Runs of losses with fewer than 16 answers between them, together."""
    groups: list[list[tuple[int, int]]] = []
    for run in runs:
        if groups and run[0] - groups[-1][-1][1] < _G_MIN:
            groups[-1].append(run)
        else:
            groups.append([run])
    return groups


def _of_burst(runs: Sequence[tuple[int, int]]) -> tuple[list[tuple[int, int]], Burst | None]:
    """The outages of a burst, and what is left of it as a loss; a loss alone is neither."""
    begin, end = runs[0][0], runs[-1][1]
    lost = sum(run_end - run_begin for run_begin, run_end in runs)
    answers = end - begin - lost
    if lost == 1:
        return [], None
    if not answers:
        return [(begin, end)], None
    outages: list[tuple[int, int]] = []
    # A burst begins and ends with a loss: in between, every order of the rest is alike.
    if chance_of_runs(end - begin - 2, answers, len(runs) - 1) < SIGNIFICANCE:
        least = _too_long(len(runs), answers)
        outages = [run for run in runs if run[1] - run[0] >= least]
    off = sum(run_end - run_begin for run_begin, run_end in outages)
    if lost - off <= 1:
        return outages, None
    return outages, Burst(begin, end, lost - off, end - begin - off)


def _too_long(runs: int, answers: int) -> int:
    """Length from which a run is too long for chance, at the rate at which runs begin.

    Where losses are independent with the probability q, a run begins after an answer with q, and is
    of length l or more with q^(l - 1).
    """
    q = min(runs / (answers + runs), 0.999999)
    return max(2, int(log(SIGNIFICANCE / runs) / log(q)) + 2)
