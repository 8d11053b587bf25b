"""The store of finished runs: what has been simulated once is not simulated again.

One SQLite file; a run is committed the moment it has finished, so that a kill loses only what was
under way. The key of a run is its spec's hash, the engine, and the engine's version: a run is a
function of these.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import monotonic, sleep
from typing import Any

DEFAULT_STORE = Path(".skycell") / "runs.sqlite"
"""Where runs are kept unless another place is named, under the current directory."""

_FORM = 1  # of the tables below
_TABLES = """
CREATE TABLE runs (
    spec_hash   TEXT NOT NULL,
    engine      TEXT NOT NULL,
    version     TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('finished', 'failed')),
    reason      TEXT,
    summary     TEXT,
    wall_s      REAL NOT NULL,
    finished_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    PRIMARY KEY (spec_hash, engine, version),
    CHECK ((state = 'finished') = (summary IS NOT NULL)),
    CHECK ((state = 'failed') = (reason IS NOT NULL))
) WITHOUT ROWID
"""


_PATIENCE_S = 30.0  # with another process that holds the file


class StoreError(Exception):
    """The file cannot serve as a store; the message says which file and why."""


class StoreFailed(Exception):
    """A store in use could not be read or written, say for a full disk; what it has is kept."""


@dataclass(frozen=True)
class RunKey:
    """What a run is a function of."""

    spec_hash: str
    engine: str
    version: str


@dataclass(frozen=True)
class StoredRun:
    """A run as the store has it: a summary, or the reason why there is none."""

    key: RunKey
    summary: Mapping[str, Any] | None
    reason: str | None
    wall_s: float


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


def _is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is at fault, and not, say, who may write it."""
    if _is_no_utf8(error):
        return True
    return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _is_no_utf8(error: sqlite3.Error) -> bool:
    """Whether a text that the file holds is not UTF-8: told by Python, so without SQLite's code."""
    return str(error).startswith("Could not decode to UTF-8")


def engine_version() -> str:
    """Version of the engines: the package's, and a digest of the compiled engine itself.

    The digest tells two builds of one release apart while the engine, or what is kept of its
    records, is worked on.
    """
    from skycell import _core

    path = _core.__file__
    digest = sha256(Path(path).read_bytes()).hexdigest()[:12]
    return f"{_core.VERSION}+{digest}"


class RunStore:
    """Finished and failed runs in one SQLite file; a context manager.

    Several processes may read while one writes (write-ahead log).
    """

    def __init__(self, path: Path | str = DEFAULT_STORE, *, read_only: bool = False) -> None:
        """Opens the store, and makes it with its folder if it is not there.

        Args:
            path: its file, or `:memory:`.
            read_only: look only: nothing is made or changed, and the file may be one that cannot be
                written. An empty file is a store without runs.

        Raises:
            StoreError: the place cannot be written or, if it is only read, cannot be read; or the
                file is something else.
        """
        self.path = str(path)
        self.read_only = read_only
        self._seen: _FileState | None = None
        self._open()

    def _open(self) -> None:
        from skycell.records.staging import refuse_no_file

        try:
            if self.path != ":memory:":
                refuse_no_file(Path(self.path))
            self._db = self._look() if self.read_only else self._connect()
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            if Path(self.path).is_dir():
                reason = "it is a folder"
            told = f"{self.path}: cannot be opened as a store of runs: {reason}"
            raise StoreError(told) from None
        try:
            self._prepare()
        except sqlite3.Error as error:
            self._db.close()
            told = "is not" if _is_damage(error) else "cannot be opened as"
            raise StoreError(f"{self.path}: {told} a store of runs: {error}") from None
        except StoreError:
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
            if self._has_no_tables():
                self._db.close()
                self._db = sqlite3.connect(":memory:", isolation_level=None)
                self._db.execute(_TABLES)
            return
        with self._transaction():
            if self._has_no_tables():
                self._db.execute(_TABLES)
                self._db.execute(f"PRAGMA user_version = {_FORM}")
        # With a write-ahead log this survives a kill; only a power cut can lose the last runs.
        self._turn_log_on()
        self._db.execute("PRAGMA synchronous = NORMAL")

    def _has_no_tables(self) -> bool:
        """Whether the file is empty; refuses one that holds something else than a store."""
        form = self._db.execute("PRAGMA user_version").fetchone()[0]
        tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if form == 0 and tables == 0:
            return True
        if form != _FORM:
            raise StoreError(
                f"{self.path}: is a database of form {form}, not a store of runs of form "
                f"{_FORM}; name another file"
            )
        return False

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
    def _failures_told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if _is_damage(error):
                # Python's message holds the whole text that is at fault
                raise self._damage("a text is not UTF-8" if _is_no_utf8(error) else error) from None
            raise StoreFailed(
                f"{self.path}: {error}; the runs that it has are kept, and the same call "
                "continues from there"
            ) from None

    def _damage(self, reason: object) -> StoreError:
        return StoreError(
            f"{self.path}: is damaged: {reason}; remove it or name another file, and its runs are "
            "simulated again"
        )

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
        row = self._row("summary, reason, wall_s", key)
        if row is None:
            return None
        summary, reason, wall_s = row
        try:
            return StoredRun(
                key, json.loads(summary) if summary is not None else None, reason, wall_s
            )
        except ValueError:
            raise self._damage("the summary of a run is not JSON") from None

    def is_finished(self, key: RunKey) -> bool:
        """Whether the store has the summary of this run."""
        return self._row("state", key) == ("finished",)

    def _row(self, columns: str, key: RunKey) -> tuple[Any, ...] | None:
        return self._read(
            f"SELECT {columns} FROM runs WHERE spec_hash = ? AND engine = ? AND version = ?",
            (key.spec_hash, key.engine, key.version),
        )

    def _read(self, query: str, values: tuple[str, ...] = ()) -> tuple[Any, ...] | None:
        """The first row of an answer; of a file that is only looked at, as it now is."""
        with self._failures_told():
            while True:
                try:
                    row: tuple[Any, ...] | None = self._db.execute(query, values).fetchone()
                except sqlite3.Error:
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
        self._put(key, "finished", None, summary_json, wall_s)

    def put_failed(self, key: RunKey, reason: str, wall_s: float) -> None:
        """Notes that a run failed and why. It will be tried again when it is asked for."""
        self._put(key, "failed", reason, None, wall_s)

    def _put(
        self, key: RunKey, state: str, reason: str | None, summary: str | None, wall_s: float
    ) -> None:
        self.refuse_if_read_only()
        with self._failures_told(), self._transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO runs"
                " (spec_hash, engine, version, state, reason, summary, wall_s)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (key.spec_hash, key.engine, key.version, state, reason, summary, wall_s),
            )

    def __len__(self) -> int:
        """Number of finished runs."""
        row = self._read("SELECT count(*) FROM runs WHERE state = 'finished'")
        assert row is not None
        return int(row[0])
