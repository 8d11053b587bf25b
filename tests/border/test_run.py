"""A run through the border: records, traces, progress, cancelling, Ctrl-C."""

import _thread
import json
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from skycell._core import RunCancelled, RunError, SpecError, run, run_summary
from skycell.spec.declared.network import (
    FifoSpec,
    FlowSpec,
    LinkSpec,
    LossScript,
    NetworkSpec,
    NodeSpec,
    PortSpec,
    QueueSpec,
    RecordSpec,
    RenoCongestionSpec,
    RetransmitDelayNone,
    SackSpec,
    StandardSlowStartSpec,
    StartAt,
    TailDropSpec,
    TcpSpec,
    TickPhaseAt,
    TraceKind,
    TrafficPersistent,
    VcSpec,
)

MILLISECOND = 10**9
SECOND = 10**12
HOURS = 3_600 * SECOND

SACK = TcpSpec(
    recovery=SackSpec(
        dup_ack_threshold=3,
        pipe_at_entry="cwnd_less_three",
        partial_ack="pipe_less_two",
        partial_ack_restarts="every",
        pipe_room="segment",
        retransmit_delay=RetransmitDelayNone(),
        max_blocks=3,
        avoid_multiple_fast_retransmits=True,
    ),
    congestion=RenoCongestionSpec(growth="float", ssthresh_basis="cwnd"),
    slow_start=StandardSlowStartSpec(at_ssthresh=False),
    mss=9_180,
    llc_snap=True,
    rwnd=600_000,
    window_scaling=True,
    initial_cwnd=9_180,
    initial_ssthresh=600_000,
    max_cwnd=600_000,
    tick_ps=100 * MILLISECOND,
    tick_phase=TickPhaseAt(offset_ps=0),
    rto_min_ticks=2,
    rto_initial_ticks=30,
    rto_max_ticks=640,
    rto_max_backoff=64,
    tick_order="clock_first",
    advertised_window="constant",
    rto_restart="on_ack",
    timestamps=False,
    delayed_ack=None,
    nagle=False,
    sws_avoidance=False,
    idle_restart=False,
    handshake=False,
)


def link(start: int, end: int, cell_time_ps: int = 2_831_198) -> LinkSpec:
    """A link of 5 ms at 149.76 Mbit/s (424 bits a cell), or slower."""
    queue = QueueSpec(capacity_cells=1_000, policy=TailDropSpec())
    port = PortSpec(queues=(queue,), scheduler=FifoSpec(), frame_gap_ps=0)
    return LinkSpec(
        name=f"{start}>{end}",
        from_=start,
        to=end,
        cell_time_ps=cell_time_ps,
        delay_ps=5 * MILLISECOND,
        port=port,
    )


def one_flow(duration_ps: int, *traces: TraceKind) -> str:
    """A SACK sender behind a switch whose output is half as fast as its input."""
    return NetworkSpec(
        seed=1,
        duration_ps=duration_ps,
        nodes=(
            NodeSpec(name="a", kind="host"),
            NodeSpec(name="sw", kind="switch"),
            NodeSpec(name="b", kind="host"),
        ),
        links=(link(0, 1), link(1, 2, 5_662_396), link(2, 1), link(1, 0)),
        vcs=(
            VcSpec(name="there", path=(0, 1), class_="ubr"),
            VcSpec(name="back", path=(2, 3), class_="ubr"),
        ),
        flows=(
            FlowSpec(
                name="f",
                forward=(0,),
                reverse=(1,),
                tcp=SACK,
                traffic=TrafficPersistent(),
                start=StartAt(time_ps=0),
                loss_script=LossScript(transmissions=(), at_cwnd_octets=None),
            ),
        ),
        records=RecordSpec(
            sample_every_ps=10 * MILLISECOND,
            sampled_ports=(1,),
            vc_sampled_ports=(1,),
            traces=traces,
        ),
    ).canonical_json()


COLUMNS = {
    "cwnd": {"flow": "uint32", "time_ps": "uint64", "cwnd": "float64", "ssthresh": "float64"},
    "sequence": {
        "flow": "uint32",
        "time_ps": "uint64",
        "event": "uint8",
        "sequence": "uint64",
        "length": "uint32",
    },
    "queue": {"port": "uint32", "time_ps": "uint64", "cells": "uint32", "octets": "uint64"},
    "vc_queue": {"port": "uint32", "vc": "uint32", "time_ps": "uint64", "cells": "uint32"},
    "discards": {
        "port": "uint32",
        "vc": "uint32",
        "flow": "uint32",
        "time_ps": "uint64",
        "reason": "uint8",
    },
    "transfers": {"flow": "uint32", "start_ps": "uint64", "end_ps": "uint64", "octets": "uint64"},
    "service": {
        "port": "uint32",
        "queue": "uint32",
        "time_ps": "uint64",
        "departed": "uint64",
        "cells": "uint32",
    },
    "files": {
        "flow": "uint32",
        "page": "uint32",
        "requested_ps": "uint64",
        "received_ps": "uint64",
        "octets": "uint64",
    },
}


