"""What measuring tools write, and the links that come of it."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from skycell.cli.main import main
from skycell.scenario import ScenarioFaults
from skycell.scenario.links.logs import Asked, Log, read_log
from skycell.scenario.links.sampled import loss_one_way
from skycell.spec.declared.network import LinkSpec, ScheduleSpec
from tests.unit.scenario.test_schedule import MS, SECOND, link, moving, schedule_of

PING = """PING 1.1.1.1 (1.1.1.1) 56(84) bytes of data.
[1705744800.050] 64 bytes from 1.1.1.1: icmp_seq=1 ttl=57 time=50.0 ms
[1705744801.052] 64 bytes from 1.1.1.1: icmp_seq=2 ttl=57 time=52.0 ms
[1705744803.040] 64 bytes from 1.1.1.1: icmp_seq=4 ttl=57 time=40 ms
[1705744803.041] 64 bytes from 1.1.1.1: icmp_seq=4 ttl=57 time=41 ms (DUP!)

4 packets transmitted, 3 received, 25% packet loss, time 3003ms
"""
LENS = """timestamp,rtt,uplink,downlink
1705744800000000000,50,0,1
1705744801000000000,52,1,2
1705744802000000000,0,0,-1
1705744803000000000,40,1,1
"""


def irtt(*rtts_ms: int | None) -> str:
    """irtt's JSON of one packet a second."""
    trips = [
        {
            "seqno": at,
            "lost": "false" if rtt is not None else "true_down",
            "timestamps": {"client": {"send": {"wall": (1707277440 + at) * 10**9}}},
            "delay": {} if rtt is None else {"rtt": rtt * 10**6},
        }
        for at, rtt in enumerate(rtts_ms)
    ]
    return json.dumps({"version": {"irtt": "0.9.1"}, "round_trips": trips})


FPING = "".join(
    f'{{"{kind}": {{"timestamp": "{1705744800 + seq}.05", "host": "a", "seq": {seq}{rtt}}}}}\n'
    for seq, (kind, rtt) in enumerate(
        [
            ("resp", ', "size": 64, "rtt": 50'),
            ("resp", ', "size": 64, "rtt": 50'),
            ("timeout", ""),
            ("resp", ', "size": 64, "rtt": 50'),
        ]
    )
)
FPING_TEXT = """[1705744800.05] a : [0], 64 bytes, 50.0 ms (50.0 avg, 0% loss)
[1705744801.05] a : [1], 64 bytes, 52.0 ms (51.0 avg, 0% loss)
[1705744802.05] a : [2], timed out (51.0 avg, 33% loss)
[1705744803.05] a : [3], 64 bytes, 40.0 ms (47.3 avg, 25% loss)
"""


def log_of(text: str, interval_ps: int | None = None) -> Log:
    found = read_log("file", text, Asked(interval_ps))
    assert found is not None
    return found


@pytest.mark.parametrize("text", [PING, LENS, irtt(50, 52, None, 40), FPING_TEXT])
def test_the_forms_of_one_measurement_say_the_same(text: str) -> None:
    log = log_of(text)
    assert log.has_round_trips
    assert [sample.delay_ps for sample in log.samples] == [50 * MS, 52 * MS, None, 40 * MS]
    assert [sample.is_lost for sample in log.samples] == [False, False, True, False]
    times = [sample.at_ps / SECOND for sample in log.samples]
    assert times == pytest.approx([0, 1, 2, 3], abs=0.013)  # fping's times are of the answers


def test_fpings_json_is_read_line_by_line() -> None:
    log = log_of(FPING)
    assert [sample.at_ps for sample in log.samples] == [0, SECOND, 2 * SECOND, 3 * SECOND]
    assert log.lost == 1


