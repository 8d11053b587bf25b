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
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path, PurePosixPath
from typing import Any

from skycell.input.json_text import read_json
from skycell.input.printable import printable

MANIFEST = "bundle.json"
INPUT = "input"
RESULT = "result"
REQUIREMENTS = "requirements.txt"
FORMAT = 1
"""Version of the layout."""

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip file can tell
_MOST_OCTETS = 2**30
"""Of all files of a bundle, unpacked: 1 GiB, which memory has to hold."""
_MOST_OF_MANIFEST = 2**24
_MOST_FILES = 10_000
_LONGEST_NAME = 200
"""In octets; file systems have 255 for a part, and this is below a folder of ours."""
_LONGEST_COMMAND = 100_000
"""In letters: systems take 128 KiB and more."""
COMPARED = (".json", ".csv", ".parquet")
"""Files of a result that hold data; pages and figures are drawn from them."""
_NOT_COMPARED = {"version", "file"}
"""What a result says of the build that made it and of the name of its file, not of the runs."""


_DAMAGED = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError)
"""What reading a damaged zip file raises."""


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

    def refuse_too_large(self) -> None:
        """Refuses what `read_bundle` would refuse for its size.

        Raises:
            NotABundle: there is too much of it.
        """
        if sum(map(len, self.files.values())) > _MOST_OCTETS:
            raise NotABundle(f"its files have more than {_MOST_OCTETS >> 30} GiB")

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


def load_bundle(path: Path) -> Bundle:
    """The bundle of a file, as `read_bundle` has it.

    Raises:
        NotABundle: as for `read_bundle`.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        content = file.read(_MOST_OCTETS + 1)
    if len(content) > _MOST_OCTETS:
        raise NotABundle(f"it has more than {_MOST_OCTETS >> 30} GiB")
    return read_bundle(content)


def read_bundle(content: bytes) -> Bundle:
    """Reads a bundle and checks every file of it against its digest.

    Raises:
        NotABundle: it is no zip file, is larger than it may be, has no manifest, lacks a file or
            has another, or a file is not the one that was packed; or a name is none of a bundle.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        entries = archive.infolist()
        _refuse_entries(entries, len(content))
        manifest = _read(archive, entries[0], _MOST_OF_MANIFEST)
        found = {entry.filename: _read(archive, entry, _MOST_OCTETS) for entry in entries[1:]}
    except (*_DAMAGED, ValueError, OverflowError, struct.error) as error:
        raise NotABundle(f"it is no whole zip file: {printable(str(error))}") from None
    command, version, python, digests = _manifest(manifest)
    if missing := sorted(digests.keys() ^ found.keys()):
        name = printable(missing[0])
        raise NotABundle(f"{name} is in it or in its manifest, but not in both")
    changed = [name for name, octets in found.items() if _digest(octets) != digests[name]]
    if changed:
        raise NotABundle(f"{changed[0]} is not as it was packed: its SHA-256 is another")
    return Bundle(command, version, python, found)


def _refuse_entries(entries: Sequence[zipfile.ZipInfo], octets: int) -> None:
    """Refuses what no bundle has: before anything of it is unpacked."""
    if not entries or entries[0].filename != MANIFEST:
        raise NotABundle(f"it has no {MANIFEST} as `skycell pack` writes it")
    if len(entries) > _MOST_FILES:
        raise NotABundle(f"it has more than {_MOST_FILES} files")
    if sum(entry.file_size for entry in entries) > _MOST_OCTETS:
        raise NotABundle(f"its files have more than {_MOST_OCTETS >> 30} GiB")
    if sum(entry.compress_size for entry in entries) > octets:
        raise NotABundle("its files lie one over the other")
    seen: set[str] = set()
    for entry in entries:
        name = entry.filename
        # Names that differ in their letters' case alone are one file on some systems.
        if name.casefold() in seen:
            raise NotABundle(f"{printable(name)} is in it twice")
        seen.add(name.casefold())
        if name != MANIFEST:
            _refuse_name(name)
        if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
            raise NotABundle(f"{printable(name)} is a link or a device, and no file")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise NotABundle(f"{printable(name)} is packed in a way that `skycell pack` never uses")
    for name in seen:
        if any(parent.as_posix() in seen for parent in PurePosixPath(name).parents):
            raise NotABundle(f"{printable(name)} lies in a file")


