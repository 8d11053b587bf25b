"""The how-to of a buffer policy names every place there is, and what it says of them is so."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, blocks
from tests.structure.tree import ROOT, files

PAGE = DOCS / "how-to" / "add-a-buffer-policy.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLE = "vc_quota"
MOST_FILES = 6
"""Files that a rule may touch, generated ones not counted."""


@pytest.mark.parametrize(
    ("knows", "its_list"),
    [
        # Each stands for those that no study, figure or other rule speaks of.
        (r"dynamic[_-]epd|DynamicEpd", "crates/switch/src/buffer/mod.rs"),
        (r"sts12c|Sts12c", "crates/framing/src/lib.rs"),
        (
            r"(?m)ServiceTrace|TraceKind::Service|traces\.service|^    Service,$",
            "crates/records/src/traces.rs",
        ),
    ],
)
def test_a_rule_is_known_in_few_places(knows: str, its_list: str) -> None:
    written = {"network.py", "parts.py", "policies.py", "framings.py", "scenario.md", "README.md"}
    others = {Path(__file__).name}
    apart = {"conformance", "studies", "pinned", "scenarios", "unit", "messages"}
    places = {
        str(path.relative_to(ROOT))
        for path in files(".rs", ".py", ".toml", ".txt", ".md", ".json")
        if path.name not in written | others
        and not apart & set(path.parts)
        and re.search(knows, f"{path.name}\n{path.read_text(encoding='utf-8')}")
    }
    assert its_list in places
    assert len(places) < MOST_FILES, places  # the changelog is the last


def test_files_that_the_page_names_exist_but_for_the_new_one() -> None:
    named = re.findall(r"`((?:crates|python|tests|docs)/[\w./-]+)`", TEXT)
    assert [name for name in named if not (ROOT / name).exists()] == [
        f"crates/switch/src/buffer/{EXAMPLE}.rs"
    ]


def test_the_rule_of_the_page_is_in_the_agreed_format() -> None:
    rule = next(block.text for block in blocks(PAGE) if block.text.startswith("//! A quota"))
    formatted = subprocess.run(
        ["rustfmt", "--edition", "2024", "--emit", "stdout"],
        input=rule,
        capture_output=True,
        text=True,
        check=True,
    )
    assert formatted.stdout == rule


def test_the_example_is_nobodys_policy() -> None:
    assert EXAMPLE not in (ROOT / "crates/switch/src/buffer/mod.rs").read_text(encoding="utf-8")
