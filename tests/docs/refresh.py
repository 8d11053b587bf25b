"""Writes what commands print now into the pages: `make generate WHAT="outputs PAGE..."`.

Only outputs of `console` blocks change, and only where they differ. Where the page ends an output
with a line `...`, as many lines are written as stood before it; where such a line leaves something
out in the middle, the new output is shown instead, for a person to shorten. Transcripts get no
versions, hashes and times.
"""

import os
import shutil
import tempfile
from pathlib import Path

from tests.docs.pages import TRANSCRIPTS, plain, same
from tests.docs.running import console_of
from tests.structure.tree import ROOT


def main(arguments: list[str]) -> int:
    """Refreshes the pages that are named, paths from the top of the tree."""
    for page in arguments:
        refresh(ROOT / page)
    return 0 if arguments else 2


def refresh(page: Path) -> None:
    """Runs a page's commands and puts what they printed behind them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "examples", folder / "examples")
        before = Path.cwd()
        os.chdir(folder)
        try:
            reported = console_of(page, folder)
        finally:
            os.chdir(before)
    lines = page.read_text(encoding="utf-8").splitlines()
    for command, got in reversed(reported):
        if same(command.output, got):
            continue
        shown, left_out, behind = f"\n{command.output}".partition("\n...\n")
        if left_out and behind:
            print(f"{page.name}:{command.line}: shorten by hand\n{got}")
            continue
        got = plain(got) if page.parent == TRANSCRIPTS else got
        kept = "\n".join(line.rstrip() for line in got.splitlines()).strip("\n")
        if left_out:  # at the end: as much as the page had
            kept = "\n".join([*kept.splitlines()[: shown.count("\n")], "..."])
        lines[command.line : command.end] = kept.splitlines() if plain(kept) else []
        print(f"{page.name}:{command.line}: written anew")
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
