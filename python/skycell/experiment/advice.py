"""Which option for a link: a small experiment of its own, and a ranking with what the data decide.

Options are compared run by run with the same seeds (common random numbers). An option is worse than
the one with the best mean if the interval of the mean difference does not hold 0; all these
intervals hold together with the confidence asked for (Bonferroni). Sources: R. Jain, The Art of
Computer Systems Performance Analysis, 1991, 13.4; B. L. Nelson, F. J. Matejcik, Management Science
41, 1995.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

from skycell.experiment.design import SweepPlan
from skycell.experiment.file import parse_plan
from skycell.experiment.result import SweepResult
from skycell.input.quantities import Quantity, rounded, show_time

Traffic = Literal["bulk", "web"]


@dataclass(frozen=True)
class Aim:
    """What an option is judged by.

    Attributes:
        response: of a sweep.
        better: which way it is better.
        meaning: in words.
        traffic: that it is of; both if not given.
    """

    response: str
    better: Literal["greater", "smaller"]
    meaning: str
    traffic: Traffic | None = None


AIMS: Mapping[str, Aim] = {
    "goodput": Aim("throughput", "greater", "what all users get together"),
    "slowest": Aim("smallest_throughput", "greater", "what the slowest user gets", "bulk"),
    "delay": Aim("p95_sojourn", "smaller", "time in the queue that 95 % of the packets keep"),
    "fairness": Aim("fairness", "greater", "Jain's index of the throughputs", "bulk"),
    "pages": Aim("p95_page_response", "smaller", "time within which 95 % of the pages come", "web"),
}
"""What matters, by the word for it."""

POLICIES: Mapping[str, str] = {
    "tail_drop": '"tail_drop"',
    "codel": '"codel"',
    "fq_codel": '"fq_codel"',
    "pie": '"pie"',
}
"""Queue management that is tried, with the RFCs' defaults."""
_LONG_RTT_PS = 100_000_000_000
"""From here on CoDel's interval of 100 ms is shorter than a round trip: it is tried at one, too."""
TCPS: Mapping[str, str] = {
    "reno": '{ preset = "linux", congestion = { kind = "reno", growth = "byte_counting" } }',
    "cubic": '{ preset = "linux" }',
}
"""TCPs that are tried: Linux's, with its CUBIC or its Reno."""
_ROUND_TRIPS = 100
_SHORTEST_S, _LONGEST_S = 30, 120


@dataclass(frozen=True)
class Question:
    """A link, its users, and what matters.

    Attributes:
        rate: of the link, bit/s.
        rtt: without queues.
        users: connections, or web users.
        traffic: what they do.
        loss: part of the packets that the link loses, 0 to below 1.
        aim: a key of `AIMS`.
        buffers: in products of rate and round trip.
        replications: runs of each option, 2 or more.
    """

    rate: Quantity
    rtt: Quantity
    users: int
    traffic: Traffic = "bulk"
    loss: float = 0.0
    aim: str = "goodput"
    buffers: Sequence[float] = (0.25, 1.0)
    replications: int = 5

    def duration_s(self) -> int:
        """A hundred round trips, from half a minute to two."""
        rtt_s = float(self.rtt.amount) / 1e12
        return min(_LONGEST_S, max(_SHORTEST_S, round(_ROUND_TRIPS * rtt_s)))


