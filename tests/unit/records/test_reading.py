"""A result read back is the result that was written."""

import json
from pathlib import Path

import pytest

from skycell.records import write_result
from skycell.records.reading import NotAResult, read_result
from tests.unit.plots.runs import TRACES, short_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a run."""
    write_result(short_run(), tmp_path / "run")
    return tmp_path / "run"


def test_a_result_comes_back_with_its_records_and_traces(folder: Path) -> None:
    run, read = short_run(), read_result(folder)
    assert read.to_json() == run.to_json()
    assert read.spec == run.spec
    assert list(read.traces) == TRACES
    for name in TRACES:
        assert read.traces[name].equals(run.traces[name])


def test_a_trace_that_is_not_there_is_not_in_the_result(folder: Path) -> None:
    (folder / "queue.parquet").unlink()
    traces = read_result(folder).traces
    assert "queue" not in traces
    assert len(traces) == len(TRACES) - 1
    assert repr(traces) == "traces: cwnd, sequence, vc_queue, discards"


@pytest.mark.parametrize("name", ["spec.json", "records.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(NotAResult) as fault:
        read_result(folder)
    assert str(fault.value) == f"{folder / name} does not exist"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("spec.json", "{}", "holds no spec of a network"),
        ("spec.json", "nonsense", "holds no spec of a network"),
        ("records.json", "[]", "holds no records of a run"),
        ("records.json", "{", "holds no records of a run"),
        ("records.json", '{"flows": []}', "holds no records of a run"),
    ],
)
def test_a_file_of_another_kind_is_refused(
    folder: Path, name: str, text: str, message: str
) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(NotAResult) as fault:
        read_result(folder)
    assert str(fault.value) == f"{folder / name} {message}"


def test_records_without_a_part_name_the_part(folder: Path) -> None:
    summary = json.loads((folder / "records.json").read_text(encoding="utf-8"))
    del summary["ledger"], summary["ports"]
    (folder / "records.json").write_text(json.dumps(summary), encoding="utf-8")
    with pytest.raises(NotAResult, match=r"records\.json holds no ledger, ports$"):
        read_result(folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [("notes", True), ("notes", [1]), ("version", None), ("spec_hash", 4), ("seed", "1")],
)
def test_a_value_of_another_kind_is_refused_with_its_key(
    folder: Path, key: str, value: object
) -> None:
    summary = json.loads((folder / "records.json").read_text(encoding="utf-8"))
    text = json.dumps({**summary, key: value})
    (folder / "records.json").write_text(text, encoding="utf-8")
    with pytest.raises(NotAResult, match=key):
        read_result(folder)


def test_records_beside_the_spec_of_another_run_are_refused(folder: Path) -> None:
    spec = short_run().spec.with_seed(99)
    (folder / "spec.json").write_text(spec.canonical_json() + "\n", encoding="utf-8")
    with pytest.raises(NotAResult) as fault:
        read_result(folder)
    assert str(fault.value) == (
        f"{folder / 'records.json'} is of spec {short_run().spec_hash[:12]}, and "
        f"spec.json next to it is spec {spec.hash()[:12]}"
    )


def test_a_spec_that_this_version_writes_otherwise_is_refused(folder: Path) -> None:
    import hashlib

    spaced = json.dumps(json.loads(short_run().spec.canonical_json()))
    (folder / "spec.json").write_text(spaced, encoding="utf-8")
    summary = json.loads((folder / "records.json").read_text(encoding="utf-8"))
    summary |= {"spec_hash": hashlib.sha256(spaced.encode()).hexdigest(), "version": "0.0.1"}
    (folder / "records.json").write_text(json.dumps(summary), encoding="utf-8")
    with pytest.raises(NotAResult, match=r"was written by skycell 0\.0\.1, whose specs this"):
        read_result(folder)


def test_a_trace_that_is_cut_off_is_told_by_its_file(folder: Path) -> None:
    (folder / "cwnd.parquet").write_bytes(b"PAR1, and the disk was full")
    traces = read_result(folder).traces
    with pytest.raises(NotAResult) as fault:
        traces["cwnd"]
    assert str(fault.value).startswith(f"{folder / 'cwnd.parquet'} holds no trace of a run: ")
