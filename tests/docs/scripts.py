"""The scripts of `tools/`, which are no package, as modules."""

import importlib.util
from types import ModuleType

from tests.structure.tree import ROOT


def load_script(name: str) -> ModuleType:
    """The script `tools/<name>.py`, run as a module of that name is when it is imported."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
