"""Specs that have moved are found, and the scenarios that were not resolved before or after."""

from collections.abc import Mapping
from itertools import islice

import pytest

from tests.docs.scripts import load_script

TOOL = load_script("spec_hashes")
BEFORE = {"examples/lan.toml": "a", "study: cell 1": "b c"}


@pytest.mark.parametrize(
    ("after", "moved"),
    [
        (BEFORE, []),
        ({**BEFORE, "study: cell 1": "b d"}, ["study: cell 1"]),
        ({"examples/lan.toml": "a"}, ["study: cell 1"]),
        ({**BEFORE, "study: cell 2": "e"}, ["study: cell 2"]),
    ],
)
def test_each_difference_is_printed(
    after: Mapping[str, str], moved: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert TOOL.compare(BEFORE, after) == bool(moved)
    *lines, _ = capsys.readouterr().out.splitlines()
    assert len(lines) == len(moved)
    assert all(line.startswith(f"{name}: ") for line, name in zip(lines, moved, strict=True))


def test_a_scenario_has_the_hash_of_its_spec() -> None:
    names, hashes = zip(*islice(TOOL.hashes(), 3), strict=True)
    assert all(name.startswith("examples/") for name in names)
    assert {len(found) for found in hashes} == {64}
