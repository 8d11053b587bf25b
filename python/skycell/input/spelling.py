"""Names that people most likely meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that an unknown one most likely stands for; none where none is near.

    Case, hyphens, underscores and spaces count for nothing, and a name of several words goes by its
    initials too. Two neighbouring letters the other way round are nearer than another letter, and
    so are two parts the other way round.

    >>> nearest("edp", ["red", "epd"]), nearest("droptail", ["tail_drop"]), nearest("x", ["epd"])
    ('epd', 'tail_drop', None)
    """
    by_name: dict[str, str] = {}
    initials: dict[str, str] = {}
    for other in known:
        words = _words(other)
        by_name.setdefault("".join(words), other)
        if len(words) > 1:
            initials.setdefault("".join(word[0] for word in words), other)
    wanted = plain(name)
    places = range(1, len(wanted))
    swapped = (wanted[: i - 1] + wanted[i] + wanted[i - 1] + wanted[i + 1 :] for i in places)
    turned = (wanted[i:] + wanted[:i] for i in places)
    meant = {**initials, **by_name}
    for way in (wanted, *swapped, *turned):
        if way in meant:
            return meant[way]
    close = get_close_matches(wanted, by_name, n=1)
    return by_name[close[0]] if close else None


def hint(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name; empty where none is near.

    >>> hint("swich1", ["switch1", "host"])
    '; did you mean switch1?'
    """
    near = nearest(name, known)
    return f"; did you mean {near}?" if near else ""


def plain(name: str) -> str:
    """A name without what people write differently: case, hyphens, underscores and spaces.

    >>> plain("Tail-Drop"), plain("tail_drop")
    ('taildrop', 'taildrop')
    """
    return "".join(_words(name))


def _words(name: str) -> list[str]:
    return re.findall(r"[^-_ ]+", name.casefold())
