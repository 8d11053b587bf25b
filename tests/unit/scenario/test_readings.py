"""What is read of a file of measurements, what is not, and what is said of it."""

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from skycell.cli.main import main
from skycell.input.account import Account
from skycell.input.faults import Fault, ScenarioFaults
from skycell.scenario.declared.framings import Ip
from skycell.scenario.links.fitted import fit
from skycell.scenario.links.link_rate import LinkRate
from skycell.scenario.links.link_summary import LinkSummary, summary_of
from skycell.scenario.links.schedule import Schedule
from skycell.scenario.links.series import understood
from skycell.scenario.links.steps_table import steps_table
from skycell.spec.steps import Steps
from tests.unit.scenario.test_schedule import MS, SECOND

RATE = LinkRate(Fraction(10**15), Ip(kind="ip"), "")
T0 = 1_700_000_040.0


def read(folder: Path, text: str, **keys: Any) -> tuple[Account, Steps]:
    (folder / "file").write_text(text, encoding="utf-8")
    return understood(folder, Schedule.model_validate({"series": "file", **keys}), RATE)


def summary(folder: Path, text: str, **keys: Any) -> LinkSummary:
    account, steps = read(folder, text, **keys)
    return summary_of(account.form, steps, RATE)


def refused(folder: Path, text: str, **keys: Any) -> Fault:
    with pytest.raises(ScenarioFaults) as found:
        read(folder, text, **keys)
    return found.value.faults[0]


def about(account: Account, word: str) -> Any:
    (found,) = (one for one in account.assumed if one.about == word)
    return found


