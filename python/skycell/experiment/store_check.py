"""A whole store looked through, and what is whole of it copied into another."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from skycell.experiment.store import FINISHED, RunStore, StoreError
from skycell.experiment.store_tables import DamagedRunError, Row, verified


@dataclass
class Verification:
    """What a store holds.

    Attributes:
        finished: whole runs with a summary.
        failed: whole runs of which the reason is kept why they have none.
        damaged: a sentence on each run that is not as it was kept.
        unreadable: why not all of the file can be read; none if it can.
    """

    finished: int = 0
    failed: int = 0
    damaged: list[str] = field(default_factory=list)
    unreadable: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is damaged."""
        return not self.damaged and self.unreadable is None


def verify(store: RunStore) -> Verification:
    """Reads every run of a store and checks it."""
    found = Verification()
    for _ in _whole_rows(store, found, backwards=False):
        pass
    if found.unreadable is None:
        try:
            found.unreadable = store.structural_damage()
        except StoreError as error:
            found.unreadable = error.reason or str(error)
    return found


def rescue(store: RunStore, into: RunStore) -> Verification:
    """Copies the runs of a store that are whole into another.

    Where the file cannot be read any further, it is read from its end, too.

    Returns:
        What was found; `finished` and `failed` are the runs copied.
    """
    found = Verification()
    copied = {}
    for backwards in (False, True):
        if backwards and found.unreadable is None:
            break
        for row in _whole_rows(store, found, backwards=backwards):
            if row[:3] not in copied:
                into.keep_copy(row)
                copied[row[:3]] = row[3]
    found.finished = sum(state == FINISHED for state in copied.values())
    found.failed = len(copied) - found.finished
    found.damaged = list(dict.fromkeys(found.damaged))
    return found


def _whole_rows(store: RunStore, found: Verification, *, backwards: bool) -> Iterator[Row]:
    """The rows that are as they were kept; counts them, and what keeps others from being so."""
    rows = store.rows(backwards=backwards)
    while True:
        try:
            row = next(rows, None)
        except StoreError as error:
            found.unreadable = error.reason or str(error)
            return
        if row is None:
            return
        try:
            verified(row)
        except DamagedRunError as damage:
            found.damaged.append(str(damage))
            continue
        if row[3] == FINISHED:
            found.finished += 1
        else:
            found.failed += 1
        yield row
