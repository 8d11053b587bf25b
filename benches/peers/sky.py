"""The race over a constellation: a hundred cities, frozen at one moment, against ns-3.

    python -m benches.peers.sky --help

Both simulators get the same links, host routes, packets and starts. With datagrams they deliver as
many packets of each pair, each with the same delays, once ns-3 has our order at one instant:
packets leave before others arrive. As it comes ns-3 mostly has the arrival first, so full ports
take other packets; this changes whose packets are lost, and hardly how many. It is what the time is
taken of. With TCP both deliver about the same octets, as no two senders are alike in all their
rules. The simulators take turns in each round, and the least time of the rounds counts: others on
the machine only add to a time.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol

from benches.peers import child
from benches.peers.ns3 import peer
from benches.peers.ns3.network import PPP_OCTETS, Network, network_of
from skycell.scenario import parse
from skycell.spec.columns import columns_of
from skycell.spec.declared.network import NetworkSpec

EXAMPLE = Path(__file__).parents[2] / "examples" / "hundred-cities.toml"
PACKET_OCTETS = 1_500
LOAD = 0.3
"""Part of the line rate that each pair sends as datagrams: four pairs overload a port."""
DELAY_PS_PER_HOP = 1
"""Largest difference of two delays, for each link on the way: both simulators' unit of time."""
INITIAL_SSTHRESH_OCTETS = 65_535
"""RFC 2001, and the value of the example. With a whole window the first slow start loses hundreds
of segments at once, each of which costs NewReno a round trip: little but the repair is compared."""
GOODPUT_PART = 0.04
"""Largest difference of TCP's octets of all pairs together in one run. The phase of the starts
alone moves them by 0.8 to 1.4 % (standard deviation), the variant of a sender by 2 to 13 %."""
START_PS = 1
"""Length of the run whose time is that of the start."""


@dataclass(frozen=True)
class Case:
    """What is simulated.

    Attributes:
        mbit: rate of every link, Mbit/s.
        traffic: `datagrams` or `new_reno`.
        duration_s: simulated time.
        load: part of the line rate that each pair sends as datagrams.
        stagger_us: one source or connection starts so long after the other.
        stations: the example's hundred, or others.
    """

    mbit: int
    traffic: str
    duration_s: float
    load: float = LOAD
    stagger_us: float = 40.0
    stations: str | Sequence[str] = "cities-100"

    @property
    def name(self) -> str:
        """Such as `datagrams 10 Mbit/s 2 s`."""
        return f"{self.traffic} {self.mbit} Mbit/s {self.duration_s:g} s"

    def scenario(self) -> Mapping[str, Any]:
        """The example, frozen, with ns-3's octets beside a packet and rules that both have."""
        example = tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))
        line = {
            "rate": f"{self.mbit} Mbit/s",
            "framing": {"kind": "custom", "overhead": f"{PPP_OCTETS} B"},
            "buffer": f"{10 * self.mbit} packets",  # as the experiments of Hypatia
        }
        datagrams = {
            "kind": "cbr",
            "rate": f"{self.load * self.mbit} Mbit/s",
            "packet_size": f"{PACKET_OCTETS} B",
        }
        start = {"start": {"kind": "staggered", "every": f"{self.stagger_us} us"}}
        topology = example["topology"] | {
            "constellation": str(EXAMPLE.parent / example["topology"]["constellation"]),
            "stations": self.stations,
            "frozen": True,
            "inter_satellite": line,
            "ground": line | {"frame_jitter": "0 s"},
        }
        (traffic,) = example["traffic"]
        return {
            "run": {"duration": f"{self.duration_s} s"},
            "topology": topology,
            "traffic": [traffic | start | (datagrams if self.traffic == "datagrams" else {})],
            "tcp": {
                "recovery": {
                    "kind": "new_reno",
                    "partial_ack_window": "deflate",
                    "partial_ack_restarts": "first",
                    "avoid_multiple_fast_retransmits": True,
                },
                "mss": f"{PACKET_OCTETS - 40} B",
                "llc_snap": False,
                "receiver_window": f"{146 * self.mbit} kB",
                "window_scaling": True,
                "initial_ssthresh": f"{INITIAL_SSTHRESH_OCTETS} B",
                "initial_cwnd": "10 segments",
                "handshake": True,
            },
        }

    @cached_property
    def spec(self) -> NetworkSpec:
        """As an engine takes it, with the delays of datagrams."""
        spec = parse(self.scenario(), self.name).resolve(seed=1)
        records = spec.records.model_copy(update={"delay_sources": tuple(range(len(spec.sources)))})
        return spec.model_copy(update={"records": records})


