"""The how-to of a TCP rule names every place there is, and what it says of them is so."""

import re
from pathlib import Path

from tests.docs.pages import DOCS, blocks
from tests.structure.tree import ROOT, files
from tests.tcp_keys import RULES

PAGE = DOCS / "how-to" / "add-a-tcp-rule.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLE = "limited"
MOST_FILES = 6
"""Files that a rule may touch, generated ones not counted; the changelog is one of them."""


def test_the_example_is_known_in_few_places() -> None:
    assert EXAMPLE in RULES["slow_start"]
    knows = re.compile(r"\bLimitedSlowStart|\bmax_ssthresh\b")
    places = {
        str(path.relative_to(ROOT))
        for part in ("crates", "python/skycell/scenario", "tests", "benches", "docs/reference")
        for path in files(".rs", ".py", ".md", under=ROOT / part)
        if "declared" not in path.parts and knows.search(path.read_text(encoding="utf-8"))
    }
    places -= {"docs/reference/scenario.md", str(Path(__file__).relative_to(ROOT))}
    assert len(places) < MOST_FILES, places


def test_files_that_the_page_names_exist() -> None:
    named = re.findall(r"`((?:crates|python|tests|docs|benches)/[\w./-]+|[\w-]+\.toml)`", TEXT)
    assert [name for name in named if not (ROOT / name).exists()] == []
    links = re.findall(r"\]\(([\w./-]+)\)", TEXT)
    assert [link for link in links if not (PAGE.parent / link).exists()] == []


def test_tests_that_the_page_names_exist() -> None:
    named = re.findall(r"`((?:every|test)_\w+)`", TEXT)
    code = "".join(
        path.read_text(encoding="utf-8")
        for part in ("crates", "tests")
        for path in files(".rs", ".py", under=ROOT / part)
    )
    assert len(named) == 2
    assert [name for name in named if not re.search(rf"(fn|def) {name}\(", code)] == []


def test_the_declarations_of_the_page_are_those_of_the_code() -> None:
    folder = ROOT / "crates" / "tcp" / "src" / "slow_start"
    code = "".join((folder / name).read_text(encoding="utf-8") for name in ("limited.rs", "mod.rs"))
    declarations = [block.text for block in blocks(PAGE) if "LimitedSlowStartSpec" in block.text]
    assert len(declarations) == 2
    assert [text for text in declarations if text.strip("\n") not in code] == []
