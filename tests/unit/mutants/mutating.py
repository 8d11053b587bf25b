"""Files with a random fault each, the same for the same seed; and what must not come of them."""

import os
import random
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

MUTANTS = int(os.environ.get("SKYCELL_MUTANTS", "200"))
"""Of each kind of file; ten thousand take minutes."""
SEED = int(os.environ.get("SKYCELL_MUTANTS_SEED", "1"))
LONGEST_S = 30
"""A mutant that takes longer hangs, as far as a person is concerned."""

_NUMBERS = (
    *("0", "-1", "1", "1e-30", "1e30", "1e308", "1e400", "nan", "inf", "-inf", "0x10", "²", "٣"),
    *("18446744073709551615", "18446744073709551616", "9" * 400, "9" * 6000, "0.1", "true", '"x"'),
)
_SIGNS = "\"'[]{}=,.#\n\t\\\0\x1b\u202e\ud7ff\U0010ffff²é"
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_WORD = re.compile(r"[A-Za-z_]\w*")
_TEXT = re.compile(r'"[^"\n]*"')


def mutant(text: str, draw: random.Random) -> str:
    """The text with one to three changes."""
    for _ in range(draw.choice((1, 1, 2, 3))):
        text = draw.choice(_CHANGES)(text, draw)
    return text


def _number(text: str, draw: random.Random) -> str:
    return _replaced(text, _NUMBER, draw.choice(_NUMBERS), draw)


def _word(text: str, draw: random.Random) -> str:
    words = _WORD.findall(text)
    return _replaced(text, _WORD, draw.choice(words), draw) if words else text


def _value(text: str, draw: random.Random) -> str:
    values = [*_TEXT.findall(text), '""', "[]", "{}", "0", '"' + "x" * 5000 + '"', "[" * 300]
    return _replaced(text, _TEXT, draw.choice(values), draw)


def _sign(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text) + 1)
    return text[:at] + draw.choice(_SIGNS) + text[at + draw.randrange(2) :]


def _line(text: str, draw: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    line = draw.choice(lines)
    at = draw.randrange(len(lines))
    return "".join([*lines[:at], *draw.choice(([], [line], [line, line])), *lines[at + 1 :]])


def _cut(text: str, draw: random.Random) -> str:
    return text[: draw.randrange(len(text) + 1)]


_CHANGES = (_number, _number, _number, _word, _value, _value, _sign, _line, _line, _cut)


def _replaced(text: str, what: re.Pattern[str], by: str, draw: random.Random) -> str:
    found = list(what.finditer(text))
    if not found:
        return text
    place = draw.choice(found)
    return text[: place.start()] + by + text[place.end() :]


_ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 0.5, 1e308, float("nan"), float("inf"), 2**63, 2**64, 10**400),
    *("", "x", "\x1b[2J", "\ud800", [], {}, [None], {"x": 1}),
)


def mutant_of_data(data: Any, draw: random.Random) -> Any:
    """Plain data with one value left out, doubled or replaced; the data are changed."""
    places: list[tuple[Any, Any]] = []

    def walk(here: Any) -> None:
        items = here.items() if isinstance(here, dict) else enumerate(here)
        for key, value in items:
            places.append((here, key))
            if isinstance(value, dict | list):
                walk(value)

    walk(data)
    where, key = draw.choice(places)
    change = draw.randrange(4)
    if change == 0:
        del where[key]
    elif change == 1 and isinstance(where, list):
        where.append(where[key])
    else:
        where[key] = draw.choice(_ODD)
    return data


def mutant_of_octets(content: bytes, draw: random.Random) -> bytes:
    """Octets with some changed, left out or put in, at one place."""
    at = draw.randrange(len(content) + 1)
    length = draw.choice((0, 1, 1, 2, 4, 8, 100))
    put = draw.randbytes(draw.choice((0, 1, 1, 2, 4, 8)))
    return content[:at] + put + content[at + length :]


@contextmanager
def in_time() -> Iterator[None]:
    """Raises `TimeoutError` where this takes longer than `LONGEST_S`."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"longer than {LONGEST_S} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
