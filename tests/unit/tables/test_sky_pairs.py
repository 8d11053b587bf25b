"""The table of pairs of stations over a constellation."""

from __future__ import annotations

from typing import Any

import pytest

import skycell
from skycell.records.result import RunResult
from skycell.records.sky_pairs import LOST_AS, sky_pairs
from skycell.tables.run import page_tables, terminal_tables
from skycell.tables.sky_pairs import BY, pairs, pairs_in_brief

STATIONS = ["new_york", "london", "tokyo", "paris", "sydney"]


def run(traffic: list[dict[str, Any]], rate: str = "1 Mbit/s", **topology: Any) -> RunResult:
    """Stations over Iridium's pattern for two seconds."""
    port = {"rate": rate, "framing": "ip", "buffer": "20 packets"}
    return skycell.run(
        {
            "run": {"duration": "2 s"},
            "topology": {
                "kind": "constellation",
                "constellation": "iridium-like",
                "stations": STATIONS,
                "inter_satellite": dict(port),
                "ground": dict(port),
                **topology,
            },
            "traffic": traffic,
        }
    )


def test_a_lone_segment_takes_its_paths_and_transmissions_to_the_picosecond() -> None:
    one = {"pairs": [["paris", "tokyo"]], "kind": "transfers", "size": "500 B", "idle": "1 h"}
    result = run([one], frozen=True)
    (timed,) = result.traces["sky_round_trips"].to_dicts()
    paths = result.traces["sky_paths"]
    ports = result.traces["sky_ports"]
    # Data there, an acknowledgement back: each port is busy for what it sends, once.
    taken = int(sum(paths["delay_ps"].to_list()) + sum(ports["busy_ps"].to_list()))
    assert (timed["timed"], timed["least_ps"], timed["greatest_ps"]) == (1, taken, taken)
    (row,) = sky_pairs(result.spec, result.records, result.traces).to_dicts()
    assert row["rtt_p50_ms"] == pytest.approx(taken / 1e9, rel=1 / 128)


def test_a_packet_of_a_pair_is_delivered_or_lost_for_one_cause() -> None:
    result = run(
        [{"pairs": "all"}],
        inter_satellite={
            "rate": "1 Mbit/s",
            "framing": "ip",
            "buffer": "20 packets",
            "loss": "1 %",
        },
    )
    found = sky_pairs(result.spec, result.records, result.traces)
    assert found["on_links"].sum() > 0
    assert found["dropped"].sum() > 0
    for row in found.iter_rows(named=True):
        (vc,) = (vc for vc in result.records["vcs"] if vc["name"] == row["pair"])
        left = vc["cells_queued"] + vc["cells_in_transit"]
        lost = sum(row[cause] for cause in LOST_AS) + row["dropped"]
        assert row["offered"] == row["delivered"] + lost + left


def test_of_many_pairs_the_slowest_are_named_and_the_spread_of_all_stands_below() -> None:
    result = run([{"pairs": "all"}])
    brief, whole = pairs_in_brief(result), pairs(result)
    assert brief is not None
    assert whole is not None
    assert len(whole.rows) == len(STATIONS) * (len(STATIONS) - 1)
    place = [column.title for column in brief.columns].index(BY)
    rtts = [float(row[place].sort or 0) for row in whole.rows]
    assert rtts == sorted(rtts, reverse=True)
    assert [row[place].sort for row in brief.rows[:10]] == rtts[:10]
    least, median, most = (row[place].sort for row in brief.rows[10:])
    # By nearest rank the tenth of twenty from below.
    assert (least, median, most) == (rtts[-1], rtts[10], rtts[0])


def test_pairs_of_datagrams_have_no_round_trip() -> None:
    result = run([{"pairs": [["paris", "tokyo"]], "kind": "cbr", "rate": "100 kbit/s"}])
    (row,) = sky_pairs(result.spec, result.records, result.traces).to_dicts()
    assert row["rtt_p99_ms"] is None
    assert row["mbps"] > 0.08
    heads = [table.heading for table in terminal_tables(result)]
    assert any(head.startswith("Pairs of stations: 1") for head in heads)
    assert any("Pairs of stations" in table.caption for table in page_tables(result, "flows"))
