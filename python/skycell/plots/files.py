"""Files written whole or not at all, and never over another one without leave."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from skycell.records.staging import Staging


class WouldOverwriteError(FileExistsError):
    """Files that are to be written exist already.

    Attributes:
        paths: the files that exist.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self.paths = tuple(paths)
        names = ", ".join(str(path) for path in self.paths)
        verb = "exists" if len(self.paths) == 1 else "exist"
        super().__init__(f"{names} {verb} already; nothing was written")


def refuse_overwriting(paths: Iterable[Path], *, force: bool) -> None:
    """Raises :class:`WouldOverwriteError` when a file exists and ``force`` is not given."""
    existing = [path for path in paths if os.path.lexists(path)]
    if existing and not force:
        raise WouldOverwriteError(existing)


def write_all(contents: Mapping[Path, bytes], *, force: bool = False) -> list[Path]:
    """Writes files, all of them or none.

    Args:
        contents: what goes into which file; missing folders are made.
        force: whether files that exist are replaced.

    Returns:
        The files, in the order given.

    Raises:
        WouldOverwriteError: a file exists and ``force`` is not given; then none was written.
        OSError: a file cannot be written; ``filename`` says which, and none was written.
    """
    refuse_overwriting(contents, force=force)
    with Staging() as staging:
        for path, content in contents.items():
            staging.write(path, content)
    return list(contents)
