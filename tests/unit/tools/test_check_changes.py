"""Changed results and the changelog."""

from tests.docs.scripts import load_script

script = load_script("check_changes")
changed_results, problems = script.changed_results, script.problems

BEFORE = (
    "# Changelog\n\n## 0.2.0\n\n### Changed results\n\n- a\n\n### Added\n\n- b\n\n## 0.1.0\n\n- c\n"
)


def test_what_is_said_of_changed_results_is_that_of_the_newest_version() -> None:
    assert changed_results(BEFORE) == "- a"
    assert changed_results(BEFORE.replace("### Changed results", "### Fixed")) == ""


def test_a_changed_result_has_to_be_told_under_a_version_that_says_so() -> None:
    trace = ["tests/golden/traces/red.csv"]
    assert problems([], BEFORE, BEFORE, "0.2.0") == []
    (silent,) = problems(trace, BEFORE, BEFORE, "0.2.0")
    assert silent.startswith("1 results changed, such as tests/golden/traces/red.csv")
    assert problems(trace, BEFORE, BEFORE.replace("- a", "- a\n- red"), "0.2.0") == []
    patch = BEFORE.replace("- a", "- a\n- red").replace("0.2.0", "0.1.1")
    assert problems(trace, BEFORE, patch, "0.1.1") == [
        "results changed: 0.1.1 has to raise the minor number"
    ]


def test_the_changelog_opens_with_the_version_of_the_package() -> None:
    assert problems([], BEFORE, BEFORE, "0.3.0") == [
        "the changelog opens with 0.2.0, the package is 0.3.0"
    ]
