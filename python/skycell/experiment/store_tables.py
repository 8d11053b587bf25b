"""The tables of a store of runs, the checksum of a run, and what is damage of the file."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any

FORM = 2
"""Of the tables below. Form 1 had runs without a checksum, and nothing else."""

_RUNS_1 = """
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
_RUNS = """
CREATE TABLE runs (
    spec_hash   TEXT NOT NULL,
    engine      TEXT NOT NULL,
    version     TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('finished', 'failed')),
    reason      TEXT,
    summary     TEXT,
    wall_s      REAL NOT NULL,
    finished_at TEXT NOT NULL,
    checksum    TEXT NOT NULL,
    PRIMARY KEY (spec_hash, engine, version),
    CHECK ((state = 'finished') = (summary IS NOT NULL)),
    CHECK ((state = 'failed') = (reason IS NOT NULL))
) WITHOUT ROWID
"""
# A maker is a batch that is being made; its beat goes up as long as its process lives.
_MAKERS = """
CREATE TABLE makers (
    maker TEXT NOT NULL PRIMARY KEY,
    beat  INTEGER NOT NULL
) WITHOUT ROWID
"""
_CLAIMS = """
CREATE TABLE claims (
    spec_hash TEXT NOT NULL,
    engine    TEXT NOT NULL,
    version   TEXT NOT NULL,
    maker     TEXT NOT NULL,
    PRIMARY KEY (spec_hash, engine, version)
) WITHOUT ROWID
"""
TABLES: Mapping[int, Sequence[str]] = {1: (_RUNS_1,), FORM: (_RUNS, _MAKERS, _CLAIMS)}
"""What makes the tables of each form that can be read."""

SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"


@cache
def schema_of(form: int) -> list[tuple[str, ...]]:
    """What `SCHEMA` gives for a store of a form that can be read."""
    db = sqlite3.connect(":memory:")
    try:
        for table in TABLES[form]:
            db.execute(table)
        return db.execute(SCHEMA).fetchall()
    finally:
        db.close()


@dataclass(frozen=True)
class RunKey:
    """What a run is a function of."""

    spec_hash: str
    engine: str
    version: str

    def __str__(self) -> str:
        return f"the run of spec {self.spec_hash[:12]}, engine {self.engine}, {self.version}"


@dataclass(frozen=True)
class StoredRun:
    """A run as the store has it: a summary, or the reason why there is none."""

    key: RunKey
    summary: Mapping[str, Any] | None
    reason: str | None
    wall_s: float


class DamagedRunError(Exception):
    """A row does not hold what was once kept in it; the message says so in a sentence."""


Row = tuple[Any, ...]
"""Of the table `runs`, with its columns in their order; in form 1 without the checksum."""


def checksum_of(content: Row) -> str:
    """What is kept with a row's other columns; a row with a blob has none.

    Raises:
        TypeError: a column has octets, which none of a whole row has.
    """
    return sha256(json.dumps(content).encode()).hexdigest()


def verified(row: Row) -> RunKey:
    """The key of a row that is as it was kept.

    Raises:
        DamagedRunError: it is not.
    """
    key = RunKey(*map(_shown, row[:3]))
    content, kept = row[:8], row[8:]
    try:
        own = checksum_of(content)
    except TypeError:
        own = ""
    if kept and kept != (own,):
        raise DamagedRunError(f"{key} does not match its checksum")
    if not kept and not _is_sound(content):
        raise DamagedRunError(f"{key} is not one that was ever kept")
    return key


def _shown(column: object) -> str:
    return column if isinstance(column, str) else repr(column)[:80]


def _is_sound(content: Row) -> bool:
    """Whether a row without a checksum has a content that a run can have."""
    state, reason, summary, wall_s = content[3:7]
    texts = [*content[:3], content[7], summary if state == "finished" else reason]
    if not all(isinstance(text, str) for text in texts) or not isinstance(wall_s, float):
        return False
    if state == "finished" and reason is None:
        try:
            json.loads(summary)
        except ValueError:
            return False
        return True
    return bool(state == "failed" and summary is None)


def run_of(row: Row) -> StoredRun:
    """The run that a row holds.

    Raises:
        DamagedRunError: the row is not as it was kept.
    """
    key = verified(row)
    reason, summary, wall_s = row[4:7]
    return StoredRun(key, None if summary is None else json.loads(summary), reason, wall_s)


# What the surroundings of a file do to it; all else is damage of the file, since our statements are
# fixed and fit the tables (https://sqlite.org/rescode.html).
_OF_THE_SURROUNDINGS = {
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_ABORT,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_NOLFS,
    sqlite3.SQLITE_AUTH,
}

DATABASE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What reading a file raises; the second where SQLite's own message quotes octets of the file."""


def damage_in(error: Exception) -> str | None:
    """What an error says of the file; none where the file is not at fault."""
    if isinstance(error, UnicodeDecodeError) or str(error).startswith("Could not decode to UTF-8"):
        return "a text is not UTF-8"  # Python's message holds the whole text that is at fault
    code = getattr(error, "sqlite_errorcode", None)
    if code is None or code == sqlite3.SQLITE_IOERR_SHORT_READ:
        return str(error)
    if code & 0xFF in _OF_THE_SURROUNDINGS:
        return None
    return str(error)
