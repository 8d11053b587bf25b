"""Which port a response is of where a file names none, and what to know of that choice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from skycell.measures.responses import response_of
from skycell.metrics import Network


@dataclass
class CellsNote:
    """What there is to know of some cells of a sweep before their results are read."""

    note: str
    """In the words of the first cell's."""
    cells: int = 0
    varies: bool = False
    """Whether numbers in the words of others are other ones."""


def of_default_port(responses: Iterable[str]) -> list[str]:
    """The responses that are of one port and name none."""
    return [name for name in responses if ":" not in name and response_of(name).of_one_port]


def subjects_of(responses: Iterable[str], networks: Iterable[Network]) -> Mapping[str, str]:
    """The default port of each response that names none: of several cells all that there are.

    >>> fast, slow = (
    ...     Network(ceiling_bps=0, routes=(), left_bps=(), shares=(), congested=names)
    ...     for names in (("east>west",), ("west>east", "east>west"))
    ... )
    >>> subjects_of(["mean_queue", "mean_queue:east>west", "jain_fairness"], [slow])
    {'mean_queue': 'west>east'}
    >>> subjects_of(["mean_queue"], [fast, slow])
    {'mean_queue': 'east>west or west>east, by cell'}
    """
    ports = sorted({network.congested[0] for network in networks if network.congested})
    if not ports:
        return {}
    named = ports[0] if len(ports) == 1 else f"{' or '.join(ports)}, by cell"
    return dict.fromkeys(of_default_port(responses), named)


def notes_on_ports(responses: Sequence[str], networks: Iterable[Network]) -> list[CellsNote]:
    """Where the default port is one of several as slow, or where there is none."""
    asked = of_default_port(responses)
    found: dict[str, CellsNote] = {}
    for network in networks if asked else ():
        text = _note(asked, network)
        if text:
            found.setdefault(text, CellsNote(text)).cells += 1
    return list(found.values())


def _note(asked: Sequence[str], network: Network) -> str:
    what, first = ", ".join(asked), asked[0]
    if not network.congested:
        return (
            f"{what}: no value, because no data cross a port with a limited buffer. "
            f"{first}:PORT measures a port that is named."
        )
    used, *others = network.equally_slow
    if not others:
        return ""
    return (
        f"{what}: of port {used}. Data also cross {', '.join(others)}, whose "
        f"{'link is' if len(others) == 1 else 'links are'} as slow: {first}:{others[0]} measures "
        f"{'that port' if len(others) == 1 else 'the first of these'}."
    )
