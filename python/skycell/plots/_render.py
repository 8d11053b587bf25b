"""The child process that turns Vega-Lite into pictures. It needs no other part of the package.

vl-convert keeps a JavaScript engine of some 200 MB in the process that calls it, for good; a child
gives the memory back. It reads one JSON object from standard input::

    {"fonts": "directory", "jobs": [{"spec": {...}, "format": "svg", "scale": 1, "out": "file"}]}
"""

from __future__ import annotations

import json
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any


def render(job: dict[str, Any]) -> bytes:
    """One picture as the bytes of its file; format ``js`` gives the script for pages instead."""
    import vl_convert

    if job["format"] == "js":
        return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")).encode()
    svg = draw(json.dumps(job["spec"]))
    match job["format"]:
        case "svg":
            return svg.encode()
        case "png":
            return bytes(vl_convert.svg_to_png(svg, scale=job["scale"]))
        case "pdf":
            return bytes(vl_convert.svg_to_pdf(svg))
        case other:
            raise ValueError(f"no such format: {other}")


@lru_cache(maxsize=4)
def draw(spec: str) -> str:
    """The picture as SVG, laid out once for all formats."""
    import vl_convert

    # An empty list of allowed addresses: a figure carries its data and loads nothing.
    return str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))


def main() -> None:
    """Makes every picture that standard input asks for."""
    import vl_convert

    order = json.load(sys.stdin)
    vl_convert.register_font_directory(order["fonts"])
    for job in order["jobs"]:
        Path(job["out"]).write_bytes(render(job))


if __name__ == "__main__":
    main()
