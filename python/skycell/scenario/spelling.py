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
    plain: dict[str, str] = {}
    initials: dict[str, str] = {}
    for other in known:
        words = _words(other)
        plain.setdefault("".join(words), other)
        if len(words) > 1:
            initials.setdefault("".join(word[0] for word in words), other)
    wanted = "".join(_words(name))
    places = range(1, len(wanted))
    swapped = (wanted[: i - 1] + wanted[i] + wanted[i - 1] + wanted[i + 1 :] for i in places)
    turned = (wanted[i:] + wanted[:i] for i in places)
    meant = {**initials, **plain}
    for way in (wanted, *swapped, *turned):
        if way in meant:
            return meant[way]
    close = get_close_matches(wanted, plain, n=1)
    return plain[close[0]] if close else None


def hint(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name; empty where none is near.

    >>> hint("swich1", ["switch1", "host"])
    '; did you mean switch1?'
    """
    near = nearest(name, known)
    return f"; did you mean {near}?" if near else ""


def _words(name: str) -> list[str]:
    return re.findall(r"[^-_ ]+", name.casefold())