@dataclass(frozen=True)
class Delays:
    """Delays of the datagrams of a pair: least, mean and greatest, ps."""

    least: int
    mean: float
    greatest: int

    def difference(self, other: Delays) -> float:
        """The largest difference between two of the same name, picoseconds."""
        return max(
            abs(self.least - other.least),
            abs(self.mean - other.mean),
            abs(self.greatest - other.greatest),
        )


@dataclass(frozen=True)
class Run:
    """What a run left.

    Attributes:
        delivered: by pair, datagrams or octets of a connection.
        delays: by pair, of datagrams.
        hops: packets that came to ports.
        loop_s: CPU time without the start, of ns-3 the user's part.
        peak_octets: greatest memory of the process.
    """

    delivered: tuple[int, ...]
    delays: tuple[Delays, ...]
    hops: int
    loop_s: float
    peak_octets: int

    @property
    def ns_per_hop(self) -> float:
        """CPU time of a packet and hop."""
        return self.loop_s / self.hops * 1e9


class Simulator(Protocol):
    """A simulator that can run a case."""

    @property
    def name(self) -> str:
        """How the race calls it."""

    def run(self, case: Case) -> Run:
        """Runs the case once, and its start."""


@dataclass(frozen=True)
class Skycell:
    """This package, in a process of its own."""

    engine: str = "fast"

    @property
    def name(self) -> str:
        """The package and its engine."""
        return f"skycell ({self.engine})"

    def run(self, case: Case) -> Run:
        """Runs the case once, and its start."""
        columns = columns_of(case.spec)
        start = case.spec.model_copy(update={"duration_ps": START_PS})
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / "spec.json", Path(folder) / "start.json"]
            for file, spec in zip(files, (case.spec, start), strict=True):
                file.write_text(spec.canonical_json(), encoding="utf-8")
            arguments = [*map(str, files), str(columns), self.engine]
            output, _ = child.run_alone([sys.executable, "-m", "benches.peers.alone", *arguments])
        found = json.loads(output)
        sources, flows = found["records"]["sources"], found["records"]["flows"]
        return Run(
            tuple(
                [row["datagrams_delivered"] for row in sources]
                + [row["octets_delivered"] for row in flows]
            ),
            tuple(
                Delays(row["delay"]["min_ps"], row["delay"]["mean_ps"], row["delay"]["max_ps"])
                for row in sources
            ),
            found["hops"],
            found["loop_s"],
            found["peak_octets"],
        )


