"""Files written whole or not at all, and never over another one without leave."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path


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
    existing = [path for path in paths if path.exists()]
    if existing and not force:
        raise WouldOverwriteError(existing)


def write_all(contents: Mapping[Path, bytes], *, force: bool = False) -> list[Path]:
    """Writes files, each under a temporary name first, so that no reader meets half a file.

    Args:
        contents: what goes into which file; missing folders are made.
        force: whether files that exist are replaced.

    Returns:
        The files, in the order given.

    Raises:
        WouldOverwriteError: a file exists and ``force`` is not given; then none was written.
        OSError: a file cannot be written; ``filename`` says which, those before it are there.
    """
    refuse_overwriting(contents, force=force)
    for path, content in contents.items():
        try:
            _write(path, content)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
    return list(contents)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    """The process's file mode mask; reading it means setting it for a moment."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