def pings(*, every_ms: int = 15, span_s: int = 60) -> tuple[str, str]:
    """Answers to packets as `ping -D` writes them, and as a table with the same stamps.

    At 12 s of each 15 s nothing comes back for 0.48 s; what is sent in the 0.3 s after that comes
    back all at once.
    """
    rows = []
    for number in range(span_s * 1000 // every_ms):
        at = number * every_ms
        within = at % 15_000
        if 12_000 <= within < 12_480:
            continue
        rtt = 50 + (max(12_780 - within, 0) if within >= 12_480 else 0)
        rows.append((T0 + (at + rtt) / 1000, number + 1, rtt))
    rows.sort()
    text = "".join(
        f"[{at:.6f}] 64 bytes from a: icmp_seq={number} ttl=60 time={rtt} ms\n"
        for at, number, rtt in rows
    )
    table = "timestamp,rtt\n" + "".join(f"{at:.6f},{rtt}\n" for at, _, rtt in rows)
    return text, table


def test_text_and_table_of_one_measurement_are_one_link(tmp_path: Path) -> None:
    text, table = pings()
    of_text, of_table = summary(tmp_path, text), summary(tmp_path, table)
    assert of_text.outages == of_table.outages == 4
    assert of_text.outage_s == pytest.approx(4 * 0.48, abs=0.001)
    assert of_table.outage_s == pytest.approx(4 * 0.48, abs=0.001)
    assert of_text.delay_ms is not None
    assert of_table.delay_ms is not None
    for name in ("least", "median", "mean", "p95", "most"):
        own, other = getattr(of_text.delay_ms, name), getattr(of_table.delay_ms, name)
        assert own == pytest.approx(other, abs=0.05), name
    assert of_text.loss_percent is None


def test_losses_alone_are_the_same_from_text_and_table(tmp_path: Path) -> None:
    rng = random.Random(4)
    rows = [
        (number, T0 + number / 50 + 0.040, 40 + rng.random() * 0.1)
        for number in range(1, 3000)
        if number < 30 or rng.random() > 0.03
    ]
    text = "".join(answer(number, at, round(rtt, 3)) for number, at, rtt in rows)
    table = "timestamp,rtt\n" + "".join(f"{at:.3f},{rtt:.3f}\n" for _, at, rtt in rows)
    of_text, of_table = summary(tmp_path, text), summary(tmp_path, table)
    assert of_text.loss_percent is not None
    assert of_table.loss_percent is not None
    assert of_table.loss_percent.mean == pytest.approx(of_text.loss_percent.mean, rel=0.02)
    assert about(read(tmp_path, table)[0], "missing").by == "file"
    assert summary(tmp_path, table, missing="nothing").loss_percent is None
    # A table that names its losses lacks none.
    named = table + f"{T0 + 70},\n"
    assert not [one for one in read(tmp_path, named)[0].assumed if one.about == "missing"]


def test_the_key_chooses_what_losses_and_stamps_are(tmp_path: Path) -> None:
    text, table = pings()
    lost = summary(tmp_path, text, lost="loss")
    assert not lost.outages
    assert lost.loss_percent is not None
    # 32 of 1000 packets are lost; each way the half of it.
    assert lost.loss_percent.mean == pytest.approx(1.6, abs=0.2)
    assert summary(tmp_path, text, lost="outage").outages == 4
    account, _ = read(tmp_path, text)
    losses = about(account, "losses")
    assert (losses.by, losses.otherwise) == ("file", 'lost = "loss"')
    assert losses.numbers["lost_in_runs"] == losses.numbers["lost"] == 128
    stamps = about(read(tmp_path, table)[0], "stamps")
    assert (stamps.by, stamps.otherwise) == ("file", 'stamp = "sent"')
    late = summary(tmp_path, table, stamp="sent")
    assert late.outage_s > 4 * 0.7  # what was held comes after it was sent


def test_stamps_of_sending_are_found_in_a_table(tmp_path: Path) -> None:
    rng = random.Random(5)
    rows = "".join(f"{at * 0.1:.3f},{40 + rng.random() * 20:.2f}\n" for at in range(100))
    stamps = about(read(tmp_path, f"time_s,rtt_ms\n{rows}")[0], "stamps")
    assert (stamps.by, stamps.otherwise) == ("file", 'stamp = "answered"')


def rides(gap_s: int) -> str:
    """Two rides of a minute with a second's rates, and a pause between them."""
    rows = [(at, 200) for at in range(60)] + [(60 + gap_s + at, 240) for at in range(60)]
    return "timestamp,throughput_mbps\n" + "".join(f"{T0 + at:.0f},{rate}\n" for at, rate in rows)


def test_a_gap_is_no_time_with_the_last_value(tmp_path: Path) -> None:
    found = summary(tmp_path, rides(86_400))
    assert (found.outages, found.outage_s) == (1, 86_400)
    assert found.rate_mbps is not None
    assert found.rate_mbps.mean == pytest.approx((60 * 200 + 59 * 240) / 119)
    (added,) = read(tmp_path, rides(86_400))[0].added
    assert added.seconds == 86_400
    assert added.part == pytest.approx(86_400 / 86_519)


def test_the_key_chooses_what_a_gap_is(tmp_path: Path) -> None:
    cut = summary(tmp_path, rides(86_400), gap="cut")
    assert (cut.outages, cut.span_s, cut.longest_step_s) == (0, 119, 1)
    held = summary(tmp_path, rides(600), gap="hold")
    assert not held.outages
    assert held.rate_mbps is not None
    assert held.rate_mbps.mean == pytest.approx((660 * 200 + 59 * 240) / 719)
    fault = refused(tmp_path, rides(600), gap="fault")
    assert fault.line == 62
    wide = summary(tmp_path, rides(600), gap_over="11 min")
    assert not wide.outages


def test_missing_rows_and_uneven_samples_are_no_gaps(tmp_path: Path) -> None:
    rng = random.Random(9)
    at, rows = 0.0, []
    for _ in range(3000):  # a Poisson process
        at += rng.expovariate(10)
        rows.append(f"{at:.6f},5\n")
    assert not summary(tmp_path, "time_s,rate_mbps\n" + "".join(rows)).outages
    some = "".join(f"{at},5\n" for at in range(200) if at % 7)
    assert not summary(tmp_path, f"time_s,rate_mbps\n{some}").outages
    few = "".join(f"{at},5\n" for at in (0, 1, 2, 300, 301))
    assert not summary(tmp_path, f"time_s,rate_mbps\n{few}").outages


def iperf(*sums: str, **of_sum: Any) -> str:
    values = {"sum": 10e6, "sum_bidir_reverse": 100e6}
    intervals = [
        {
            key: {
                "start": at,
                "end": at + 1,
                "bits_per_second": values[key],
                "sender": key == "sum",
                **of_sum,
            }
            for key in sums
        }
        for at in range(4)
    ]
    return json.dumps({"start": {}, "intervals": intervals, "end": {}})


def test_of_two_directions_one_is_chosen(tmp_path: Path) -> None:
    both = iperf("sum", "sum_bidir_reverse")
    fault = refused(tmp_path, both)
    assert "10 Mbit/s" in fault.got
    assert "100 Mbit/s" in fault.got
    down = summary(tmp_path, both, direction="down")
    assert down.rate_mbps is not None
    assert down.rate_mbps.mean == 100
    account, _ = read(tmp_path, both, direction="up")
    (left,) = account.left_aside
    assert left.names == ("sum_bidir_reverse",)
    assert refused(tmp_path, iperf("sum"), direction="down").got
    header = "time_s,download_mbps,upload_mbps\n"
    rows = "".join(f"{at},90,9\n" for at in range(4))
    assert refused(tmp_path, header + rows).line == 1
    up = summary(tmp_path, header + rows, direction="up")
    assert up.rate_mbps is not None
    assert up.rate_mbps.mean == 9


def test_what_is_not_understood_is_named(tmp_path: Path) -> None:
    rows = "".join(f"{at},50,{at % 3},7\n" for at in range(20))
    account, _ = read(tmp_path, f"time_s,rtt_ms,lost_packets,snr\n{rows}")
    names = [name for left in account.left_aside for name in left.names]
    assert names == ["lost_packets", "snr"]
    account, _ = read(tmp_path, "sun,time_s,delay_ms,satellites\n1,0,5,1\n1,9,5,1\n")
    assert account.left_aside[0].names == ("sun", "satellites")
    account, _ = read(tmp_path, iperf("sum", jitter_ms=1, lost_packets=3))
    assert account.left_aside[0].names == ("jitter_ms", "lost_packets")
    text = "wrong line\n" + pings(span_s=10)[0]
    (left,) = read(tmp_path, text)[0].left_aside
    assert left.names == ("wrong line",)


def answer(number: int, at: float, rtt: float = 30.0) -> str:
    return f"[{at:.3f}] 64 bytes from a: icmp_seq={number} ttl=56 time={rtt} ms\n"


def test_two_measurements_in_a_file_are_a_fault(tmp_path: Path) -> None:
    run = "".join(answer(number, T0 + number) for number in range(1, 6))
    later = "".join(answer(number, T0 + 100 + number) for number in range(1, 6))
    head = "PING a (192.0.2.1) 56(84) bytes of data.\n"
    assert refused(tmp_path, head + run + head + later).line == 7
    assert refused(tmp_path, run + later).line == 6


def test_a_number_that_the_stamps_contradict_is_a_fault(tmp_path: Path) -> None:
    lines = [answer(number, T0 + number / 10) for number in range(1, 60)]
    for wrong in (30_000_000, 4000):
        lines[30] = answer(wrong, T0 + 3.1)
        assert refused(tmp_path, "".join(lines)).line == 31
    # 500 packets that are lost take their time.
    late = [answer(number + 500, T0 + (number + 500) / 10) for number in range(60, 80)]
    assert read(tmp_path, "".join(lines[:30] + late))[0].read == {"packets": 579}


def test_numbers_of_16_bits_begin_anew(tmp_path: Path) -> None:
    numbers = [*range(65_500, 65_536), *range(40)]
    numbers[35], numbers[36] = numbers[36], numbers[35]  # answers overtake each other
    lines = [answer(number, T0 + at / 10) for at, number in enumerate(numbers)]
    assert read(tmp_path, "".join(lines))[0].read == {"packets": 76}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (iperf("sum", end=1.7e308), "intervals[0].sum.end"),
        (iperf("sum", bits_per_second=1e300), "intervals[0].sum.bits_per_second"),
        (iperf("sum", bits_per_second=float("inf")), ""),
        ("timestamp,rtt\n1700000000,30\n17000,30\n", "time"),
        ("timestamp,rtt\n1,1e99\n", "rtt"),
        ("time_s,rate_mbps\n0,1\n1e9,1\n", "time"),
    ],
)
def test_one_set_of_limits_holds_for_all_files(tmp_path: Path, text: str, path: str) -> None:
    assert refused(tmp_path, text).path == path