def test_a_ping_without_times_is_a_packet_each_second_and_says_so() -> None:
    text = "".join(
        f"64 bytes from a: icmp_seq={seq} ttl=57 time=50 ms\n" for seq in (65534, 65535, 1)
    )
    log = log_of(text)
    assert [sample.at_ps // SECOND for sample in log.samples] == [0, 1, 2, 3]
    assert log.lost == 1  # numbers have 16 bits: 0 is missing
    (assumed,) = log.assumed
    assert (assumed.about, assumed.by, assumed.otherwise) == ("times", "default", "interval")
    quick = log_of(text, SECOND // 5)
    assert quick.end_ps == 3 * SECOND // 5
    assert quick.assumed[0].by == "key"


def test_a_round_trip_is_halved_and_its_loss_shared_by_both_ways(tmp_path: Path) -> None:
    schedule = schedule_of(moving(tmp_path, LENS))
    assert schedule.times_ps == (0, SECOND)
    assert schedule.delays_ps == (25 * MS, 26 * MS)
    # One of four round trips is lost: (1 - p)^2 = 3/4.
    assert schedule.losses_ppb[0] == loss_one_way(1, 4)
    assert schedule.losses_ppb[0] == pytest.approx(10**9 * (1 - 0.75**0.5), abs=1)


def test_a_lost_packet_may_be_an_outage(tmp_path: Path) -> None:
    scenario = moving(tmp_path, LENS, lost="outage", rtt_share="25 %", start="1 s")
    schedule = schedule_of(scenario)
    assert schedule.times_ps == (0, SECOND)
    assert schedule.delays_ps == (13 * MS, None)
    assert not schedule.losses_ppb


def test_the_least_of_a_block_is_without_the_queues_of_the_others(tmp_path: Path) -> None:
    rows = "".join(f"{at / 10},{40 + 10 * (at % 5)}\n" for at in range(31))
    scenario = moving(tmp_path, f"time_s,rtt_ms\n{rows}", minimum_over="500 ms")
    assert link(scenario).schedule is None
    assert link(scenario).delay_ps == 20 * MS


def test_mahimahis_opportunities_are_rates_and_begin_anew(tmp_path: Path) -> None:
    # 4 in the first half of 200 ms and one, the last, which is at the begin of the next round.
    trace = "10\n20\n20\n90\n200\n"
    schedule = mahimahi(tmp_path, trace)
    bits = 1504 * 8
    assert schedule.times_ps[:3] == (0, SECOND // 10, SECOND // 5)
    assert schedule.delays_ps[:2] == (20 * MS, None)
    assert schedule.rates_millibps[0] == 5 * bits * 10 * 1000
    assert len(schedule.times_ps) == 20  # 2 s


def mahimahi(folder: Path, text: str, **schedule: Any) -> ScheduleSpec:
    (folder / "up.trace").write_text(text, encoding="utf-8")
    bottleneck = {
        "rate": "10 Mbit/s",
        "framing": "ip",
        "buffer": "100 packets",
        "delay": "20 ms",
        "schedule": {"series": "up.trace", **schedule},
    }
    scenario = moving(folder, "time_s,delay_ms\n0,1\n2,1\n").with_values(
        {"topology.bottleneck": bottleneck}
    )
    found: LinkSpec = link(scenario, "router1>router2")
    assert found.schedule is not None
    return found.schedule


def test_iperf3_says_rates_that_hold_for_their_interval(tmp_path: Path) -> None:
    intervals = [
        {"sum": {"start": at, "end": at + 1, "bits_per_second": bps}}
        for at, bps in enumerate([8e6, 0.0, 4e6])
    ]
    schedule = mahimahi(tmp_path, json.dumps({"start": {}, "intervals": intervals}))
    assert schedule.delays_ps == (20 * MS, None)
    assert schedule.rates_millibps[0] == 8 * 10**9


def test_a_table_of_throughputs_has_iso_times(tmp_path: Path) -> None:
    table = (
        "timestamp,throughput_mbps\n2024-03-01T12:00:00Z,8\n2024-03-01T12:00:01Z,4.5\n"
        "2024-03-01T12:00:03+00:00,2\n"
    )
    schedule = mahimahi(tmp_path, table)
    assert schedule.times_ps == (0, SECOND)
    assert schedule.rates_millibps == (8 * 10**9, 4_500_000_000)


@pytest.mark.parametrize(
    ("series", "keys", "path", "got"),
    [
        (LENS, {"rate_over": "1 s"}, "schedule.rate_over", "1 s for delays.csv, table of round"),
        (
            "time_s,delay_ms\n0,1\n2,1\n",
            {"rtt_share": 0.4},
            "schedule.rtt_share",
            "0.4 for delays.csv, a table of steps",
        ),
        ("time_s,rate_mbps\n0,1\n3,2\n", {}, "delay", "nothing, and table of rates in delays.csv"),
        ("1\n2\n", {}, "delay", "nothing, and packet opportunities of mahimahi in delays.csv"),
        ("2\n1\n", {}, "", '"1"'),
        ("{}", {}, "", "JSON of another kind"),
        ('{"intervals": [{}]}', {}, "", "JSON whose parts are not as the tool writes them"),
        ("timestamp,rtt\nnoon,3\n", {}, "timestamp", '"noon"'),
        ("timestamp,rtt\n1,fast\n", {}, "rtt", '"fast"'),
        ("timestamp,rtt,ping\n1,2,3\n", {}, "", "rtt and ping"),
        (irtt(None, None), {}, "round_trips", "no answer"),
    ],
)
def test_what_a_log_does_not_say_is_a_fault(
    tmp_path: Path, series: str, keys: dict[str, Any], path: str, got: str
) -> None:
    with pytest.raises(ScenarioFaults) as found:
        moving(tmp_path, series, **keys)
    (fault,) = found.value.faults
    assert fault.path.endswith(path)
    assert fault.got.startswith(got)
    assert fault.allowed
    assert fault.meaning


def test_a_rate_above_the_links_is_told_with_the_greatest(tmp_path: Path) -> None:
    with pytest.raises(ScenarioFaults) as found:
        mahimahi(tmp_path, "time_s,rate_mbps\n0,1\n1,20\n3,15\n")
    (fault,) = found.value.faults
    assert fault.got == "rates up to 20 Mbit/s"


def test_a_table_of_steps_repeats_where_asked(tmp_path: Path) -> None:
    schedule = schedule_of(moving(tmp_path, "time_s,delay_ms\n0,10\n0.5,20\n0.8,10\n", repeat=True))
    ticks = [at // (SECOND // 10) for at in schedule.times_ps]
    assert ticks == [0, 5, 8, 13, 16]
    assert schedule.delays_ps == (10 * MS, 20 * MS, 10 * MS, 20 * MS, 10 * MS)


def test_trace_show_says_what_was_understood(tmp_path: Path) -> None:
    file = tmp_path / "ping.txt"
    file.write_text(PING, encoding="utf-8")
    runner = CliRunner()
    said = runner.invoke(main, ["trace", "show", str(file), "--json"])
    found = json.loads(said.stdout)
    assert found["form"] == "round trips of ping"
    assert found["delay_ms"]["least"] == 25
    assert found["loss_percent"]["mean"] == pytest.approx(100 * (1 - 0.75**0.5), abs=1e-6)
    assert any("queues" in note for note in found["notes"])
    drawn = tmp_path / "link.svg"
    assert runner.invoke(main, ["trace", "show", str(file), "--plot", str(drawn)]).exit_code == 0
    assert "One-way delay" in drawn.read_text(encoding="utf-8")
    refused = runner.invoke(main, ["trace", "show", str(file), "--set", "rate_over=1 s"])
    assert refused.exit_code == 2
    assert "no effect" in refused.output


def test_the_chance_of_a_round_trip_is_that_of_both_ways() -> None:
    for lost, sent in ((0, 5), (5, 5), (1, 2), (19, 100)):
        one_way = Fraction(loss_one_way(lost, sent), 10**9)
        assert float((1 - one_way) ** 2) == pytest.approx((sent - lost) / sent, abs=3e-9)
