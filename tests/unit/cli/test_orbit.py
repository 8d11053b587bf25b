"""`skycell orbit` as it is called."""

import json
import os
from pathlib import Path

import polars as pl
import pytest
from click.testing import Result

from tests.unit.cli.calling import reported_together, skycell

SKY, ENDS = "jsac98-6x11", ("new_york", "tokyo")
PAIR = (SKY, *ENDS)


def call(*arguments: str) -> Result:
    return skycell("orbit", *arguments)


def test_the_path_of_the_paper_is_shown_link_by_link() -> None:
    result = call("path", "jsac98-6x11", "los_angeles", "london", "--json")
    reported = json.loads(result.stdout)
    assert [round(link["delay_ps"] / 1e9, 1) for link in reported["links"]] == [
        5.9,
        13.4,
        13.4,
        13.4,
        7.8,
        13.4,
        9.6,
        6.2,
    ]
    assert reported["shortest"]["delay_ps"] < reported["delay_ps"]
    assert (reported["left_out"], reported["left_out_count"], reported["notes"]) == ([], 0, [])
    text = call("path", "jsac98-6x11", "los_angeles", "london").output
    assert "83.292" in text
    assert "The shortest route takes 51.565 ms over 5 satellites." in text


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


def test_files_that_cannot_be_written_are_refused_before_anything_is_computed(
    tmp_path: Path,
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("mine", encoding="utf-8")
    rows, picture = in_the_way / "a.csv", in_the_way / "a.html"
    reported = call("globe", "none", "--csv", str(rows), "--out", str(picture))
    assert (reported.exit_code, reported.stdout) == (2, "")
    for file in (rows, picture):
        assert f"{file} cannot be written: {in_the_way} is a file" in " ".join(
            reported.stderr.split()
        )


def test_a_pipe_is_not_replaced_by_a_table(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reported = call("table", "jsac98-6x11", "rome", "lima", "--csv", str(pipe), "--force")
    assert (reported.exit_code, reported.stdout) == (2, "")
    assert f"{pipe} cannot be written: it is a device or a pipe, not a file" in reported.stderr
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (
            ["series", "nowhere", "--pair", "x", "y", "--step", "0 s", "--plot", "a.gif"],
            [
                "Invalid value for '--plot'",
                "Invalid value for '--step'",
                "'nowhere' is neither a file",
            ],
        ),
        (
            ["globe", "nowhere", "x", "y", "--view", "here", "--every", "2000 h", "--frames", "3"],
            [
                "Invalid value for '--every'",
                "Invalid value for '--view'",
                "'nowhere' is neither a file",
            ],
        ),
        (["path", "nowhere", "x", "y"], ["'nowhere' is neither a file"]),
        (["table", "nowhere", "x", "y"], ["'nowhere' is neither a file"]),
    ],
)
def test_what_a_command_computes_from_has_its_faults_told_together(
    arguments: list[str], reported: list[str], tmp_path: Path
) -> None:
    (tmp_path / "there.csv").touch()
    found = call(*arguments, "--csv", str(tmp_path / "there.csv"), "--json")
    assert (found.exit_code, found.stdout) == (2, "")
    lines = [line for line in found.stderr.splitlines() if not line.startswith("  ")]
    expected = [
        *reported[:-1],
        f"{tmp_path / 'there.csv'} exists already",
        reported[-1],
        "places",
        "places",
    ]
    assert len(lines) == len(expected) + 1
    assert all(line.startswith(begin) for line, begin in zip(lines, expected, strict=False)), lines


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (
            ["series", "nowhere", "--pairs", "pairs.csv", "--at", "3", "--step", "0 s"],
            ["No such option '--at'", "Invalid value for '--step'", "'nowhere' is ne", "pairs.c"],
        ),
        (
            ["series", "nowhere", "--places", ".", "--duration", "1", "--plot", "a.gif"],
            [
                "Invalid value for '--duration'",
                "Invalid value for '--plot'",
                "name a pair of places",
                "'nowhere' is neither a file",
                ".: Is a directory",
            ],
        ),
        (
            ["globe", "nowhere", "x", "--at", "5", "--view", "here"],
            [
                "Invalid value for '--at'",
                "give at least one of --out",
                "Invalid value for '--view'",
                "'nowhere' is neither a file",
                "places",
            ],
        ),
        (
            ["globe", "nowhere", "--out", "a.gif"],
            ["Invalid value for '--out': a.gif", "'nowhere' is neither a file"],
        ),
        (
            ["table", "nowhere", "x", "--at", "5", "--csv", "pairs.csv"],
            [
                "Invalid value for '--at'",
                "pairs.csv exists",
                "'nowhere' is neither a file",
                "places",
            ],
        ),
        (
            ["path", "nowhere", "x"],
            ["Missing argument 'TO'", "'nowhere' is neither a file", "places"],
        ),
    ],
)
def test_faults_of_options_and_of_what_they_name_come_together(
    arguments: list[str], reported: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.csv").touch()
    reported_together(call(*arguments), *reported)


def test_a_pair_without_an_end_is_named_by_its_line(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("from,to\nrome,lima\n,rome\nlima\n", encoding="utf-8")
    reported = call("series", SKY, "--pairs", str(file))
    assert reported.exit_code == 2
    assert reported.stderr.startswith(
        f"{file}:3: from\n  got      nothing\n  allowed  a built-in city"
    )
    assert f"{file}:4: to\n  got      nothing\n" in reported.stderr
    assert reported.stderr.endswith("\n2 faults; nothing was run.\n")


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


def test_constellations_and_cities_are_listed() -> None:
    assert "starlink-like" in call("list").output
    assert "stated: Table 2" in call("list", "jsac98-6x11").output
    assert json.loads(call("list", "--cities", "--json").stdout)["tokyo"] == [35.69, 139.69]
    assert "no constellation is called 'jsac'" in call("list", "jsac").stderr
    for several in (["geo-ring", "--cities"], ["--cities", "--markdown"], ["--markdown", "--json"]):
        reported = call("list", *several)
        assert (reported.exit_code, reported.stdout) == (2, "")
        assert "exclude each other" in reported.stderr


def test_there_being_no_path_ends_with_1_and_says_why() -> None:
    result = call("path", "o3b-like", "new_york", "tokyo")
    assert result.exit_code == 1
    assert "No path: the satellites at both ends are not connected." in result.output


def test_faulty_input_ends_with_2_and_says_what_is_allowed() -> None:
    for arguments, message in (
        (["path", "iridum-like", "paris", "rome"], "Did you mean 'iridium-like'?"),
        (["path", "iridium-like", "paris", "rom"], "did you mean rome?"),
        (["path", "iridium-like", "paris", "rome", "--at", "5"], "the unit is missing"),
        (["path", "iridium-like", "paris", "rome", "--set", "route=x"], '"shortest" or "greedy"'),
        (["path", "starlink-like", "paris", "longyearbyen"], "up to 61.5 deg"),
        (["series", "iridium-like"], "--pair FROM TO"),
        (["series", "iridium-like", "--pair", "rome", "lima", "--step", "0 s"], "above 0"),
        (["globe", "iridium-like"], "give at least one of --out"),
    ):
        result = call(*arguments)
        assert (result.exit_code, message in result.output) == (2, True), result.output


def test_a_key_that_is_set_twice_is_told_beside_a_faulty_value() -> None:
    twice = ("--set", "route=shortest", "--set", "route=greedy", "--set", "links.nonsense=1")
    reported = call("path", "iridium-like", "paris", "rome", *twice)
    assert reported.exit_code == 2
    assert "  got      route=shortest and route=greedy\n  allowed  each key once" in reported.stderr
    assert "links.nonsense" in reported.stderr
    assert reported.stderr.endswith("2 faults; nothing was run.\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["path", *PAIR, "--at", "1e9 h"],
            "'--at': '1e9 h': must be a time from 0 s to 2 400 h, ",
        ),
        (
            ["series", SKY, "--pair", *ENDS, "--start", "1e9 h"],
            "'--start': '1e9 h': must be a ti",
        ),
        (["series", SKY, "--pair", *ENDS, "--step", "1 ns"], "600000000001 delays at 600000000001"),
        (["series", SKY, "--pair", *ENDS, "--plot", "x.bmp"], "'--plot': x.bmp: a figure is writt"),
        (
            ["globe", SKY, "--json", "--frames", "3", "--every", "2000 h"],
            "the last moment is 4 000 h",
        ),
        (
            ["table", SKY, *ENDS, "--csv", "x", "--parquet", "x"],
            "x is named for two things; each n",
        ),
        (["table", SKY, *ENDS, "--csv", ""], "'--csv': a name is missing"),
        (
            ["table", SKY, "--places", "nowhere.csv"],
            "Error: nowhere.csv: No such file or dir",
        ),
        (
            ["series", SKY, "--pairs", "nowhere.csv"],
            "Error: nowhere.csv: No such file or dir",
        ),
        (["path", ".", *ENDS], "'.' is neither a file nor a const"),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    reported = call(*arguments)
    assert (reported.exit_code, reported.stdout) == (2, "")
    assert message in reported.stderr
    assert list(tmp_path.iterdir()) == []


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


def test_a_table_without_places_has_those_of_the_constellation(tmp_path: Path) -> None:
    (tmp_path / "places.csv").write_text(
        "name,latitude_deg,longitude_deg\nhere,10,20\nthere,30,40\n"
    )
    file = tmp_path / "own.toml"
    file.write_text('preset = "iridium-like"\n[ground]\nplaces = "places.csv"\n')
    shown = call("table", str(file))
    assert shown.exit_code == 0, shown.output
    assert "there" in shown.output
    assert "tokyo" not in shown.output
    usual = call("table", "iridium-like")
    assert "tokyo" in usual.output


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


def test_an_unknown_option_beside_a_place_of_the_south_is_reported() -> None:
    result = call("path", SKY, CAPE_TOWN, "nowhere", "-3", "--json")
    assert result.exit_code == 2
    assert "No such option '-3'" in result.stderr
    assert '"nowhere"' in result.stderr
