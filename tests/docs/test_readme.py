"""The pages that tell how every study reproduces, and the script that writes them."""

import json
from pathlib import Path
from typing import Any

import pytest

from skycell.studies.library import PUBLISHED_IDS, load_study
from tests.docs.scripts import load_script
from tests.structure.tree import ROOT

script = load_script("readme_results")


def row(**values: Any) -> dict[str, Any]:
    plain = {
        "table": "icccn97-t3",
        "unit": "1",
        "published": 0.60,
        "mean": 0.70,
        "verdict": "near",
        "average": False,
        "suspect": False,
    }
    return plain | values


def conclusion(
    published: bool | None, ours: bool | None, holding: int | None, replications: int | None
) -> dict[str, Any]:
    return {
        "study": "icccn97",
        "published_holds": published,
        "ours_holds": ours,
        "replications_holding": holding,
        "replications": replications,
    }


RESULT: dict[str, Any] = {
    "version": "0.1.0+abc",
    "seed": 1,
    "replications": {"icccn97": 5},
    "rows": [
        row(),
        row(mean=0.62, verdict="inside"),
        row(mean=0.90, verdict="off"),
        row(suspect=True, verdict="off"),
        row(average=True),
        row(table="icccn97-t4", published=None, verdict="unpublished"),
    ],
    "conclusions": [
        conclusion(True, True, 4, 5),
        conclusion(True, False, 0, 5),
        conclusion(None, True, 5, 5),
        conclusion(True, None, None, None),
        conclusion(True, True, None, None),
    ],
}


def test_verdicts_are_counted_and_doubtful_print_and_averages_are_left_out() -> None:
    text = script.tables(RESULT)
    # |0.70 - 0.60|, |0.62 - 0.60|, |0.90 - 0.60|: 0.42 / 3 = 0.14.
    assert (
        "| ICCCN'97, Table 3: three TCPs over a geostationary link: efficiency "
        "| 3 | 1 | 1 | 1 | 0.140 | 1 doubtful, 1 averages |"
    ) in text.splitlines()
    assert any("Table 4" in line and "1 without a number" in line for line in text.splitlines())
    assert (
        "Of 3 numbered conclusions that hold in print, 2 hold in ours. Every single replication "
        "agrees on 0 of 1 that hold and on 1 of 1 that do not. skycell 0.1.0"
    ) in text
    assert "skycell 0.1.0, 5 replications" in text
    both = script.tables(RESULT | {"replications": {"icccn97": 5, "jsac98": 1}})
    assert "skycell 0.1.0, 1 or 5 replications" in both


def test_an_error_over_several_units_is_not_averaged() -> None:
    rows = [row(), row(unit="Mbit/s", published=10.0, mean=12.0)]
    assert "| 2 | 0 | 2 | 0 |  |  |" in script.tables(RESULT | {"rows": rows})
    rows = [row(unit="Mbit/s", published=10.0, mean=12.0)]
    assert "| 1 | 0 | 1 | 0 | 2.0 Mbit/s |  |" in script.tables(RESULT | {"rows": rows})


def test_a_line_a_study_counts_what_its_tables_count_and_what_print_does_not_refute() -> None:
    refuted = [*RESULT["conclusions"], conclusion(False, False, 0, 5)]
    text = script.overview(RESULT | {"conclusions": refuted})
    (line,) = [line for line in text.splitlines() if line.startswith("| [icccn97](")]
    # Four that ours decides; the one that its own print refutes is not asked for.
    assert line.endswith(" | 1 inside, 1 near, 1 off | 3 of 4 |")
    (line,) = [line for line in text.splitlines() if line.startswith("| [jsac98](")]
    assert line.endswith(" | none | 0 of 0 |")


def test_a_page_gets_its_part_between_its_marks_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = tmp_path / "result.json"
    result.write_text(json.dumps(RESULT), encoding="utf-8")
    reported = dict(script.pages(RESULT))
    for name in reported:
        page = tmp_path / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"before\n{script.BEGIN}\nold\n{script.END}\nafter\n", encoding="utf-8")
    monkeypatch.setattr(script, "ROOT", tmp_path)
    assert script.main([str(result)]) == 0
    for name, text in reported.items():
        written = (tmp_path / name).read_text(encoding="utf-8")
        assert written == f"before\n{script.BEGIN}\n{text}\n{script.END}\nafter\n"
    with pytest.raises(ValueError, match="no marks"):
        script.replaced("no marks here", "text")
    assert script.main([]) == 2


def part_of(page: Path) -> str:
    """What stands between a page's marks."""
    return page.read_text(encoding="utf-8").partition(script.BEGIN)[2].partition(script.END)[0]


def test_the_page_of_results_has_every_table_of_every_published_study_once() -> None:
    block = part_of(ROOT / "docs" / "results.md")
    for study in map(load_study, PUBLISHED_IDS):
        for table in study.tables:
            assert block.count(f"| {table.printed_as}: {table.title} |") == 1
    assert "failed" not in block
