"""Terminals that share an uplink, against what can be worked out by hand, and both engines."""

from typing import Any

import pytest

import skycell

SLOT_RATE = "424 kbit/s"  # a cell in 1 ms
ACCESS: list[dict[str, Any]] = [
    {"kind": "slotted_aloha"},
    {"kind": "slotted_aloha", "backoff": "binary_exponential"},
    {"kind": "tree", "window": "2 ms"},
    {"kind": "splitting", "window": "2.6 ms"},
    {"kind": "fixed_assignment"},
    {"kind": "dama", "request": "rate"},
    {"kind": "dama", "request": "absolute_volume", "free_capacity": True},
    {"kind": "hybrid"},
]


def run(
    access: dict[str, Any],
    sources: list[dict[str, Any]],
    duration: str = "2 s",
    engine: str = "fast",
    **uplink: Any,
) -> skycell.RunResult:
    """Terminals t1 to t4 that send over an uplink of 125 ms to a satellite, and on to a host."""
    terminals = [f"t{i}" for i in range(1, 5)]
    up = {"rate": SLOT_RATE, "framing": "none", "delay": "125 ms"}
    links = [{"from": name, "to": "sat", **up} for name in terminals]
    down = {"from": "sat", "to": "host", **up, "rate": "10 Mbit/s"}
    return skycell.run(
        {
            "run": {"duration": duration},
            "topology": {
                "kind": "graph",
                "hosts": [*terminals, "host"],
                "switches": ["sat"],
                "link": [*links, down],
            },
            "source": sources,
            "uplink": [{"to": "sat", "terminals": terminals, "access": access, **uplink}],
        },
        engine=engine,
    )


def source(terminal: str, rate: str, **more: Any) -> dict[str, Any]:
    ends = {"source": terminal, "destination": "host"}
    return {"kind": "cbr", "name": f"of-{terminal}", "rate": rate, **ends, **more}


def uplink(result: skycell.RunResult) -> dict[str, Any]:
    (found,) = result.records["uplinks"]
    return dict(found)


@pytest.mark.parametrize(("controller", "access_ms"), [("ground", 511), ("on_board", 261)])
def test_a_cell_over_dama_waits_for_the_request_the_answer_and_the_next_frame(
    controller: str, access_ms: int
) -> None:
    access = {"kind": "dama", "frame_slots": 10, "request_slots": 1, "requests_per_slot": 4}
    result = run(access, [source("t3", "0.1 cells/s")], controller=controller)
    # It comes at 0 and is asked for in the slot that begins then; the request ends at 1 ms, the
    # grant holds 500 or 250 ms later: in the frame from 510 or 260 ms on, whose first slot is for
    # requests.
    delay = uplink(result)["access_delay"]
    assert (delay["cells"], delay["mean_ps"]) == (1, access_ms * 10**9)
    assert (uplink(result)["requests"], uplink(result)["requested"]) == (1, 1)


def test_terminals_with_own_slots_send_in_them_only() -> None:
    sources = [source("t1", "1000 cells/s"), source("t4", "100 cells/s")]
    found = uplink(run({"kind": "fixed_assignment"}, sources))
    # t1 has more than it can send, 500 slots of 2000; t4 has 200 cells, the last at 1.99 s.
    assert (found["slots"], found["used"], found["unused"]) == (2000, 700, 1300)


def test_a_terminal_that_contends_has_one_burst_under_way() -> None:
    result = run({"kind": "slotted_aloha"}, [source("t1", "1000 cells/s")])
    # It knows 251 ms after its beginning what came of a burst: in 2 s those of 0, 251, ... 1757.
    assert uplink(result)["successes"] == 8
    assert uplink(result)["collisions"] == 0


@pytest.mark.parametrize("access", ACCESS, ids=lambda access: "-".join(map(str, access.values())))
def test_both_engines_leave_the_same_records(access: dict[str, Any]) -> None:
    sources = [source("t1", "90 cells/s", frame=5), source("t2", "30 cells/s")]
    impairments = {"burst_errors": 0.05, "jammed": 0.01}
    fast, reference = (
        run(access, sources, engine=engine, impairments=impairments)
        for engine in ("fast", "reference")
    )
    assert set(fast.records) == set(reference.records)
    for key in set(fast.records) - {"engine", "engine_stats"}:
        assert fast.records[key] == reference.records[key]
    found = uplink(fast)
    kinds = ("idle", "successes", "collisions", "false_collisions")
    others = ("used", "unused", "unassigned", "request_slots")
    assert sum(found[kind] for kind in (*kinds, *others)) == found["slots"] == 2000
    lost = sum(vc["cells_lost"]["drawn"] for vc in fast.records["vcs"])
    assert lost == found["lost"]


def test_bursts_of_several_cells_send_them_back_to_back() -> None:
    access = {"kind": "fixed_assignment"}
    result = run(access, [source("t1", "1000 cells/s", frame=8)], slot_cells=4, slot="5 ms")
    # A slot of 5 ms in each frame of 20 ms carries 4 cells; at 0 there is one, and what comes in a
    # slot does not join it.
    found = uplink(result)
    assert (found["slots"], found["used"], found["cells"]) == (400, 100, 397)
