"""Text of a stranger as it may be shown: what would steer a terminal, or hide, is escaped."""

from __future__ import annotations

import re

_SHOWN_AS_IT_IS = {"Zs"}
"""Categories of signs that Python calls unprintable and that only take room: spaces."""
_DOUBTFUL = re.compile(r"[^\x20-\x7e]")


def printable(text: str, *, keep: str = "") -> str:
    r"""The text with control characters, marks of direction and lone surrogates as escapes.

    Args:
        text: any.
        keep: signs that stay, such as the ends of lines of a text of our own.

    >>> printable("a\x1b[2Jb\u202ec")
    'a\\u001b[2Jb\\u202ec'
    """
    if text.isascii() and text.isprintable():
        return text
    return _DOUBTFUL.sub(lambda found: _shown(found[0], keep), text)


def _shown(sign: str, keep: str) -> str:
    from unicodedata import category

    if sign.isprintable() or sign in keep or category(sign) in _SHOWN_AS_IT_IS:
        return sign
    return f"\\u{ord(sign):04x}" if sign <= "\uffff" else f"\\U{ord(sign):08x}"
