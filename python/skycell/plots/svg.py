"""What is done to an SVG picture after it is drawn: fonts go along, colours follow the page."""

from __future__ import annotations

import base64
import html
import re

from skycell.plots import theme


def font_faces() -> str:
    """CSS that carries the package's font inside it."""
    faces = []
    for weight, name in theme.FONT_FILES.items():
        data = base64.b64encode((theme.FONT_DIRECTORY / name).read_bytes()).decode()
        faces.append(
            f'@font-face{{font-family:"{theme.FONT}";font-weight:{weight};font-style:normal;'
            f'src:url("data:font/otf;base64,{data}") format("opentype")}}'
        )
    return "".join(faces)


def renumbered(svg: str) -> str:
    """The picture with ids counted from 0.

    The renderer counts through all pictures that one process draws, so that the bytes of a picture
    would depend on those before it.
    """
    ids = dict.fromkeys(re.findall(r' id="([^"]+)"', svg))
    if not ids:
        return svg
    numbers = {old: f"id{number}" for number, old in enumerate(ids)}
    return re.sub(
        r'( id="|url\(#|href="#)([^")]+)',
        lambda match: match[1] + numbers.get(match[2], match[2]),
        svg,
    )


def with_fonts(svg: str) -> str:
    """The picture with the font inside, for a file that is opened anywhere."""
    start = svg.index(">", svg.index("<svg")) + 1
    return f"{svg[:start]}<style>{font_faces()}</style>{svg[start:]}"


def inline(svg: str, *, name: str, description: str) -> str:
    """The picture as a part of a page that brings the font and the colours.

    Its colours become custom properties of the page's style sheet (``--ink``, ``--series-1`` and so
    on), so that the picture is readable on dark paper too.

    Args:
        svg: what the renderer drew.
        name: prefix that keeps ids of several pictures in a page apart; letters, digits, hyphens.
        description: text for readers who cannot see the picture.
    """
    start = svg.index("<svg")
    head_end = svg.index(">", start)
    width, height = (
        re.search(rf'\b{side}="([\d.]+)"', svg[start:head_end]).group(1)  # type: ignore[union-attr]
        for side in ("width", "height")
    )
    body = svg[head_end + 1 :]
    for colour, variable in _COLOURS.items():
        body = body.replace(f'"{colour}"', f'"var({variable})"')
    # Marks repeat in aria-labels what tables beside the figure say better, thousands of times.
    body = re.sub(r' (?:aria-\w+|role)="[^"]*"', "", body)
    if ' id="' in body:
        body = re.sub(r'( id="|url\(#|href="#)', rf"\g<1>{name}-", body)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{html.escape(description, quote=True)}">{body}'
    )


_COLOURS = {
    theme.PAPER: "--paper",
    theme.INK: "--ink",
    theme.MUTED: "--muted",
    theme.AXIS: "--axis",
    theme.GRID: "--grid",
    **{colour: f"--series-{number}" for number, colour in enumerate(theme.PALETTE, 1)},
}
