import dataclasses
import importlib.metadata
import json
import sys

import polars as pl
import pytest

import skycell
from skycell.records import TRACE_COLUMNS, RunResult
from skycell.records.tables import flat

TRACES = list(TRACE_COLUMNS)


@pytest.fixture(scope="module")
def result() -> RunResult:
    return skycell.run(
        {
            "preset": "icccn97-lan",
            "run": {"duration": "700 ms"},
            "start": "together",
            "topology": {
                "sources": 3,
                "bottleneck": {"buffer": "300 cells", "class": [{"name": "cbr"}]},
            },
            "flow": [
                {"names": ["flow1"], "traffic": {"kind": "transfers", "size": "2 kB"}},
                {"names": ["flow3"], "traffic": "web"},
            ],
            "records": {"traces": TRACES},
        }
    )


def test_a_result_says_what_was_run(result: RunResult) -> None:
    assert (result.engine, result.seed) == ("fast", 1)
    assert result.version == skycell.__version__
    assert result.spec_hash == result.spec.hash()
    reported = json.loads(result.to_json())
    assert {"version", "engine", "seed", "spec_hash", "flows", "vcs", "ports", "ledger"} <= set(
        reported
    )
    assert reported["flows"] == result.records["flows"]


def test_a_result_becomes_text_without_becoming_objects(result: RunResult) -> None:
    untouched = dataclasses.replace(result)
    assert json.loads(untouched.to_json()) == result.summary()
    assert "records" not in vars(untouched)


def test_records_are_tables(result: RunResult) -> None:
    assert result.flows["name"].to_list() == ["flow1", "flow2", "flow3"]
    assert result.flows["octets_delivered"].sum() > 0
    assert result.vcs["cells_discarded_overflow"].dtype.is_integer()
    ports = result.ports
    congested = ports.row(by_predicate=pl.col("name") == "switch1>switch2", named=True)
    assert 200 < congested["queue_max"] <= 300
    assert congested["queue_p99"] is not None
    elsewhere = ports.row(by_predicate=pl.col("name") == "source1>switch1", named=True)
    assert elsewhere["queue_p99"] is None
    assert result.vc_queues["vc"].to_list() == [f"flow{k}.forward" for k in (1, 2, 3)]


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_is_a_table_with_the_columns_that_are_promised(
    result: RunResult, name: str
) -> None:
    assert tuple(result.traces[name].columns) == TRACE_COLUMNS[name]
    # There is no ABR VC in this run; tests of its traces are with its figures.
    assert (result.traces[name].height > 0) is (name not in ("acr", "rate_control"))
    assert result.traces[name] is result.traces[name]


def test_a_trace_that_was_not_kept_is_named_with_those_that_were() -> None:
    result = skycell.run(
        {"preset": "icccn97-lan", "run": {"duration": "10 ms"}, "start": "together"}
    )
    assert len(result.traces) == 0
    assert repr(result.traces) == "traces: none"
    with pytest.raises(KeyError, match="kept no trace 'cwnd'; it kept: none"):
        result.traces["cwnd"]


def test_a_result_prints_its_flows(result: RunResult) -> None:
    title, first, second, _ = str(result).splitlines()
    assert title.startswith("0.7 s simulated, seed 1, engine fast, skycell ")
    assert first.startswith("  flow1: ")
    assert second.startswith("  flow2: ")
    page = result._repr_html_()
    assert "<td>flow2</td>" in page
    assert "<script" not in page


def test_of_many_flows_the_first_are_printed() -> None:
    many = skycell.run(
        {
            "preset": "icccn97-lan",
            "topology": {"sources": 23},
            "run": {"duration": "1 ms"},
            "start": "together",
        }
    )
    assert str(many).splitlines()[-1] == "  and 3 more flows"


def test_nested_records_are_laid_side_by_side() -> None:
    row = {"name": "p", "queue": {"mean": 1.0, "p50": None}, "vc_queues": [{"vc": 1}]}
    assert flat(row) == {"name": "p", "queue_mean": 1.0, "queue_p50": None}


@pytest.mark.parametrize("name", ["flows", "ports", "traces"])
def test_a_frame_that_cannot_become_one_of_pandas_names_the_extra(
    result: RunResult, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # as where it is not installed
    frame = result.traces["cwnd"] if name == "traces" else getattr(result, name)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "skycell\[pandas\]"$'):
        frame.to_pandas()


def test_the_extra_that_is_named_is_one_of_the_package() -> None:
    extras = importlib.metadata.metadata("skycell").get_all("Provides-Extra") or []
    assert "pandas" in extras
