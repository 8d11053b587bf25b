"""Bundles: a command with what it reads and what came out, in one file that can be checked.

A bundle is a zip file with

* ``bundle.json``: the command, versions, and the SHA-256 of every other file;
* ``input/``: the files that the command reads, as they lie to each other;
* ``result/``: what it wrote;
* ``requirements.txt``: the Python packages that were installed, each with its version.

The same content gives the same octets, whenever and wherever it is packed.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path, PurePosixPath
from typing import Any

MANIFEST = "bundle.json"
INPUT = "input"
RESULT = "result"
REQUIREMENTS = "requirements.txt"
FORMAT = 1
"""Version of the layout."""

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip file can tell
_MOST_OCTETS = 2**32
"""Of all files of a bundle that is unpacked: 4 GiB."""
COMPARED = (".json", ".csv", ".parquet")
"""Files of a result that hold data; pages and figures are drawn from them."""
_NOT_COMPARED = {"version", "file"}
"""What a result says of the build that made it and of the name of its file, not of the runs."""


class NotABundle(Exception):
    """A file is no bundle, or not a whole one; the message says why."""


@dataclass(frozen=True)
class Bundle:
    """What a bundle holds.

    Attributes:
        command: a verb of `skycell` and its arguments; files by their names within the bundle.
        version: of skycell, with the digest of its engine.
        python: version of Python.
        files: content by name within the bundle, without the manifest.
    """

    command: tuple[str, ...]
    version: str
    python: str
    files: Mapping[str, bytes]

    def to_bytes(self) -> bytes:
        """The bundle as a zip file."""
        manifest = {
            "format": FORMAT,
            "command": list(self.command),
            "version": self.version,
            "python": self.python,
            "files": {name: _digest(self.files[name]) for name in sorted(self.files)},
        }
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            _add(archive, MANIFEST, f"{json.dumps(manifest, indent=1)}\n".encode())
            for name in sorted(self.files):
                _add(archive, name, self.files[name])
        return content.getvalue()

    def result_files(self) -> list[str]:
        """Names within ``result/`` of the files that hold data."""
        names = (PurePosixPath(name) for name in self.files)
        return [
            str(name.relative_to(RESULT))
            for name in names
            if name.parts[0] == RESULT and name.suffix in COMPARED
        ]


def bundle_of(command: Sequence[str], files: Mapping[str, bytes], version: str) -> Bundle:
    """A bundle made here and now; the packages that are installed join its files."""
    installed = sorted(
        {f"{found.metadata['Name']}=={found.version}" for found in distributions()}, key=str.lower
    )
    requirements = "".join(f"{line}\n" for line in installed).encode()
    python = platform.python_version()
    return Bundle(tuple(command), version, python, {**files, REQUIREMENTS: requirements})


def read_bundle(content: bytes) -> Bundle:
    """Reads a bundle and checks every file of it against its digest.

    Raises:
        NotABundle: it is no zip file, has no manifest, lacks a file or has another, or a file is
            not the one that was packed; or a name leads out of its folder.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        entries = archive.infolist()
        if sum(entry.file_size for entry in entries) > _MOST_OCTETS:
            raise NotABundle(f"its files have more than {_MOST_OCTETS >> 30} GiB")
        found = {entry.filename: archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise NotABundle(f"it is no whole zip file: {error}") from None
    try:
        manifest: dict[str, Any] = json.loads(found.pop(MANIFEST))
        made = manifest["format"]
        command = tuple(str(word) for word in manifest["command"])
        digests: dict[str, str] = dict(manifest["files"])
        version, python = str(manifest["version"]), str(manifest["python"])
    except (KeyError, ValueError, TypeError):
        raise NotABundle(f"it has no {MANIFEST} as `skycell pack` writes it") from None
    if made != FORMAT:
        raise NotABundle(f"it is of format {made}, and this version reads {FORMAT}")
    for name in found:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name:
            raise NotABundle(f"{name!r} leads out of its folder")
    if missing := sorted(digests.keys() ^ found.keys()):
        raise NotABundle(f"{missing[0]} is in it or in its manifest, but not in both")
    changed = [name for name, octets in found.items() if _digest(octets) != digests[name]]
    if changed:
        raise NotABundle(f"{changed[0]} is not as it was packed: its SHA-256 is another")
    return Bundle(command, version, python, found)


@dataclass(frozen=True)
class Difference:
    """A file of a result that came out otherwise.

    Attributes:
        name: within the result.
        what: how it differs.
    """

    name: str
    what: str


def differences(bundle: Bundle, folder: Path) -> Iterator[Difference]:
    """What of a result made again in `folder` is not as the bundle has it.

    Data are compared octet by octet, or where these differ by what they say: JSON without the
    version of skycell and the name of the command's file, Parquet by its table. Pages and figures
    are not compared.
    """
    for name in bundle.result_files():
        again = folder / name
        if not again.is_file():
            yield Difference(name, "is not written any more")
            continue
        before, after = bundle.files[f"{RESULT}/{name}"], again.read_bytes()
        if before != after and not _say_the_same(name, before, after):
            yield Difference(name, "has other content")
    packed = set(bundle.result_files())
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = file.relative_to(folder).as_posix()
        if file.suffix in COMPARED and name not in packed:
            yield Difference(name, "was not written before")


def _say_the_same(name: str, before: bytes, after: bytes) -> bool:
    try:
        if name.endswith(".json"):
            return bool(_of_the_runs(json.loads(before)) == _of_the_runs(json.loads(after)))
        if name.endswith(".parquet"):
            import polars as pl

            tables = [pl.read_parquet(io.BytesIO(octets)) for octets in (before, after)]
            return tables[0].equals(tables[1])
    except ValueError:
        pass
    return False


def _of_the_runs(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: part for key, part in value.items() if key not in _NOT_COMPARED}
    return value


def _digest(octets: bytes) -> str:
    return hashlib.sha256(octets).hexdigest()


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content)
