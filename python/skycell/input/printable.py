"""Text of a stranger as it may be shown: what would steer a terminal, or hide, is escaped."""

from __future__ import annotations

import re

_SHOWN_AS_IT_IS = {"Zs"}
"""Categories of signs that Python calls unprintable and that only take room: spaces."""


def printable(text: str, *, keep: str = "") -> str:
    r"""The text with control characters, marks of direction and lone surrogates as escapes.

    The escapes are those of JSON, so that a JSON text says the same as before.

    Args:
        text: any.
        keep: signs that stay, such as the ends of lines of a text of our own.

    >>> printable("a\x1b[2Jb\u202ec\U000e0001")
    'a\\u001b[2Jb\\u202ec\\udb40\\udc01'
    """
    if text.isascii() and text.isprintable():
        return text
    return re.sub(rf"[^\x20-\x7e{re.escape(keep)}]", _shown, text)


def _shown(found: re.Match[str]) -> str:
    from unicodedata import category

    sign = found[0]
    if sign.isprintable() or category(sign) in _SHOWN_AS_IT_IS:
        return sign
    units = sign.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
