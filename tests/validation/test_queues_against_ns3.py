"""CoDel, FQ-CoDel and PIE against ns-3's behind one slow line; loss by loss where no draw decides.

ns-3's queue disciplines run alone (ns3/queue.cc) on the packets that our sources send. What they
lost is stored; where ns-3 is installed they are also asked again. ns-3's CoDel has the arithmetic
of Linux, which is not that of RFC 8289: a third account of the RFC's procedure (ns3/codel.py)
agrees to the packet with ns-3 by the one arithmetic and with ours by the other, so that nothing
else is between them.
"""

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benches.peers.ns3 import peer
from skycell import Scenario
from skycell.experiment.run import run
from skycell.scenario import parse
from skycell.spec.declared.network import (
    DistributionConstant,
    SourcePatternOnOff,
    SourceSpec,
    StartAt,
)
from tests.validation.ns3.codel import CoDel, Exact, Linux, Loss, Packet

FOLDER = Path(__file__).with_name("ns3")
LIBRARIES = ("traffic-control", "network", "core")
MS = 10**9
ACCESS_BPS = 100_000_000
LINK_BPS = 10_000_000
DELAY_PS = MS


def cbr(name: str, host: str, rate: str, octets: int, at: str) -> dict[str, Any]:
    """A source of equal packets at equal times."""
    start = {"kind": "together", "at": at}
    ends = {"source": host, "destination": "d"}
    return {
        "kind": "cbr",
        "name": name,
        **ends,
        "rate": rate,
        "packet_size": f"{octets} B",
        "start": start,
    }


def bursts(name: str, rate: str, octets: int, on: str, off: str) -> dict[str, Any]:
    """The same, now and then."""
    source = cbr(name, "c", rate, octets, "517 us") | {
        "kind": "vbr",
        "on": on,
        "off": off,
        "phase": "0 s",
    }
    return source | {"peak_rate": source.pop("rate")}


@dataclass(frozen=True)
class Case:
    """Sources and a queue.

    Attributes:
        duration_s: how long.
        policy: ours.
        discipline: ns-3's twin. A queue of ns-3 does not count the packet that is being sent, and
            CoDel's MTU is the least queue that it acts on there, the greatest that it leaves alone
            in the RFC.
        sources: whose packets come.
        buffer: ours, if it is limited.
        runs: of ns-3, which number its draws.
    """

    duration_s: int
    policy: Mapping[str, Any]
    discipline: str
    sources: tuple[dict[str, Any], ...]
    buffer: str | None = None
    runs: tuple[int, ...] = (1,)

    def scenario(self, seed: int = 1) -> Scenario:
        """As we run it."""
        link = {"framing": "ip", "delay": "1 ms"}
        access = {"rate": f"{ACCESS_BPS} bit/s", **link}
        slow: dict[str, Any] = {"rate": f"{LINK_BPS} bit/s", "policy": self.policy, **link}
        if self.buffer is not None:
            slow["buffer"] = self.buffer
        links = [{"from": host, "to": "r", **access} for host in "abc"]
        links.append({"from": "r", "to": "d", **slow})
        nodes = {"hosts": ["a", "b", "c", "d"], "routers": ["r"]}
        return parse(
            {
                "run": {"duration": f"{self.duration_s} s", "seed": seed},
                "topology": {"kind": "graph", **nodes, "link": links},
                "source": list(self.sources),
                "records": {"traces": ["discards"]},
            }
        )

    def arrivals(self) -> list[Packet]:
        """When which packets come to the queue, by our resolved sources."""
        end_ps = self.duration_s * 1000 * MS
        packets = []
        for flow, source in enumerate(self.scenario().resolve().sources):
            assert isinstance(source.start, StartAt)
            assert source.datagram_octets is not None
            on_wire_ps = source.datagram_octets * 8 * 10**12 // ACCESS_BPS + DELAY_PS
            for time in sent(source, end_ps):
                packets.append(
                    (source.start.time_ps + time + on_wire_ps, source.datagram_octets, flow)
                )
        return sorted(packet for packet in packets if packet[0] < end_ps)

    def ours(self, engine: str) -> list[Loss]:
        """What we lose."""
        result = run(self.scenario(), engine=engine)
        flow_of = {source.vc + 1: flow for flow, source in enumerate(result.spec.sources)}
        octets = [source.datagram_octets for source in result.spec.sources]
        rows = result.traces["discards"].select("time_ps", "vc").iter_rows()
        return [(time, flow_of[vc], octets[flow_of[vc]] or 0) for time, vc in rows]

    def theirs(self, program: Path) -> str:
        """What is stored of ns-3: a loss a line, or, of draws, a run a line."""
        arrivals = self.arrivals()
        inputs = "\n".join(f"{time} {octets} {flow}" for time, octets, flow in arrivals)
        lines: list[str] = []
        for number in self.runs:
            command = [str(program), self.discipline, "1514", str(LINK_BPS), str(number)]
            done = subprocess.run(command, input=inputs, capture_output=True, text=True, check=True)
            end_ps = self.duration_s * 1000 * MS
            lost = [line for line in done.stdout.splitlines() if int(line.split()[0]) < end_ps]
            wait_ms = float(done.stderr) / MS
            lines += (
                lost if self.runs == (1,) else [f"{len(lost) / len(arrivals):.5f} {wait_ms:.4f}"]
            )
        return "".join(f"{line}\n" for line in lines)