@dataclass(frozen=True)
class Ns3:
    """ns-3 over point-to-point links with static routes.

    Attributes:
        departures_first: whether packets leave before others arrive at one instant, as ours do.
    """

    departures_first: bool = False
    name: str = "ns-3"

    def run(self, case: Case) -> Run:
        """Runs the case once, and its start.

        Raises:
            RuntimeError: ns-3 or the compiler is not installed, or failed.
            ValueError: the case has something that sky.cc has not.
        """
        return self.run_network(network_of(case.spec), case)

    def run_network(self, network: Network, case: Case) -> Run:
        """Runs a network with the duration and the TCP of a case."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "network.txt"
            file.write_text(network.text(), encoding="utf-8")
            command = [str(_program()), f"--network={file}", *_tcp(case.spec)]
            command += ["--departuresFirst"] * self.departures_first
            _, started_s = child.run_alone([*command, f"--duration={START_PS}"])
            output, whole_s = child.run_alone([*command, f"--duration={case.spec.duration_ps}"])
        datagrams = [
            tuple(map(int, row))
            for row in re.findall(r"^datagrams (\d+) (\d+) (\d+) (\d+)$", output, re.MULTILINE)
        ]
        octets = [int(row) for row in re.findall(r"^connection (\d+)$", output, re.MULTILINE)]
        counts = dict(re.findall(r"^(hops|peak) (\d+)$", output, re.MULTILINE))
        if len(datagrams) + len(octets) != len(network.traffic) or len(counts) != 2:
            raise RuntimeError(f"sky.cc printed something else:\n{output}")
        return Run(
            tuple([row[0] for row in datagrams] + octets),
            tuple(Delays(row[1], row[2] / max(row[0], 1), row[3]) for row in datagrams),
            int(counts["hops"]),
            max(whole_s - started_s, 0.0),
            int(counts["peak"]),
        )


@cache
def _program() -> Path:
    """The compiled program."""
    source = Path(peer.__file__).with_name("sky.cc")
    return peer.compiled(source, peer.SKY_LIBRARIES, child.folder_of(Ns3))


def _tcp(spec: NetworkSpec) -> list[str]:
    """The connections' TCP as sky.cc takes it."""
    if not spec.flows:
        return []
    tcp = spec.flows[0].tcp
    tick_s = tcp.tick_ps / 1e12
    values = {
        "mss": tcp.mss,
        "window": tcp.rwnd,
        "ssthresh": tcp.initial_ssthresh,
        "initialCwnd": tcp.initial_cwnd // tcp.mss,
        "tick": tick_s,
        "minRto": tcp.rto_min_ticks * tick_s,
        "initialRto": tcp.rto_initial_ticks * tick_s,
    }
    return [f"--{name}={value}" for name, value in values.items()]


CASES = (
    Case(10, "datagrams", 2),
    Case(10, "datagrams", 20),
    Case(10, "new_reno", 2),
    Case(10, "new_reno", 20),
    Case(100, "datagrams", 2),
    Case(100, "new_reno", 2),
)


@dataclass(frozen=True)
class Row:
    """A case with what the simulators left, each with the least time of its rounds.

    Attributes:
        ours: this package.
        peer: ns-3 as it comes.
        ordered: ns-3 with our order at one instant; none with TCP.
        delay_ps_per_hop: largest difference of the delays of a pair between ours and the ordered
            one, by link on the way of the pair.
    """

    case: str
    duration_s: float
    ours: Run
    peer: Run
    ordered: Run | None
    delay_ps_per_hop: float

    @property
    def more(self) -> float:
        """Part by which the peer delivered more, of all pairs together."""
        return sum(self.peer.delivered) / sum(self.ours.delivered) - 1

    @property
    def is_fair(self) -> bool:
        """Whether both did the same work: to the packet with datagrams, about so with TCP."""
        if self.ordered is None:
            return abs(self.more) <= GOODPUT_PART
        is_same = differing(self.ours, self.ordered) == 0
        return is_same and self.delay_ps_per_hop <= DELAY_PS_PER_HOP


def differing(one: Run, other: Run) -> int:
    """Pairs of which one run delivered more than the other."""
    return sum(a != b for a, b in zip(one.delivered, other.delivered, strict=True))


