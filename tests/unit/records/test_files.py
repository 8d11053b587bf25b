"""A result in a folder: whole or not there, and never over another one unasked."""

import json
from pathlib import Path

import polars as pl
import pytest

import skycell
from skycell.records import OutputExists, RunResult, existing_files, write_result


@pytest.fixture(scope="module")
def result() -> RunResult:
    return skycell.run(
        {
            "preset": "icccn97-lan",
            "run": {"duration": "20 ms"},
            "start": "together",
            "records": {"traces": ["cwnd", "queue"]},
        }
    )


def test_a_result_is_written_as_spec_records_and_traces(result: RunResult, tmp_path: Path) -> None:
    out = tmp_path / "runs" / "first"
    files = write_result(result, out)
    assert sorted(path.name for path in out.iterdir()) == [
        *("cwnd.parquet", "queue.parquet"),
        *("records.json", "spec.json"),
    ]
    assert set(files) == set(out.iterdir())
    records = json.loads((out / "records.json").read_text(encoding="utf-8"))
    assert records == result.summary()
    spec = (out / "spec.json").read_text(encoding="utf-8")
    assert spec == result.spec.canonical_json() + "\n"
    assert pl.read_parquet(out / "cwnd.parquet").equals(result.traces["cwnd"])


def test_an_earlier_result_is_replaced_only_when_asked(result: RunResult, tmp_path: Path) -> None:
    write_result(result, tmp_path)
    (tmp_path / "discards.parquet").write_text("of another run")
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "records.json").write_text("{}")
    with pytest.raises(OutputExists):
        write_result(result, tmp_path)
    assert (tmp_path / "records.json").read_text() == "{}"
    write_result(result, tmp_path, replace=True)
    assert json.loads((tmp_path / "records.json").read_text()) == result.summary()
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert not (tmp_path / "discards.parquet").exists()


def test_a_write_that_fails_leaves_nothing_behind(
    result: RunResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def disk_is_full(*_args: object, **_named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", disk_is_full)
    with pytest.raises(OSError, match="No space left"):
        write_result(result, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_keeps_the_earlier_result(
    result: RunResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_result(result, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def interrupt(*_args: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pl.DataFrame, "write_parquet", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_result(result, tmp_path, replace=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_files_of_a_result_are_found_even_as_dangling_links(tmp_path: Path) -> None:
    assert existing_files(tmp_path) == []
    (tmp_path / "records.json").symlink_to(tmp_path / "nowhere")
    assert existing_files(tmp_path) == [tmp_path / "records.json"]
