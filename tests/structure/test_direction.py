"""Dependencies point one way, in Python and in Rust."""

import ast
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.structure.tree import CRATES, ROOMS, ROOT, files, is_below

SOURCES = ROOT / "python"
PACKAGE = SOURCES / "skycell"


def module_of(path: Path) -> str:
    """A module's name below `skycell`; "" for the package's own front."""
    names = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


MODULES = {module_of(path): path for path in files(".py", under=PACKAGE)}


def used_modules(source: str, module: str) -> set[str]:
    """Modules of skycell that one imports, wherever in it and for whatever the import stands."""
    path = MODULES[module]
    used = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = path.relative_to(SOURCES).parts[: -node.level]
            stem = ".".join([*above, node.module] if node.module else above)
            names = [f"{stem}.{alias.name}" for alias in node.names]
        else:
            continue
        used |= {known(name) for name in names if name.split(".")[0] == "skycell"}
    return used - {module}


def known(name: str) -> str:
    """The module that a dotted name is, or is a part of."""
    name = name.partition(".")[2]
    while name and name not in MODULES and name != "_core":
        name = name.rpartition(".")[0]
    return name


def room_of(module: str) -> str:
    """The room that a module stands in; "" for none."""
    while module and module not in ROOMS:
        module = module.rpartition(".")[0]
    return module


def wrong_way(user: str, used: set[str], order: tuple[str, ...]) -> list[str]:
    """What `user` must not use."""
    return sorted(part for part in used if part == "" or not is_below(user, part, order))


@pytest.mark.parametrize("module", sorted(set(MODULES) - {""}))
def test_a_module_uses_only_rooms_above_its_own(module: str) -> None:
    used = used_modules(MODULES[module].read_text(encoding="utf-8"), module)
    assert room_of(module), f"{module}: give its room a place in tests/structure/tree.py"
    assert wrong_way(room_of(module), {room_of(name) for name in used}, ROOMS) == []


@pytest.mark.parametrize(
    "line",
    [
        "import skycell.cli.main",
        "from skycell import cli",
        "from skycell.cli import main",
        "from ..cli import main",
        "def f():\n    from skycell.cli.main import main",
        "if TYPE_CHECKING:\n    from skycell.cli.main import main",
    ],
)
def test_a_forbidden_import_is_found_in_each_of_its_forms(line: str) -> None:
    used = {room_of(name) for name in used_modules(line, "metrics.fairness")}
    assert wrong_way("metrics", used, ROOMS) == ["cli"]


def test_rooms_of_a_package_have_an_order_too() -> None:
    used = used_modules("from skycell.scenario.plan.plan import Plan", "scenario.links.keys")
    assert wrong_way("scenario.file", {room_of(name) for name in used}, ROOMS) == ["scenario.plan"]
    front = used_modules("from skycell import parse", "scenario.links.keys")
    assert wrong_way("scenario.file", {room_of(name) for name in front}, ROOMS) == [""]


def uses() -> dict[str, set[str]]:
    """The modules that each module uses; the front, which offers what the rooms hold, uses none."""
    return {
        module: used_modules(path.read_text(encoding="utf-8"), module)
        for module, path in MODULES.items()
        if module
    }


def test_no_modules_use_each_other_in_a_circle() -> None:
    try:
        TopologicalSorter(uses()).prepare()
    except CycleError as circle:
        pytest.fail(" uses ".join(reversed(circle.args[1])))


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
