"""Runs in the formats of other tools: tables, captures, qlog, samples of sockets."""

import csv
import io
import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from skycell import run as run_scenario
from skycell.exports.capture import write_capture
from skycell.exports.named import NothingToExport, named
from skycell.exports.qlog import write_qlog
from skycell.exports.samples import socket_samples
from skycell.exports.selection import Selection
from skycell.records import RunResult, write_result
from tests.unit.cli.calling import refused, reported_together, skycell

TSHARK = shutil.which("tshark")


@cache
def lossy_run() -> RunResult:
    """Two flows over a queue that is too small, for a second."""
    return run_scenario(
        {
            "run": {"duration": "1 s"},
            "topology": {
                "kind": "dumbbell",
                "sources": 2,
                "bottleneck": {
                    "rate": "10 Mbit/s",
                    "framing": "ip",
                    "delay": "10 ms",
                    "buffer": "10 packets",
                },
                "access": {"rate": "100 Mbit/s", "delay": "1 ms"},
            },
            "tcp": {"preset": "linux"},
            "records": {"traces": ["sequence", "cwnd", "discards"]},
        }
    )


def captured(result: RunResult, *flows: str, selection: Selection | None = None) -> bytes:
    """The capture of flows of a run, or of another part."""
    file = io.BytesIO()
    write_capture(result, selection or Selection(flows), file)
    return file.getvalue()


def log_of(result: RunResult, *flows: str, selection: Selection | None = None) -> dict[str, Any]:
    """The log of flows of a run, or of another part."""
    file = io.StringIO()
    write_qlog(result, selection or Selection(flows), file)
    log: dict[str, Any] = json.loads(file.getvalue())
    return log


def test_a_table_has_names_and_seconds() -> None:
    result = lossy_run()
    table = named(result.traces["discards"], result.spec)
    assert table.columns == ["port", "vc", "flow", "time_s", "reason"]
    first, raw = table.row(0, named=True), result.traces["discards"].row(0, named=True)
    assert first == {
        "port": result.spec.links[raw["port"]].name,
        "vc": result.spec.vcs[raw["vc"]].name,
        "flow": result.spec.flows[raw["flow"]].name,
        "time_s": raw["time_ps"] / 1e12,
        "reason": "overflow",
    }


def test_frames_of_no_flow_have_no_name_of_one() -> None:
    trace = pl.DataFrame({"flow": pl.Series([2**32 - 1], dtype=pl.UInt32)})
    assert named(trace, lossy_run().spec)["flow"].to_list() == [None]


def test_headers_are_those_of_a_segment_worked_out_by_hand() -> None:
    # One segment of 1000 octets and its ACK. Node 0 sends to node 3, so the addresses are 10.0.0.1
    # and 10.0.0.4; port 1024 is 0400, the window 65535 is ffff. The sum of the IP header's words is
    # 4500 + 0410 + 4000 + 4006 + 0a00 + 0001 + 0a00 + 0004 = 0xdd1b, its complement 22e4; of the
    # pseudo header and TCP's 0a00 + 0001 + 0a00 + 0004 + 0006 + 03fc + 0400 + 0400 + 0001 + 0001 +
    # 5018 + ffff = 0x17020, folded 7021, its complement 8fde.
    result = run_scenario(
        {
            "preset": "icccn97-lan",
            "run": {"duration": "50 ms"},
            "topology": {"sources": 1},
            "tcp": {"mss": "1000 B", "receiver_window": "65535 B"},
            "traffic": {"kind": "transfers", "size": "1000 B", "count": 1},
            "start": "together",
            "records": {"traces": ["sequence"]},
        }
    )
    packet = bytes.fromhex(
        "4500 0410 0000 4000 4006 22e4 0a000001 0a000004"
        "0400 0400 00000001 00000001 5018 ffff 8fde 0000"
    )
    capture = captured(result)
    assert packet in capture
    # The other is an ACK of octet 1001 = 3e9.
    ack = bytes.fromhex("0a000004 0a000001 0400 0400 00000001 000003e9 5010 ffff")
    assert capture.count(ack) == 1


@pytest.mark.skipif(TSHARK is None, reason="tshark is not installed (Debian: apt install tshark)")
def test_wireshark_reads_a_capture_and_finds_as_many_retransmissions(tmp_path: Path) -> None:
    result = lossy_run()
    file = tmp_path / "run.pcapng"
    file.write_bytes(captured(result))
    assert TSHARK is not None
    fields = ["frame.time_epoch", "ip.src", "tcp.len", "tcp.analysis.retransmission"]
    command = [TSHARK, "-r", str(file), "-T", "fields", "-E", "separator=,"]
    command += ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]
    for field in [*fields, "ip.checksum.status", "tcp.analysis.out_of_order"]:
        command += ["-e", field]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = list(csv.reader(shown.splitlines()))
    trace = result.traces["sequence"]
    assert len(rows) == len(trace)
    assert all(row[4] == "1" for row in rows), "checksums"
    sent = sum(flow["octets_sent"] for flow in result.records["flows"])
    assert sum(int(row[2]) for row in rows) == sent
    # What comes before the first ACK of it may be taken to be out of order, and not sent again.
    again = sum(flow["segments_retransmitted"] for flow in result.records["flows"])
    assert again > 0
    assert sum(bool(row[3] or row[5]) for row in rows) == again
    times = [float(row[0]) for row in rows]
    assert times == pytest.approx([time / 1e12 for time in trace["time_ps"]], abs=1e-9)