def levels(every_s: float, span_s: float) -> str:
    """Round trips of slots of 15 s from 12 s on, each with a level and a spike somewhere."""
    rng = random.Random(2)
    of_slot = [30 + 40 * rng.random() for _ in range(100)]
    rows = []
    for number in range(int(span_s / every_s)):
        at = number * every_s
        level = of_slot[int((at + 3) // 15)]
        rows.append(f"{at:.3f},{level + rng.random():.3f}\n")
    return "time_s,rtt_ms\n" + "".join(rows)


def test_the_phase_of_slots_is_found_to_a_sample(tmp_path: Path) -> None:
    text = levels(0.05, 150)
    account, steps = read(tmp_path, text)
    model = fit(steps, step_ps=SECOND, slot_ps=15 * SECOND, phase_ps=None, has_delay=True)
    assert float(model.phase.amount) == pytest.approx(12 * SECOND, abs=50.1 * MS)
    found = about(read(tmp_path, text, minimum_over="15 s")[0], "phase")
    assert found.numbers["best_phase_s"] == pytest.approx(12, abs=0.051)
    assert found.otherwise.startswith('phase = "1')
    blocks = read(tmp_path, text, minimum_over="15 s", phase="12 s")[1]
    assert blocks.times_ps[1] == 12 * SECOND
    assert account.form == "table of round trips"
    assert refused(tmp_path, text, phase="12 s").path == "phase"


WINDOWS = """
Pinging 192.0.2.1 with 32 bytes of data:
Reply from 192.0.2.1: bytes=32 time=40ms TTL=57
Reply from 192.0.2.1: bytes=32 time=50ms TTL=57
Request timed out.
Reply from 192.0.2.1: bytes=32 time<1ms TTL=57

Ping statistics for 192.0.2.1:
    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),
"""


def test_ping_of_windows_is_a_packet_a_line(tmp_path: Path) -> None:
    account, steps = read(tmp_path, WINDOWS)
    assert account.read == {"packets": 4}
    assert not account.left_aside
    assert steps.delays_ps[:2] == (20 * MS, 25 * MS)
    assert about(account, "losses").numbers["lost"] == 1
    german = "Antwort von 192.0.2.1: Bytes=32 Zeit=40ms TTL=57\n"
    assert "English" in refused(tmp_path, german).allowed


def test_commas_as_decimal_signs_are_read_where_semicolons_are_between(tmp_path: Path) -> None:
    account, steps = read(tmp_path, "time_s;rtt_ms\n0,5;30,5\n1,5;40\n")
    assert steps.delays_ps[0] == 15_250_000_000
    assert about(account, "signs")
    assert "semicolons" in refused(tmp_path, "time_s,rtt_ms\n0,5,30,5\n").allowed
    ping = "64 bytes from a: icmp_seq=1 ttl=9 time=30,5 ms\n"
    assert read(tmp_path, ping)[1].delays_ps[0] == 15_250_000_000


def test_a_dishs_table_gives_round_trips_and_not_what_was_used(tmp_path: Path) -> None:
    # As dish_grpc_text.py of starlink-grpc-tools has its columns.
    head = "datetimestamp_utc,pop_ping_drop_rate,pop_ping_latency_ms,downlink_throughput_bps\n"
    rows = "".join(f"2026-01-01 00:00:{at:02},0,{40 + at},5e6\n" for at in range(12))
    account, steps = read(tmp_path, head + rows)
    assert not steps.rates
    assert steps.delays_ps[0] == 20 * MS
    names = {name for left in account.left_aside for name in left.names}
    assert names == {"downlink_throughput_bps"}
    assert "pop_ping_drop_rate" in about(account, "loss column").sentence


def test_iperf3_as_a_stream_is_the_same_as_whole(tmp_path: Path) -> None:
    whole = json.loads(iperf("sum"))
    events = [{"event": "start", "data": {}}]
    events += [{"event": "interval", "data": one} for one in whole["intervals"]]
    events.append({"event": "end", "data": {}})
    stream = "\n".join(map(json.dumps, events))
    assert read(tmp_path, stream) == read(tmp_path, json.dumps(whole))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('[{"dishGetHistory": {}}]', "Starlink dish"),
        ("site_name,timestamp_start,timestamp_end,ping_avg\na,b,c,d\n", "WetLinks"),
        ('{"download": 1, "upload": 2, "ping": 3}', "speed test"),
    ],
)
def test_a_foreign_file_is_named_with_what_is_read(tmp_path: Path, text: str, name: str) -> None:
    fault = refused(tmp_path, text)
    assert name in fault.got
    assert "rtt_ms" in fault.allowed