def _refuse_name(name: str) -> None:
    """Refuses a name that leads out of the bundle's folder, or that no system has."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name:
        raise NotABundle(f"{printable(name)} leads out of its folder")
    if path.parts[:1] not in ((INPUT,), (RESULT,)) and name != REQUIREMENTS:
        raise NotABundle(f"{printable(name)} lies neither in {INPUT}/ nor in {RESULT}/")
    is_below = len(path.parts) > 1 or name == REQUIREMENTS
    if path.as_posix() != name or printable(name) != name or not is_below:
        raise NotABundle(f"{printable(name)} is no name of a file")
    if len(name.encode()) > _LONGEST_NAME:
        raise NotABundle(f"{name[:40]}… has a name of more than {_LONGEST_NAME} octets")


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> bytes:
    """What an entry holds: no more than it says, whatever it would grow to."""
    if entry.file_size > most:
        raise NotABundle(f"{printable(entry.filename)} has more than {most >> 20} MiB")
    with archive.open(entry) as file:
        content = file.read(entry.file_size + 1)
    if len(content) != entry.file_size:
        raise NotABundle(f"{printable(entry.filename)} is longer or shorter than the archive says")
    return content


def _manifest(content: bytes) -> tuple[tuple[str, ...], str, str, dict[str, str]]:
    """Command, version of skycell, version of Python and digests of a manifest."""
    try:
        manifest: dict[str, Any] = read_json(content)
        made, command, digests = manifest["format"], manifest["command"], manifest["files"]
        version, python = manifest["version"], manifest["python"]
    except (KeyError, ValueError, TypeError):
        raise NotABundle(f"it has no {MANIFEST} as `skycell pack` writes it") from None
    if made != FORMAT:
        raise NotABundle(
            f"it is of format {printable(str(made)[:40])}, and this version reads {FORMAT}"
        )
    words = isinstance(command, list) and [*command, version, python]
    if not words or not all(_is_text(word) for word in words) or not isinstance(digests, dict):
        raise NotABundle(f"it has no {MANIFEST} as `skycell pack` writes it")
    if sum(map(len, words)) > _LONGEST_COMMAND:
        raise NotABundle(f"its command has more than {_LONGEST_COMMAND} letters")
    return tuple(command), version, python, digests


def _is_text(word: object) -> bool:
    """Whether it is a text that a command line can hold."""
    if not isinstance(word, str) or "\0" in word:
        return False
    return not any("\ud800" <= sign <= "\udfff" for sign in word)


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
    """Whether data of a stranger and of a run made here are alike; what cannot be read is not."""
    try:
        if name.endswith(".json"):
            return bool(_of_the_runs(read_json(before)) == _of_the_runs(read_json(after)))
        if name.endswith(".parquet"):
            return _are_same_table(before, after)
    except (ValueError, RecursionError):
        pass
    return False


def _are_same_table(before: bytes, after: bytes) -> bool:
    import polars as pl

    try:
        # A few octets of Parquet can stand for any number of rows: ours say how many there are.
        rows = [
            pl.scan_parquet(io.BytesIO(octets)).select(pl.len()).collect().item()
            for octets in (before, after)
        ]
        if rows[0] != rows[1] or pl.read_parquet_schema(io.BytesIO(before)) != (
            pl.read_parquet_schema(io.BytesIO(after))
        ):
            return False
        tables = [pl.read_parquet(io.BytesIO(octets)) for octets in (before, after)]
        return tables[0].equals(tables[1])
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
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
