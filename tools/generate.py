"""Writes what follows from something else, or says what of it is out of date: `make generate`.

    python tools/generate.py [--check]
    python tools/generate.py outputs PAGE...
    python tools/generate.py results FILE
    python tools/generate.py stored queue|category [OPTION...]
    python tools/generate.py study ID [OPTION...]
    python tools/generate.py vectors NAME...

Without a word: Python's classes of what Rust declares, the reference pages, the texts of the
fault messages, and the networks of the conformance vectors. The others take a run of something and
are asked for by name: what commands print in documents, how much reproduces as README has it, the
results that `skycell advise` answers from, the measured part of a study's README, and what runs
leave of conformance vectors.
"""

import json
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from declared_rules import rules_module, table_module
from declared_spec import parts_module, spec_module, traces_module, traces_table
from declared_text import Json
from declared_types import types_module

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "skycell"
REFERENCE = ROOT / "docs" / "reference"

Written = Iterator[tuple[Path, str]]


def main(arguments: Sequence[str]) -> int:
    """Writes everything that is quick to write, or a part that is named."""
    sys.path.insert(0, str(ROOT))
    if arguments and arguments[0] in PARTS:
        return PARTS[arguments[0]](arguments[1:])
    if list(arguments) not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    stale = False
    # One after the other: the pages show what the classes say.
    for part in (classes, pages, messages, networks):
        for path, text in part():
            if path.exists() and path.read_text(encoding="utf-8") == text:
                continue
            stale = True
            print(f"{path.relative_to(ROOT)}: {'out of date' if arguments else 'written'}")
            if not arguments:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
    if stale and arguments:
        print("make generate writes it anew", file=sys.stderr)
    return int(stale and bool(arguments))


def classes() -> Written:
    """What Rust declares, as Python's classes, and a mark on each room of them."""
    rooms: dict[str, None] = {}
    for path, text in modules():
        rooms[path.relative_to(ROOT).parent.as_posix()] = None
        yield path, text
    marks = [f"{room}/** linguist-generated" for room in rooms]
    reason = "# Rooms that `make generate` writes: a review folds them."
    yield ROOT / ".gitattributes", "\n".join([reason, *marks, ""])


def modules() -> Written:
    """The modules of what Rust declares."""
    declared = declarations()
    rules = PACKAGE / "scenario" / "declared"
    spec = PACKAGE / "spec" / "declared"
    yield from _formatted(spec / "parts.py", parts_module(declared))
    yield from _formatted(spec / "network.py", spec_module(declared))
    yield from _formatted(spec / "traces.py", traces_module(declared))
    yield from _formatted(rules / "types.py", types_module(declared))
    for table in ("tcp", "abr", "vs_vd", "impairments", "shaper", "policer"):
        yield from _formatted(rules / f"{table}.py", table_module(table, declared))
    families = (
        ("traffic", "traffic"),
        ("applications", "application"),
        ("policies", "policy"),
        ("schedulers", "scheduler"),
        ("rate_algorithms", "rate algorithm"),
        ("channels", "channel"),
        ("delays", "delay variation"),
        ("access", "access protocol"),
        ("framings", "framing"),
    )
    for family, noun in families:
        yield from _formatted(rules / f"{family}.py", rules_module(family, noun, declared))


def pages() -> Written:
    """Reference pages of what is declared."""
    from skycell.link.documentation import page as carrier_page
    from skycell.orbit.documentation import page as constellation_page
    from skycell.scenario.documentation import page
    from skycell.scenario.policy_table import policy_page
    from skycell.scenario.rate_algorithm_table import rate_algorithm_page

    yield REFERENCE / "scenario.md", page()
    yield REFERENCE / "orbit" / "constellation-file.md", constellation_page()
    yield REFERENCE / "carrier-file.md", carrier_page()
    yield _with_table(REFERENCE / "policies" / "README.md", "classes", policy_page())
    yield _with_table(REFERENCE / "abr.md", "rate algorithms", rate_algorithm_page())
    yield _with_table(REFERENCE / "records.md", "traces", traces_table(declarations()))


def _with_table(page: Path, name: str, table: str) -> tuple[Path, str]:
    """A page with the table between its marks."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    return page, f"{before}{begin}{table}{end}{rest.partition(end)[2]}"


@cache
def declarations() -> Json:
    """What Rust declares."""
    binary = ["-p", "skycell-records", "--bin", "declarations"]
    found: Json = json.loads(_reported(["cargo", "run", "--quiet", "--locked", *binary]))
    return found


def messages() -> Written:
    """What is said about each faulty file that is kept."""
    from skycell.scenario import parse
    from tests.messages import test_messages, test_sweep_messages
    from tests.messages.cases import rewritten

    checked = (
        (test_messages.TABLES, parse),
        (test_sweep_messages.TABLES, test_sweep_messages.design),
    )
    for tables, check in checked:
        for table in tables:
            yield table, rewritten(table, check)


def networks() -> Written:
    """The networks of the conformance vectors, and the list of vectors."""
    from tests.conformance.vectors import resolved

    yield from resolved()


def vectors(names: Sequence[str]) -> int:
    """What runs leave of conformance vectors; a vector that has changed loses its notes."""
    from tests.conformance.vectors import main as rewrite

    return rewrite(names)


def outputs(names: Sequence[str]) -> int:
    """What the commands of documents print."""
    from tests.docs import refresh

    return refresh.main(list(names))


def _tool(name: str) -> Callable[[Sequence[str]], int]:
    def run(arguments: Sequence[str]) -> int:
        sys.argv = [name, *arguments]
        runpy.run_path(str(ROOT / "tools" / name), run_name="__main__")
        return 0

    return run


PARTS: dict[str, Callable[[Sequence[str]], int]] = {
    "outputs": outputs,
    "results": _tool("readme_results.py"),
    "stored": _tool("stored_results.py"),
    "study": _tool("study_readme.py"),
    "vectors": vectors,
}


def _formatted(path: Path, text: str) -> Written:
    """The text in the agreed format, without what it imports for nothing."""
    ruff = [sys.executable, "-m", "ruff"]
    name = ["--quiet", "--stdin-filename", str(path), "-"]
    fixed = _reported([*ruff, "check", "--fix-only", *name], text)
    yield path, _reported([*ruff, "format", *name], fixed)


def _reported(command: Sequence[str], text: str = "") -> str:
    run = subprocess.run(command, input=text, cwd=ROOT, check=True, stdout=-1, text=True)
    return run.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
