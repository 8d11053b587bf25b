"""The page of published items names ids that exist, and every table of a published study."""

import re
from pathlib import Path

from skycell.studies.library import PUBLISHED_IDS, STUDY_IDS, known_ids, load_study

PAGE = Path(__file__).parents[2] / "docs/reference/published-items.md"
ROW = re.compile(r"^\|.*\|(?P<ids>[^|]*)\|$", re.MULTILINE)
NAME = re.compile(r"`([a-z0-9-]+)`")


def named() -> set[str]:
    """The ids in the last column of the page's tables."""
    text = PAGE.read_text(encoding="utf-8")
    return {name for row in ROW.finditer(text) for name in NAME.findall(row["ids"])}


def rows() -> list[str]:
    """The last columns of the page's rows, heads and rules left out."""
    last = [row["ids"].strip() for row in ROW.finditer(PAGE.read_text(encoding="utf-8"))]
    return [ids for ids in last if ids != "id" and set(ids) != {"-"}]


def test_every_item_has_an_id_or_a_reason() -> None:
    assert len(rows()) > 80
    without = [ids for ids in rows() if not NAME.search(ids)]
    assert [ids for ids in without if not re.match(r"none: \w+", ids)] == []


def test_every_id_that_is_named_exists() -> None:
    studies = [load_study(study) for study in STUDY_IDS]
    drawn = {figure.id for study in studies for figure in study.figures}
    traced = {figure.id for study in studies for figure in study.traced}
    assert named() - {*known_ids(), *drawn, *traced} == set()


def test_every_table_of_a_published_study_is_there() -> None:
    tables = {table.id for study in map(load_study, PUBLISHED_IDS) for table in study.tables}
    assert tables - named() == set()
