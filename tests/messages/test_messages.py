"""Every fault message, as the exact text that a faulty file gives.

`scenario/TABLE.txt` has faulty files whose first fault is in that table, each with what is said
about it. After a change of the words, `make generate` writes them anew, for review.
"""

from pathlib import Path

import pytest

from skycell.scenario import ScenarioFaults, load, parse
from tests.messages.cases import Case, by_name, cases_of, reported

TABLES = sorted((Path(__file__).parent / "scenario").glob("*.txt"))


@pytest.mark.parametrize("case", by_name(TABLES))
def test_a_faulty_file_is_told_its_faults(case: Case) -> None:
    assert reported(parse, case) == case.reported


def test_each_case_has_a_name_of_its_own() -> None:
    names = [case.name for table in TABLES for case in cases_of(table)]
    assert len(set(names)) == len(names) > 0


def test_what_is_not_text_is_refused_by_its_octet(tmp_path: Path) -> None:
    file = tmp_path / "latin1.toml"
    file.write_bytes('# 5 µs\n[run]\nduration = "1 s"\n'.encode("latin-1"))
    with pytest.raises(ScenarioFaults) as faults:
        load(file)
    lines = str(faults.value).splitlines()
    assert lines == [
        f"{file}",
        "  got      the octet 0xb5",
        "  allowed  UTF-8 text",
        "1 fault; nothing was run.",
    ]