def race(
    cases: Sequence[Case],
    simulators: tuple[Simulator, Simulator],
    ordered: Simulator,
    rounds: int,
    on_progress: Callable[[str], None],
) -> list[Row]:
    """Runs every case `rounds` times on both, in turns, and datagrams once in our order."""
    rows = []
    for case in cases:
        runs: list[list[Run]] = [[], []]
        for round_ in range(rounds):
            for simulator, of in zip(simulators, runs, strict=True):
                on_progress(f"{case.name}, round {round_ + 1} of {rounds}: {simulator.name}")
                of.append(simulator.run(case))
        ours, rival = (min(of, key=lambda run: run.loop_s) for of in runs)
        compared = None
        if case.traffic == "datagrams":
            on_progress(f"{case.name}: {ordered.name}")
            compared = ordered.run(case)
        rows.append(row(case, ours, rival, compared))
    return rows


def row(case: Case, ours: Run, rival: Run, ordered: Run | None) -> Row:
    """Compares runs of a case."""
    apart: list[float] = []
    if ordered is not None:
        network = network_of(case.spec)
        ends = [tuple(map(int, line.split()[1:3])) for line in network.traffic]
        hops = [network.hops[a, b] for a, b in ends]
        pairs = zip(ours.delays, ordered.delays, hops, strict=True)
        apart = [one.difference(two) / links for one, two, links in pairs]
    return Row(case.name, case.duration_s, ours, rival, ordered, max(apart, default=0.0))


def table(rows: Sequence[Row], ours: str, rival: str) -> str:
    """The race as text: of both simulators hops, costs and memory, and whether they agree."""
    heads = (
        f"{'million hops':>42}",
        f"{'ns a hop':>14}",
        f"{'ratio':>7}",
        f"{'s a simulated s':>19}",
    )
    more = (f"{'MB':>12}", f"{'delivered':>11}", "  pairs that differ")
    lines = [f"{ours} against {rival}", "".join(heads + more)]
    for of in rows:
        a, b = of.ours, of.peer
        same = ""
        if of.ordered is not None:
            same = (
                f"  {differing(a, b)}, in our order {differing(a, of.ordered)} "
                f"(delays {of.delay_ps_per_hop:.1f} ps a hop)"
            )
        lines.append(
            f"{of.case:<26}{a.hops / 1e6:>8.3f}{b.hops / 1e6:>8.3f}"
            f"{a.ns_per_hop:>7.0f}{b.ns_per_hop:>7.0f}{b.ns_per_hop / a.ns_per_hop:>7.1f}"
            f"{a.loop_s / of.duration_s:>10.3f}{b.loop_s / of.duration_s:>9.2f}"
            f"{a.peak_octets / 1e6:>6.0f}{b.peak_octets / 1e6:>6.0f}{of.more:>+11.2%}{same}"
            + ("" if of.is_fair else "  not comparable")
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="The race over a constellation against ns-3.")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each, the least time counts")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--starts", type=int, default=1, help="mean over so many staggered starts")
    parser.add_argument("--engine", default="fast", choices=("fast", "reference"))
    options = parser.parse_args(arguments)
    cases = [case for case in CASES if options.only in case.name]
    if not cases or options.rounds < 1 or options.starts < 1:
        names = "\n  ".join(case.name for case in CASES)
        parser.error(f"--rounds and --starts are at least 1, and --only is one of\n  {names}")
    missing = peer.missing()
    if missing is not None:
        print(f"left out: {Ns3.name}: {missing}", file=sys.stderr)
        print("nothing to race against")
        return 0
    ours, rival = Skycell(options.engine), Ns3()
    ordered = Ns3(departures_first=True, name="ns-3, departures first")
    # Starts within one interval of datagrams, or a second of connections.
    starts = [
        replace(case, stagger_us=case.stagger_us * (1 + n / options.starts))
        for case in cases
        for n in range(options.starts)
    ]
    rows = race(
        starts, (ours, rival), ordered, options.rounds, lambda text: print(text, file=sys.stderr)
    )
    print(table(rows, ours.name, rival.name))
    if options.starts > 1:
        mean = sum(of.more for of in rows) / len(rows)
        print(f"mean over {len(rows)} runs: {rival.name} delivers {mean:+.2%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
