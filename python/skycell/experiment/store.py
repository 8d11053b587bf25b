"""The store of finished runs: what has been simulated once is not simulated again.

One SQLite file; a run is committed the moment it has finished, so that a kill loses only what was
under way. The key of a run is its spec's hash, the engine, and the engine's version: a run is a
function of these. Each run is kept with a checksum, without which it is not handed out again.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import gmtime, monotonic, sleep, strftime
from typing import Any

from skycell.experiment.store_tables import (
    DATABASE_ERRORS,
    FORM,
    SCHEMA,
    TABLES,
    DamagedRunError,
    Row,
    RunKey,
    StoredRun,
    checksum_of,
    damage_in,
    run_of,
    schema_of,
    verified,
)

__all__ = [
    "DEFAULT_STORE",
    "FINISHED",
    "RunKey",
    "RunStore",
    "StoreError",
    "StoreFailed",
    "StoredRun",
]

DEFAULT_STORE = Path(".skycell") / "runs.sqlite"
"""Where runs are kept unless another place is named, under the current directory."""

FINISHED = "finished"
"""The state of a run that has a summary."""

RunEnded = tuple[RunKey, str | None, str | None, float]
"""A run, its summary or else why there is none, and the wall time that it took in seconds."""

_OF_KEY = "WHERE spec_hash = ? AND engine = ? AND version = ?"
_PATIENCE_S = 30.0  # with another process that holds the file


class StoreError(Exception):
    """The file cannot serve as a store; the message says which file, why, and the way out.

    Attributes:
        reason: why alone, where the file is damaged.
    """

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class StoreFailed(Exception):
    """A store in use could not be read or written, say for a full disk; what it has is kept."""


@dataclass(frozen=True)
class _FileState:
    """A file with what tells that it was written to."""

    file: Path
    inode: int
    size: int
    written_ns: int

    @classmethod
    def of(cls, file: Path) -> "_FileState":
        stat = file.stat()
        return cls(file, stat.st_ino, stat.st_size, stat.st_mtime_ns)


class RunStore:
    """Finished and failed runs in one SQLite file; a context manager.

    Several processes may read while one writes (write-ahead log).
    """

    def __init__(
        self, path: Path | str = DEFAULT_STORE, *, read_only: bool = False, rescue: bool = False
    ) -> None:
        """Opens the store, and makes it with its folder if it is not there.

        Args:
            path: its file, or `:memory:`.
            read_only: look only: nothing is made or changed, and the file may be one that cannot be
                written. An empty file is a store without runs.
            rescue: read what can be read, also where the tables are not as they were made.

        Raises:
            StoreError: the place cannot be written or, if it is only read, cannot be read; or the
                file is something else.
        """
        self.path = str(path)
        self.read_only = read_only
        self.form = FORM
        """Of the tables; a store that is written to has the present one."""
        self._rescue = rescue
        self._seen: _FileState | None = None
        self._open()

    def _open(self) -> None:
        from skycell.records.staging import refuse_no_file

        try:
            if self.path != ":memory:":
                refuse_no_file(Path(self.path))
            self._db = self._look() if self.read_only else self._connect()
        except (OSError, *DATABASE_ERRORS) as error:
            reason = getattr(error, "strerror", None) or error
            if Path(self.path).is_dir():
                reason = "it is a folder"
            reported = f"{self.path}: cannot be opened as a store of runs: {reason}"
            raise StoreError(reported) from None
        try:
            self._prepare()
        except DATABASE_ERRORS as error:
            self._db.close()
            reason = damage_in(error)
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
                raise StoreError(f"{self.path}: is not a store of runs: {error}") from None
            if reason is not None:
                raise self._damage(reason) from None
            raise StoreError(f"{self.path}: cannot be opened as a store of runs: {error}") from None
        except BaseException:
            self._db.close()
            raise

    def _connect(self) -> sqlite3.Connection:
        if self.path != ":memory:":
            Path(self.path).parent.mkdir(parents=True, exist_ok=True)
        return sqlite3.connect(self.path, timeout=_PATIENCE_S, isolation_level=None)

    def _look(self) -> sqlite3.Connection:
        """Opens the file such that SQLite neither makes nor changes a file."""
        file = Path(os.path.realpath(self.path, strict=True))
        log, index = (file.with_name(file.name + end) for end in ("-wal", "-shm"))
        if log.exists() and index.exists():
            # Another process has the store open, or was killed. Its log is read too; the index of
            # the log is used as it is, or built in memory (https://sqlite.org/wal.html#readonly).
            self._seen, how = None, "mode=ro&readonly_shm=1"
        elif log.exists() and log.stat().st_size > 0:
            raise StoreError(
                f"{self.path}: its last runs are in {log.name}, which is merged when the store "
                "is opened for writing, as `skycell sweep` does; here it is only read"
            )
        else:
            # All runs are in the file. Without `immutable` SQLite would make an empty log.
            self._seen, how = _FileState.of(file), "mode=ro&immutable=1"
        place = f"{file.as_uri()}?{how}"
        return sqlite3.connect(place, timeout=_PATIENCE_S, isolation_level=None, uri=True)

    def _prepare(self) -> None:
        if self.read_only:
            self.form = self._form() or FORM
            if self._db.execute(SCHEMA).fetchone() is None:
                self._db.close()
                self._db = sqlite3.connect(":memory:", isolation_level=None)
                self._make_tables()
            return
        with self._transaction():
            form = self._form()
            if form == 0:
                self._make_tables()
            elif form != FORM:
                self._add_checksums()
        # With a write-ahead log this survives a kill; only a power cut can lose the last runs.
        self._turn_log_on()
        self._db.execute("PRAGMA synchronous = NORMAL")

    def _make_tables(self) -> None:
        for table in TABLES[FORM]:
            self._db.execute(table)
        self._db.execute(f"PRAGMA user_version = {FORM}")

    def _form(self) -> int:
        """The form of the file's tables, 0 if it is empty; refuses what is not a store."""
        form: int = self._db.execute("PRAGMA user_version").fetchone()[0]
        schema = self._db.execute(SCHEMA).fetchall()
        if form == 0 and not schema:
            return 0
        if form > FORM and any(row[1] == "runs" for row in schema):
            raise StoreError(
                f"{self.path}: is a store of form {form}, of a later skycell; this one reads forms "
                f"up to {FORM}; name another file"
            )
        if form not in TABLES:
            raise StoreError(
                f"{self.path}: is a database of form {form}, not a store of runs of form "
                f"{FORM}; name another file"
            )
        if schema != schema_of(form) and not self._rescue:
            raise self._damage("its tables are not those of a store")
        return form

    def _add_checksums(self) -> None:
        """Brings a store of form 1 into the present form; its runs stay."""
        self._db.execute("ALTER TABLE runs RENAME TO runs_1")
        self._make_tables()
        for row in self._db.execute("SELECT * FROM runs_1"):
            try:
                verified(row)
            except DamagedRunError as damage:
                raise self._damage(damage) from None
            self._insert(row)
        self._db.execute("DROP TABLE runs_1")

    def _turn_log_on(self) -> None:
        """Turns the write-ahead log on; a file that others open at the same moment is waited for.

        SQLite's own waiting leaves the change of the journal out: of two that wait for each other
        one is told at once that the file is locked.
        """
        until = monotonic() + _PATIENCE_S
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > until:
                    raise
            sleep(0.01)

    @contextmanager
    def _failures_reported(self) -> Iterator[None]:
        try:
            yield
        except DamagedRunError as damage:
            raise self._damage(damage) from None
        except DATABASE_ERRORS as error:
            reason = damage_in(error)
            if reason is not None:
                raise self._damage(reason) from None
            raise StoreFailed(
                f"{self.path}: {error}; the runs that it has are kept, and the same call "
                "continues from there"
            ) from None

    def _damage(self, reason: object) -> StoreError:
        way_out = "`skycell store rescue` copies the runs that are whole into another file; "
        way_out = "" if self._rescue else way_out
        reported = f"is damaged: {reason}; {way_out}what a store does not have is simulated again"
        return StoreError(f"{self.path}: {reported}", str(reason))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._roll_back()  # what an interrupt left open that came just outside the block below
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        if self._db.in_transaction:  # a full disk has rolled it back already
            self._db.execute("ROLLBACK")

    def __enter__(self) -> "RunStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file; the store is of no use afterwards."""
        self._db.close()

    def get(self, key: RunKey) -> StoredRun | None:
        """The run of this key, finished or failed; none if the store has not seen it.

        Raises:
            StoreError: what the file holds of the run is damaged.
        """
        with self._failures_reported():
            row = self.row(key)
            return None if row is None else run_of(row)

    def is_finished(self, key: RunKey) -> bool:
        """Whether the store has the summary of this run; raises as `get` does."""
        with self._failures_reported():
            row = self.row(key)
            return row is not None and verified(row) == key and row[3] == FINISHED

    def row(self, key: RunKey) -> Row | None:
        """The row of a run as it stands in the file; none if there is none."""
        return self._read(f"SELECT * FROM runs {_OF_KEY}", _values(key))

    def _read(self, query: str, values: tuple[str, ...] = ()) -> tuple[Any, ...] | None:
        """The first row of an answer; of a file that is only looked at, as it now is."""
        with self._failures_reported():
            while True:
                try:
                    row: tuple[Any, ...] | None = self._db.execute(query, values).fetchone()
                except DATABASE_ERRORS:
                    if not self._has_changed():
                        raise
                else:
                    if not self._has_changed():
                        return row
                self._db.close()
                self._open()

    def _has_changed(self) -> bool:
        """Whether the file was written to since it was opened as one that nobody writes to."""
        return self._seen is not None and self._seen != _FileState.of(self._seen.file)

    def refuse_if_read_only(self) -> None:
        """Refuses what would write.

        Raises:
            StoreError: the store was opened to look only.
        """
        if self.read_only:
            raise StoreError(f"{self.path}: was opened for reading only; runs cannot be kept in it")

    def put_finished(self, key: RunKey, summary_json: str, wall_s: float) -> None:
        """Keeps a finished run; committed when this returns. Replaces an older one of its key."""
        self.put([(key, summary_json, None, wall_s)])

    def put_failed(self, key: RunKey, reason: str, wall_s: float) -> None:
        """Notes that a run failed and why. It will be tried again when it is asked for."""
        self.put([(key, None, reason, wall_s)])

    def put(self, ends: Iterable[RunEnded]) -> None:
        """Keeps how runs ended, all of them or, if it fails, none."""
        now = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
        with self.all_or_nothing():
            for key, summary, reason, wall_s in ends:
                state = "failed" if summary is None else FINISHED
                self._insert((*_values(key), state, reason, summary, float(wall_s), now))
                self._db.execute(f"DELETE FROM claims {_OF_KEY}", _values(key))

    def _insert(self, content: Row) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*content, checksum_of(content)),
        )

    def __len__(self) -> int:
        """Number of finished runs."""
        row = self._read("SELECT count(*) FROM runs WHERE state = 'finished'")
        assert row is not None
        return int(row[0])

    def rows(self, *, backwards: bool = False) -> Iterator[Row]:
        """All rows by their keys, damaged ones included.

        Raises:
            StoreError: the file is so damaged that the next row cannot be read.
        """
        order = "DESC" if backwards else "ASC"
        with self._failures_reported():
            # By number: the names of columns, too, may be damaged.
            yield from self._db.execute(
                f"SELECT * FROM runs ORDER BY 1 {order}, 2 {order}, 3 {order}"
            )

    def whole_rows(self) -> Iterator[tuple[RunKey, Row]]:
        """All rows by their keys, each as it was kept.

        Raises:
            StoreError: one is not, or the file cannot be read any further.
        """
        for row in self.rows():
            with self._failures_reported():
                key = verified(row)
            yield key, row

    def structural_damage(self) -> str | None:
        """The first thing that SQLite finds wrong with the file itself; none if all is well."""
        with self._failures_reported():
            reported = str(self._db.execute("PRAGMA integrity_check(1)").fetchone()[0])
        return None if reported == "ok" else " ".join(reported.split())

    def keep_copy(self, row: Row) -> None:
        """Keeps a run as another store has it."""
        with self.all_or_nothing():
            self.insert_copy(row)

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """What is inserted within is kept together when it ends, or not at all if it fails."""
        self.refuse_if_read_only()
        with self._failures_reported(), self._transaction():
            yield

    def insert_copy(self, row: Row) -> None:
        """Inserts a run as another store has it, within `all_or_nothing`."""
        self._insert(row[:8])

    def take(self, key: RunKey, maker: str) -> str:
        """Takes a run for a maker, unless it is finished or another has it.

        A failure that was noted of it goes: it is tried again.

        Returns:
            `FINISHED`, or the maker that now has the run.
        """
        self.refuse_if_read_only()
        with self._failures_reported(), self._transaction():
            row = self.row(key)
            if row is not None and verified(row) == key and row[3] == FINISHED:
                return FINISHED
            # One that is no text was never kept, and no maker of that name would ever be heard of.
            holder = self._db.execute(
                f"SELECT maker FROM claims {_OF_KEY} AND typeof(maker) = 'text'", _values(key)
            ).fetchone()
            if holder is not None and holder[0] != maker:
                return str(holder[0])
            claim = (*_values(key), maker)
            self._db.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?)", claim)
            self._db.execute(f"DELETE FROM runs {_OF_KEY} AND state = 'failed'", _values(key))
        return maker

    def beat(self, maker: str) -> None:
        """Says that a maker lives."""
        with self._failures_reported(), self._transaction():
            self._db.execute(
                "INSERT INTO makers VALUES (?, 1) ON CONFLICT DO UPDATE SET beat = beat + 1",
                (maker,),
            )

    def beat_of(self, maker: str) -> int | None:
        """How often a maker has said that it lives; none if it never did, or is gone."""
        row = self._read("SELECT beat FROM makers WHERE maker = ?", (maker,))
        return None if row is None else row[0]

    def release(self, maker: str) -> None:
        """Forgets a maker and what it has taken."""
        with self._failures_reported(), self._transaction():
            for table in ("claims", "makers"):
                self._db.execute(f"DELETE FROM {table} WHERE maker = ?", (maker,))


def _values(key: RunKey) -> tuple[str, str, str]:
    return key.spec_hash, key.engine, key.version
