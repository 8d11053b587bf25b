"""What no file of the tree may hold, and what has to be the same everywhere."""

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.structure.tree import ROOT, files

LONGEST_MODULE = 800
"""Lines; a longer module hides a second subject."""

HEAVY = ("polars", "altair", "vl_convert", "scipy", "numpy", "distributed", "statsmodels")
"""Packages that take a tenth of a second and more to import."""

# Home and working directories of some machine: a slash, one of these, and something below it.
MACHINE_PATH = re.compile(r"(?:^|[^\w.])/(?:work|root|home|farm|Users)/[\w.]", re.MULTILINE)

# The ways in which a file could tie a build to one mirror of a registry.
MIRROR = re.compile(r"index-url|extra-index|find-links|\[registries|replace-with", re.IGNORECASE)

# Files that say which of these words are refused.
ABOUT_MIRRORS = {"Makefile", "requirements.lock", "test_hygiene.py"}


def text_files() -> list[Path]:
    """Files that people read."""
    binary = {".so", ".otf", ".ttf", ".png", ".pdf", ".gz", ".parquet"}
    return [path for path in files() if path.suffix not in binary]


def test_no_module_is_longer_than_one_subject() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in files(".py", ".rs")
        if (lines := (text := path.read_text(encoding="utf-8")).count("\n")) > LONGEST_MODULE
        and "\nWritten by `make generate`" not in text
    }
    assert long == {}


def test_no_file_names_a_path_of_some_machine() -> None:
    found = [
        (str(path.relative_to(ROOT)), match.group())
        for path in text_files()
        for match in MACHINE_PATH.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_no_file_ties_the_build_to_a_mirror() -> None:
    found = [
        str(path.relative_to(ROOT))
        for path in text_files()
        if path.name not in ABOUT_MIRRORS and MIRROR.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize("name", ["requirements.lock", "docs/requirements.lock"])
def test_a_lock_of_python_holds_hashes_and_no_addresses(name: str) -> None:
    lock = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in lock
    packages = re.findall(r"^(\S+)==", lock, re.MULTILINE)
    hashes = re.findall(r"--hash=sha256:[0-9a-f]{64}", lock)
    assert len(packages) > 20
    assert len(hashes) >= len(packages)


def test_the_lock_of_rust_names_no_registry_but_the_public_one() -> None:
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    sources = {package["source"] for package in lock["package"] if "source" in package}
    assert sources == {"registry+https://github.com/rust-lang/crates.io-index"}


def test_there_is_one_version() -> None:
    from skycell import _core

    assert importlib.metadata.version("skycell") == _core.VERSION
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {_core.VERSION}\n" in citation


def test_the_command_line_loads_nothing_heavy() -> None:
    script = f"""
import sys
from skycell.cli.main import main
try:
    main(["--help"])
except SystemExit as end:
    assert not end.code
print(sorted(set({HEAVY!r}) & set(sys.modules)))
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[0].startswith("Usage: ")
    assert run.stdout.splitlines()[-1] == "[]"
