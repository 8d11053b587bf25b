"""A run's result in a folder: `spec.json`, `records.json` and one Parquet file per trace."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from skycell.records.result import RunResult
from skycell.records.sky import COLUMNS_FILE, SKY_TABLES
from skycell.records.staging import Staging
from skycell.spec.columns import columns_of
from skycell.spec.declared.traces import TRACE_COLUMNS

if TYPE_CHECKING:
    import polars as pl

SPEC_FILE = "spec.json"
RECORDS_FILE = "records.json"


class OutputExists(Exception):
    """Files of an earlier run stand where this one's would go."""

    def __init__(self, files: Iterable[Path]) -> None:
        self.files = tuple(files)
        super().__init__(f"{self.files[0]} exists")


def existing_files(folder: Path) -> list[Path]:
    """Files in `folder` that a result would replace."""
    tables = [f"{name}.parquet" for name in (*TRACE_COLUMNS, *SKY_TABLES)]
    names = [SPEC_FILE, RECORDS_FILE, COLUMNS_FILE, *tables]
    return [folder / name for name in names if os.path.lexists(folder / name)]


def write_parquet(frame: pl.DataFrame, file: Path) -> None:
    """Writes a table as Parquet; raises `OSError` where the file cannot be written."""
    import polars as pl

    try:
        frame.write_parquet(file)
    except pl.exceptions.ComputeError as error:  # how polars tells of a full disk
        reason = str(error).rpartition(": ")[2].partition(" (os error")[0]
        raise OSError(errno.EIO, reason, file.name) from None


def write_result(result: RunResult, folder: Path, *, replace: bool = False) -> list[Path]:
    """Writes a result; returns its files.

    Args:
        result: what to write.
        folder: where; made if it does not exist. Other files in it are left alone.
        replace: whether files of an earlier result give way.

    Raises:
        OutputExists: there are such files, and `replace` is not set.
        OSError: the folder cannot be written.
    """
    earlier = existing_files(folder)
    if earlier and not replace:
        raise OutputExists(earlier)
    with Staging() as staging:
        staging.write(folder / SPEC_FILE, f"{result.spec.canonical_json()}\n".encode())
        columns = columns_of(result.spec)
        if columns is not None:
            staging.write(folder / COLUMNS_FILE, columns.read_bytes())
        for name in result.traces:
            with staging.place(folder / f"{name}.parquet") as file:
                write_parquet(result.traces[name], file)
        # Last, so that a folder with records holds everything that belongs to them.
        staging.write(folder / RECORDS_FILE, f"{result.to_json()}\n".encode())
    for stale in earlier:
        if stale not in staging.paths:
            stale.unlink()
    return staging.paths
