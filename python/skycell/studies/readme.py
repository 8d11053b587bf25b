"""What the README of a study says first: what reproduces, what does not, and why."""

from __future__ import annotations

import re
from functools import cache

from skycell.studies.library import study_folder

WHY = "Why"
"""The paragraph on what does not reproduce."""

_PARAGRAPH = re.compile(r"^\*\*([^*]+)\.\*\* (.+?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
_MARKS = (
    (re.compile(r"\[([^]]+)\]\([^)]*\)"), r"\1"),  # a link is its text
    (re.compile(r"[`*]"), ""),
    (re.compile(r"\s+"), " "),
)


@cache
def explained(study_id: str) -> dict[str, str]:
    """The paragraphs that open a study's README, as plain text by the words that they begin with.

    >>> list(explained("icccn97"))
    ['What reproduces', 'What does not', 'Why']
    """
    text = (study_folder(study_id) / "README.md").read_text(encoding="utf-8")
    opening = text.partition("\n## ")[0]
    return {found[1]: plain(found[2]) for found in _PARAGRAPH.finditer(opening)}


def plain(markdown: str) -> str:
    """Markdown as one line of text.

    >>> plain("as in [ICCCN'97](../icccn97/README.md), against its own *more than half*")
    "as in ICCCN'97, against its own more than half"
    """
    for mark, text in _MARKS:
        markdown = mark.sub(text, markdown)
    return markdown.strip()
