"""Files of the columns that a spec with a sky names by their digest, kept while a process runs."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skycell.spec.declared.network import NetworkSpec


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """A folder that goes when the process ends."""
    return tempfile.TemporaryDirectory(prefix="skycell-columns-")


def keep_columns(digest: str, octets: bytes) -> None:
    """Keeps the file of some columns for runs of this process and of those that it starts.

    Args:
        digest: SHA-256 of the file.
        octets: the file.
    """
    path = Path(_folder().name) / digest
    if not path.exists():
        part = path.with_suffix(".part")
        part.write_bytes(octets)
        part.replace(path)


def columns_of(spec: NetworkSpec) -> Path | None:
    """The file of the columns of a spec's sky; none for a spec without a sky.

    Raises:
        FileNotFoundError: this process has no columns with the digest that the spec names.
    """
    return None if spec.sky is None else columns_with(spec.sky.columns)


def columns_with(digest: str) -> Path:
    """The file of the columns with a digest.

    Raises:
        FileNotFoundError: this process has none.
    """
    path = Path(_folder().name) / digest
    if not path.exists():
        text = f"no columns with the digest {digest} are known: resolve the scenario"
        raise FileNotFoundError(f"{text}, or read the result that has them")
    return path
