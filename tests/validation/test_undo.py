"""Paths that make segments late: what was cut for a loss that was none is taken back."""

from pathlib import Path
from typing import Any

import pytest

from skycell.experiment.run import run_spec
from skycell.scenario import parse

OUTAGE = ((0, 20), (5, None), (5.5, 20), (20, 20))
"""Of half a second: RTO is 200 ms and a round trip of 40 to 106 ms."""

SHORTER = ((0, 60), (5, 20), (20, 20))
"""A handover by which packets overtake others."""

SPIKE = {400: ((0, 20), (5, 400), (20, 400)), 600: ((0, 20), (5, 600), (20, 600))}
"""A longer path of so many milliseconds."""


def flow(folder: Path, steps: tuple[tuple[float, int | None], ...], **tcp: Any) -> dict[str, Any]:
    """What a flow of the stack `linux` did with these keys, by either engine; steps in s, ms."""
    rows = [f"{time},{'' if delay is None else delay},{delay}" for time, delay in steps]
    (folder / "series.csv").write_text("\n".join(["time_s,delay_ms,path", *rows, ""]))
    recovery = {"kind": "rack_tlp", **tcp.pop("recovery", {})}
    values = {
        "run": {"duration": "15 s"},
        "topology": {
            "kind": "dumbbell",
            "sources": 1,
            "access": {"delay": "1 ms", "rate": "100 Mbit/s"},
            "bottleneck": {
                "rate": "5 Mbit/s",
                "framing": "ip",
                "buffer": "100 packets",
                "schedule": {"series": "series.csv"},
            },
        },
        "tcp": {"preset": "linux", "receiver_window": "40 kB", "recovery": recovery, **tcp},
    }
    spec = parse(values, folder=folder).resolve()
    (found,) = run_spec(spec).records["flows"]
    assert found == run_spec(spec, engine="reference").records["flows"][0]
    return dict(found)


@pytest.mark.parametrize("timestamps", [True, False], ids=["Eifel", "F-RTO"])
def test_a_timeout_within_an_outage_is_taken_back(tmp_path: Path, timestamps: bool) -> None:
    late = flow(tmp_path, OUTAGE, timestamps=timestamps)
    cut = flow(tmp_path, OUTAGE, timestamps=timestamps, recovery={"undo": False})
    assert (late["timeouts"], late["undos"]) == (1, 1)
    assert cut["timeouts"] == 1
    # A probe and the first segment; without undo all that the buffer held, once more.
    assert late["segments_retransmitted"] <= 3
    assert cut["segments_retransmitted"] > 20
    assert late["octets_delivered"] > cut["octets_delivered"]


def test_what_a_handover_overtakes_is_taken_back_by_a_timestamp_or_by_what_came_twice(
    tmp_path: Path,
) -> None:
    cases: dict[str, dict[str, object]] = {
        "echo": {"recovery": {"dsack": False}},
        "dsack": {"timestamps": False},
        "neither": {"timestamps": False, "recovery": {"dsack": False}},
    }
    found = {name: flow(tmp_path, SHORTER, **keys) for name, keys in cases.items()}
    assert all(one["fast_retransmits"] > 0 and one["timeouts"] == 0 for one in found.values())
    assert [found[name]["undos"] for name in cases] == [1, 1, 0]


def test_a_probe_puts_a_timeout_off_so_that_a_longer_path_needs_a_jump_of_more_than_rto(
    tmp_path: Path,
) -> None:
    # A silence of 2 srtt + RTO: 2 * 66 + 2 + 266 ms and more.
    assert flow(tmp_path, SPIKE[400])["timeouts"] == 0
    found = flow(tmp_path, SPIKE[600])
    assert (found["timeouts"], found["undos"]) == (1, 1)
