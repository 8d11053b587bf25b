"""Which buffer, queue management and TCP for a link: the small experiment that answers it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skycell.experiment.design import SweepPlan
from skycell.experiment.file import parse_plan
from skycell.experiment.ranking import Aim, Beside, Traffic
from skycell.input.quantities import Quantity, rounded, show_time

AIMS: Mapping[str, Aim] = {
    "goodput": Aim("throughput", "greater", "what all users get together"),
    "slowest": Aim("smallest_throughput", "greater", "what the slowest user gets", "bulk"),
    "delay": Aim("p95_sojourn", "smaller", "time in the queue that 95 % of the packets keep"),
    "fairness": Aim("jain_fairness", "greater", "Jain's index of the throughputs", "bulk"),
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
    "reno": '{ preset = "linux", congestion = { kind = "reno", growth = "segment_counting" }, '
    'slow_start = { kind = "hystart", detect = "none" } }',
    "cubic": '{ preset = "linux" }',
    "bbr": '{ preset = "linux", congestion = "bbr" }',
}
"""TCPs that are tried: Linux's, with its CUBIC, its Reno or BBR."""
SPLIT = "split_bbr"
"""Hosts with CUBIC, and a proxy before the link that sends over it by BBR (RFC 3135)."""
_LEAST_PROXY_OCTETS = 20_971_520
"""The receiver window of the preset: a proxy has to hold what a host may send it."""
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
        mss: octets of data in a full segment; that of the network of the runs if not given.
        beside: other traffic on the link, which goes first.
    """

    rate: Quantity
    rtt: Quantity
    users: int
    traffic: Traffic = "bulk"
    loss: float = 0.0
    aim: str = "goodput"
    buffers: Sequence[float] = (0.25, 1.0)
    replications: int = 5
    mss: int | None = None
    beside: Beside = "none"

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
        *(f"levels.{name} = {{ tcp = {_tcp(question, name)} }}" for name in TCPS),
        f"levels.{SPLIT} = {{ tcp = {_tcp(question, 'cubic')}, pep = {_proxy(question)} }}",
    ]
    return "\n".join(lines) + "\n"


def _tcp(question: Question, name: str) -> str:
    """One of the TCPs that are tried, with the question's segments."""
    mss = "" if question.mss is None else f', mss = "{question.mss} B"'
    return TCPS[name].replace('preset = "linux"', f'preset = "linux"{mss}')


def _proxy(question: Question) -> str:
    """A proxy that holds twice what a connection alone would have under way."""
    octets = 2 * float(question.rate.amount) * float(question.rtt.amount) / 1e12 / 8
    buffer = max(round(octets), _LEAST_PROXY_OCTETS)
    return f'[{{ node = "router1", buffer = "{buffer} B", tcp = {_tcp(question, "bbr")} }}]'


def plan_of(question: Question, name: str = "advise") -> SweepPlan:
    """The checked sweep that answers a question; raises `ScenarioFaults`."""
    return parse_plan(experiment_of(question), name)