def sent(source: SourceSpec, end_ps: int) -> Iterator[int]:
    """When a source sends, from its start on."""
    every = source.cell_interval_ps
    if not isinstance(source.pattern, SourcePatternOnOff):
        yield from range(0, end_ps, every)
        return
    on, off = source.pattern.on, source.pattern.off
    assert isinstance(on, DistributionConstant)
    assert isinstance(off, DistributionConstant)
    for begin in range(0, end_ps, on.value_ps + off.value_ps):
        yield from range(begin, begin + on.value_ps, every)


def losses_of(text: str) -> list[Loss]:
    """A loss a line."""
    rows = (tuple(map(int, line.split())) for line in text.splitlines())
    return [(time, flow, octets) for time, flow, octets in rows]


CODEL = "ns3::CoDelQueueDisc[Interval=20ms|Target=5ms|MinBytes={}|MaxSize=100000p]"
FQ = "ns3::FqCoDelQueueDisc[Interval=100s|Target=1s|Flows=64|DropBatchSize=1|MaxSize={}p]"
NEVER = {"target": "1 s", "interval": "100 s"}
FQ_CODEL = {"kind": "fq_codel", "quantum": "1514 B", "queues": 0, **NEVER}
SHORT = {"kind": "codel", "target": "5 ms", "interval": "20 ms"}
CASES = {
    # One drop state, ever shorter intervals.
    "codel-overload": Case(
        3,
        SHORT,
        CODEL.format(1501),
        (
            cbr("large", "a", "7.0021 Mbit/s", 1500, "0 s"),
            cbr("small", "b", "5.9973 Mbit/s", 500, "517 us"),
        ),
    ),
    # A drop state for each burst, which begins anew or near the rate of the last one.
    "codel-bursts": Case(
        20,
        SHORT,
        CODEL.format(1501),
        (
            cbr("even", "a", "4.1 Mbit/s", 700, "0 s"),
            bursts("burst", "9.03 Mbit/s", 1500, "60 ms", "240 ms"),
        ),
    ),
    # The same, long apart.
    "codel-rare-bursts": Case(
        30,
        SHORT,
        CODEL.format(1501),
        (
            cbr("even", "a", "4.1 Mbit/s", 700, "0 s"),
            bursts("burst", "9.03 Mbit/s", 1500, "60 ms", "840 ms"),
        ),
    ),
    # CoDel never acts: which queue is served, and which loses what the buffer has no room for.
    "fq-codel-overflow": Case(
        6,
        FQ_CODEL,
        FQ.format(49),
        (
            cbr("large", "a", "4.1003 Mbit/s", 1500, "0 s"),
            cbr("small", "b", "3.3007 Mbit/s", 300, "211 us"),
            bursts("burst", "9.03 Mbit/s", 1000, "70 ms", "80 ms"),
        ),
        "50 packets",
    ),
    # The same, with nothing to send between bursts.
    "fq-codel-idle": Case(
        6,
        FQ_CODEL,
        FQ.format(9),
        (
            cbr("large", "a", "4.1003 Mbit/s", 1500, "0 s"),
            cbr("small", "b", "2.3007 Mbit/s", 300, "211 us"),
            bursts("burst", "9.03 Mbit/s", 1000, "20 ms", "40 ms"),
        ),
        "10 packets",
    ),
    # A quarter more than the line takes, of which a fifth has to go.
    "pie": Case(
        60,
        {"kind": "pie"},
        "ns3::PieQueueDisc[UseDerandomization=true|MeanPktSize=1000|MaxSize=100000p]",
        (
            cbr("large", "a", "7.0021 Mbit/s", 1000, "0 s"),
            cbr("other", "b", "5.4973 Mbit/s", 1000, "517 us"),
        ),
        runs=(1, 2, 3),
    ),
}


