"""How every figure looks: one font, one palette, one set of proportions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FONT = "Skycell Sans"
"""The font that the package ships, so that a picture looks the same on every machine."""

FONT_STACK = f"{FONT}, Inter, Helvetica, Arial, sans-serif"
"""What a viewer without the font takes instead."""

FONT_DIRECTORY = Path(__file__).parent / "fonts"
FONT_FILES = {400: "SkycellSans-Regular.otf", 600: "SkycellSans-SemiBold.otf"}
"""Font files by CSS weight."""

WIDTH = 640
"""Width of a figure's drawing area, pixels; thinning counts its columns."""

INK = "#1c2733"
MUTED = "#5b6875"
AXIS = "#8a96a3"
GRID = "#e3e8ed"
PAPER = "#ffffff"
"""Text, secondary text, axes, grid lines and background; a page with dark paper replaces them."""

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#56b4e9")
"""Colours of series in order of use, after the set of Okabe and Ito (Color Universal Design, 2008),
told apart with every common kind of colour blindness. Its black is left out because it vanishes on
dark paper, and its yellows are replaced by a darker one because they vanish on white."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
"""Second sign of a series beside its colour, for grey print."""

PUBLISHED = "#1c2733"
"""Published values, on purpose the colour of the text and not of a series."""


def config() -> dict[str, Any]:
    """The Vega-Lite configuration that every figure carries."""
    text = {
        "labelFont": FONT_STACK,
        "titleFont": FONT_STACK,
        "titleColor": INK,
        # A figure whose names may be long sets its own. Vega measures a label with a limit twice.
        "labelLimit": 0,
    }
    return {
        "background": PAPER,
        "font": FONT_STACK,
        "padding": 12,
        "locale": {
            "number": {
                "decimal": ".",
                "thousands": "\u202f",
                "grouping": [3],
                "currency": ["", ""],
            }
        },
        "view": {"stroke": None, "continuousWidth": WIDTH, "continuousHeight": 260},
        "title": {
            "font": FONT_STACK,
            "fontSize": 16,
            "fontWeight": 600,
            "color": INK,
            "subtitleFont": FONT_STACK,
            "subtitleFontSize": 12,
            "subtitleColor": MUTED,
            "subtitlePadding": 5,
            "anchor": "start",
            "frame": "bounds",
            "offset": 14,
        },
        "axis": {
            **text,
            "labelColor": MUTED,
            "labelFontSize": 11,
            "titleFontSize": 12,
            "titleFontWeight": 400,
            "titlePadding": 8,
            "domainColor": AXIS,
            "tickColor": AXIS,
            "gridColor": GRID,
            "tickSize": 4,
            "labelPadding": 4,
        },
        "axisX": {"grid": False},
        "axisY": {"domain": False, "ticks": False},
        "header": {
            **text,
            "labelColor": INK,
            "labelFontSize": 12,
            "labelFontWeight": 600,
            "titleFontSize": 12,
            "titleFontWeight": 400,
            "labelPadding": 6,
        },
        "legend": {
            **text,
            "labelColor": INK,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": 400,
            "orient": "top",
            "direction": "horizontal",
            "columnPadding": 14,
            "symbolSize": 80,
            "offset": 8,
        },
        "range": {"category": list(PALETTE), "symbol": list(SHAPES)},
        "rule": {"color": MUTED},
        "line": {"strokeWidth": 1.5, "strokeCap": "butt", "strokeJoin": "round"},
    }
