"""Tail drop of packets against ns-2, loss by loss: two constant sources at a slow port.

And five SACK connections that share one: what each sent, sent again and delivered. What ns-2 did is
stored; where ns-2 is installed it is also asked again.
"""

import subprocess
from pathlib import Path

import pytest

from benches.peers.ns2 import simulator
from benches.peers.ns2.simulator import MISSING, program
from benches.peers.ns2.translate import Choices
from benches.peers.outcome import spec_of
from benches.peers.scenarios import IP_GEO, IP_WAN, Dumbbell
from skycell.experiment.run import run
from skycell.scenario import parse

FOLDER = Path(__file__).with_name("ns2")
STORED = FOLDER / "stored" / "two-sources.txt"
#: ns-2 writes six digits of a time.
DIGITS_S = 6e-6

Losses = list[tuple[float, int]]


def losses_of(text: str) -> Losses:
    """Times in seconds and sizes in octets of lost packets, a line each."""
    rows = (line.split() for line in text.splitlines())
    return [(float(time), int(size)) for time, size in rows]


def ours(buffer: str, engine: str) -> Losses:
    """The same of a run of ours."""
    link = {"framing": "ip", "delay": "1 ms"}
    scenario = {
        "run": {"duration": "6 s"},
        "topology": {
            "kind": "graph",
            "hosts": ["a", "b", "d"],
            "routers": ["r"],
            "link": [
                {"from": "a", "to": "r", "rate": "10 Mbit/s", **link},
                {"from": "b", "to": "r", "rate": "10 Mbit/s", **link},
                {
                    "from": "r",
                    "to": "d",
                    "rate": "1 Mbit/s",
                    **link,
                    "delay": "10 ms",
                    "buffer": buffer,
                },
            ],
        },
        "source": [
            source("large", "a", 1000, 9.1077, "0 s"),
            source("small", "b", 300, 5.3033, "517 us"),
        ],
        "records": {"traces": ["discards"]},
    }
    result = run(parse(scenario), engine=engine)
    size = {"large2": 1000, "small2": 300}
    names = [vc.name for vc in result.spec.vcs]
    rows = result.traces["discards"].select("time_ps", "vc").iter_rows()
    return [(time / 1e12, size[names[vc]]) for time, vc in rows]


def source(name: str, host: str, octets: int, every_ms: float, start: str) -> dict[str, object]:
    """A source of one packet every so often."""
    return {
        "kind": "cbr",
        "name": name,
        "source": host,
        "destination": "d",
        "rate": f"{octets * 8 / every_ms * 1e3:.6f} bit/s",
        "packet_size": f"{octets} B",
        "start": {"kind": "together", "at": start},
    }


def agree(ours: Losses, theirs: Losses) -> bool:
    """Whether the same packets are lost at the same times."""
    return [size for _, size in ours] == [size for _, size in theirs] and all(
        abs(one - other) < DIGITS_S for (one, _), (other, _) in zip(ours, theirs, strict=True)
    )


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_the_same_packets_are_lost_as_in_ns2(engine: str) -> None:
    stored = losses_of(STORED.read_text(encoding="utf-8"))
    assert len(stored) > 300
    assert {size for _, size in stored} == {300, 1000}
    # Times of 20 ps more or less, by which our intervals are rounded, turn no loss into another.
    assert agree(ours("5 packets", engine), stored)
    assert not agree(ours("6 packets", engine), stored)


def test_ns2_still_says_so(tmp_path: Path) -> None:
    path = program()
    if path is None:
        pytest.skip(MISSING)
    trace = tmp_path / "trace"
    subprocess.run([path, FOLDER / "two_sources.tcl", trace], check=True, timeout=60)
    rows = (line.split() for line in trace.read_text(encoding="utf-8").splitlines())
    found = [f"{row[1]} {row[5]}" for row in rows if row[0] == "d"]
    assert found == STORED.read_text(encoding="utf-8").splitlines()


SACK = {
    "sack-wan": Dumbbell(IP_WAN, 5, "sack", 400, "tail_drop", duration_s=20),
    "sack-geo": Dumbbell(IP_GEO, 5, "sack", 7_400, "tail_drop", duration_s=30),
}
#: Of the receiver's application: 1460 octets of each packet of 1500.
PAYLOAD = 1460 / 1500


def theirs(path: str, dumbbell: Dumbbell) -> str:
    """A line a connection: segments sent, of those again, timeouts, octets of packets delivered."""
    flows = simulator.run(path, spec_of(dumbbell), Choices(only_needed_headers=True)).flows
    return "".join(f"{flow.sent} {flow.resent} {flow.timeouts} {flow.octets}\n" for flow in flows)


@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize("name", SACK)
def test_five_sack_connections_over_packets_do_what_they_do_in_ns2(name: str, engine: str) -> None:
    result = run(parse(SACK[name].scenario()), engine=engine)
    keys = ("segments_sent", "segments_retransmitted", "timeouts", "octets_delivered")
    found = [[flow[key] for key in keys] for flow in result.records["flows"]]
    text = (STORED.parent / f"{name}.txt").read_text(encoding="utf-8")
    rows = [[int(word) for word in line.split()] for line in text.splitlines()]
    assert sum(again for _, again, _, _ in rows) > 800
    assert found == [[*counts, round(octets * PAYLOAD)] for *counts, octets in rows]


@pytest.mark.parametrize("name", SACK)
def test_ns2s_connections_still_do_so(name: str) -> None:
    path = program()
    if path is None:
        pytest.skip(MISSING)
    text = (STORED.parent / f"{name}.txt").read_text(encoding="utf-8")
    assert theirs(path, SACK[name]) == text
