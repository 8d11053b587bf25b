"""Published values: the files, their provenance and the doubts about them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skycell.studies import load_study
from skycell.studies import published as module
from skycell.studies.library import PUBLISHED_IDS, study_folder
from skycell.studies.model import Part, Study, Table
from skycell.studies.published import PublishedError, doubt_of, published_values

PARTS = [
    pytest.param(study, table, part, id=f"{table.id}-{part.column}")
    for study in map(load_study, PUBLISHED_IDS)
    for table in study.tables
    for part in table.parts
    if part.file is not None
]


@pytest.mark.parametrize(("study", "table", "part"), PARTS)
def test_every_published_number_has_its_factors(study: Study, table: Table, part: Part) -> None:
    values = published_values(study, part)
    assert values
    assert all(tuple(value.factors) == part.factors for value in values)
    assert len({tuple(value.factors.values()) for value in values}) == len(values)


@pytest.mark.parametrize("study_id", PUBLISHED_IDS)
def test_every_file_has_its_provenance_and_every_provenance_its_file(study_id: str) -> None:
    study = load_study(study_id)
    there = {entry.name for entry in (study_folder(study_id) / "published").iterdir()}
    assert there == {entry.file for entry in study.published}
    for entry in study.published:
        assert module.read_rows(study, entry.file)  # refuses a file of another digest
        assert entry.document
        assert entry.printed_as


def part_of(table_id: str, column: str) -> tuple[Study, Table, Part]:
    for study in map(load_study, PUBLISHED_IDS):
        for table in study.tables:
            for part in table.parts:
                if table.id == table_id and part.column == column:
                    return study, table, part
    raise AssertionError(f"no {column} in {table_id}")


def test_numbers_of_one_column_have_one_precision() -> None:
    # ICCCN'97 Table 3 prints SACK EPD 200000 as 0.6 beside 0.72: two digits are meant.
    study, _, part = part_of("icccn97-t3", "efficiency")
    values = published_values(study, part)
    assert {value.half_unit for value in values} == {0.005}
    sack = {v.factors["policy"]: v.value for v in values[:3]}
    assert sack == {"ubr": 0.86, "epd": 0.6, "sd": 0.72}


def test_levels_are_numbers_where_they_are_numbers() -> None:
    study, _, part = part_of("icccn97-t3", "efficiency")
    assert published_values(study, part)[0].factors == {
        "config": "geo",
        "n_sources": 5,
        "buffer_cells": 200000,
        "tcp": "sack",
        "policy": "ubr",
    }


def test_numbers_that_are_lost_in_print_stay_empty() -> None:
    study, _, part = part_of("atmf960518-t1", "throughput_mbps")
    lost = [value for value in published_values(study, part) if value.value is None]
    assert len(lost) == 8


def test_a_suspect_number_shows_why_and_what_it_likely_is() -> None:
    study, table, part = part_of("atmf960518-t1", "throughput_mbps")
    (suspect,) = [value for value in published_values(study, part) if value.is_suspect]
    assert suspect.value == 1.9417
    assert suspect.likely == 19.417
    doubt = doubt_of(study, table, part, suspect)
    assert "total needs 19.417" in doubt
    assert "likely 19.417" in doubt
    assert "18000000 in the text" in doubt


def test_copies_that_differ_are_shown_with_the_number_they_belong_to() -> None:
    study, table, part = part_of("icccn97-t3", "efficiency")
    with_doubt = {
        (v.factors["tcp"], v.factors["buffer_cells"], v.factors["policy"])
        for v in published_values(study, part)
        if doubt_of(study, table, part, v)
    }
    assert with_doubt == {
        ("reno", 200000, "ubr"),
        ("reno", 600000, "ubr"),
        ("sack", 600000, "epd"),
        ("sack", 600000, "sd"),
    }


@contextmanager
def changed_copy(study: Study, file: str, tmp: Path) -> Iterator[None]:
    folder = tmp / study.id
    (folder / "published").mkdir(parents=True)
    original = (study_folder(study.id) / "published" / file).read_bytes()
    (folder / "published" / file).write_bytes(original.replace(b"0.86", b"0.87"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "study_folder", lambda _: folder)
        yield


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    study, _, part = part_of("icccn97-t3", "efficiency")
    file = str(part.file)
    message = r"icccn97/published/icccn97-t3-geo-efficiency\.csv: differs from the file whose prov"
    with changed_copy(study, file, tmp_path), pytest.raises(PublishedError, match=message):
        published_values(study, part)
