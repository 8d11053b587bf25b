"""What the generated classes of a spec can do beyond holding its values."""

from __future__ import annotations

import hashlib
from operator import index
from typing import TYPE_CHECKING, Self

from skycell.spec.part import SpecPart
from skycell.spec.text import canonical_json

if TYPE_CHECKING:
    from skycell.spec.parts import FlowSpec, PolicySpec, QueueSpec, SourceSpec


class PortMethods(SpecPart):
    """Of an output port, its default queue: that of the classes without one of their own."""

    if TYPE_CHECKING:
        queues: tuple[QueueSpec, ...]

    @property
    def default_queue(self) -> QueueSpec:
        """The queue of the classes without one of their own; the last one if there is none."""
        return next((queue for queue in self.queues if queue.class_ is None), self.queues[-1])

    @property
    def capacity_cells(self) -> int | None:
        """Size of the default queue's buffer; none for no limit."""
        return self.default_queue.capacity_cells

    @property
    def is_limited(self) -> bool:
        """Whether one of its queues has a limit."""
        return any(queue.capacity_cells is not None for queue in self.queues)

    @property
    def policy(self) -> PolicySpec:
        """What the default queue takes in."""
        return self.default_queue.policy


class NetworkMethods(SpecPart):
    """Of a whole spec, its text and its hash.

    The canonical text (sorted keys, no spaces) names a run: its SHA-256 is the spec's hash.
    """

    if TYPE_CHECKING:
        seed: int
        flows: tuple[FlowSpec, ...]
        sources: tuple[SourceSpec, ...]

    def canonical_json(self) -> str:
        """The one text of this spec: sorted keys, no spaces."""
        return canonical_json(self)

    def hash(self) -> str:
        """SHA-256 of the canonical text, in hexadecimal."""
        return hashlib.sha256(self.canonical_json().encode()).hexdigest()

    @property
    def users_in_words(self) -> str:
        """How many flows there are; where there is none, how many sources."""
        count, noun = len(self.flows), "flow"
        if not count:
            of_cells = not any(source.datagram_octets for source in self.sources)
            count, noun = len(self.sources), "cell source" if of_cells else "source"
        return f"{count} {noun}{'' if count == 1 else 's'}"

    def with_seed(self, seed: int) -> Self:
        """The same run with other draws.

        Raises:
            ValueError: the seed is out of range.
            TypeError: it is no whole number.
        """
        seed = index(seed)
        if not 0 <= seed < 2**64:
            raise ValueError(f"seed {seed}: must be a whole number from 0 to {2**64 - 1}")
        return self.model_copy(update={"seed": seed})