def test_a_log_acknowledges_each_packet_once_and_loses_those_sent_again() -> None:
    result = lossy_run()
    trace = log_of(result, "flow2")["traces"][0]
    events = trace["events"]
    assert [event["time"] for event in events] == sorted(event["time"] for event in events)
    of = {
        kind: [event["data"] for event in events if event["name"] == kind]
        for kind in {event["name"] for event in events}
    }
    record = result.records["flows"][1]
    sent = [data["header"]["packet_number"] for data in of["transport:packet_sent"]]
    assert sent == list(range(record["segments_sent"]))
    lost = [data["header"]["packet_number"] for data in of["recovery:packet_lost"]]
    assert len(lost) == record["segments_retransmitted"] > 0
    acked = [
        number
        for data in of["transport:packet_received"]
        for low, high in data["frames"][0]["acked_ranges"]
        for number in range(low, high + 1)
    ]
    assert len(acked) == len(set(acked))
    assert not set(acked) & set(lost)
    assert len(of["transport:packet_received"]) == record["acks_received"]
    assert set(sent) - set(acked) - set(lost)  # in flight at the end
    metrics = of["recovery:metrics_updated"]
    assert max(data.get("congestion_window", 0) for data in metrics) == record["cwnd_max"]
    # Over two delays of 1 ms and one of 10 ms, there and back.
    assert min(data["latest_rtt"] for data in metrics if "latest_rtt" in data) > 24


def test_samples_end_with_what_the_records_say() -> None:
    result = lossy_run()
    samples = socket_samples(result, Selection(), 50 * 10**9)
    assert len(samples) == 2 * 20
    for record in result.records["flows"]:
        of_flow = samples.filter(pl.col("flow") == record["name"])
        last = of_flow.row(-1, named=True)
        assert last["time_s"] == 1.0
        assert last["bytes_sent"] == record["octets_sent"]
        assert last["bytes_retrans"] == record["octets_retransmitted"]
        assert last["bytes_acked"] == record["octets_acked"]
        assert last["segs_out"] == record["segments_sent"]
        assert last["retrans"] == record["segments_retransmitted"]
        assert last["unacked"] == -(-record["octets_outstanding"] // last["mss"])
        delivered = float(of_flow["delivery_bps"].sum()) * 0.05 / 8
        assert delivered == pytest.approx(record["octets_acked"])


def test_a_trace_that_was_not_kept_is_named(tmp_path: Path) -> None:
    result = run_scenario(
        {"preset": "icccn97-lan", "run": {"duration": "10 ms"}, "topology": {"sources": 1}}
    )
    with pytest.raises(NothingToExport, match=r"no trace sequence.*it kept none"):
        captured(result)
    write_result(result, tmp_path / "run")
    line = refused(skycell("export", tmp_path / "run", "--as", "csv", "--out", tmp_path / "x"))
    assert line == "Error: the run kept no traces; run it again with --trace, such as --trace cwnd"


@pytest.mark.parametrize("form", ["csv", "parquet", "pcapng", "qlog", "ss"])
def test_a_run_is_written_in_each_form_and_not_over_another(form: str, tmp_path: Path) -> None:
    write_result(lossy_run(), tmp_path / "run")
    out = tmp_path / "new" / "written"
    call = ("export", tmp_path / "run", "--as", form, "--out", out)
    done = skycell(*call)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Written: ")
    files = [out] if out.is_file() else sorted(out.iterdir())
    assert all(file.stat().st_size > 100 for file in files)
    assert "exists already" in refused(skycell(*call)) or "exist already" in skycell(*call).stderr
    assert skycell(*call, "--force").exit_code == 0


def test_faults_are_reported_together(tmp_path: Path) -> None:
    write_result(lossy_run(), tmp_path / "run")
    result = skycell(
        *("export", tmp_path / "run", "--as", "qlog", "--out", tmp_path / "q"),
        *("--flow", "flow9", "--every", "1 s"),
    )
    reported_together(
        result,
        "--every is the step of --as ss, and this is qlog",
        "the run has no flow flow9; it has flow1, flow2",
    )
    assert not (tmp_path / "q").exists()
    step = skycell(
        *("export", tmp_path / "run", "--as", "ss", "--out", tmp_path / "q", "--every", "2 s")
    )
    assert "0 samples of 2 flows: the run takes 1 s" in refused(step)
