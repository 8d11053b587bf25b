"""Where a command's runs are kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skycell.experiment.store import RunStore


@contextmanager
def open_store(path: Path | None) -> Iterator[RunStore]:
    """The store at a place, or at the usual one."""
    from skycell.experiment.store import DEFAULT_STORE, RunStore

    with RunStore(DEFAULT_STORE if path is None else path) as store:
        yield store


@contextmanager
def look_into_store(path: Path | None) -> Iterator[RunStore]:
    """The store at a place, or at the usual one, only looked into; where none is, none is made."""
    from skycell.experiment.store import DEFAULT_STORE, RunStore

    place = DEFAULT_STORE if path is None else path
    is_there = os.path.lexists(place)
    with RunStore(place, read_only=True) if is_there else RunStore(":memory:") as store:
        yield store
