"""Users over shared uplinks and split connections, against what can be worked out by hand, and both engines."""

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
    """Terminals u1 to u4 with links of 125 ms, where a cell takes 1 ms, to a satellite; a server next to it."""
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
    # Two cells take a slot of 2 ms; user k has the slots at 2 k + 8 m ms. The SYN takes the first, at 2 k. Its answer takes 2 x 125
    # ms, two slots' time, and two cells of 42.4 ns at the server. It comes at 254 + 2 k. Its acknowledgement has the slot at
    # 256 + 2 k, the request that at 264 + 2 k. The server's acknowledgement of the request comes before the answer: 2 ms more.
    at_server_ps = 2 * 42_400
    expected = [(520 + 2 * k) * 10**9 + at_server_ps for k in range(3)]
    assert records["users"][0]["rows"]["first_octet_ps"] == expected
    # The SYN waits 2 k; the acknowledgement and the request 2 and 10 ms, less the time at the server; the acknowledgement of the
    # answer, which comes at 520 + 2 k, and the FIN 8 and 16 ms; the acknowledgement of the FIN's answer, at 790 + 2 k, 2 ms.
    delay = records["uplinks"][0]["access_delay"]
    waits_ps = (0 + 2 + 4 + 3 * (2 + 10 + 8 + 16 + 2)) * 10**9 - 15 * at_server_ps
    assert delay["cells"] == 18
    assert delay["mean_ps"] == waits_ps / 18