def stored(name: str) -> str:
    """What ns-3 left."""
    return (FOLDER / "stored" / f"{name}.txt").read_text(encoding="utf-8")


def model(case: Case, arithmetic: Exact | Linux) -> list[Loss]:
    """What the RFC's procedure loses."""
    codel = CoDel(5 * MS, 20 * MS, 1500, LINK_BPS, arithmetic)
    return codel.losses(case.arrivals(), case.duration_s * 1000 * MS)


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("codel")])
def test_the_procedure_of_the_rfc_loses_what_ns3_does_by_linuxs_roots_and_what_we_do_by_its_own(
    name: str,
) -> None:
    case = CASES[name]
    theirs = losses_of(stored(name))
    assert model(case, Linux()) == theirs
    ours = model(case, Exact())
    assert ours != theirs
    for engine in ("fast", "reference"):
        assert case.ours(engine) == ours


@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("fq")])
def test_fq_codel_serves_and_pushes_out_as_ns3_does(name: str, engine: str) -> None:
    theirs = losses_of(stored(name))
    assert len(theirs) > 300
    assert CASES[name].ours(engine) == theirs


def test_pie_holds_the_wait_where_ns3s_does() -> None:
    rows = [[float(word) for word in line.split()] for line in stored("pie").splitlines()]
    part, wait_ms = zip(*rows, strict=True)
    runs = [run(CASES["pie"].scenario(seed)).records["ports"] for seed in (1, 2, 3)]
    ports = [next(port for port in ports if port["name"] == "r>d") for ports in runs]
    lost = [port["discarded"]["drawn"] / port["arrived"] for port in ports]
    # A packet stays for its own 0.8 ms beside its wait.
    waits_ms = [port["octets"]["sojourn"]["mean_ps"] / MS - 0.8 for port in ports]
    # Standard deviations: 0.0001 and 0.0001; 0.02 ms of ns-3, 0.08 ms of ours.
    assert abs(sum(lost) - sum(part)) / 3 < 0.0005
    assert abs(sum(waits_ms) - sum(wait_ms)) / 3 < 0.2


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """queue.cc, compiled."""
    missing = peer.missing()
    if missing is not None:
        pytest.skip(missing)
    folder = str(tmp_path_factory.mktemp("ns3"))
    return peer.compiled(FOLDER / "queue.cc", LIBRARIES, folder)


@pytest.mark.parametrize("name", CASES)
def test_ns3_still_says_so(program: Path, name: str) -> None:
    assert CASES[name].theirs(program) == stored(name)
