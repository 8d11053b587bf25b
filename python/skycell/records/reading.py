"""A result read back from the folder that it was written to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from skycell import _core
from skycell.input.json_text import read_json
from skycell.records.files import RECORDS_FILE, SPEC_FILE
from skycell.records.result import RunResult, as_text
from skycell.records.shape import faults_of_shape
from skycell.records.sky import COLUMNS_FILE, SKY_TABLES
from skycell.spec.columns import keep_columns
from skycell.spec.declared.network import NetworkSpec
from skycell.spec.declared.traces import TRACE_COLUMNS

if TYPE_CHECKING:
    import polars as pl

IDENTITY = ("version", "engine", "seed", "spec_hash")
"""What `records.json` says about the run besides its records."""
_NO_RECORDS = {*IDENTITY, "notes", "ceiling_bps"} - {"engine"}
"""What is no part of the records themselves."""


class NotAResult(Exception):
    """What was given is no result of a run; the message says what is wrong with it."""


class TraceFiles(Mapping[str, "pl.DataFrame"]):
    """The traces in a folder by name, each read when it is first asked for; else `NotAResult`."""

    def __init__(self, folder: Path) -> None:
        known = (*TRACE_COLUMNS, *SKY_TABLES)
        names = [name for name in known if (folder / f"{name}.parquet").is_file()]
        self._files = {name: folder / f"{name}.parquet" for name in names}
        self._tables: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._tables:
            import polars as pl

            try:
                self._tables[name] = pl.read_parquet(self._files[name])
            except (pl.exceptions.PolarsError, OSError) as error:
                raise NotAResult(f"{self._files[name]} holds no trace of a run: {error}") from None
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __repr__(self) -> str:
        return f"traces: {', '.join(self._files) or 'none'}"


def read_result(folder: Path) -> RunResult:
    """Reads what :func:`~skycell.records.files.write_result` wrote.

    Args:
        folder: holds `spec.json`, `records.json` and the traces.

    Raises:
        NotAResult: a file is missing, is no JSON of its kind, or belongs to another run.
    """
    spec_text, records_text = (_text(folder / name) for name in (SPEC_FILE, RECORDS_FILE))
    try:
        spec = NetworkSpec.model_validate_json(spec_text)
    except ValueError as error:
        raise NotAResult(f"{folder / SPEC_FILE} holds no spec of a network") from error
    try:
        summary = read_json(records_text)
        identity = {key: summary[key] for key in IDENTITY}
        notes = summary.get("notes", [])
        missing = {"duration_ps", "flows", "vcs", "ports", "ledger"} - summary.keys()
    except (ValueError, TypeError, KeyError) as error:
        raise NotAResult(f"{folder / RECORDS_FILE} holds no records of a run") from error
    if missing:
        raise NotAResult(f"{folder / RECORDS_FILE} holds no {', '.join(sorted(missing))}")
    if not (isinstance(notes, list) and all(isinstance(note, str) for note in notes)):
        raise NotAResult(f"{folder / RECORDS_FILE}: notes are not a list of texts")
    for key, value in identity.items():
        if not isinstance(value, int if key == "seed" else str):
            raise NotAResult(f"{folder / RECORDS_FILE}: {key} has a value of another kind")
    written = hashlib.sha256(spec_text.rstrip("\n").encode()).hexdigest()
    if identity["spec_hash"] != written:
        raise NotAResult(
            f"{folder / RECORDS_FILE} is of spec {identity['spec_hash'][:12]}, and "
            f"{SPEC_FILE} next to it is spec {written[:12]}"
        )
    if spec.hash() != written:
        raise NotAResult(
            f"{folder / SPEC_FILE} was written by skycell {identity['version']}, "
            "whose specs this version does not write in the same way; run it again"
        )
    if spec.sky is not None:
        _keep_columns(folder / COLUMNS_FILE, spec.sky.columns)
    try:
        fault = next(faults_of_shape(summary, spec), None)
    except _core.SpecError as error:
        raise NotAResult(f"{folder / SPEC_FILE} holds no spec of a network: {error}") from None
    if fault is not None:
        raise NotAResult(f"{folder / RECORDS_FILE}: {fault}; run the scenario again")
    records = {key: value for key, value in summary.items() if key not in _NO_RECORDS}
    return RunResult(spec, as_text(records), TraceFiles(folder), identity["version"], tuple(notes))


def _keep_columns(file: Path, digest: str) -> None:
    """Reads the columns of a result's sky, which are those that its spec names."""
    try:
        octets = file.read_bytes()
    except OSError as error:
        raise NotAResult(f"{file}: {error.strerror or error}") from None
    found = hashlib.sha256(octets).hexdigest()
    if found != digest:
        text = f"{file} has the digest {found[:12]}, and {SPEC_FILE} names {digest[:12]}"
        raise NotAResult(text)
    keep_columns(digest, octets)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotAResult(f"{file} does not exist") from None
    except OSError as error:
        raise NotAResult(f"{file} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise NotAResult(f"{file} cannot be read: it is not UTF-8 text") from None