def experiment_of(question: Question) -> str:
    """The sweep that answers a question, as its file."""
    rtt_ps = rounded(question.rtt.amount)
    fast = f"{float(question.rate.amount) * 10 / 1e6:g} Mbit/s"
    policies = dict(POLICIES)
    if rtt_ps > _LONG_RTT_PS:
        target, interval = show_time(rtt_ps // 20), show_time(rtt_ps)
        policies["codel_rtt"] = (
            f'{{ kind = "codel", target = "{target}", interval = "{interval}" }}'
        )
        policies["fq_codel_rtt"] = policies["codel_rtt"].replace('"codel"', '"fq_codel"')
    loss = f', loss = "{question.loss * 100:g} %"' if question.loss else ""
    responses = [aim.response for aim in AIMS.values() if aim.traffic in (None, question.traffic)]
    link = f"{question.rate}, {question.rtt}, {question.users} users"
    lines = [
        f"# {link} of {question.traffic} traffic: what is best for {question.aim}?",
        f'title = "Which option: {link}"',
        f"replications = {question.replications}",
        "responses = [" + ", ".join(f'"{name}"' for name in responses) + "]",
        "",
        "[scenario]",
        f'run.duration = "{question.duration_s()} s"',
        'tcp.preset = "linux"',
    ]
    if question.traffic == "web":
        lines.append('traffic.kind = "web"')
    latest_s = 10 if question.traffic == "web" else 2
    hop = f'rate = "{question.rate}", framing = "ip", delay = "{show_time(rtt_ps // 2)}"'
    lines += [
        f'start = {{ kind = "drawn", latest = "{latest_s} s" }}',
        "",
        "[scenario.topology]",
        'kind = "dumbbell"',
        f"sources = {question.users}",
        f'access = {{ rate = "{fast}", framing = "ethernet", delay = "0 s" }}',
        f'bottleneck = {{ {hop}, buffer = "1 BDP"{loss} }}',
        "",
        "[factors.buffer]",
        'key = "topology.bottleneck.buffer"',
        'form = "{} BDP"',
        f"levels = [{', '.join(f'{size:g}' for size in question.buffers)}]",
        "",
        "[factors.policy]",
        'key = "topology.bottleneck.policy"',
        *(f"levels.{name} = {value}" for name, value in policies.items()),
        "",
        "[factors.tcp]",
        'key = "tcp"',
        *(f"levels.{name} = {value}" for name, value in TCPS.items()),
    ]
    return "\n".join(lines) + "\n"


def plan_of(question: Question, name: str = "advise") -> SweepPlan:
    """The checked sweep that answers a question; raises `ScenarioFaults`."""
    return parse_plan(experiment_of(question), name)


@dataclass(frozen=True)
class Ranked:
    """One option in the order of its mean.

    Attributes:
        levels: of the factors.
        values: mean of each response; None where a run has none.
        difference: of the aim to the best option's, mean; 0 for the best.
        low: of the interval of that difference.
        high: of it.
        is_worse: whether the data say that it is worse than the best.
    """

    levels: Mapping[str, Any]
    values: Mapping[str, float | None]
    difference: float
    low: float
    high: float
    is_worse: bool


@dataclass(frozen=True)
class Advice:
    """The answer to a question.

    Attributes:
        question: what was asked.
        ranked: options, the best mean first.
        unranked: options with a run that failed or has no value.
        confidence: with which all differences lie in their intervals together.
    """

    question: Question
    ranked: tuple[Ranked, ...]
    unranked: tuple[Mapping[str, Any], ...]
    confidence: float

    @property
    def best(self) -> tuple[Ranked, ...]:
        """The options that the data do not tell apart from the best mean."""
        return tuple(option for option in self.ranked if not option.is_worse)

    @property
    def decides(self) -> bool:
        """Whether fewer than half of the options are left."""
        return 2 * len(self.best) < len(self.ranked)


def rank(question: Question, result: SweepResult, confidence: float = 0.9) -> Advice:
    """Ranks the options of a question's sweep.

    Args:
        question: what was asked.
        result: of the sweep of `plan_of`.
        confidence: with which all differences lie in their intervals together, 0 to 1.

    Raises:
        ValueError: no option has a value in all of its runs.
    """
    from scipy.stats import t as student

    aim = AIMS[question.aim]
    by_option: dict[tuple[tuple[str, Any], ...], dict[int, Mapping[str, float | None]]] = {}
    for run in result.runs:
        key = tuple(run.levels.items())
        by_option.setdefault(key, {})[run.replication] = run.values or {}
    samples: dict[tuple[tuple[str, Any], ...], list[float]] = {}
    for key, runs in by_option.items():
        values = [runs[number].get(aim.response) for number in sorted(runs)]
        found = [value for value in values if value is not None]
        if len(found) == len(values):
            samples[key] = found
    if not samples:
        raise ValueError(f"no option has a value of {aim.response} in all of its runs")
    sign = 1 if aim.better == "greater" else -1
    ordered = sorted(samples, key=lambda key: -sign * _mean(samples[key]))
    best = samples[ordered[0]]
    compared = max(len(ordered) - 1, 1)
    count = len(best)
    quantile = float(student.ppf(1 - (1 - confidence) / (2 * compared), count - 1))
    ranked: list[Ranked] = []
    for key in ordered:
        apart = [own - other for own, other in zip(samples[key], best, strict=True)]
        mean = _mean(apart)
        spread = sqrt(sum((one - mean) ** 2 for one in apart) / (count - 1))
        half = quantile * spread / sqrt(count)
        worse = key != ordered[0] and sign * mean + half < 0
        means = {
            name: _mean_or_none([values.get(name) for values in by_option[key].values()])
            for name in result.responses
        }
        ranked.append(Ranked(dict(key), means, mean, mean - half, mean + half, worse))
    left = tuple(dict(key) for key in by_option if key not in samples)
    return Advice(question, tuple(ranked), left, confidence)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _mean_or_none(values: Sequence[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return _mean(found) if found and len(found) == len(values) else None
