"""Text of a stranger as it may be shown: what would steer a terminal, or hide, is escaped."""

from __future__ import annotations

import re
from collections.abc import Callable

_SHOWN_AS_IT_IS = {"Zs"}
"""Categories of signs that Python calls unprintable and that only take room: spaces."""


def printable(text: str, *, keep: str = "", is_json: bool = False) -> str:
    r"""The text with control characters, marks of direction and lone surrogates as escapes.

    Args:
        text: any.
        keep: signs that stay, such as the ends of lines of a text of our own.
        is_json: whether the escapes are those of JSON, so that a JSON text says the same as before;
            else they are those of TOML and Python.

    >>> printable("a\x1b[2Jb\u202ec\U000e0001")
    'a\\u001b[2Jb\\u202ec\\U000e0001'
    >>> printable("\U000e0001", is_json=True)
    '\\udb40\\udc01'
    """
    if text.isascii() and text.isprintable():
        return text
    shown = _as_json if is_json else _as_text
    return re.sub(rf"[^\x20-\x7e{re.escape(keep)}]", lambda found: _shown(found[0], shown), text)


def _shown(sign: str, escaped: Callable[[str], str]) -> str:
    from unicodedata import category

    if sign.isprintable() or category(sign) in _SHOWN_AS_IT_IS:
        return sign
    return escaped(sign)


def _as_text(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if sign <= "\uffff" else f"\\U{ord(sign):08x}"


def _as_json(sign: str) -> str:
    units = sign.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
