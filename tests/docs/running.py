"""Runs what a page tells its reader to type, in an empty folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import skycell
from tests.docs.pages import Block, Command, blocks, commands

#: A line that tells how far a command is, which only a slow machine gets to see.
_PROGRESS = re.compile(
    r"^(?:[^\n]* s simulated \(\d+%\)(?:, about [^\n]+ left)?|\d+% [^\n]+, about [^\n]+ left|"
    r"\d+ of \d+ figures drawn)\n",
    re.MULTILINE,
)


def environment() -> dict[str, str]:
    """Where `skycell` is the one under test, and output is as wide as for anybody."""
    beside = Path(sys.executable).parent
    return os.environ | {"PATH": f"{beside}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"}


def run_command(command: Command, folder: Path) -> str:
    """What a command prints, standard error among it, but not how far it is."""
    done = subprocess.run(
        command.command,
        shell=True,
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return without_progress(done.stdout)


def without_progress(text: str) -> str:
    """What a command printed, less the lines that told how far it was."""
    return _PROGRESS.sub("", text)


def console_of(page: Path, folder: Path) -> list[tuple[Command, str]]:
    """Every command of a page with what it printed, in order, its files written on the way."""
    reported = []
    for block in blocks(page):
        if block.name and block.language not in ("console", "pycon"):
            write_file(block, folder)
        elif block.language == "console":
            reported += [(command, run_command(command, folder)) for command in commands(block)]
    return reported


def write_file(block: Block, folder: Path) -> None:
    """Puts a block with a name where the page says that it goes."""
    target = folder / block.name
    assert target.resolve().is_relative_to(folder.resolve()), block.name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(block.text, encoding="utf-8")


def session_names() -> dict[str, object]:
    """What a Python session on a page may use without importing it."""
    return {"skycell": skycell}
