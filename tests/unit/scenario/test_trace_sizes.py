"""What is said, before a run, of how large its traces may grow."""

from typing import Any

import pytest

from skycell.experiment.run import run_spec
from skycell.scenario import parse
from skycell.scenario.notes import notes_on
from skycell.scenario.trace_sizes import NOTED_OCTETS, trace_rows
from skycell.spec.declared.network import NetworkSpec
from tests.unit.cli.calling import skycell

FILE = """run.duration = "10 s"
[topology]
kind = "dumbbell"
sources = 2
bottleneck = { rate = "10 Mbit/s", framing = "ip", delay = "5 ms", buffer = "1 BDP" }
access = { rate = "1 Gbit/s", framing = "ip", delay = "1 ms" }
[tcp]
preset = "rfc-modern"
receiver_window = "1 MB"
[records]
traces = ["sequence", "cwnd", "queue", "vc_queue"]
"""


def spec_of(**values: Any) -> NetworkSpec:
    return parse(FILE, values=values).resolve()


@pytest.mark.parametrize(("framing", "least"), [("ip", 0.6), ("none", 0.4)])
def test_what_a_full_link_may_carry_is_what_a_run_records(framing: str, least: float) -> None:
    text = FILE if framing == "ip" else FILE.replace('"ip"', '"none"')
    spec = parse(text).resolve()
    rows = trace_rows(spec)
    tables = run_spec(spec).traces
    counted = {name: len(tables[name]) for name in rows}
    # 10 Mbit/s over 10 s are 12.5 MB: 8562 segments of 1460 octets, each with a row and one of
    # its ACK, of which the receiver delays every other one.
    assert rows["sequence"] == pytest.approx(2 * 12_500_000 / 1460, rel=0.1)
    # In cells, a full queue drops parts of packets, and the rest takes up the link.
    assert least * rows["sequence"] < counted["sequence"] <= rows["sequence"]
    assert 0.2 * rows["cwnd"] < counted["cwnd"] <= rows["cwnd"]
    for name in ("queue", "vc_queue"):
        assert counted[name] <= rows[name] <= 1.5 * counted[name] + 100


def test_a_window_or_a_transfer_that_is_smaller_bounds_them_too() -> None:
    full = trace_rows(spec_of())["sequence"]
    # Two segments of each flow in each round trip of 14 ms: 0.4 MB/s on a link of 1.25 MB/s.
    window = trace_rows(spec_of(**{"tcp.receiver_window": "2920 B"}))["sequence"]
    assert window == pytest.approx(2 * 2 * 2 * 10 / 0.014, rel=0.02)
    assert window < full
    transfer = {"kind": "transfers", "size": "14600 B", "count": 1}
    files = trace_rows(spec_of(traffic=transfer))["sequence"]
    assert files == 2 * 2 * 10


def test_large_traces_are_noted_by_their_key_and_a_number() -> None:
    small = spec_of()
    assert not [note for note in notes_on(small) if "records.traces" in note]
    large = spec_of(**{"run.duration": "10000 s", "topology.bottleneck.rate": "1 Gbit/s"})
    (note,) = (note for note in notes_on(large) if "records.traces" in note)
    rows = trace_rows(large)
    assert 25 * rows["sequence"] > NOTED_OCTETS
    assert f"{rows['sequence'] / 1e6:.0f} million rows" in note
    without = spec_of(**{"run.duration": "10000 s", "records.traces": []})
    assert not [note for note in notes_on(without) if "records.traces" in note]


def test_a_run_says_so_before_it_begins(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("skycell.experiment.run.run_spec", stop)
    file = tmp_path / "a.toml"
    file.write_text(FILE.replace('"10 s"', '"20000 s"'))
    done = skycell("run", file)
    assert done.stderr.startswith("Note: records.traces: ")
    assert "records.traces" in skycell("check", file).stdout
