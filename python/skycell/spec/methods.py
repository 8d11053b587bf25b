"""What the generated classes of a spec can do beyond holding its values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, Self

from skycell.spec.part import SpecPart
from skycell.spec.reading import read_part
from skycell.spec.text import canonical_json

if TYPE_CHECKING:
    from skycell.spec.declared.parts import (
        FlowSpec,
        NodeSpec,
        PolicySpec,
        QueueSpec,
        SourceSpec,
        UsersSpec,
        VcSpec,
    )


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
        nodes: tuple[NodeSpec, ...]
        links: tuple[Any, ...]
        vcs: tuple[VcSpec, ...]
        flows: tuple[FlowSpec, ...]
        users: UsersSpec | None
        sources: tuple[SourceSpec, ...]
        sky: Any

    def canonical_json(self) -> str:
        """The one text of this spec: sorted keys, no spaces."""
        return canonical_json(self)

    @classmethod
    def model_validate_json(cls, text: str) -> Self:
        """Reads a spec from its JSON form.

        Raises:
            NoSpec: with the key that is missing, unknown or of another type.
        """
        return read_part(cls, text)

    def hash(self) -> str:
        """SHA-256 of the canonical text, in hexadecimal."""
        return hashlib.sha256(self.canonical_json().encode()).hexdigest()

    @property
    def connections(self) -> tuple[FlowSpec, ...]:
        """A flow for each TCP connection, by the ids that traces have.

        The first connection of each flow has the flow's id; those behind proxies follow all flows,
        flow by flow.
        """
        if not any(flow.peps for flow in self.flows):
            return self.flows
        rows = [list(self._connections_of(flow)) for flow in self.flows]
        first = [row[0] for row in rows]
        return (*first, *(behind for row in rows for behind in row[1:]))

    def _connections_of(self, flow: FlowSpec) -> Iterator[FlowSpec]:
        """The connections of a flow in the order of its path; itself if it is not split."""
        forward, reverse, name, tcp = flow.forward, flow.reverse, flow.name, flow.tcp
        for pep in flow.peps:
            there, back = (self._end_at(route, pep.node) for route in (forward, reverse))
            yield flow.model_copy(
                update={
                    "name": name,
                    "tcp": tcp,
                    "forward": forward[:there],
                    "reverse": reverse[back:],
                    "peps": (),
                }
            )
            forward, reverse = forward[there:], reverse[:back]
            name, tcp = f"{flow.name}@{self.nodes[pep.node].name}", pep.tcp
        yield flow.model_copy(
            update={"name": name, "tcp": tcp, "forward": forward, "reverse": reverse, "peps": ()}
        )

    def _end_at(self, route: Sequence[int], node: int) -> int:
        """How many of a route's VCs come before a node."""
        ends = [self.links[self.vcs[vc].path[-1]].to for vc in route]
        return ends.index(node) + 1

    @property
    def carriers(self) -> tuple[Any, ...]:
        """What carries cells or packets: the links, and the kinds of ports of a sky."""
        return (*self.links, *(self.sky.kinds if self.sky is not None else ()))

    @property
    def users_in_words(self) -> str:
        """How many users there are, or flows; where there is none, how many sources."""
        count, noun = len(self.flows), "flow"
        if self.users is not None:
            count, noun = sum(group.count for group in self.users.groups), "user"
        if not count:
            sources = [source for source in self.sources if source.pattern.kind != "echo"]
            of_cells = not any(source.datagram_octets for source in sources)
            count, noun = len(sources), "cell source" if of_cells else "source"
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
