"""Whether the changelog has changed results, under a version that says so: `check_changes.py BASE`.

BASE is a revision, such as the last release. A golden trace or a conformance vector that was there
and is another one now is a changed result: the changelog has to say more under "Changed results" of
its newest version than it did at BASE, and that version has to be the package's, with another minor
number than the release before it.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HELD = ("tests/golden/traces", ":(glob)conformance/*/*")
_HEADING = re.compile(r"^## (\d+)\.(\d+)\.(\d+)", re.MULTILINE)


def problems(changed: list[str], before: str, now: str, version: str) -> list[str]:
    """What is missing.

    Args:
        changed: files that hold results and are others now.
        before: the changelog at the base.
        now: the changelog.
        version: of the package.
    """
    versions = [tuple(map(int, found)) for found in _HEADING.findall(now)]
    newest = ".".join(map(str, versions[0]))
    found = []
    if newest != version:
        found.append(f"the changelog opens with {newest}, the package is {version}")
    if not changed:
        return found
    if changed_results(now) == changed_results(before):
        count, first = len(changed), changed[0]
        found.append(f'{count} results changed, such as {first}: say so under "Changed results"')
    if len(versions) > 1 and versions[0][:2] <= versions[1][:2]:
        found.append(f"results changed: {newest} has to raise the minor number")
    return found


def changed_results(changelog: str) -> str:
    """What the newest version says of changed results."""
    newest = _HEADING.split(changelog, maxsplit=1)[-1]
    newest = re.split(r"^## ", newest, maxsplit=1, flags=re.MULTILINE)[0]
    _, _, section = newest.partition("### Changed results\n")
    return re.split(r"^### ", section, maxsplit=1, flags=re.MULTILINE)[0].strip()


def main(base: str) -> int:
    """Ends with 1 where something is missing."""

    def git(*words: str) -> str:
        run = subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True)
        return run.stdout

    changed = git("diff", "--name-only", "--diff-filter=MD", base, "--", *HELD).split()
    cargo = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    (version,) = re.findall(r'^version = "([\d.]+)"', cargo, re.MULTILINE)
    before = git("show", f"{base}:CHANGELOG.md")
    now = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    missing = problems(changed, before, now, version)
    for line in missing:
        print(line, file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
