"""Calls that come and go: blocking beside Erlang and Kaufman-Roberts, and the cells of a call."""

import math
from statistics import fmean, stdev
from typing import Any

import pytest

import skycell
from skycell.metrics.calls import Class, erlang_b, kaufman_roberts, with_redial
from skycell.records.result import RunResult

REPLICATIONS = 10


def scenario(calls: list[dict[str, Any]], circuits: int, seconds: int) -> skycell.Scenario:
    """Calls over a link of so many circuits, each a cell per second; a tenth is left out."""
    link = {"rate": f"{circuits} cells/s", "framing": "none", "delay": "1 ms", "buffer": "99 cells"}
    return skycell.parse(
        {
            "run": {"duration": f"{seconds} s", "measure_from": f"{seconds // 10} s"},
            "topology": {
                "kind": "dumbbell",
                "sources": 0,
                "bottleneck": link,
                "access": {"rate": "1000 cells/s", "framing": "none", "delay": "1 ms"},
            },
            "calls": calls,
        }
    )


def blocked(calls: list[dict[str, Any]], circuits: int, seconds: int) -> list[list[float]]:
    """Of each class the part of its calls that was blocked, replication by replication."""
    drawn = scenario(calls, circuits, seconds)
    parts: list[list[float]] = [[] for _ in calls]
    for seed in range(1, REPLICATIONS + 1):
        spec = drawn.resolve(seed)
        for own, of in zip(parts, spec.calls, strict=True):
            pairs = zip(of.begins_ps, of.blocked_at, strict=True)
            counted = [link is not None for at, link in pairs if at >= spec.measure_from_ps]
            own.append(sum(counted) / len(counted))
    return parts


def agrees(parts: list[float], expected: float) -> None:
    """Within three standard errors of the mean, which are small enough to tell."""
    margin = 3 * stdev(parts) / math.sqrt(len(parts))
    assert margin < 0.08 * expected
    assert fmean(parts) == pytest.approx(expected, abs=margin)


@pytest.mark.parametrize(
    "holding",
    [
        {"kind": "exponential", "mean": "1 s"},
        {"kind": "uniform", "low": "0 s", "high": "2 s"},
        "1 s",
    ],
)
def test_blocking_is_erlangs_whatever_the_holding_times(holding: Any) -> None:
    calls = {"name": "voice", "load": 8, "holding": holding, "rate": "1 cells/s"}
    (parts,) = blocked([calls], circuits=10, seconds=1000)
    agrees(parts, erlang_b(8, 10))


def test_calls_of_two_rates_are_blocked_as_kaufman_and_roberts_have_it() -> None:
    holding = {"kind": "exponential", "mean": "1 s"}
    calls = [
        {"name": "voice", "load": 5, "holding": holding, "rate": "1 cells/s"},
        {"name": "video", "load": 1, "holding": holding, "rate": "4 cells/s"},
    ]
    parts = blocked(calls, circuits=12, seconds=1500)
    for own, expected in zip(parts, kaufman_roberts([Class(5, 1), Class(1, 4)], 12), strict=True):
        agrees(own, expected)


@pytest.mark.parametrize(("redial", "pause"), [(0.8, 0.5), (1.0, 0.1), (0.5, 5.0)])
def test_calls_made_again_are_blocked_as_the_markov_chain_has_it(
    redial: float, pause: float
) -> None:
    exponential = {"kind": "exponential", "mean": "1 s"}
    again = {"redial": redial, "redial_after": {"kind": "exponential", "mean": f"{pause} s"}}
    calls = {"name": "voice", "load": 3, "holding": exponential, "rate": "1 cells/s", **again}
    drawn = scenario([calls], circuits=4, seconds=1500)
    parts: list[list[float]] = [[], []]
    for seed in range(1, REPLICATIONS + 1):
        spec = drawn.resolve(seed)
        (of,) = spec.calls
        rows = list(zip(of.begins_ps, of.blocked_at, of.are_again, strict=True))
        counted = [row for row in rows if row[0] >= spec.measure_from_ps]
        for own, chosen in zip(
            parts, (counted, [row for row in counted if not row[2]]), strict=True
        ):
            own.append(sum(link is not None for _, link, _ in chosen) / len(chosen))
    for own, expected in zip(parts, with_redial(3, 4, redial, pause), strict=True):
        agrees(own, expected)


def test_calls_made_again_after_long_come_as_at_random() -> None:
    """Erlang's formula at what comes of the first ones and of those made again."""
    offered = 3.0
    for _ in range(100):
        offered = 3 / (1 - 0.5 * erlang_b(offered, 4))
    assert with_redial(3, 4, 0.5, 50.0).of_all == pytest.approx(erlang_b(offered, 4), rel=0.01)


def test_a_set_up_holds_its_room_as_a_longer_call_does() -> None:
    holding = {"kind": "exponential", "mean": "1 s"}
    calls = {"name": "voice", "load": 6, "holding": holding, "rate": "1 cells/s", "setup": "0.5 s"}
    (parts,) = blocked([calls], circuits=10, seconds=1000)
    agrees(parts, erlang_b(6 * 1.5, 10))


def run(engine: str) -> RunResult:
    holding = {"kind": "exponential", "mean": "2 s"}
    bursts = {"on": {"kind": "exponential", "mean": "0.2 s"}, "off": "0.1 s"}
    calls = [
        {"name": "voice", "load": 6, "holding": holding, "rate": "10 cells/s"},
        {"name": "video", "load": 2, "holding": holding, "rate": "40 cells/s", **bursts},
    ]
    return skycell.run(scenario(calls, circuits=100, seconds=60), engine=engine)


def test_both_engines_carry_the_calls_alike_and_no_cell_waits_long() -> None:
    fast, reference = run("fast"), run("reference")
    kept = ("calls", "vcs", "ports", "sources", "cell_delays", "ledger")
    assert [fast.records[key] for key in kept] == [reference.records[key] for key in kept]
    voice, video = fast.records["calls"]
    assert voice["carried"] * 10 + video["carried"] * 40 < 100
    assert 0 < voice["blocked"] < video["blocked"] < video["offered"]
    assert set(voice["blocked_at"]) == {"switch1>switch2"}
    # Class cbr is promised its peaks, so only cells that meet wait, for one of each VC at most.
    vcs = len(fast.spec.vcs)
    largest = max(delay["max_ps"] for delay in fast.records["cell_delays"])
    assert largest < 10**12 // 1000 * 4 + (vcs + 1) * 10**12 // 100


@pytest.mark.parametrize("setup_ms", [0, 300])
def test_a_call_sends_from_when_it_is_set_up_to_its_end(setup_ms: int) -> None:
    calls = {"name": "voice", "load": 0.5, "holding": "0.95 s", "rate": "10 cells/s"}
    calls["setup"] = f"{setup_ms} ms"
    result = skycell.run(scenario([calls], circuits=10, seconds=100))
    spec = result.spec
    (of,) = spec.calls
    # At 0, 100, ... and 900 ms behind the set-up: ten cells a call.
    sent = [
        begin + setup_ms * 10**9 + k * 10**11
        for begin, link in zip(of.begins_ps, of.blocked_at, strict=True)
        if link is None
        for k in range(10)
    ]
    counted = [at for at in sent if spec.measure_from_ps <= at < spec.duration_ps]
    assert 0 < sum(source["cells"] for source in result.records["sources"]) == len(counted)
