"""The columns of a network: which links there are, their delays and the next hops at each epoch.

`crates/sky/src/columns.rs` declares the columns, `file.rs` beside it says how a file has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MARK = b"skycell columns\x02"
"""What a file begins with; the last octet is the version."""
NO_LINK = 2**16 - 1
"""Instead of a link, counted within its node: there is no route."""
NO_DELAY_PS = 2**64 - 1
"""Instead of a delay: the link does not exist."""
_GROUP = 8
_COLUMNS = {
    "epoch_ps": "<u8",
    "node_link": "<u4",
    "link_to": "<u4",
    "link_course": "<u4",
    "link_extra_ps": "<u8",
    "link_port": "<u4",
    "port_kind": "u1",
    "course_interval": "<u4",
    "interval_epoch": "<u4",
    "interval_first_ps": "<u8",
    "interval_diff": "<u4",
    "diff_ps": "<i4",
    "label_node": "<u4",
    "route_first": "<u2",
    "node_change": "<u4",
    "change_epoch": "<u4",
    "change_label": "<u2",
    "change_link": "<u2",
}


@dataclass(frozen=True)
class Links:
    """The directed links that exist at one epoch, by the node that they leave and then their end.

    Attributes:
        source: node that each link leaves.
        to: node at its end.
        delay_ps: whole picoseconds.
        port: number of the port that feeds it.
    """

    source: NDArray[np.int64]
    to: NDArray[np.int64]
    delay_ps: NDArray[np.int64]
    port: NDArray[np.int64]


class Columns:
    """A file of columns.

    Attributes:
        epoch_ps: when delays and routes are taken anew.
        port_kind: of each port: 0 between satellites, 1 of a place on the ground, 2 of a satellite
            to such places, 3 between such a place and a point behind it.
        label_node: node at which each label is delivered.
    """

    epoch_ps: NDArray[np.uint64]
    port_kind: NDArray[np.uint8]
    label_node: NDArray[np.uint32]

    def __init__(self, octets: bytes) -> None:
        """Reads a file, such as `skycell orbit routes --columns` writes.

        Raises:
            ValueError: it is no such file.
        """
        if not octets.startswith(MARK):
            text = f"{octets[: len(MARK)]!r}: a file of columns begins with {MARK!r}"
            raise ValueError(text)
        self._of: dict[str, NDArray[Any]] = {}
        at = len(MARK)
        for name, kind in _COLUMNS.items():
            rows = int.from_bytes(octets[at : at + _GROUP], "little")
            size = rows * np.dtype(kind).itemsize
            at += _GROUP
            if at + size > len(octets):
                text = f"column {name}: {max(len(octets) - at, 0)} octets, {size} are stated"
                raise ValueError(text)
            self._of[name] = np.frombuffer(octets, kind, rows, at)
            at += -(-size // _GROUP) * _GROUP
        if at != len(octets):
            raise ValueError(f"{len(octets)} octets: the columns end after {at}")
        self.epoch_ps = self._of["epoch_ps"]
        self.port_kind = self._of["port_kind"]
        self.label_node = self._of["label_node"]

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self._of["node_link"]) - 1

    @property
    def labels(self) -> int:
        """How many destinations there are."""
        return len(self.label_node)

    @property
    def epochs(self) -> int:
        """How many epochs there are."""
        return len(self.epoch_ps)

    @cached_property
    def link_from(self) -> NDArray[np.int64]:
        """Node that each link leaves."""
        return _owners(self._of["node_link"])

    @cached_property
    def link_to(self) -> NDArray[np.int64]:
        """Node at the end of each link."""
        return self._of["link_to"].astype(np.int64)

    @cached_property
    def link_port(self) -> NDArray[np.int64]:
        """Number of the port that feeds each link."""
        return self._of["link_port"].astype(np.int64)

    def port_names(self, nodes: Sequence[str], kinds: Sequence[str]) -> list[str]:
        """Names of the ports by number: from>to of one link, and node>kind if there are several.

        Args:
            nodes: names of the nodes.
            kinds: names of the kinds of ports, by the number in `port_kind`.
        """
        _, first, links = np.unique(self.link_port, return_index=True, return_counts=True)
        return [
            f"{nodes[self.link_from[link]]}>"
            f"{nodes[self.link_to[link]] if count == 1 else kinds[kind]}"
            for link, count, kind in zip(first, links, self.port_kind, strict=True)
        ]

    @cached_property
    def _intervals(self) -> tuple[NDArray[np.int64], ...]:
        """Of each interval: course, first epoch, the epoch after its last, and first difference."""
        of = self._of
        first = of["interval_epoch"].astype(np.int64)
        differences = of["interval_diff"].astype(np.int64)
        ends = first + differences[1:] - differences[:-1] + 1
        return _owners(of["course_interval"]), first, ends, differences[:-1]

    @cached_property
    def _sums_ps(self) -> NDArray[np.int64]:
        """Sum of the differences before each one."""
        return np.concatenate([[0], np.cumsum(self._of["diff_ps"], dtype=np.int64)])

    def delays_ps(self, epoch: int) -> NDArray[np.uint64]:
        """Delay of each link at an epoch; `NO_DELAY_PS` where it does not exist."""
        course, first, ends, difference = self._intervals
        (now,) = np.nonzero((first <= epoch) & (epoch < ends))
        added_ps = self._sums_ps[difference[now] + epoch - first[now]]
        added_ps = added_ps - self._sums_ps[difference[now]]
        courses = len(self._of["course_interval"]) - 1
        delays_ps = np.full(courses, NO_DELAY_PS, np.uint64)
        begun_ps = self._of["interval_first_ps"][now].astype(np.int64)
        delays_ps[course[now]] = (begun_ps + added_ps).astype(np.uint64)
        found: NDArray[np.uint64] = delays_ps[self._of["link_course"]]
        exists = found != NO_DELAY_PS
        found[exists] += self._of["link_extra_ps"][exists]
        return found

    def links(self, epoch: int) -> Links:
        """The links that exist at an epoch."""
        delays_ps = self.delays_ps(epoch)
        (there,) = np.nonzero(delays_ps != NO_DELAY_PS)
        return Links(
            self.link_from[there],
            self.link_to[there],
            delays_ps[there].astype(np.int64),
            self.link_port[there],
        )

    def next_hops(self, epoch: int) -> NDArray[np.int32]:
        """Next node by node and label, as in force at an epoch; -1 for none."""
        of = self._of
        links = of["route_first"].reshape(self.nodes, self.labels).astype(np.int64)
        nodes = _owners(of["node_change"])
        # Changes of a node are in the order of time, and of equal indices numpy keeps the last.
        (past,) = np.nonzero(of["change_epoch"] <= epoch)
        links[nodes[past], of["change_label"][past]] = of["change_link"][past]
        firsts = of["node_link"][:-1].astype(np.int64)[:, None]
        there = links != NO_LINK
        ends = self.link_to[np.where(there, firsts + links, 0)] if len(self.link_to) else links
        return np.where(there, ends, -1).astype(np.int32)


def _owners(starts: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The number of the row's owner, by the first row of each owner and one beyond the last."""
    firsts = starts.astype(np.int64)
    return np.repeat(np.arange(len(firsts) - 1), firsts[1:] - firsts[:-1])
