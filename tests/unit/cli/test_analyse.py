"""`skycell analyse` on tables, and what it says when it cannot."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.calling import refused, skycell


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "runs.csv"
    lines = [
        "site,tcp,speed",
        *(
            f"{s},{t},{v}"
            for s, t, v in [
                ("a", "reno", 1.0),
                ("a", "sack", 2.0),
                ("a", "reno", 1.1),
                ("a", "sack", 2.1),
                ("b", "reno", 9.0),
                ("b", "sack", 9.0),
                ("b", "reno", 8.0),
                ("b", "sack", 8.0),
            ]
        ),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_rows_are_chosen_by_a_column(table: Path) -> None:
    common = ("--factor", "tcp", "--response", "speed", "--json")
    reported = json.loads(skycell("analyse", table, "--where", "site=a", *common).stdout)
    assert reported["analyses"][0]["runs"] == 4
    assert reported["analyses"][0]["mean"]["value"] == pytest.approx(1.55)


def test_a_parquet_file_is_a_table_too(table: Path, tmp_path: Path) -> None:
    import polars as pl

    pl.read_csv(table).write_parquet(tmp_path / "runs.parquet")
    common = ("--factor", "tcp", "--factor", "site", "--response", "speed", "--json")
    other = skycell("analyse", tmp_path / "runs.parquet", *common)
    assert other.exit_code == 0, other.output
    assert json.loads(other.stdout) == json.loads(skycell("analyse", table, *common).stdout)


def test_a_row_that_is_longer_than_the_header_is_named(tmp_path: Path) -> None:
    for separator, name in ((",", "long.csv"), ("\t", "long.tsv")):
        rows = (("tcp", "speed"), ("reno", "1"), ("sack", "2", "3"))
        (tmp_path / name).write_text("\n".join(map(separator.join, rows)))
        reported = refused(skycell("analyse", name))
        assert (
            reported
            == f"Error: {name} cannot be read as a table: line 3 has 3 fields, the header 2"
        )


@pytest.mark.parametrize(
    ("line", "rows"), [(2, '"reno,1\nsack,2'), (3, 'reno,1\n"sa"ck,2'), (4, 'reno,1\n\n"sack,2')]
)
def test_a_quotation_mark_without_its_like_is_told_with_its_line(
    tmp_path: Path, line: int, rows: str
) -> None:
    (tmp_path / "runs.csv").write_text(f"tcp,speed\n{rows}\n")
    reported = refused(skycell("analyse", "runs.csv"))
    why = f"a field of line {line} begins with a quotation mark and does not end with one"
    assert reported == f"Error: runs.csv cannot be read as a table: {why}"


@pytest.mark.parametrize(
    ("name", "own", "found"),
    [("runs.csv", ",", ";"), ("runs.csv", ",", "\t"), ("runs.tsv", "\t", ",")],
)
def test_columns_separated_by_another_sign_are_told(
    tmp_path: Path, name: str, own: str, found: str
) -> None:
    (tmp_path / name).write_text(f"tcp{found}speed\nreno{found}1\nsack{found}2\n")
    reported = refused(skycell("analyse", name, "--factor", "tcp", "--response", "speed"))
    header = f"tcp{found}speed"
    why = f"its header has one column, {header!r}; columns are separated by {own!r}, not {found!r}"
    assert reported == f"Error: {name} cannot be read as a table: {why}"


@pytest.mark.parametrize(("separator", "name"), [(",", "runs.csv"), ("\t", "runs.tsv")])
def test_a_column_that_is_there_twice_is_refused(tmp_path: Path, separator: str, name: str) -> None:
    rows = (("tcp", "speed", "tcp", "speed", "site"), ("reno", "1", "sack", "2", "a"))
    (tmp_path / name).write_text("\n".join(map(separator.join, rows)))
    reported = refused(skycell("analyse", name, "--factor", "tcp", "--response", "speed"))
    why = "its header has tcp, speed more than once"
    assert reported == f"Error: {name} cannot be read as a table: {why}"


def test_a_row_that_is_left_out_keeps_no_other_from_being_a_number(table: Path) -> None:
    table.write_text("site,tcp,speed\na,reno,1\nb,reno,n/a\na,sack,2\na,sack,4\nb,sack,3\n")
    asked = ("--factor", "tcp", "--response", "speed")
    left = skycell("analyse", table, *asked, "--where", "site=a")
    assert left.exit_code == 0
    assert "tcp: 3 with sack, 1 with reno" in left.output
    for where in ((), ("--where", "site=b")):
        reported = refused(skycell("analyse", table, *asked, *where))
        assert reported == "Error: speed is 'n/a' in row 2, which is not a number"


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_text("no table")
    assert "cannot be read as a table" in skycell("analyse", "bad.parquet").stderr
