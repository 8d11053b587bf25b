"""Runs what a page tells its reader to type, in an empty folder."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

import skycell
from skycell.cli.main import main
from tests.docs.pages import TRANSCRIPTS, Block, Command, blocks, commands

WIDTH = "100"
"""Columns of the terminal."""

#: A line that tells how far a command is, which only a slow machine gets to see.
_PROGRESS = re.compile(
    r"^(?:[^\n]* s simulated \(\d+%\)(?:, about [^\n]+ left)?|\d+% [^\n]+, about [^\n]+ left|"
    r"\d+ of \d+ figures drawn)\n",
    re.MULTILINE,
)


_QUOTED = re.compile(r"""'[^']*'|"[^"$`\\]*\"""")
_OF_THE_SHELL = re.compile(r"[|&;<>()$`*?\[\]~#{}\\\"']")


def environment() -> dict[str, str]:
    """Where `skycell` is the one under test, and output is as wide as for anybody."""
    beside = Path(sys.executable).parent
    return os.environ | {"PATH": f"{beside}{os.pathsep}{os.environ['PATH']}", "COLUMNS": WIDTH}


def run_command(command: Command, folder: Path) -> tuple[str, int]:
    """What a command prints, standard error among it, but not how far it is; its exit code."""
    words = words_of_a_call(command.command)
    text, code = in_a_shell(command.command, folder) if words is None else in_process(words)
    return without_progress(text), code


def words_of_a_call(command: str) -> list[str] | None:
    """The arguments of a command that is `skycell` alone; none if it takes a shell."""
    if not command.startswith("skycell ") or _OF_THE_SHELL.search(_QUOTED.sub("", command)):
        return None
    return shlex.split(command)[1:]


def in_process(words: list[str]) -> tuple[str, int]:
    """Calls `skycell` in the current folder, without the second that a process takes to start."""
    # The runner's own width of help is 80 columns, and not 78 as of a terminal.
    done = CliRunner().invoke(
        main, words, prog_name="skycell", env={"COLUMNS": WIDTH}, terminal_width=78
    )
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    # `check` lists every file, those without a fault on standard output.
    assert done.exit_code != 2 or not done.stdout or words[0] == "check", done.stdout
    return done.output, done.exit_code


def in_a_shell(command: str, folder: Path) -> tuple[str, int]:
    """Runs a command line in a folder."""
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout, done.returncode


def without_progress(text: str) -> str:
    """What a command printed, less the lines that told how far it was."""
    return _PROGRESS.sub("", text)


def console_of(page: Path, folder: Path) -> list[tuple[Command, str]]:
    """Every command of a page with what it printed, in order, its files written on the way.

    In a transcript a line with the exit code follows, if the code is not 0.
    """
    reported = []
    for block in blocks(page):
        if block.name and block.language not in ("console", "pycon"):
            write_file(block, folder)
        elif block.language == "console":
            for command in commands(block):
                text, code = run_command(command, folder)
                ending = f"[exit code {code}]\n" if code and page.parent == TRANSCRIPTS else ""
                reported.append((command, f"{text}{ending}"))
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
