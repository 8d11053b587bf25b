"""Where a command's runs are kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skycell.cli.results import why_unwritable

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


def refuse_unfit_store(path: Path | None, *, to_look: bool = False) -> None:
    """Tries a store out before it is needed; leaves its place as it was.

    Args:
        path: its place; the usual one if none.
        to_look: it will only be looked into.

    Raises:
        click.UsageError: it cannot be opened.
    """
    from skycell.experiment.store import DEFAULT_STORE, StoreError

    place = DEFAULT_STORE if path is None else path
    # That a folder is none, the store tells itself.
    is_tried = not to_look and not os.path.isdir(place)  # noqa: PTH112 - see `_file_in_the_way`
    reason = why_unwritable(place, place.parent) if is_tried else None
    try:
        if to_look:
            with look_into_store(path):
                pass
        elif reason is None and _holds_something(place):
            with open_store(path):
                pass
    except StoreError as error:
        reason = str(error)
    if reason is None:
        return
    if path is None:
        raise click.UsageError(reason)
    raise click.BadParameter(reason, param_hint="'--store'")


def _holds_something(place: Path) -> bool:
    try:
        return place.is_dir() or place.stat().st_size > 0
    except OSError:
        return False
