"""How wide a text is in the package's font, from the font's own tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from struct import unpack_from

from skycell.plots import theme

_REGULAR = 400


def text_width(text: str, size: float) -> float:
    """Width of a line of text, pixels, at a font size in pixels; kerning is left out.

    A letter that the font does not have counts as wide as an `n`.

    >>> round(text_width("tail drop", 10), 1), round(text_width("WFQ", 10), 1)
    (38.8, 23.0)
    """
    widths = _advances()
    return sum(widths.get(ord(letter), widths[ord("n")]) for letter in text) * size


@cache
def _advances() -> Mapping[int, float]:
    """Advance width of each character that the font has, in parts of its size.

    Source: OpenType 1.9, tables `head`, `hhea`, `hmtx` and `cmap` with its format 4.
    """
    font = (theme.FONT_DIRECTORY / theme.FONT_FILES[_REGULAR]).read_bytes()
    tables = {
        tag: offset
        for tag, _, offset, _ in (
            unpack_from(">4sIII", font, 12 + 16 * place)
            for place in range(unpack_from(">H", font, 4)[0])
        )
    }
    (em,) = unpack_from(">H", font, tables[b"head"] + 18)
    (metrics,) = unpack_from(">H", font, tables[b"hhea"] + 34)  # the last is that of all further

    def advance(glyph: int) -> float:
        (wide,) = unpack_from(">H", font, tables[b"hmtx"] + 4 * min(glyph, metrics - 1))
        return float(wide / em)

    return {code: advance(glyph) for code, glyph in _glyphs(font, tables[b"cmap"]).items()}


def _glyphs(font: bytes, cmap: int) -> dict[int, int]:
    """Glyph of each character, from the subtable of the Basic Multilingual Plane."""
    start = cmap + unpack_from(">I", font, cmap + 8)[0]
    segments = unpack_from(">H", font, start + 6)[0] // 2
    ends, starts, deltas, ranges = (
        start + 14 + 2 * segments * row + (2 if row else 0) for row in range(4)
    )
    found = {}
    for place in range(segments):
        (last,), (first,) = (unpack_from(">H", font, row + 2 * place) for row in (ends, starts))
        (delta,), (offset,) = (unpack_from(">H", font, row + 2 * place) for row in (deltas, ranges))
        for code in range(first, min(last, 0xFFFE) + 1):
            glyph = code
            if offset:
                at = ranges + 2 * place + offset + 2 * (code - first)
                (glyph,) = unpack_from(">H", font, at)
            if glyph:
                found[code] = (glyph + delta) & 0xFFFF
    return found
