"""A part of a run: its flows and times in every format, and how much it will be."""

from pathlib import Path

import polars as pl
import pytest

from skycell.exports import selection as selected
from skycell.exports.named import NothingToExport
from skycell.exports.samples import socket_samples
from skycell.exports.selection import Selection, foreseen_octets
from skycell.records import RunResult, write_result
from tests.unit.cli.calling import refused, skycell
from tests.unit.exports.test_exports import captured, log_of, lossy_run

MS = 10**9
PART = Selection(("flow2",), 300 * MS, 500 * MS)


def test_a_part_of_a_log_is_that_part_of_the_whole_log() -> None:
    result = lossy_run()
    (whole,) = log_of(result, "flow2")["traces"]
    (part,) = log_of(result, selection=PART)["traces"]
    assert part["events"]
    assert part["events"] == [own for own in whole["events"] if 300 <= own["time"] <= 500]


def test_a_part_of_a_capture_has_the_packets_of_that_time() -> None:
    result = lossy_run()
    trace = result.traces["sequence"]
    inside = trace.filter(
        pl.col("flow") == 1, pl.col("time_ps").is_between(300 * MS, 500 * MS)
    ).height
    empty = len(captured(result, selection=Selection(("flow2",), 300 * MS, 300 * MS + 1)))
    per_packet = 84 if result.spec.flows[0].tcp.timestamps else 72
    assert len(captured(result, selection=PART)) == empty + inside * per_packet
    assert inside


def test_a_part_of_the_samples_is_that_part_of_all_samples() -> None:
    result = lossy_run()
    whole = socket_samples(result, Selection(("flow2",)), 50 * MS)
    part = socket_samples(result, PART, 50 * MS)
    assert part.equals(whole.filter(pl.col("time_s").is_between(0.3, 0.5)))
    assert part.height == 5


def test_tables_of_a_part_have_its_rows_and_no_traces_without_flows(tmp_path: Path) -> None:
    result = lossy_run()
    tables = PART.tables(result)
    for name, table in tables.items():
        assert set(table["flow"]) <= {1}
        assert table["time_ps"].is_between(300 * MS, 500 * MS).all()
        own = result.traces[name].filter(pl.col("flow") == 1)
        assert table.height == own["time_ps"].is_between(300 * MS, 500 * MS).sum()
    write_result(result, tmp_path / "run")
    out = tmp_path / "tables"
    args = ("--as", "csv", "--out", out, "--flow", "flow2", "--from", "300 ms", "--to", "500 ms")
    assert skycell("export", tmp_path / "run", *args).exit_code == 0
    assert pl.read_csv(out / "cwnd.csv")["flow"].unique().to_list() == ["flow2"]


@pytest.mark.parametrize("form", ["csv", "parquet", "pcapng", "qlog", "ss"])
def test_the_size_is_foreseen(form: str, tmp_path: Path) -> None:
    result = lossy_run()
    write_result(result, tmp_path / "run")
    out = tmp_path / "out"
    every = 10 * MS
    args = ("--every", "10 ms") if form == "ss" else ()
    assert skycell("export", tmp_path / "run", "--as", form, "--out", out, *args).exit_code == 0
    files = [out] if out.is_file() else list(out.iterdir())
    octets = sum(file.stat().st_size for file in files)
    foreseen = foreseen_octets(result, form, Selection(), every)
    assert octets / 2 < foreseen < octets * 2, (octets, foreseen)


def test_what_is_very_large_is_written_only_if_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selected, "MOST_OCTETS", 100_000)
    write_result(lossy_run(), tmp_path / "run")
    call = ("export", tmp_path / "run", "--as", "qlog", "--out", tmp_path / "q")
    assert "--large writes it all" in refused(skycell(*call))
    assert not (tmp_path / "q").exists()
    assert skycell(*call, "--flow", "flow1", "--to", "100 ms").exit_code == 0
    assert skycell(*call, "--large", "--force").exit_code == 0


def test_a_part_that_is_none_is_refused(tmp_path: Path) -> None:
    result: RunResult = lossy_run()
    with pytest.raises(NothingToExport, match="nothing is from 2 s to 1 s: the run ends at 1 s"):
        foreseen_octets(result, "pcapng", Selection((), 2000 * MS))
    write_result(result, tmp_path / "run")
    args = ("--as", "csv", "--out", tmp_path / "x", "--from", "500 ms", "--to", "100 ms")
    assert "nothing is from 0.5 s to 0.1 s" in refused(skycell("export", tmp_path / "run", *args))
