"""The examples of a documentation page, as they stand between its fences.

A block with the word `console` holds commands, each behind `$ `, and what they print. A block of
another language whose fence also gives a name, as in `toml five.toml`, is a file. A block with the
word `pycon` is a session of Python. Everything else is not run.

The transcripts of the command line in `tests/cli` are such pages too.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from tests.structure.tree import ROOT

DOCS = ROOT / "docs"
TRANSCRIPTS = ROOT / "tests" / "cli"
"""Pages that are tests alone: commands, what they print, and their exit codes."""

_FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)$")

# What differs from one version or machine to the next without meaning anything to the reader.
_IDENTITY = [
    (re.compile(r"\bskycell \d+\.\d+\.\d+[^\s,]*"), "skycell <version>"),
    (re.compile(r"\b\d+\.\d+\.\d+\+[0-9a-f]+"), "<version>"),
    (re.compile(r"\bfrom the store \(\d+ s\)"), "from the store (<time>)"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "<hash>"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "<short hash>"),
]


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the name on its fence, its text, and where it begins."""

    language: str
    name: str
    text: str
    line: int


@dataclass(frozen=True)
class Command:
    """A command of a console block, what it should print, and the lines where that stands."""

    command: str
    output: str
    line: int
    end: int


def pages() -> list[Path]:
    """Every page whose examples are run: the documents and the front page."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def transcripts() -> list[Path]:
    """Every page of commands that is a test alone."""
    return sorted(TRANSCRIPTS.glob("*.md"))


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    found: list[Block] = []
    info: str | None = None
    lines: list[str] = []
    start = 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if fence is None:
            lines.append(line)
        elif info is None:
            info, lines, start = fence["info"].strip(), [], number + 1
        else:
            language, _, name = info.partition(" ")
            found.append(Block(language, name.strip(), "".join(f"{x}\n" for x in lines), start))
            info = None
    assert info is None, f"{page}: the fence at line {start - 1} is not closed"
    return found


def commands(block: Block) -> list[Command]:
    """The commands of a console block, each with what it should print."""
    found: list[Command] = []
    for number, line in enumerate(block.text.splitlines(), block.line):
        if line.startswith("$ "):
            found.append(Command(line[2:], "", number, number))
        else:
            assert found, f"line {number}: output before the first command"
            last = found[-1]
            found[-1] = Command(last.command, f"{last.output}{line}\n", last.line, number)
    return found


def plain(text: str) -> str:
    """Output without what says nothing: ends of lines, outer empty lines, hashes, versions."""
    lines = "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
    for pattern, word in _IDENTITY:
        lines = pattern.sub(word, lines)
    return lines


def same(expected: str, got: str) -> bool:
    """Whether output is as a page has it; a line `...` there stands for any lines."""
    parts = re.split(r"^\.\.\.$", plain(expected), flags=re.MULTILINE)
    pattern = r"(?:.*)".join(re.escape(part) for part in parts)
    return re.fullmatch(pattern, plain(got), flags=re.DOTALL) is not None
