"""Runs over links that move, against runs over links that stand still."""

from pathlib import Path
from typing import Any

import pytest

import skycell
from skycell.records import RunResult

NAMES = ("engine", "engine_stats")
"""What of the records is not of the network."""


def scenario(folder: Path, link: dict[str, Any], **run: Any) -> skycell.Scenario:
    """Three SACK connections over one congested link."""
    return skycell.parse(
        {
            "run": {"duration": "5 s", **run},
            "topology": {
                "kind": "dumbbell",
                "sources": 3,
                "bottleneck": {
                    "rate": "20 Mbit/s",
                    "framing": "none",
                    "buffer": "400 cells",
                    **link,
                },
                "access": {"delay": "1 ms"},
            },
            "tcp": {
                "recovery": "sack",
                "mss": "1460 B",
                "receiver_window": "400000 B",
                "window_scaling": True,
            },
            "records": {"traces": ["cwnd", "queue"]},
        },
        folder=folder,
    )


def left(result: RunResult) -> tuple[object, ...]:
    """Everything that a run left, but for the spec and the engine that it names."""
    records = {key: value for key, value in result.records.items() if key not in NAMES}
    return (records, *(result.traces[name].rows() for name in ("cwnd", "queue")))


@pytest.mark.parametrize("engine", ["reference", "fast"])
def test_a_delay_that_stays_the_same_over_handovers_is_a_constant_one(
    tmp_path: Path, engine: str
) -> None:
    text = "time_s,delay_ms,path\n" + "".join(f"{n / 10},30,{n // 7}\n" for n in range(60))
    (tmp_path / "still.csv").write_text(text, encoding="utf-8")
    moving = scenario(tmp_path, {"schedule": {"series": "still.csv"}})
    still = scenario(tmp_path, {"delay": "30 ms"})
    schedules = [link.schedule for link in moving.resolve().links if link.schedule]
    assert [len(schedule.times_ps) for schedule in schedules] == [8, 8]
    assert left(skycell.run(moving, engine=engine)) == left(skycell.run(still, engine=engine))


@pytest.mark.parametrize("engine", ["reference", "fast"])
def test_a_rate_that_stays_the_same_is_that_of_a_slower_link(tmp_path: Path, engine: str) -> None:
    text = "time_s,delay_ms,rate_mbit_s\n0,30,8\n5,30,8\n"
    (tmp_path / "slow.csv").write_text(text, encoding="utf-8")
    # A frame of a sender's time counts at the greatest rate, which is not that of the slower link.
    jitter = {"frame_jitter": "300 us"}
    access = {"access": {"rate": "20 Mbit/s", "framing": "none", "delay": "1 ms", **jitter}}
    moving = with_topology(scenario(tmp_path, {"schedule": {"series": "slow.csv"}}), access)
    slower = with_topology(scenario(tmp_path, {"rate": "8 Mbit/s", "delay": "30 ms"}), access)
    assert left(skycell.run(moving, engine=engine)) == left(skycell.run(slower, engine=engine))


def with_topology(scenario: skycell.Scenario, update: dict[str, Any]) -> skycell.Scenario:
    values = dict(scenario.values)
    topology = {**values["topology"], **update}
    return skycell.parse({**values, "topology": topology}, folder=scenario.folder)


def test_a_link_that_slows_down_carries_what_its_rates_have_time_for(tmp_path: Path) -> None:
    text = "time_s,delay_ms,rate_mbit_s\n0,5,20\n2,5,0\n3,5,2.5\n5,5,20\n"
    (tmp_path / "fade.csv").write_text(text, encoding="utf-8")
    # Three windows of 3.2 Mbit in a buffer that holds them leave the link no idle moment.
    link = {"schedule": {"series": "fade.csv"}, "buffer": "100000 cells"}
    sent, busy_s = {}, {}
    for seconds in (2, 3, 5):
        result = skycell.run(scenario(tmp_path, link, duration=f"{seconds} s"))
        (port,) = (p for p in result.records["ports"] if p["name"] == "switch1>switch2")
        sent[seconds], busy_s[seconds] = port["departed"] * 424, port["busy_ps"] / 1e12
    # At most the cell that was under transmission when the path ended; then 2.5 Mbit/s for 2 s.
    assert 0 <= sent[3] - sent[2] <= 424
    assert 5e6 - 2 * 424 <= sent[5] - sent[3] <= 5e6
    assert abs(busy_s[2] - sent[2] / 20e6) < 424 / 20e6
    assert abs(busy_s[5] - busy_s[3] - 2) < 424 / 2.5e6


OVER_IRIDIUM = {"constellation": "iridium-like", "from": "new_york", "to": "tokyo"}


@pytest.mark.parametrize("path", [{"delay": "5 ms"}, {"schedule": OVER_IRIDIUM}])
def test_losses_come_to_their_probability_and_the_ledger_counts_them(
    tmp_path: Path, path: dict[str, Any]
) -> None:
    link = {**path, "loss": "2 %", "buffer": "100000 cells"}
    result = skycell.run(scenario(tmp_path, link, duration="60 s"))
    vcs = [vc for vc in result.records["vcs"] if "forward" in vc["name"]]
    offered = sum(vc["frames_offered"] for vc in vcs)
    lost = sum(vc["cells_lost"]["drawn"] for vc in vcs) / 32  # cells of a segment of 1460
    deviation = (offered * 0.02 * 0.98) ** 0.5
    assert abs(lost - 0.02 * offered) < 6 * deviation
    assert all(vc["cells_lost"]["handover"] == 0 for vc in vcs)
    # Both directions lose, each with draws of its own.
    back = sum(v["cells_lost"]["drawn"] for v in result.records["vcs"] if "reverse" in v["name"])
    assert back > 0
    # Frames are lost whole: none arrives torn.
    assert sum(vc["frames_corrupt"] for vc in vcs) == 0


@pytest.mark.parametrize(
    ("framing", "one_path", "is_torn", "is_late"),
    [
        ("none", False, True, False),
        ("none", True, False, False),
        ("ip", False, False, True),
        ("ip", True, False, False),
        ("ethernet", False, False, True),
    ],
)
def test_what_overtakes_is_a_cell_or_a_whole_packet(
    tmp_path: Path, framing: str, one_path: bool, is_torn: bool, is_late: bool
) -> None:
    # 40 ms shorter every second: one window of cells or packets overtakes half another.
    rows = (f"{n / 2},{20 + n % 2 * 40},{0 if one_path else n}\n" for n in range(12))
    text = "time_s,delay_ms,path\n" + "".join(rows)
    (tmp_path / "jumps.csv").write_text(text, encoding="utf-8")
    # All that is sent again is so for the order: the buffer holds all windows, the link loses none.
    link = {"schedule": {"series": "jumps.csv"}, "framing": framing, "buffer": "8 BDP"}
    records = skycell.run(scenario(tmp_path, link)).records
    torn = sum(vc["frames_corrupt"] for vc in records["vcs"])
    duplicates = sum(flow["segments_duplicate"] for flow in records["flows"])
    again = sum(flow["segments_retransmitted"] for flow in records["flows"])
    assert (torn > 0) == is_torn
    assert (duplicates > 0) == is_late
    assert (again > 0) == (is_torn or is_late)
