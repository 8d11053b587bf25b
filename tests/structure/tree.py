"""The tree as the structure tests see it: its files, and the order in which parts may use parts."""

from pathlib import Path

ROOT = Path(__file__).parents[2]

CRATES = (
    "units",
    "declare-derive",
    "declare",
    "framing",
    "des",
    "switch",
    "channel",
    "access",
    "abr",
    "tcp",
    "sky",
    "spec",
    "records",
    "apps",
    "atm",
    "traffic",
    "reference",
    "fast",
    "orbit",
    "emulate",
    "border",
)
"""Crates; each may use those before it."""

ROOMS = (
    "_core",
    "spec",
    "version",
    "input",
    "templates",
    "coding",
    "orbit",
    "scenario.values",
    "scenario.declared",
    "scenario.interpreter",
    "scenario.links",
    "link",
    "scenario.file",
    "scenario.presets",
    "scenario.packets",
    "scenario.plan",
    "scenario.resolve",
    "scenario",
    "metrics",
    "records",
    "stats",
    "measures",
    "experiment",
    "studies",
    "validation",
    "plots",
    "exports",
    "tables",
    "report",
    "lab",
    "cli",
    "__main__",
)
"""Rooms of `skycell`: packages and single modules; each may use those before it.

A room within a package stands before the package, which is then its modules outside of rooms.
"""

_BUILT = {
    ".git",
    ".venv",
    ".tools",
    ".skycell",
    ".hypothesis",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    "__pycache__",
    "target",
    "out",
}


def files(*suffixes: str, under: Path = ROOT) -> list[Path]:
    """Source files, with these suffixes where any are given; nothing that was built or fetched."""
    found = []
    for path in sorted(under.iterdir()):
        if path.name in _BUILT:
            continue
        if path.is_dir():
            found += files(*suffixes, under=path)
        elif not suffixes or path.suffix in suffixes:
            found.append(path)
    return found


def is_below(user: str, used: str, order: tuple[str, ...]) -> bool:
    """Whether `used` stands before `user` in `order`, or is the same part."""
    return order.index(used) <= order.index(user)
