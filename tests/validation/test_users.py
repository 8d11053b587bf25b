"""Users over shared uplinks and split connections: closed forms, in both engines."""

from typing import Any

import pytest

import skycell

ENGINES = ["fast", "reference"]


def download(users: int, **more: Any) -> dict[str, Any]:
    """Each user asks for 8 octets in 8 octets, once, at 0."""
    start = {"kind": "together", "at": "0 s"}
    kind = {"kind": "bulk", "size": "8 B", "request_size": "8 B", "count": 1}
    return {**kind, "users": users, "start": start, **more}


def over_an_uplink(engine: str) -> dict[str, Any]:
    """Terminals u1 to u4 with links of 125 ms, a cell in 1 ms, to a satellite next to a server."""
    terminals = [f"u{k}" for k in range(1, 5)]
    slow = {"rate": "424 kbit/s", "framing": "none", "delay": "125 ms"}
    links = [{"from": name, "to": "sat", **slow} for name in terminals]
    links.append({**slow, "from": "server", "to": "sat", "rate": "10 Gbit/s", "delay": "0 s"})
    scenario = {
        "run": {"duration": "2 s"},
        "topology": {
            "kind": "graph",
            "hosts": ["server", *terminals],
            "switches": ["sat"],
            "link": links,
            "flow": [{"name": name, "source": "server", "destination": name} for name in terminals],
        },
        "traffic": [download(3)],
        "tcp": {"mss": "512 B"},
        "uplink": [
            {
                "to": "sat",
                "terminals": terminals,
                "access": {"kind": "fixed_assignment"},
                "slot_cells": 2,
            }
        ],
    }
    return dict(skycell.run(scenario, engine=engine).records)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_first_octet_over_slots_of_ones_own_waits_for_three_of_them(engine: str) -> None:
    records = over_an_uplink(engine)
    # Two cells take a slot of 2 ms; user k has the slots at 2 k + 8 m ms. The SYN takes the first,
    # at 2 k. Its answer takes 2 x 125 ms, two slots' time, and two cells of 42.4 ns at the server.
    # It comes at 254 + 2 k. Its acknowledgement has the slot at 256 + 2 k, the request that at
    # 264 + 2 k. The server's acknowledgement of the request comes before the answer: 2 ms more.
    at_server_ps = 2 * 42_400
    expected = [(520 + 2 * k) * 10**9 + at_server_ps for k in range(3)]
    assert records["users"][0]["rows"]["first_octet_ps"] == expected
    # The SYN waits 2 k; the acknowledgement and the request 2 and 10 ms, less the time at the
    # server; the acknowledgement of the answer, which comes at 520 + 2 k, and the FIN 8 and 16 ms;
    # the acknowledgement of the FIN's answer, at 790 + 2 k, 2 ms.
    delay = records["uplinks"][0]["access_delay"]
    waits_ps = (0 + 2 + 4 + 3 * (2 + 10 + 8 + 16 + 2)) * 10**9 - 15 * at_server_ps
    assert delay["cells"] == 18
    assert delay["mean_ps"] == waits_ps / 18


def over_a_proxy(engine: str, *peps: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A server, 10 ms, a gateway, 270 ms, a terminal and a user: an octet takes 1 us."""
    line = {"rate": "8 Mbit/s", "framing": "ip", "buffer": "1 MB"}
    scenario = {
        "run": {"duration": "20 s"},
        "topology": {
            "kind": "graph",
            "hosts": ["server", "user"],
            "routers": ["gateway", "terminal"],
            "link": [
                {"from": "server", "to": "gateway", **line, "delay": "10 ms"},
                {"from": "gateway", "to": "terminal", **line, "delay": "270 ms"},
                {"from": "terminal", "to": "user", **line, "delay": "0 s"},
            ],
            "flow": [{"name": "pair", "source": "server", "destination": "user"}],
        },
        "traffic": [download(1, **more)],
        "tcp": {"mss": "1000 B"},
        "pep": [{"buffer": "100 kB", **pep} for pep in peps],
    }
    (group,) = skycell.run(scenario, engine=engine).records["users"]
    return dict(group)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_first_octet_behind_a_gateway_that_answers_by_itself(engine: str) -> None:
    # Octets: 52 of a SYN and its answer, 40 of an acknowledgement, 48 with 8 of data. From end to
    # end three hops each way; an acknowledgement goes before the request, and before the answer.
    syn = 2 * (280_000 + 3 * 52)
    half = 280_000 + 40 + 3 * 48
    (found,) = over_a_proxy(engine)["rows"]["first_octet_ps"]
    assert found == (syn + 2 * half) * 10**6
    # The gateway answers the SYN after two hops of 270 ms, and has its own connection by then. It
    # sends the answer on behind nothing.
    syn = 2 * (270_000 + 2 * 52)
    there = 270_000 + 40 + 2 * 48 + 10_000 + 48
    back = 10_000 + 40 + 48 + 270_000 + 2 * 48
    group = over_a_proxy(engine, {"node": "gateway"})
    (found,) = group["rows"]["first_octet_ps"]
    assert found == (syn + there + back) * 10**6
    carried = [section["forward"]["octets_delivered"] for section in group["sections"]]
    assert carried == [8, 8]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_large_window_behind_a_gateway_takes_a_download_to_the_rate_of_the_link(
    engine: str,
) -> None:
    # 32 kB before the gateway, 20 ms: 1.6 MB/s, above the link's 1 MB/s. From end to end 32 kB in
    # 560 ms: 57 kB/s.
    large = {"receiver_window": "1 MB", "window_scaling": True}
    window = {"tcp": {"receiver_window": "32 kB"}, "size": "4 MB"}
    plain = over_a_proxy(engine, **window)
    assert plain["rows"]["end_ps"] == [None]
    gateway = {"node": "gateway", "tcp": large, "buffer": "2 MB"}
    split = over_a_proxy(engine, gateway, {"node": "terminal", "buffer": "1 MB"}, **window)
    (end,) = split["rows"]["end_ps"]
    assert 4e12 < end < 10e12
    assert [section["connections"] for section in split["sections"]] == [1, 1, 1]
