"""Every fault message, as the exact text that a faulty file gives.

Each `cases/NAME.toml` is faulty; `cases/NAME.txt` is what is said about it. After a change of the
words, `make generate` writes the texts anew, for review.
"""

from pathlib import Path

import pytest

from skycell.scenario import ScenarioFaults, load, parse

CASES = Path(__file__).parent / "cases"


def told(case: Path) -> str:
    """What is said about a faulty file."""
    with pytest.raises(ScenarioFaults) as faults:
        parse(case.read_text(encoding="utf-8"), case.name)
    return f"{faults.value}\n"


@pytest.mark.parametrize("case", sorted(CASES.glob("*.toml")), ids=lambda case: case.stem)
def test_a_faulty_file_is_told_its_faults(case: Path) -> None:
    assert told(case) == case.with_suffix(".txt").read_text(encoding="utf-8")


def test_no_text_is_left_of_a_case_that_is_gone() -> None:
    cases = {case.stem for case in CASES.glob("*.toml")}
    assert {text.stem for text in CASES.glob("*.txt")} == cases


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
