"""Dependencies point one way, in Python and in Rust."""

import ast
import tomllib
from pathlib import Path

import pytest

from tests.structure.tree import CRATES, ROOT, SUBPACKAGES, files, is_below

PACKAGE = ROOT / "python" / "skycell"


def part_of(module: Path) -> str:
    """The subpackage (or top module) a file belongs to; "" for the package's own front."""
    first = module.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py").replace("__init__", "")


def used_parts(source: str, module: Path) -> set[str]:
    """Parts of skycell that a module imports, wherever in the module the import stands."""
    used = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = module.relative_to(PACKAGE.parent).parts[: -node.level]
            stem = ".".join([*above, node.module] if node.module else above)
            names = [f"{stem}.{alias.name}" for alias in node.names]
        else:
            continue
        used |= {name.split(".")[1] for name in names if name.startswith("skycell.")}
    return used


def wrong_way(user: str, used: set[str], order: tuple[str, ...]) -> list[str]:
    """What `user` must not use."""
    known = {part for part in used if part in order}
    return sorted(part for part in known if not is_below(user, part, order))


@pytest.mark.parametrize("module", files(".py", under=PACKAGE), ids=lambda p: p.name)
def test_a_module_uses_only_parts_above_its_own(module: Path) -> None:
    part = part_of(module)
    used = used_parts(module.read_text(encoding="utf-8"), module)
    if part == "":
        return  # the front offers what the parts hold
    assert part in SUBPACKAGES, f"{part}: give it its place in tests/structure/tree.py"
    assert wrong_way(part, used, SUBPACKAGES) == []


@pytest.mark.parametrize(
    "line",
    [
        "import skycell.cli.main",
        "from skycell import cli",
        "from skycell.cli import main",
        "from ..cli import main",
        "def f():\n    from skycell.cli.main import main",
    ],
)
def test_a_forbidden_import_is_found_in_each_of_its_forms(line: str) -> None:
    used = used_parts(line, PACKAGE / "metrics" / "fairness.py")
    assert wrong_way("metrics", used, SUBPACKAGES) == ["cli"]


@pytest.mark.parametrize("crate", CRATES)
def test_a_crate_uses_only_crates_above_it(crate: str) -> None:
    manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text(encoding="utf-8"))
    used = {
        name.removeprefix("skycell-")
        for table in ("dependencies", "dev-dependencies", "build-dependencies")
        for name in manifest.get(table, {})
        if name.startswith("skycell-")
    }
    assert wrong_way(crate, used, CRATES) == []


def test_every_crate_has_its_place() -> None:
    found = {manifest.parent.name for manifest in (ROOT / "crates").glob("*/Cargo.toml")}
    assert found == set(CRATES)


def test_the_engine_builds_without_the_border() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    without_python = {f"crates/{crate}" for crate in CRATES if crate != "border"}
    assert set(workspace["default-members"]) == without_python
