"""The text of a file, or of standard input, read as a whole."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from errno import EACCES, ENOENT
from io import BytesIO
from os import PathLike, fspath, strerror
from pathlib import Path
from typing import BinaryIO

from skycell.input.faults import Fault, ScenarioFaults

_MOST_OCTETS = 2**28
"""Of a text: 256 MiB. What has no end, such as `/dev/zero`, would else fill the memory."""

_GZIP = b"\x1f\x8b"
_PIECE = 2**20
"""Octets that are unpacked at a time; between two of them Python hears of signals."""

OUTSIDE = "the file lies outside of the folder that may be read"

_NOTED: ContextVar[list[Path] | None] = ContextVar("files that are read", default=None)
_WITHIN: ContextVar[Path | None] = ContextVar("the folder that may be read", default=None)


def read_text(path: str | PathLike[str]) -> str:
    """The text of a file, a byte order mark taken off.

    Raises:
        ScenarioFaults: it is not UTF-8, or too long.
        OSError: the file cannot be read, or may not be, within `files_within`.
    """
    if (noted := _NOTED.get()) is not None:
        noted.append(Path(path))
    if "\0" in fspath(path):  # TOML can write it, and no file system can have it in a name
        raise FileNotFoundError(ENOENT, strerror(ENOENT), fspath(path))
    folder = _WITHIN.get()
    if folder is not None and not Path(path).resolve().is_relative_to(folder):
        raise PermissionError(EACCES, OUTSIDE, fspath(path))
    with Path(path).open("rb") as file:
        return read_stream(file, fspath(path))


@contextmanager
def files_noted() -> Iterator[list[Path]]:
    """Notes the files that are read within, in the order of reading; one may be there twice.

    Who notes around it gets them too, at its end.
    """
    noted: list[Path] = []
    token = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(token)
        if (around := _NOTED.get()) is not None:
            around += noted


@contextmanager
def files_within(folder: Path) -> Iterator[None]:
    """Lets `read_text` read only files of a folder: what names them is a stranger's."""
    token = _WITHIN.set(folder.resolve())
    try:
        yield
    finally:
        _WITHIN.reset(token)


@contextmanager
def csv_faults(name: str) -> Iterator[None]:
    """Tells what cannot be read as CSV as a fault of the file `name`."""
    try:
        yield
    except csv.Error as error:
        raise ScenarioFaults([Fault(name, "", str(error), "a table as CSV")]) from None


def read_stream(stream: BinaryIO, name: str) -> str:
    """The text of an open file, unpacked if it is gzip's, a byte order mark taken off.

    Raises:
        ScenarioFaults: it is not UTF-8, or too long; `name` is where it is from.
        OSError: it cannot be read.
    """
    octets = stream.read(_MOST_OCTETS + 1)
    if octets.startswith(_GZIP):
        octets = _unpacked(octets, name)
    if len(octets) > _MOST_OCTETS:
        most = f"{_MOST_OCTETS >> 20} MiB"
        raise ScenarioFaults([Fault(name, "", f"more than {most}", f"UTF-8 text of up to {most}")])
    try:
        return octets.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        got = f"the octet {error.object[error.start]:#04x}"
        raise ScenarioFaults([Fault(name, "", got, "UTF-8 text")]) from None


def _unpacked(octets: bytes, name: str) -> bytes:
    """What gzip has packed; of too much of it a little more than is allowed."""
    import gzip
    import zlib

    found = bytearray()
    try:
        with gzip.GzipFile(fileobj=BytesIO(octets)) as file:
            while len(found) <= _MOST_OCTETS and (piece := file.read(_PIECE)):
                found += piece
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ScenarioFaults([Fault(name, "", str(error), "a whole file of gzip")]) from None
    return bytes(found)
