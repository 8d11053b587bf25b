"""The how-to of a TCP rule names every place there is, and what it says of them is so."""

import re
from pathlib import Path

from skycell.scenario.declared.tcp import Tcp
from tests.docs.pages import DOCS, blocks
from tests.structure.tree import ROOT, files

PAGE = DOCS / "how-to" / "add-a-tcp-rule.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLE = "slow_start"
MOST_FILES = 4
"""Files that a key may touch, generated ones not counted; the changelog is one of them."""


def test_the_example_is_known_in_few_places() -> None:
    assert EXAMPLE in Tcp.model_fields
    knows = re.compile(r"\bSlowStart\b|`slow_start`|tcp\.slow_start\b")
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


def test_the_declaration_of_the_page_is_that_of_the_code() -> None:
    code = (ROOT / "crates" / "tcp" / "src" / "spec.rs").read_text(encoding="utf-8")
    reported = [
        block.text for block in blocks(PAGE) if EXAMPLE in block.text or "enum" in block.text
    ]
    declarations = [text for text in reported if "skycell run" not in text]
    assert len(declarations) == 2
    assert [text for text in declarations if text.strip("\n") not in code] == []