@pytest.mark.parametrize("text", [*pings(span_s=30), rides(40), iperf("sum"), "1\n7\n7\n250\n"])
def test_the_steps_as_a_table_are_the_same_link(tmp_path: Path, text: str) -> None:
    account, steps = read(tmp_path, text)
    own = summary_of(account.form, steps, RATE)
    table = steps_table(steps, has_delays=own.delay_ms is not None)
    again, read_again = read(tmp_path, table)
    assert again.form == "table of steps"
    assert read_again.times_ps == steps.times_ps
    assert read_again.delays_ps == steps.delays_ps
    assert read_again.losses_ppb == steps.losses_ppb
    up = [at for at, delay in enumerate(steps.delays_ps) if delay is not None]
    assert [read_again.rates[at] for at in up if steps.rates] == [
        steps.rates[at] for at in up if steps.rates
    ]


def test_trace_show_writes_steps_and_gives_the_account_to_programs(tmp_path: Path) -> None:
    file, out = tmp_path / "ping.txt", tmp_path / "steps.csv"
    file.write_text(pings(span_s=30)[0], encoding="utf-8")
    runner = CliRunner()
    shown = runner.invoke(main, ["trace", "show", str(file), "--json", "--csv", str(out)])
    found = json.loads(shown.stdout)
    assert found["account"]["read"] == {"packets": 2000}
    assert {one["about"] for one in found["account"]["assumed"]} >= {"stamps", "losses", "queues"}
    again = json.loads(runner.invoke(main, ["trace", "show", str(out), "--json"]).stdout)
    assert again["outages"] == found["outages"] == 2
    assert again["delay_ms"]["mean"] == pytest.approx(found["delay_ms"]["mean"])
    refused = runner.invoke(main, ["trace", "show", str(file), "--csv", str(out)])
    assert refused.exit_code == 2
