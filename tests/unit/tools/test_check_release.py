"""What a release needs: one version, one date, and a changelog that tells of changed results."""

import pytest

from tests.docs.scripts import load_script

script = load_script("check_release")
changed_results, problems, Tree = script.changed_results, script.problems, script.Tree

BEFORE = "# Changelog\n\n## 0.1.0 (2026-10-01)\n\n### Changed results\n\n- a\n\n### Added\n\n- b\n"
CHANGELOG = BEFORE.replace(
    "## 0.1.0",
    "## 0.2.0 (2026-11-29)\n\n### Changed results\n\n- c\n\n### Added\n\n- d\n\n## 0.1.0",
)
CARGO = '[workspace.package]\nversion = "0.2.0"\n[dependencies]\nrand = { version = "0.9" }\n'
CITATION = 'version: 0.2.0\ndate-released: "2026-11-29"\n'
TRACE = ["conformance/red/cwnd.csv"]


def test_what_is_said_of_changed_results_is_that_of_the_newest_version() -> None:
    assert changed_results(CHANGELOG) == "- c"
    assert changed_results(BEFORE.replace("### Changed results", "### Fixed")) == ""


def test_a_whole_release_lacks_nothing() -> None:
    assert problems(TRACE, BEFORE, Tree(CARGO, CHANGELOG, CITATION)) == []


@pytest.mark.parametrize(
    ("tree", "named"),
    [
        (Tree(CARGO.replace('"0.2.0"', '"0.3.0"'), CHANGELOG, CITATION), ["CHANGELOG", "CITATION"]),
        (Tree(CARGO, CHANGELOG, CITATION.replace("version: 0.2.0", "")), ["CITATION"]),
        (Tree(CARGO, CHANGELOG, 'version: 0.2.0\ndate-released: "2026-11-30"\n'), ["CITATION"]),
        (Tree(CARGO, CHANGELOG, "version: 0.2.0\n"), ["CITATION"]),
        (Tree(CARGO, CHANGELOG.replace("2026-11-29", "not yet"), CITATION), ["CHANGELOG"]),
        (Tree(CARGO, CHANGELOG.replace(" (2026-11-29)", ""), CITATION), ["CHANGELOG"]),
    ],
)
def test_version_and_date_are_the_same_everywhere(tree: object, named: list[str]) -> None:
    assert [line.split(".")[0] for line in problems([], BEFORE, tree)] == named


def test_a_changed_result_has_to_be_told_under_a_version_that_says_so() -> None:
    silent = CHANGELOG.replace("- c", "- a")
    (line,) = problems(TRACE, BEFORE, Tree(CARGO, silent, CITATION))
    assert TRACE[0] in line
    patch = Tree(
        CARGO.replace("0.2.0", "0.1.1"),
        CHANGELOG.replace("0.2.0", "0.1.1"),
        CITATION.replace("0.2.0", "0.1.1"),
    )
    (line,) = problems(TRACE, BEFORE, patch)
    assert "minor" in line
    assert problems([], BEFORE, patch) == []
