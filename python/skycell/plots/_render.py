"""The child process that turns Vega-Lite into pictures. It needs no other part of the package.

vl-convert keeps a JavaScript engine of some 200 MB in the process that calls it, for good; a child
gives the memory back. One that only makes PNG and PDF of SVG never starts that engine. It reads
orders from standard input, one JSON object a line::

    {"fonts": "directory", "source": "file", "scale": 2, "files": {"png": "file", "pdf": "file"}}

and answers each with a line when its files are written: ``null``, or what went wrong as a string.
The source of ``svg`` is Vega-Lite, of ``png`` and ``pdf`` an SVG; ``js`` needs nothing of it.
"""

from __future__ import annotations

import json
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any


def draw(order: dict[str, Any]) -> None:
    """Writes the files of one order."""
    import vl_convert

    register_fonts(order["fonts"])
    source = Path(order["source"]).read_text(encoding="utf-8")
    for form, file in order["files"].items():
        match form:
            case "js":
                script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
                Path(file).write_text(script, encoding="utf-8")
            case "svg":
                # An empty list of allowed addresses: a figure carries its data and loads nothing.
                svg = str(vl_convert.vegalite_to_svg(source, allowed_base_urls=[]))
                Path(file).write_text(svg, encoding="utf-8")
            case "png":
                Path(file).write_bytes(vl_convert.svg_to_png(source, scale=order["scale"]))
            case "pdf":
                Path(file).write_bytes(vl_convert.svg_to_pdf(source))
            case other:
                raise ValueError(f"no such format: {other}")


@cache
def register_fonts(directory: str) -> None:
    """Makes the fonts of a folder known, once."""
    import vl_convert

    vl_convert.register_font_directory(directory)


def main() -> None:
    """Draws whatever standard input asks for."""
    # What libraries print must not stand between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        try:
            draw(json.loads(line))
            fault = None
        except Exception as error:  # told to the parent, whose later figures may be all right
            fault = str(error) or type(error).__name__
        print(json.dumps(fault), file=answers, flush=True)


if __name__ == "__main__":
    main()
