"""Which process makes which run, where several work on one store.

A process takes a run in the store before it makes it, and another leaves the run to it. Nobody
compares clocks or looks for processes, since they may be on different hosts: each says again and
again in the store that it lives. From one that has said nothing new while another watched it for
`PATIENCE_S`, say since it was killed, that other takes over. Should it live after all, a run is
made twice, with the same result.
"""

from contextlib import suppress
from enum import Enum
from time import monotonic
from uuid import uuid4

from skycell.experiment.store import FINISHED, RunKey, RunStore, StoreError, StoreFailed

BEAT_S = 1.0
"""Wall time after which a process says again that it lives."""
PATIENCE_S = 30.0
"""Wall time without a sign of life that is waited: many beats, since a large spec takes seconds."""


class Taken(Enum):
    """What came of the attempt to take a run."""

    BY_US = "by us"
    BY_ANOTHER = "by another"
    NOT_NEEDED = "not needed"
    """Another process has finished it meanwhile."""


class Claims:
    """What one batch has taken of a store."""

    def __init__(self, store: RunStore, *, patience_s: float = PATIENCE_S) -> None:
        self._store = store
        self._patience_s = patience_s
        self._maker = uuid4().hex
        self._beaten_at: float | None = None
        self._seen: dict[str, tuple[int | None, float]] = {}
        """Of each other maker the last beat, and when it was first seen."""

    def take(self, key: RunKey) -> Taken:
        """Takes a run, if nobody has it or has finished it."""
        self.keep()
        holder = self._store.take(key, self._maker)
        if holder not in (FINISHED, self._maker) and self._is_dead(holder):
            self._store.release(holder)
            holder = self._store.take(key, self._maker)
        if holder == FINISHED:
            return Taken.NOT_NEEDED
        return Taken.BY_US if holder == self._maker else Taken.BY_ANOTHER

    def _is_dead(self, maker: str) -> bool:
        beat, now = self._store.beat_of(maker), monotonic()
        last, since = self._seen.get(maker, (-1, now))
        if beat != last:
            self._seen[maker] = (beat, now)
            return False
        return now - since > self._patience_s

    def keep(self) -> None:
        """Says that this process lives, where it is time to."""
        now = monotonic()
        if self._beaten_at is None or now - self._beaten_at >= BEAT_S:
            self._store.beat(self._maker)
            self._beaten_at = now

    def release(self) -> None:
        """Leaves to others what was taken and not finished."""
        # A store that fails here has failed before, which is told; others wait a while in vain.
        with suppress(StoreError, StoreFailed):
            self._store.release(self._maker)
