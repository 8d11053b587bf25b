"""`skycell orbit` as it is called."""

import json
import os
from pathlib import Path

import polars as pl
import pytest
from click.testing import Result

from tests.unit.cli.calling import skycell

SKY = "jsac98-6x11"


def call(*arguments: str) -> Result:
    return skycell("orbit", *arguments)


def test_a_table_goes_to_files_and_not_over_others(tmp_path: Path) -> None:
    csv_file, parquet = tmp_path / "t.csv", tmp_path / "t.parquet"
    files = ["--csv", str(csv_file), "--parquet", str(parquet)]
    assert call("table", "jsac98-6x11", "new_york", "tokyo", *files).exit_code == 0
    rows = pl.read_csv(csv_file)
    assert rows.shape == (4, 6)
    assert rows["delay_ps"].to_list() == pl.read_parquet(parquet)["delay_ps"].to_list()
    again = call("table", "jsac98-6x11", "new_york", "tokyo", *files)
    assert again.exit_code == 2
    assert "--force replaces it" in again.output


def test_a_pipe_is_not_replaced_by_a_table(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reported = call("table", "jsac98-6x11", "rome", "lima", "--csv", str(pipe), "--force")
    assert (reported.exit_code, reported.stdout) == (2, "")
    assert f"{pipe} cannot be written: it is a device or a pipe, not a file" in reported.stderr
    assert pipe.is_fifo()


def test_a_series_tells_delays_and_handovers(tmp_path: Path) -> None:
    common = ["series", "jsac98-6x11", "--pair", "new_york", "tokyo", "--duration", "100 s"]
    reported = json.loads(call(*common, "--json").stdout)
    (pair,) = reported["pairs"]
    assert len(pair["delays_ps"]) == reported["steps"] == 101
    assert [change["what"] for change in pair["handovers"]] == ["down", "up"]
    for kind, columns in (
        ("delays", ["from", "to", "time_ps", "delay_ps", "satellites"]),
        ("paths", ["from", "to", "start_ps", "end_ps", "satellites", "path", "missing"]),
        ("links", ["from", "to", "time_ps", "link", "source", "target", "delay_ps"]),
    ):
        file = tmp_path / f"{kind}.csv"
        assert call(*common, "--rows", kind, "--csv", str(file)).exit_code == 0
        assert pl.read_csv(file).columns == columns


def test_pairs_and_places_come_from_files(tmp_path: Path) -> None:
    places = tmp_path / "places.csv"
    places.write_text("name,latitude_deg,longitude_deg\nhut,46.5,8.0\n", encoding="utf-8")
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("from,to\nhut,tokyo\ntokyo,hut\n", encoding="utf-8")
    files = ["--places", str(places), "--pairs", str(pairs)]
    result = call("series", "iridium-like", *files, "--duration", "60 s", "--json")
    assert [pair["from"] for pair in json.loads(result.stdout)["pairs"]] == ["hut", "tokyo"]


def test_positions_are_told_as_json() -> None:
    rows = json.loads(call("globe", "geo-ring", "--json").stdout)
    assert [row["satellite"] for row in rows] == ["slot-1", "slot-2", "slot-3"]
    assert rows[0]["x_km"] == 42164.0


def test_pairs_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    series = ("orbit", "series", "iridium-like", "--duration", "1 s", "--pairs", file)
    file.write_text("from,\x1b[31m\nTokyo,London\n", encoding="utf-8")
    reported = skycell(*series)
    assert reported.exit_code == 2
    assert '  got      "from", "\\u001b[31m"\n' in reported.stderr
    file.write_text(f"from,to\nTokyo,{'x' * 200_000}\n", encoding="utf-8")
    reported = skycell(*series)
    assert reported.exit_code == 2
    assert f"{file}\n  got      field larger than field limit (131072)\n" in reported.stderr


CAPE_TOWN = "-33.9,18.4"


@pytest.mark.parametrize(
    "arguments",
    [
        ["path", SKY, CAPE_TOWN, "-1.3,36.8"],
        ["table", SKY, CAPE_TOWN, "london"],
        ["look", SKY, CAPE_TOWN],
        ["look", SKY, "--duration", "1 min", CAPE_TOWN, "--step", "30 s"],
        ["passes", SKY, CAPE_TOWN, "--duration", "10 min"],
        ["series", SKY, "--pair", CAPE_TOWN, "london", "--duration", "10 s"],
        ["globe", SKY, CAPE_TOWN, "london"],
    ],
)
def test_a_place_of_the_south_is_no_option(arguments: list[str]) -> None:
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.output
    assert '" -33' not in result.stdout
