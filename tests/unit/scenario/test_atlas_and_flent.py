"""Results of RIPE Atlas and data of flent, as their documentation has them."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from skycell.input.faults import ScenarioFaults
from skycell.input.text import read_text
from skycell.scenario.links.schedule import Schedule
from skycell.scenario.links.series import understood
from tests.unit.scenario.test_readings import RATE, about, read, refused, summary
from tests.unit.scenario.test_schedule import MS, SECOND


def result(number: int, *rtts: float | str, **more: Any) -> dict[str, Any]:
    """A result of a measurement each four minutes; a text is an error, 0 is no answer."""
    packets = [
        {"error": rtt} if isinstance(rtt, str) else {"rtt": rtt} if rtt else {"x": "*"}
        for rtt in rtts
    ]
    return {
        "fw": 5080,
        "type": "ping",
        "prb_id": 7,
        "msm_id": 1001,
        "af": 4,
        "sent": len(rtts),
        "dst_addr": "192.0.2.1",
        "timestamp": 1_700_000_000 + 240 * number,
        "result": packets,
        **more,
    }


def test_packets_of_a_result_follow_each_other(tmp_path: Path) -> None:
    results = [result(0, 30.5, 40, 0), result(1, 50, 60, 70)]
    account, steps = read(tmp_path, json.dumps(results))
    # Half of each round trip, at 0, 1, 240, 241 and 242 s; the packet at 2 s was lost.
    times = [0, SECOND, 240 * SECOND, 241 * SECOND, 242 * SECOND]
    assert list(steps.times_ps) == times
    assert list(steps.delays_ps) == [15.25 * MS, 20 * MS, 25 * MS, 30 * MS, 35 * MS]
    assert steps.losses_ppb
    assert account.read == {"packets": 6}
    assert account.form == "round trips of RIPE Atlas"
    assert "each 1 s" in about(account, "times").sentence
    assert about(account, "sampling").numbers == {"apart_s": 240}
    # A document on each line is the same, in any order.
    lines = "\n".join(json.dumps(one) for one in reversed(results))
    assert read(tmp_path, lines)[1] == steps
    _, closer = read(tmp_path, json.dumps(results), interval="500 ms")
    assert closer.times_ps[1] == SECOND // 2


def test_what_is_no_packet_of_a_ping_is_named(tmp_path: Path) -> None:
    packets = [{"rtt": 30}, {"rtt": 31, "dup": 1}, {"late": 2}, {"error": "unreachable"}]
    traceroute = {**result(1, 1), "type": "traceroute"}
    results = [result(0, result=packets), traceroute, result(2, 30, dst_addr="192.0.2.2")]
    account, _ = read(tmp_path, json.dumps(results))
    assert [(left.what, left.count) for left in account.left_aside] == [
        ("result", 1),
        ("answer", 2),
    ]
    assert account.read == {"packets": 3}
    assert about(account, "errors").numbers == {"errors": 1}
    assert "2 addresses" in about(account, "target").sentence


def test_results_that_are_not_of_one_link_are_refused(tmp_path: Path) -> None:
    two = [result(0, 30), result(0, 30, prb_id=8)]
    assert "probe 8" in refused(tmp_path, json.dumps(two)).got
    assert "traceroute" in refused(tmp_path, json.dumps([result(0, 1, type="traceroute")])).got
    assert refused(tmp_path, json.dumps([result(0, 0, 0)])).got == "no answer"
    assert refused(tmp_path, json.dumps([result(0, 1e9)])).allowed.startswith("a delay")


def flent(**series: Any) -> str:
    names = {"icmp": "Ping (ms) ICMP", "udp": "Ping (ms) UDP BE", "down": "TCP download"}
    raw = {names[key]: points for key, points in series.items()}
    return json.dumps({"version": 4, "x_values": [0.0], "results": {}, "raw_values": raw})


ICMP = [
    {"seq": number, "t": 1_700_000_000 + number / 5 + 0.040, "val": 40.0}
    for number in range(1, 41)
    if number != 20
]
DOWN = [{"dur": 0.2, "t": 1_700_000_000 + number / 5, "val": 90.0} for number in range(40)]


def test_flents_pings_are_those_of_ping(tmp_path: Path) -> None:
    account, steps = read(tmp_path, flent(icmp=ICMP, down=DOWN, udp=DOWN))
    assert set(steps.delays_ps) == {20 * MS}
    assert about(account, "losses").numbers["lost"] == 1
    assert account.read == {"packets": 40}
    assert account.span_s == pytest.approx(39 / 5)
    (left,) = account.left_aside
    assert left.names == ("TCP download", "Ping (ms) UDP BE")
    assert left.sentence.startswith("2 series are left aside")


def test_a_series_without_numbers_has_no_losses(tmp_path: Path) -> None:
    account, steps = read(tmp_path, flent(udp=DOWN))
    assert set(steps.delays_ps) == {45 * MS}
    assert not steps.losses_ppb
    assert "nothing is taken for lost" in about(account, "losses").sentence


def test_flents_data_without_pings_is_refused_by_name(tmp_path: Path) -> None:
    for text in (flent(down=DOWN), flent(), '{"x_values": [], "results": {}, "version": 1}'):
        fault = refused(tmp_path, text)
        assert "flent" in fault.got
        assert "Ping (ms) ICMP" in fault.allowed


def test_a_file_of_gzip_is_what_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "a.flent.gz"
    packed.write_bytes(gzip.compress(flent(icmp=ICMP).encode()))
    schedule = Schedule.model_validate({"series": "a.flent.gz"})
    of_packed = understood(tmp_path, schedule, RATE)[1]
    assert of_packed == read(tmp_path, flent(icmp=ICMP))[1]
    assert summary(tmp_path, flent(icmp=ICMP)).delay_ms is not None
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(ScenarioFaults, match="a whole file of gzip"):
        read_text(packed)
    packed.write_bytes(gzip.compress(b"x" * 3_000_000))
    monkeypatch.setattr("skycell.input.text._MOST_OCTETS", 2_000_000)
    with pytest.raises(ScenarioFaults, match="more than"):
        read_text(packed)
