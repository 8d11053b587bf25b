"""One word for one thing: words that were left stay out of identifiers."""

import io
import re
import tokenize
from collections import Counter
from pathlib import Path

import pytest

from tests.structure.tree import ROOT, files

LEFT = {
    "gathered": "collector, ErrorCollector",
    "look_over": "validate",
    "leaf": "value type",
    "making": "options",
    "stand_in": "nothing: faults come in two stages",
    "may_have": "nothing: faults come in two stages",
    "painter": "render worker",
    "painters": "render workers",
    "letters": "text metrics",
    "thin": "decimate, decimation",
    "firm": "agreement",
    "firmness": "agreement",
    "told": "reported, message",
    "tell": "report, message",
    "frame_gap": "frame_jitter, port_gap",
    "sweeps": "experiment",
}
"""Words that are left, each with what came in its place."""

KEPT = {"frame_gap_ps"}
"""Of the form of a spec, which both engines read."""

FOLDERS = ("python", "tests", "tools", "benches")


def left_in(name: str) -> str | None:
    """A word that was left and is a part of a name; tests are called by sentences."""
    if name.startswith("test_") or name in KEPT:
        return None
    words = "_".join(word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name))
    return next((left for left in LEFT if f"_{left}_" in f"_{words}_"), None)


def identifiers(source: str) -> set[str]:
    """All names of a module."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME}


@pytest.mark.parametrize("folder", FOLDERS)
def test_words_that_were_left_are_in_no_identifier(folder: str) -> None:
    found: Counter[str] = Counter()
    for path in files(".py", under=ROOT / folder):
        names = {*identifiers(path.read_text(encoding="utf-8")), *path.with_suffix("").parts[-2:]}
        found.update(f"{path.name}: {name}" for name in names if left_in(name))
    assert not found, f"{sorted(found)}: {LEFT}"


@pytest.mark.parametrize(
    ("name", "is_left"),
    [
        ("told", True),
        ("_told_of_choices", True),
        ("LookOver", True),
        ("Leaf", True),
        ("leaf_of", True),
        ("thinner", False),
        ("test_what_is_told", False),
        ("frame_gap_ps", False),
        ("frame_gap", True),
        (Path("a/stand_ins.py").stem, False),
        ("stand_in", True),
    ],
)
def test_a_word_is_found_as_a_part_of_a_name(name: str, is_left: bool) -> None:
    assert (left_in(name) is not None) == is_left
