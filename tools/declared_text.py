"""Documentation of what Rust declares, and Python's literals, as generated modules have them."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

Json = Mapping[str, Any]

MARK = "Written by `make generate` from the declarations in Rust; change those, not this file."
_WIDTH = 93


def quoted(text: str | None) -> str:
    """A text, or none, as a literal of one line."""
    return "None" if text is None else json.dumps(text, ensure_ascii=False)


def plain(doc: str) -> str:
    """Documentation without what only Rust's pages can show.

    >>> plain("See [`Dfba`]; MCRs are given in `[[gfr]]`.")
    'See `Dfba`; MCRs are given in [[gfr]].'
    """
    return re.sub(r"\[(`[^`]*`)\](?:\([^)]*\))?", r"\1", doc).replace("`[[gfr]]`", "[[gfr]]")


def first_paragraph(doc: str) -> str:
    """The first paragraph as one line."""
    return " ".join(plain(doc).split("\n\n")[0].split())


def meaning_of(doc: str) -> str:
    r"""A field's documentation as the meaning of a parameter: no full stop, no capital.

    >>> meaning_of("Occupancy above which\nEPD discards.")
    'occupancy above which EPD discards'
    >>> meaning_of("RTT samples of both."), meaning_of("NewReno: cwnd.")
    ('RTT samples of both', 'NewReno: cwnd')
    """
    text = first_paragraph(doc).removesuffix(".")
    first = text.split()[0]
    is_word = len(first) == 1 or first[1:].islower()
    return text[0].lower() + text[1:] if is_word else text


def docstring(text: str) -> Iterator[str]:
    """The lines of a docstring in a class."""
    paragraphs = [_wrapped(paragraph) for paragraph in text.split("\n\n")]
    lines = "\n\n".join(paragraphs).split("\n")
    if len(lines) == 1 and len(lines[0]) <= _WIDTH - 3:
        yield f'    """{lines[0]}"""'
        return
    lead, *rest = lines  # a closing mark has no room beside the longest
    yield f'    """{lead}'
    yield from (f"    {line}" if line else "" for line in rest)
    yield '    """'


def _wrapped(text: str) -> str:
    from textwrap import fill

    return fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def literal(text: str) -> str:
    """A literal, in parts of a line each."""
    if len(text) < 78:
        return json.dumps(text, ensure_ascii=False)
    from textwrap import wrap

    parts = wrap(text, 76, drop_whitespace=False, break_long_words=False, break_on_hyphens=False)
    return "(" + "\n".join(json.dumps(part, ensure_ascii=False) for part in parts) + ")"
