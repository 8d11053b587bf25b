"""Names with `*`, which stand for names with a number; lists and pairs of them.

`user*` stands for `user1`, `user2` and so on, and for `user` alone, in the order of their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from skycell.input.faults import FaultCollector, Path, Verbatim, did_you_mean
from skycell.input.quantities import show_amount

_STEM = re.compile(r"(.*?)(?:[1-9][0-9]*(?:\.[1-9][0-9]*)?)?")
_NUMBERS = re.compile(r"(?:[1-9][0-9]*(?:\.[1-9][0-9]*)?)?")
"""What `*` stands for in a list: nothing, a number, or that of a pair and one of its flows."""


class Pair(NamedTuple):
    """Two names, and the number that a `*` in one of them stands for; empty for none."""

    number: str
    source: str
    target: str


def pairs_of(
    ends: tuple[tuple[str, str], tuple[str, str]],
    known: Collection[str],
    what: str,
    here: Path,
    faults: FaultCollector,
    *,
    in_turn: bool,
) -> list[Pair]:
    """The pairs that two names stand for; none with a fault.

    A name with `*` and a name without are a pair for each name that the first stands for. Two names
    with `*` are pairs of equal numbers. `in_turn`, the more numerous are in a pair each, with the
    fewer one after the other.

    Args:
        ends: both keys of the file, each with its name.
        known: names that there are.
        what: they are, in words.
        here: the table of the keys.
        faults: where a pattern that stands for nothing, or for no pairs, is noted.
        in_turn: the flag of the table.
    """
    patterns = [(key, name) for key, name in ends if is_pattern(name)]
    if in_turn and len(patterns) < 2:
        allowed = f"false: only where {ends[0][0]} and {ends[1][0]} both have a *"
        faults.add((*here, "in_turn"), True, allowed)
        return []
    found: dict[str, dict[str, str]] = {}
    for key, pattern in patterns:
        found[key] = numbered(pattern, known)
        if not found[key]:
            allowed = f"a name that {what} have before their number"
            faults.add((*here, key), pattern, f"{allowed}{near(pattern, known)}")
    if not all(found.values()):
        return []
    (first, source), (second, target) = ends
    if len(found) < 2:
        (names,) = found.values() if found else ({"": source},)
        if second in found:
            return [Pair(number, source, name) for number, name in names.items()]
        return [Pair(number, name, target) for number, name in names.items()]
    sources, targets = found[first], found[second]
    if not in_turn and sources.keys() != targets.keys():
        got = f"{_shown(sources)} and {_shown(targets)}"
        allowed = "the same numbers at both ends, or in_turn = true, with the fewer taken in turn"
        faults.add((*here, second), Verbatim(got), allowed)
        return []
    count = max(len(sources), len(targets))
    longer = sources if len(sources) == count else targets
    both = [list(names.values()) for names in (sources, targets)]
    return [
        Pair(number, *(names[i % len(names)] for names in both)) for i, number in enumerate(longer)
    ]


def is_pattern(name: str) -> bool:
    """True if a name stands for names with a number."""
    return name.endswith("*")


def listed(names: Iterable[str], known: Collection[str]) -> list[tuple[int, str]]:
    """The names that a list of names and patterns stands for, each with its place in the list.

    A pattern that stands for nothing is there itself, so that it is refused as a name is that there
    is not. Several flows of a pair have a second number.

    >>> listed(["web*", "bulk", "voice*"], ["web10.1", "web2.2", "web2.1", "bulk"])
    [(0, 'web2.1'), (0, 'web2.2'), (0, 'web10.1'), (1, 'bulk'), (2, 'voice*')]
    """
    found = []
    for place, name in enumerate(names):
        of_pattern = _all_numbered(name, known) if is_pattern(name) else ()
        found += [(place, each) for each in of_pattern or (name,)]
    return found


def _all_numbered(pattern: str, known: Iterable[str]) -> list[str]:
    stem = pattern[:-1]
    ends = (name[len(stem) :] for name in known if name.startswith(stem))
    numbers = [end for end in ends if _NUMBERS.fullmatch(end)]
    numbers.sort(key=lambda end: [int(number) for number in end.split(".") if number])
    return [stem + number for number in numbers]


def near(name: str, known: Iterable[str]) -> str:
    """A hint at the name, or for a pattern at the pattern, that one most likely stands for.

    >>> near("weeb*", ["web1", "web2"]), near("weeb1", ["web1", "web2"])
    ('; did you mean "web*"?', '; did you mean "web1"?')
    """
    stems = dict.fromkeys(f"{_stem(each)}*" for each in known) if is_pattern(name) else known
    return did_you_mean(name, stems)


def numbered(pattern: str, known: Iterable[str]) -> dict[str, str]:
    """The names that a pattern stands for, by their numbers as text, in ascending order.

    >>> numbered("user*", ["user10", "user2", "user", "username", "user02"])
    {'': 'user', '2': 'user2', '10': 'user10'}
    """
    stem = pattern[:-1]
    ends = {name[len(stem) :]: name for name in known if name.startswith(stem)}
    numbers = [end for end in ends if not end or (end.isdecimal() and not end.startswith("0"))]
    return {end: ends[end] for end in sorted(numbers, key=lambda end: int(end or 0))}


def _stem(name: str) -> str:
    """A name without its number."""
    found = _STEM.fullmatch(name)
    assert found is not None
    return found[1]


def _shown(names: Mapping[str, str]) -> str:
    first, *_, last = (*names.values(), *names.values())
    return first if len(names) == 1 else f"{show_amount(len(names))} from {first} to {last}"
