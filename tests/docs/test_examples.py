"""What the documents tell the reader to type prints what they say."""

import doctest
import shutil
from pathlib import Path

import pytest

from tests.docs.pages import Block, blocks, commands, pages, same, transcripts
from tests.docs.running import console_of, session_names, without_progress, words_of_a_call
from tests.structure.tree import ROOT


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def with_blocks(*languages: str) -> list[Path]:
    return [
        page
        for page in (*pages(), *transcripts())
        if {b.language for b in blocks(page)} & set(languages)
    ]


@pytest.mark.parametrize("page", with_blocks("console", "pycon"), ids=name_of)
def test_a_page_prints_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for command, got in console_of(page, tmp_path):
        assert same(command.output, got), (
            f"{name_of(page)}:{command.line}: $ {command.command}\n"
            f"expected:\n{command.output}\ngot:\n{got}\n"
            f'if the page is to change: make generate WHAT="outputs {name_of(page)}"'
        )
    _run_sessions(page)


def _run_sessions(page: Path) -> None:
    """The Python sessions of a page, one after the other with the same names."""
    names = session_names()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for block in blocks(page):
        if block.language == "pycon":
            test = doctest.DocTestParser().get_doctest(
                block.text, names, name_of(page), str(page), block.line - 1
            )
            reported: list[str] = []
            runner.run(test, out=reported.append, clear_globs=False)
            names = test.globs
            assert runner.failures == 0, "".join(reported)


@pytest.mark.parametrize(
    ("expected", "got", "is_same"),
    [
        ("a\n", "a  \n\n", True),
        ("a\n", "b\n", False),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\n", "b\n", False),
        ("spec 0123456789ab", "spec ba9876543210", True),
        ("skycell 0.1.0", "skycell 0.2.0", True),
        ("1.50 Mbit/s", "1.51 Mbit/s", False),
        ("a.c", "abc", False),
    ],
)
def test_output_is_compared_to_the_letter_but_for_hashes_and_versions(
    expected: str, got: str, is_same: bool
) -> None:
    assert same(expected, got) == is_same


def test_commands_of_a_block_are_told_from_what_they_print() -> None:
    first, second = commands(Block("console", "", "$ a b\n1\n2\n$ c\n", 10))
    assert (first.command, first.output, first.line, first.end) == ("a b", "1\n2\n", 10, 12)
    assert (second.command, second.output) == ("c", "")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("skycell run a.toml --set 'x={ y = 1 }'", ["run", "a.toml", "--set", "x={ y = 1 }"]),
        ('skycell budget "a>b"', ["budget", "a>b"]),
        ("skycell run a.toml | tail", None),
        ("skycell run *.toml", None),
        ('skycell run "$FILE"', None),
        ("ls", None),
    ],
)
def test_a_command_of_skycell_alone_takes_no_shell(command: str, words: list[str] | None) -> None:
    assert words_of_a_call(command) == words


@pytest.mark.parametrize(
    "line",
    [
        "29.40 of 30 s simulated (98%), about 0 s left",
        "0.00 of 30 s simulated (0%)",
        "50% of the series computed, about 3 s left",
        "45 of 51 runs, 5476 of 6120 s simulated (89%), about 12 s left",
        "1 of 40 figures drawn",
    ],
)
def test_how_far_a_command_is_is_not_what_a_page_shows(line: str) -> None:
    assert without_progress(f"a\n{line}\nb (50%)\n") == "a\nb (50%)\n"
