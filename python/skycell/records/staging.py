"""Files that come to be together: all of them whole, or none.

Each is written in full under another name beside its place. When the last one is written they are
moved to their places: a full disk or an interrupt leaves neither half a file nor half a result.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self


class Staging:
    """Files on their way; a context manager.

    At its end they are moved to their places, in the order in which they came, over files that are
    there. Where something was raised they are taken away, and so are the folders made for them.
    """

    def __init__(self) -> None:
        self._staged: dict[Path, Path] = {}
        self._made: list[Path] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self._move()
        finally:
            self._discard()

    def write(self, path: Path, content: bytes) -> None:
        """Writes a file; raises `OSError`, whose ``filename`` is `path`, where that fails."""
        with self.place(path) as file:
            file.write_bytes(content)

    @contextmanager
    def place(self, path: Path) -> Iterator[Path]:
        """The name of an empty file to be written in place of `path`; otherwise as `write`."""
        refuse_no_file(path)
        with _reported_of(path):
            self._make(path.parent)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            os.close(handle)
            self._staged[path] = Path(name)
            yield Path(name)

    @property
    def paths(self) -> list[Path]:
        """The places, in their order."""
        return list(self._staged)

    def _make(self, folder: Path) -> None:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        self._made += reversed(missing)
        folder.mkdir(parents=True, exist_ok=True)

    def _move(self) -> None:
        mode = 0o666 & ~_umask()
        for path, file in self._staged.items():
            with _reported_of(path):
                file.chmod(mode)
                file.replace(path)
        self._made.clear()

    def _discard(self) -> None:
        for file in self._staged.values():
            file.unlink(missing_ok=True)
        for folder in reversed(self._made):
            # Somebody else may have put something there meanwhile.
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def refuse_no_file(path: Path) -> None:
    """Refuses a place that holds a folder, a device or a pipe: only files are moved over.

    Raises:
        OSError: it does, or cannot be looked at; ``filename`` is `path`.
    """
    if path.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        raise OSError(errno.EEXIST, "it is a device or a pipe, not a file", str(path))


@contextmanager
def _reported_of(path: Path) -> Iterator[None]:
    """Has an error of the system name the place and not what stands in for it."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _umask() -> int:
    """The process's file mode mask; reading it means setting it for a moment."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
