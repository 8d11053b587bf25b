"""Connections split by proxies, against closed forms and against connections that are not.

Segments of 1460 octets are packets of 1500, 12 us of a line of 1 Gbit/s; an acknowledgement of 40
octets takes 0.32 us.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import skycell
from skycell import RunResult
from skycell.measures.responses import measure
from skycell.measures.run_view import SweepView
from skycell.metrics import Network, throughputs_bps
from skycell.metrics.run_rows import delivery_rows
from skycell.tables.flows import deliveries, proxies
from tests.unit.cli.calling import skycell as called

MSS = 1460
SEGMENT_MS, ACK_MS = 0.012, 0.00032


def scenario(delays_ms: tuple[float, float], rate: str = "1 Gbit/s") -> dict[str, Any]:
    """A host, a router and a host; lines of one rate."""
    line = {"rate": rate, "framing": "ip"}
    return {
        "run": {"duration": "10 s"},
        "topology": {
            "kind": "graph",
            "hosts": ["a", "b"],
            "routers": ["r"],
            "link": [
                {"from": "a", "to": "r", **line, "delay": f"{delays_ms[0]} ms"},
                {"from": "r", "to": "b", **line, "delay": f"{delays_ms[1]} ms"},
            ],
            "flow": [{"name": "f", "source": "a", "destination": "b"}],
        },
        "tcp": {"mss": f"{MSS} B", "tick_phase": "common"},
        "start": "together",
    }


def run(base: dict[str, Any], values: Mapping[str, Any] | None = None) -> RunResult:
    """Both engines leave the same."""
    checked = skycell.parse(base, values=values or {})
    fast, reference = (skycell.run(checked, engine=engine) for engine in ("fast", "reference"))
    assert fast.records["flows"] == reference.records["flows"]
    assert fast.records["ledger"] == reference.records["ledger"]
    return fast


def slow_start_ms(rounds: int, delay_ms: float) -> float:
    """From the sending of the first segment to the coming of the last of so many windows."""
    rtt = 2 * delay_ms + SEGMENT_MS + ACK_MS
    return (rounds - 1) * rtt + (1 << (rounds - 1)) * SEGMENT_MS + delay_ms


def delivered_around(base: dict[str, Any], time_ms: float) -> list[int]:
    """Segments that have come to the destination a microsecond before a time, and after."""
    times = (f"{time_ms * 1e3 + offset:.3f} us" for offset in (-1, 1))
    results = (run(base, {"run.duration": time}) for time in times)
    return [result.records["flows"][0]["octets_delivered"] // MSS for result in results]


PEP = {"node": "r", "buffer": "1 MB"}
LARGE = {"receiver_window": "1 MB", "window_scaling": True, "initial_ssthresh": "1 MB"}


def test_slow_start_behind_a_proxy_goes_by_the_round_trip_there() -> None:
    base = scenario((5, 250))
    base["traffic"] = {"kind": "transfers", "size": f"{31 * MSS} B", "count": 1}
    # From end to end: five round trips over both lines, store and forward between.
    rtt = 2 * 255 + 2 * SEGMENT_MS + 2 * ACK_MS
    whole = 4 * rtt + 17 * SEGMENT_MS + 255
    assert delivered_around(base, whole) == [30, 31]
    # Split: the first segment comes to the proxy, whose own five round trips follow; those of the
    # short line are over before the first of them.
    split = SEGMENT_MS + 5 + slow_start_ms(5, 250)
    assert delivered_around(base | {"pep": [PEP]}, split) == [30, 31]


def test_two_lines_of_one_length_go_through_slow_start_together() -> None:
    base = scenario((125, 125))
    base["traffic"] = {"kind": "transfers", "size": f"{31 * MSS} B", "count": 1}
    # What comes of each doubled window finds a window that has doubled too.
    split = slow_start_ms(5, 125) + SEGMENT_MS + 125
    assert delivered_around(base | {"pep": [PEP]}, split) == [30, 31]


def geo(**tables: Any) -> dict[str, Any]:
    """A terrestrial line of 100 Mbit/s and 5 ms, and a satellite of 10 Mbit/s and 250 ms."""
    base = scenario((5, 250))
    terrestrial, satellite = base["topology"]["link"]
    terrestrial["rate"], satellite["rate"], satellite["buffer"] = (
        "100 Mbit/s",
        "10 Mbit/s",
        "500 kB",
    )
    return base | tables


def rate_mbps(base: dict[str, Any]) -> float:
    """Of the flow from the 40th second to the 60th."""
    begin, end = (run(base, {"run.duration": f"{at} s"}) for at in (40, 60))
    return throughputs_bps(end.records, since=begin.records)[0] / 1e6


def test_a_window_of_64_kb_fills_a_satellite_only_if_it_ends_before_it() -> None:
    # 44 whole segments in a round trip of 510 ms, and what a segment and its acknowledgement take
    # on both lines (1.352 ms).
    whole = 44 * MSS * 8 / 0.511352 / 1e6
    assert rate_mbps(geo()) == pytest.approx(whole, rel=0.02)
    behind = {"receiver_window": "1 MB", "window_scaling": True, "max_cwnd": "700 kB"}
    split = geo(pep=[{**PEP, "buffer": "2 MB", "tcp": behind}])
    assert rate_mbps(split) == pytest.approx(10 * MSS / 1500, rel=0.001)


def test_a_full_buffer_slows_the_sender_down_without_a_loss() -> None:
    # Behind the proxy 64 kB in a round trip; before it that would be 50 times as much.
    result = run(geo(pep=[{**PEP, "buffer": "200 kB"}]))
    before, behind = result.records["flows"][0]["connections"]
    assert behind["pep"]["octets_held_max"] > 200_000 - MSS
    assert before["octets_retransmitted"] == before["timeouts"] == 0
    assert before["octets_delivered"] - behind["octets_delivered"] < 200_000
    limit = 44 * MSS * 8 / 0.50123
    assert 0.75 * limit < result.records["flows"][0]["octets_delivered"] * 8 / 10 < limit


def test_what_a_proxy_has_acknowledged_and_nobody_has_got_is_in_the_records() -> None:
    base = geo(pep=[PEP], traffic={"kind": "transfers", "size": "100 kB", "count": 1})
    result = run(base, {"run.duration": "300 ms"})
    flow = result.records["flows"][0]
    assert (flow["transfers"], flow["octets_acked"]) == (1, 100_000)
    assert flow["octets_delivered"] == MSS
    held = flow["connections"][1]["pep"]
    assert (held["octets_accepted"], held["octets_held"]) == (100_000, 100_000)


@pytest.mark.parametrize("pep", [(), (PEP,)])
def test_a_transfer_has_come_when_its_last_octet_is_behind_the_proxy(pep: tuple[Any]) -> None:
    base = scenario((5, 250))
    base["traffic"] = {"kind": "transfers", "size": f"{31 * MSS} B", "count": 1}
    base["records"] = {"traces": ["transfers", "deliveries"]}
    if pep:
        base["pep"] = list(pep)
    # As above: five round trips over both lines, or those behind the proxy after the first segment.
    rtt = 2 * 255 + 2 * SEGMENT_MS + 2 * ACK_MS
    whole = 4 * rtt + 17 * SEGMENT_MS + 255
    come = SEGMENT_MS + 5 + slow_start_ms(5, 250) if pep else whole
    results = [skycell.run(base, engine=engine) for engine in ("fast", "reference")]
    for result in results:
        (start,), (end,) = (
            result.traces[name][column].to_list()
            for name, column in (("transfers", "start_ps"), ("deliveries", "end_ps"))
        )
        assert (end - start) / 1e9 == pytest.approx(come, abs=1e-3)
        (row,) = delivery_rows(result.records, result.traces)
        assert row.mean == (end - start) / 1e12
    # The sender has its acknowledgement earlier than the receiver the data, if from the proxy.
    acked = results[0].traces["transfers"]["end_ps"][0] / 1e9
    assert (acked < come) == bool(pep)


def test_a_sweep_measures_when_transfers_have_come() -> None:
    base = geo(traffic={"kind": "transfers", "size": "100 kB"}, pep=[PEP])
    base["run"] = {"duration": "20 s"}
    responses = ["mean_transfer_time", "mean_delivery_time", "p95_delivery_time:f"]
    plan = {
        "scenario": base,
        "factors": {"tcp": {"key": "tcp.recovery", "levels": ["reno", "sack"]}},
        "responses": responses,
    }
    for row in skycell.sweep(plan, jobs=1).rows():
        acked, come, slowest = (row[name] for name in responses)
        # A proxy acknowledges the first ones at once, later ones as it has room.
        assert acked < come <= slowest


def test_the_tables_of_a_run_have_what_proxies_held() -> None:
    example = Path(__file__).parents[2] / "examples" / "pep.toml"
    values = {"run.duration": "10 s", "traffic": {"kind": "transfers", "size": "100 kB"}}
    values |= {"records.traces": ["transfers", "deliveries"]}
    result = skycell.run(skycell.load(example, values))
    table = proxies(result)
    assert table is not None
    rows = {row[0].text: row for row in table.rows}
    assert list(rows) == ["plain@gateway", "plain@terminal"]
    for connection in result.records["flows"][0]["connections"][1:]:
        row, found = rows[connection["name"]], connection["pep"]
        assert row[4].sort == found["octets_held_max"]
        assert row[6].sort == found["octets_held_max"] / 1e6
    come = deliveries(result)
    assert come is not None
    assert [row[0].text for row in come.rows] == ["all flows", "plain", "vpn"]


def two_flows(**tables: Any) -> dict[str, Any]:
    """Another flow over lines of its own and the same router."""
    base = geo()
    topology = base["topology"]
    own = [
        link | {"from": "c" if i == 0 else "r", "to": "r" if i == 0 else "d"}
        for i, link in enumerate(topology["link"])
    ]
    topology["hosts"] += ["c", "d"]
    topology["link"] += own
    topology["flow"].append({"name": "g", "source": "c", "destination": "d"})
    return base | tables


def test_a_flow_that_bypasses_a_proxy_has_the_records_of_a_run_without() -> None:
    without = run(two_flows()).records["flows"]
    by_name = run(two_flows(pep=[PEP | {"bypass": ["g"]}])).records["flows"]
    encrypted = {"flow": [{"names": ["g"], "ipsec": True}]}
    by_ipsec = run(two_flows(pep=[PEP], **encrypted)).records["flows"]
    assert without[1] == by_name[1] == by_ipsec[1]
    assert "connections" in by_name[0]
    assert "connections" not in by_name[1]
    assert by_name[0] == by_ipsec[0] != without[0]


def test_where_all_is_encrypted_the_spec_is_that_without_a_proxy() -> None:
    hidden = {"flow": [{"names": ["f"], "ipsec": True}]}
    assert skycell.parse(geo(pep=[PEP], **hidden)).resolve() == skycell.parse(geo()).resolve()


def narrow(every_segments: int | None) -> dict[str, Any]:
    """A satellite whose way back carries 62.5 acknowledgements a second, between two proxies."""
    base = geo()
    topology = base["topology"]
    topology["hosts"], topology["routers"] = ["a", "b"], ["r", "s"]
    terrestrial, satellite = topology["link"]
    there = satellite | {"to": "s", "one_way": True}
    back = there | {"from": "s", "to": "r", "rate": "20 kbit/s", "buffer": "20 kB"}
    topology["link"] = [terrestrial, there, back, terrestrial | {"from": "s", "to": "b"}]
    tcp: dict[str, Any] = {"receiver_window": "1 MB", "window_scaling": True, "max_cwnd": "750 kB"}
    if every_segments is not None:
        held = {"timeout": "500 ms", "every_segments": every_segments}
        tcp |= {"delayed_ack": held, "slow_start": {"kind": "byte_counting"}}
    peps = [{**PEP, "buffer": "2 MB", "tcp": tcp}, {"node": "s", "buffer": "2 MB"}]
    return base | {"pep": peps, "run": {"duration": "120 s"}}


def test_acknowledgements_are_thinned_between_two_proxies_and_made_anew_before_the_first() -> None:
    plain, thinned = (run(narrow(every)).records["flows"][0] for every in (None, 16))
    # 40 octets for each segment: the way back bounds what goes there, beyond a window.
    assert plain["octets_delivered"] <= 62.5 * MSS * 120 + 750_000
    assert thinned["octets_delivered"] > 10 * plain["octets_delivered"]
    before, between, _ = thinned["connections"]
    # One for 16 segments, and those of begin and end of bursts; the sender sees one for each.
    assert between["acks_sent"] < between["segments_received"] / 12
    assert before["acks_sent"] >= before["segments_received"]


def test_the_table_of_a_run_shows_no_delay_of_a_split_flow() -> None:
    example = Path(__file__).parents[2] / "examples" / "pep.toml"
    shown = called("run", example, "--set", "run.duration=2 s").stdout
    lines = [line for line in shown.splitlines() if line.startswith(("  plain", "  vpn"))]
    rows = {line.split()[0]: line for line in lines}
    assert rows["vpn"].rstrip().endswith("ms")
    assert not rows["plain"].rstrip().endswith("ms")


def test_a_split_flow_has_no_mean_delay_to_measure() -> None:
    example = Path(__file__).parents[2] / "examples" / "pep.toml"
    result = skycell.run(skycell.load(example, {"run.duration": "2 s"}))
    view = SweepView(result.records, Network.of(result.spec), "delivered_over_duration")
    assert measure("mean_delay", view) is None
    alone = view.narrowed("flow", "vpn")
    assert alone is not None
    assert measure("mean_delay", alone) is not None


REQUEST_MS = 168 * 8 / 1e6
"""A request of 128 octets on a line of 1 Gbit/s."""


def user(size: int, pages: int = 1) -> dict[str, Any]:
    """A web user who asks for one file a page."""
    once = {"mean": 1, "least": 1, "most": 1}
    files = {"file_class": [{"share": 1, "step_kb": size / 1000}], "kilobyte": "1000 B"}
    return {"kind": "web", "pages": pages, "requests": once, "file_step": once, **files}


@pytest.mark.parametrize("pep", [(), (PEP,)])
def test_a_file_takes_its_request_and_the_slow_start_behind_the_proxy(pep: tuple[Any]) -> None:
    base = scenario((5, 250))
    base |= {"traffic": user(31 * MSS), "pep": list(pep), "records": {"traces": ["files"]}}
    request = 255 + 2 * REQUEST_MS
    rtt = 2 * 255 + 2 * SEGMENT_MS + 2 * ACK_MS
    whole = 4 * rtt + 17 * SEGMENT_MS + 255
    split = SEGMENT_MS + 5 + slow_start_ms(5, 250)
    result = run(base)
    (asked,), (got,) = (
        result.traces["files"][f"{name}_ps"].to_list() for name in ("requested", "received")
    )
    assert (got - asked) / 1e9 == pytest.approx(request + (split if pep else whole), abs=1e-3)
    (web,) = (flow["web"] for flow in result.records["flows"])
    assert (web["pages"], web["requests"], web["requests_answered"]) == (1, 1, 1)
    assert web["file_response"]["mean_ps"] == got - asked
    assert web["request_stream"]["octets_acked"] == 128


def test_users_behind_proxies_ask_for_the_same_files_and_wait_for_less() -> None:
    example = Path(__file__).parents[2] / "examples" / "web-proxy.toml"
    tables = tomllib.loads(example.read_text(encoding="utf-8")) | {"run": {"duration": "30 s"}}
    split, plain = skycell.run(tables), skycell.run({**tables, "pep": []})
    asked = [[run.records["web"][key] for key in ("pages", "requests")] for run in (split, plain)]
    assert asked[0] == asked[1]
    assert asked[0][1] > 250
    times = [run.records["web"]["file_response"]["mean_ps"] for run in (split, plain)]
    assert times[0] < 0.9 * times[1]
    rows = [flow["connections"] for flow in split.records["flows"]]
    for first, _, last in rows:
        # Accepted at one proxy and passed on, and the same at the other; requests the other way.
        held = last["pep"]
        assert held["octets_accepted"] - held["octets_passed_on"] == held["octets_held"]
        assert first["web"]["requests_answered"] <= last["web"]["requests"]
    table = proxies(split)
    assert table is not None
    assert len(table.rows) == 2 * len(rows)
