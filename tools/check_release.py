"""Says what a release lacks: `check_release.py BASE`, or `make release BASE=...`.

BASE is the revision of the last release. A release needs:

- one version in Cargo.toml, in the newest heading of CHANGELOG.md and in CITATION.cff;
- one date in that heading, `## 0.3.0 (2026-12-31)`, and in CITATION.cff (`date-released`);
- under "Changed results" more than at BASE, and another minor number, if a conformance vector
  that was there at BASE is another one now.

Ends with 0 if nothing is missing, with 1 and a line for each thing that is.
"""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
HELD = (":(glob)conformance/*/*", ":(exclude)*/notes.txt")
_HEADING = re.compile(r"^## (\d+)\.(\d+)\.(\d+)(?: \((.*)\))?$", re.MULTILINE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Tree:
    """What of a revision says which release it is.

    Attributes:
        cargo: the text of Cargo.toml.
        changelog: the text of CHANGELOG.md.
        citation: the text of CITATION.cff.
    """

    cargo: str
    changelog: str
    citation: str


def problems(changed: list[str], before: str, now: Tree) -> list[str]:
    """What is missing.

    Args:
        changed: files that hold results and are others now.
        before: the changelog at the base.
        now: the tree that is to be released.
    """
    return [*_of_versions(now), *_of_results(changed, before, now.changelog)]


def _of_versions(now: Tree) -> list[str]:
    headings = _HEADING.findall(now.changelog)
    newest, date = ".".join(headings[0][:3]), headings[0][3]
    version = _only(r'^version = "([\d.]+)"', now.cargo)
    cited, cited_date = (
        _only(r"^version: (\S+)", now.citation),
        _only(r'^date-released: "?([\d-]+)"?$', now.citation),
    )
    missing = []
    if newest != version:
        missing.append(f"CHANGELOG.md opens with {newest}, Cargo.toml has {version}")
    if cited != version:
        missing.append(f"CITATION.cff has {cited}, Cargo.toml has {version}")
    if not _DATE.fullmatch(date):
        missing.append(f"CHANGELOG.md has no date for {newest}, but {date or 'nothing'!r}")
    elif cited_date != date:
        missing.append(f"CITATION.cff was released on {cited_date}, CHANGELOG.md says {date}")
    return missing


def _of_results(changed: list[str], before: str, now: str) -> list[str]:
    if not changed:
        return []
    missing = []
    if changed_results(now) == changed_results(before):
        count, first = len(changed), changed[0]
        missing.append(f'{count} results changed, such as {first}: say so under "Changed results"')
    minors = [(int(major), int(minor)) for major, minor, *_ in _HEADING.findall(now)]
    if len(minors) > 1 and minors[0] <= minors[1]:
        missing.append("results changed: the newest version has to raise the minor number")
    return missing


def _only(pattern: str, text: str) -> str | None:
    """The one value of a pattern in a text; none where there is none."""
    values = re.findall(pattern, text, re.MULTILINE)
    return values[0] if len(values) == 1 else None


def changed_results(changelog: str) -> str:
    """What the newest version says of changed results."""
    newest = re.split(r"^## \d.*$", changelog, maxsplit=2, flags=re.MULTILINE)[1]
    _, _, section = newest.partition("### Changed results\n")
    return re.split(r"^### ", section, maxsplit=1, flags=re.MULTILINE)[0].strip()


def main(base: str) -> int:
    """Ends with 1 where something is missing."""

    def git(*words: str) -> str:
        run = subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True)
        return run.stdout

    def text(name: str) -> str:
        return (ROOT / name).read_text(encoding="utf-8")

    changed = git("diff", "--name-only", "--diff-filter=MD", base, "--", *HELD).split()
    now = Tree(text("Cargo.toml"), text("CHANGELOG.md"), text("CITATION.cff"))
    missing = problems(changed, git("show", f"{base}:CHANGELOG.md"), now)
    for line in missing:
        print(line, file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("check_release.py BASE: the revision of the last release is missing", file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1]))
