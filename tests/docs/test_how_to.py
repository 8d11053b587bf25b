"""Few places know a rule, as the pages on adding one say."""

import re
from pathlib import Path

import pytest

from tests.structure.tree import ROOT, files

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
        (r"\bLimitedSlowStart|\bmax_ssthresh\b", "crates/tcp/src/slow_start/mod.rs"),
    ],
)
def test_a_rule_is_known_in_few_places(knows: str, its_list: str) -> None:
    written = {
        "network.py",
        "parts.py",
        "policies.py",
        "framings.py",
        "tcp.py",
        "scenario.md",
        "README.md",
    }
    others = {Path(__file__).name}
    apart = {"how-to", "conformance", "studies", "pinned", "scenarios", "unit", "messages"}
    places = {
        str(path.relative_to(ROOT))
        for path in files(".rs", ".py", ".toml", ".txt", ".md", ".json")
        if path.name not in written | others
        and not apart & set(path.parts)
        and re.search(knows, f"{path.name}\n{path.read_text(encoding='utf-8')}")
    }
    assert its_list in places
    assert len(places) < MOST_FILES, places  # the changelog is the last