def lengths(columns: dict[str, NDArray[np.generic]]) -> set[int]:
    return {len(values) for values in columns.values()}


def test_the_records_are_those_of_the_spec() -> None:
    records_json, traces = run(one_flow(SECOND), "reference")
    records = json.loads(records_json)
    assert records["engine"] == "reference"
    assert records["duration_ps"] == SECOND
    assert [flow["name"] for flow in records["flows"]] == ["f"]
    assert [port["name"] for port in records["ports"]] == ["0>1", "1>2", "2>1", "1>0"]
    assert records["flows"][0]["octets_delivered"] > 0
    assert traces == {}


@pytest.mark.parametrize("engine", ["reference", "fast"])
def test_a_summary_is_part_of_the_same_records(engine: str) -> None:
    spec = one_flow(SECOND, "cwnd")
    records = json.loads(run(spec, engine)[0])
    summary = json.loads(run_summary(spec, engine))
    assert sorted(summary) == ["duration_ps", "flows", "ports"]
    for key in ("duration_ps", "flows"):
        assert summary[key] == records[key]
    for kept, port in zip(summary["ports"], records["ports"], strict=True):
        vcs = [{"vc": vc["vc"], "mean": vc["mean"]} for vc in port["vc_queues"]]
        assert kept == {**port, "vc_queues": vcs}


def test_every_trace_has_its_columns_and_none_comes_unasked() -> None:
    _, traces = run(one_flow(SECOND, *COLUMNS), "reference")  # type: ignore[arg-type]
    types = {
        name: {column: str(values.dtype) for column, values in columns.items()}
        for name, columns in traces.items()
    }
    assert types == COLUMNS
    assert all(len(lengths(columns)) == 1 for columns in traces.values())
    assert lengths(traces["transfers"]) == lengths(traces["files"]) == {0}
    assert lengths(traces["service"]) == {0}  # no port has several queues
    # Samples at 10, 20 ... 990 ms, and at the end of the run if that counts.
    assert lengths(traces["queue"]) <= {99, 100}
    _, traces = run(one_flow(SECOND, "queue"), "reference")
    assert set(traces) == {"queue"}


def test_the_arrays_are_handed_over_and_may_be_written_to() -> None:
    _, traces = run(one_flow(SECOND, "queue"), "reference")
    times = traces["queue"]["time_ps"]
    assert not times.flags.owndata  # the engine's own memory, kept alive by the array's base
    assert times.base is not None
    assert times.flags.writeable


def test_the_same_spec_gives_the_same_bytes() -> None:
    first, second = (run(one_flow(SECOND, "cwnd"), "reference") for _ in range(2))
    assert first[0] == second[0]
    for column, values in first[1]["cwnd"].items():
        assert values.tobytes() == second[1]["cwnd"][column].tobytes()


def test_progress_rises_and_a_false_answer_cancels() -> None:
    seen: list[int] = []

    def watch(now_ps: int) -> bool:
        seen.append(now_ps)
        return len(seen) < 3

    with pytest.raises(RunCancelled, match=r"^the run was cancelled at \d+\.\d{9} s$") as caught:
        run(one_flow(1_000 * HOURS), "reference", watch)
    assert isinstance(caught.value, RunError)
    assert len(seen) == 3
    assert 0 < seen[0] < seen[1] < seen[2] < 1_000 * HOURS


def test_what_on_progress_raises_ends_the_run_and_arrives() -> None:
    def watch(now_ps: int) -> bool:
        raise LookupError(now_ps)

    with pytest.raises(LookupError):
        run(one_flow(1_000 * HOURS), "reference", watch)


def within(seconds: float, do: Callable[[], None]) -> None:
    threading.Timer(seconds, do).start()


def test_ctrl_c_ends_a_run() -> None:
    within(0.2, _thread.interrupt_main)
    with pytest.raises(KeyboardInterrupt):
        run(one_flow(1_000 * HOURS), "reference")


def test_other_threads_go_on_during_a_run() -> None:
    beats: list[float] = []
    go_on = threading.Event()

    def beat() -> None:
        while not go_on.wait(0.005):
            beats.append(time.monotonic())

    thread = threading.Thread(target=beat)
    thread.start()
    looks: list[int] = []

    def watch(now_ps: int) -> bool:
        looks.append(len(beats))
        return len(looks) < 4

    with pytest.raises(RunCancelled):
        run(one_flow(1_000 * HOURS), "reference", watch)
    go_on.set()
    thread.join()
    # Between two looks the engine never lets go of the processor, yet the other thread ran.
    assert looks[1] < looks[2] < looks[3]


def test_a_faulty_spec_is_refused_before_anything_runs() -> None:
    faulty = one_flow(SECOND).replace('"mss":9180', '"mss":0')
    with pytest.raises(SpecError, match=r"^flows\[0\].tcp.mss: got 0, allowed above 0$"):
        run(faulty, "reference", lambda _: pytest.fail("the run began"))


def test_an_engine_that_does_not_exist_is_refused_by_name() -> None:
    message = r'^no engine is called "fsat"; there are "fast" and "reference"$'
    with pytest.raises(ValueError, match=message):
        run(one_flow(SECOND), "fsat")
