"""What counts of a run from a moment on, against closed forms."""

import pytest

import skycell
from skycell import RunResult, ScenarioFaults, parse

# One sender whose window is one and a half times its path, before a buffer that holds the rest.
SATURATED = """
[run]
duration = "20 s"

[topology]
kind = "dumbbell"
sources = 1
bottleneck = { rate = "10 Mbit/s", framing = "none", delay = "250 ms", buffer = "2 RTT" }
access = { rate = "100 Mbit/s", framing = "none", delay = "1 ms" }

[tcp]
mss = "1460 B"
receiver_window = "1.5 RTT"
window_scaling = true
"""
CELL_PS, ACCESS_CELL_PS = 42_400_000, 4_240_000
TEN_SECONDS_PS = 10**13


def scenario(measure_from: str) -> skycell.Scenario:
    return parse(SATURATED.replace("[run]", f'[run]\nmeasure_from = "{measure_from}"'))


def ran(engine: str, measure_from: str = "0 s") -> RunResult:
    return skycell.run_spec(scenario(measure_from).resolve(), engine=engine)


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_a_saturated_link_is_busy_all_the_time_once_slow_start_is_over(engine: str) -> None:
    whole, later = ran(engine), ran(engine, measure_from="10 s")
    port, port_later = (
        next(port for port in run.records["ports"] if port["name"] == "switch1>switch2")
        for run in (whole, later)
    )
    assert port["busy_ps"] < 0.93 * 2 * TEN_SECONDS_PS
    assert later.records["duration_ps"] == later.records["measured_from_ps"] == TEN_SECONDS_PS
    assert port_later["busy_ps"] == TEN_SECONDS_PS
    assert port_later["departed"] == TEN_SECONDS_PS // CELL_PS
    (flow,) = later.records["flows"]
    # The window, 647 segments of 32 cells, is on the path or queued: what is not the way back of an
    # acknowledgement of two cells is the way there.
    back_ps = 252 * 10**9 + 2 * CELL_PS + 2 * ACCESS_CELL_PS
    assert flow["delay_mean_ps"] == pytest.approx(647 * 32 * CELL_PS - back_ps, rel=1e-12)
    goodput_bps = flow["octets_delivered"] * 8 / 10
    segment_bps = 1460 * 8 / 10
    assert later.ceiling_bps is not None
    assert goodput_bps == pytest.approx(later.ceiling_bps, abs=segment_bps)


def test_both_engines_leave_the_same_of_it() -> None:
    fast, reference = (dict(ran(e, measure_from="3 s").records) for e in ("fast", "reference"))
    for records in (fast, reference):
        del records["engine"], records["engine_stats"]
    assert fast == reference


def test_a_time_behind_the_end_is_refused_and_the_beginning_is_what_counts_anyway() -> None:
    for late in ("20 s", "21 s"):
        with pytest.raises(ScenarioFaults, match="before the end of the run, 20 s"):
            scenario(late).resolve()
    assert scenario("0 s").resolve().hash() == parse(SATURATED).resolve().hash()


# A user who asks for a page of one file each second; a file takes longer than that to come.
BUSY_USER = """
[run]
duration = "60 s"

[topology]
kind = "dumbbell"
sources = 1
bottleneck = { rate = "1 Mbit/s", framing = "ip", delay = "250 ms", buffer = "1 BDP" }
access = { rate = "10 Mbit/s", framing = "ip", delay = "1 ms" }

[tcp]
preset = "linux"

[traffic]
kind = "web"
page_interval = "1 s"
requests = { mean = 1, least = 1, most = 1 }
"""


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_files_that_count_are_those_asked_for_in_the_time_that_counts(engine: str) -> None:
    """Requests come one after the other, and so do files: the first of them are left out."""
    file = skycell.parse(BUSY_USER.replace("[run]", '[run]\nmeasure_from = "20 s"\n'))
    with_trace = file.with_values({"records.traces": ["files"]})
    later = skycell.run_spec(with_trace.resolve(), engine=engine)
    web = later.records["web"]
    files = [
        *zip(*(later.traces["files"][key] for key in ("requested_ps", "received_ps")), strict=True)
    ]
    begin_ps = 20 * 10**12
    taken = [end - start for start, end in files if start >= begin_ps]
    assert any(start < begin_ps <= end for start, end in files), "some were under way"
    assert web["file_response"]["count"] == len(taken) <= web["requests"]
    assert web["file_response"]["mean_ps"] == pytest.approx(sum(taken) / len(taken))
    assert web["requests"] == 40
    assert web["page_response"] == web["file_response"]
