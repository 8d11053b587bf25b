"""Scenarios that real hosts were recorded over, as one file describes them."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import StringIO
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from skycell.input.spelling import nearest

FULL_PACKET_OCTETS = 1500
"""Octets of the packet of a full segment."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Recordings(_Part):
    """Where a file of recordings comes from."""

    file: str
    kernel: str
    made: str
    how: str
    precision: str
    queue: str = ""
    """What was converted in the numbers of its queues."""


class PathForm(_Part):
    """What packets take of the line, on every path."""

    framing: str | dict[str, Any]
    octets_on_line: int
    """Of a packet of 1500 octets, whose rate is that of a path."""
    jitter: str
    """Within how long hosts, simulated, hand over what they send."""


class GroupPath(_Part):
    """A path of a group, with the buffers that it is tried with."""

    rate_mbit_s: Annotated[float, Field(gt=0)]
    rtt_ms: Annotated[float, Field(gt=0)]
    buffer_packets: tuple[int, ...]
    duration_s: Annotated[float, Field(gt=0)]
    back: Mapping[str, Any] = {}
    """Further keys of the link in the other direction, before those of the group."""


class Group(_Part):
    """Scenarios of one kind, over some paths."""

    id: str
    title: str
    congestion: tuple[str, ...]
    """The kernel's names; `cubic+bbr` are those of one flow and of the next."""
    path: tuple[GroupPath, ...]
    flows: int = 1
    uploads: int = 0
    """Further flows, in the other direction."""
    every_s: float = 0
    """Time from the start of one flow to the next."""
    sizes: tuple[int, ...] = ()
    """Octets of the one transfer of each flow; endless data without."""
    lost: tuple[int, ...] = ()
    """Ordinals of data segments that never reach the path."""
    link: Mapping[str, Any] = {}
    """Further keys of the link that data take; its schedule names a series of this folder."""
    back: Mapping[str, Any] = {}
    """Further keys of the link that acknowledgements take."""
    policer: Mapping[str, Any] | None = None
    """Token bucket of a router behind that link, at the end of which it is."""

    @property
    def connections(self) -> int:
        """Flows in both directions."""
        return self.flows + self.uploads


class Library(_Part):
    """Everything that a file describes."""

    title: str
    recordings: tuple[Recordings, ...]
    path: PathForm
    settings: Mapping[str, str]
    """Files below /proc/sys/net/ipv4 of both hosts, and what they hold."""
    tcp: Mapping[str, Any]
    """Keys of both ends, simulated."""
    congestion: Mapping[str, Mapping[str, Any]]
    """Further ones by the kernel's name of a congestion control."""
    group: tuple[Group, ...]


@dataclass(frozen=True)
class RecordedScenario:
    """One scenario, and what it was recorded as."""

    id: str
    group: Group
    congestion: str
    path: GroupPath
    buffer_packets: int
    size_octets: int | None

    @property
    def congestions(self) -> tuple[str, ...]:
        """The kernel's name of each flow's congestion control."""
        own = self.congestion.split("+")
        return tuple(own[number % len(own)] for number in range(self.group.connections))

    @property
    def factors(self) -> dict[str, str | int | float]:
        """What tells it from the others, for rows."""
        found: dict[str, str | int | float] = {
            "scenario": self.id,
            "congestion": self.congestion,
            "rate_mbit_s": self.path.rate_mbit_s,
            "rtt_ms": self.path.rtt_ms,
            "buffer_packets": self.buffer_packets,
        }
        return found if self.size_octets is None else found | {"size_octets": self.size_octets}

    def values(self, library: Library) -> dict[str, Any]:
        """The scenario as a scenario file has it."""
        scale = library.path.octets_on_line / FULL_PACKET_OCTETS
        link = {
            "rate": f"{self.path.rate_mbit_s * 1e6 * scale:.0f} bit/s",
            "framing": library.path.framing,
            "delay": f"{self.path.rtt_ms * 500:.0f} us",
            "one_way": True,
            "frame_jitter": library.path.jitter,
        }
        back = {"from": "receiver", "to": "sender", **link, **self.group.back, **self.path.back}
        forward = {"from": "sender", "to": "receiver", **link, **self.group.link}
        forward["host_buffer"] = f"{self.buffer_packets} packets"
        for own in (forward, back):
            if "schedule" in own:
                del own["delay"]
                own["schedule"] = {"series": str(folder() / own["schedule"])}
        links, routers = [forward, back], []
        if self.group.policer is not None:
            forward["to"], routers = "policer", ["policer"]
            behind = {"from": "policer", "to": "receiver", "delay": "0 s", "one_way": True}
            behind |= {"rate": link["rate"], "framing": link["framing"]}
            links.insert(1, behind | {"policer": self.group.policer})
        names = [f"flow{number + 1}" for number in range(self.group.connections)]
        hosts = [("sender", "receiver")] * self.group.flows
        hosts += [("receiver", "sender")] * self.group.uploads
        own_tcp = [library.congestion[congestion] for congestion in self.congestions]
        is_mixed = len(set(self.congestions)) > 1
        found: dict[str, Any] = {
            "run": {"duration": f"{self.path.duration_s:g} s"},
            "topology": {
                "kind": "graph",
                "hosts": ["sender", "receiver"],
                "routers": routers,
                "link": links,
                "flow": [
                    {"name": name, "source": source, "destination": destination}
                    for name, (source, destination) in zip(names, hosts, strict=True)
                ],
            },
            "tcp": {**library.tcp, **({} if is_mixed else own_tcp[0])},
            "start": {"kind": "staggered", "every": f"{self.group.every_s:g} s"},
        }
        if is_mixed:
            found["flow"] = [
                {"names": [name], "tcp": tcp} for name, tcp in zip(names, own_tcp, strict=True)
            ]
        if self.size_octets is not None:
            found["traffic"] = {
                "kind": "transfers",
                "size": f"{self.size_octets} B",
                "count": 1,
            }
        if self.group.lost:
            found["loss"] = {"transmissions": list(self.group.lost)}
        return found


class UnknownScenarioError(Exception):
    """IDs that name no group and no scenario; the message says what is near."""

    def __init__(self, unknown: Iterable[str]) -> None:
        self.unknown = tuple(unknown)
        lines = []
        for name in self.unknown:
            near = nearest(name, known_ids())
            hint = f" (did you mean {near}?)" if near else ""
            lines.append(f"no group and no scenario is called {name!r}{hint}")
        super().__init__("\n".join(lines))


def folder() -> Traversable:
    """Where the recordings of Linux are in the package."""
    return files("skycell.validation") / "linux"


@cache
def linux() -> Library:
    """The scenarios of Linux, as `scenarios.toml` describes them."""
    text = (folder() / "scenarios.toml").read_text(encoding="utf-8")
    return Library.model_validate(tomllib.loads(text))


@cache
def scenarios() -> tuple[RecordedScenario, ...]:
    """Every scenario of Linux: group by group, path by path, buffer by buffer."""
    return tuple(found for group in linux().group for found in _of_group(group))


def _of_group(group: Group) -> list[RecordedScenario]:
    found = []
    for path in group.path:
        for buffer in path.buffer_packets:
            for size in group.sizes or (None,):
                for congestion in group.congestion:
                    name = f"{group.id}-{congestion}-{path.rate_mbit_s:g}M-{path.rtt_ms:g}ms-"
                    name += f"{buffer}p" + ("" if size is None else f"-{size}B")
                    found.append(RecordedScenario(name, group, congestion, path, buffer, size))
    return found


def known_ids() -> list[str]:
    """Every ID that `select` takes: the groups, and their scenarios."""
    return [*(group.id for group in linux().group), *(found.id for found in scenarios())]


def select(ids: Iterable[str]) -> list[RecordedScenario]:
    """The scenarios that some IDs name, of groups or their own; all of them for no ID.

    Raises:
        UnknownScenarioError: with every ID that names nothing.
    """
    wanted = list(ids)
    unknown = [name for name in wanted if name not in known_ids()]
    if unknown:
        raise UnknownScenarioError(unknown)
    return [
        found
        for found in scenarios()
        if not wanted or found.id in wanted or found.group.id in wanted
    ]


@cache
def recordings() -> Mapping[str, tuple[Mapping[str, str], ...]]:
    """The rows of all recordings by scenario: a row for each replication and flow."""
    found: dict[str, list[Mapping[str, str]]] = {}
    for entry in linux().recordings:
        text = (folder() / entry.file).read_text(encoding="utf-8")
        for row in csv.DictReader(StringIO(text, newline="")):
            found.setdefault(row["scenario"], []).append(row)
    return {name: tuple(rows) for name, rows in found.items()}
