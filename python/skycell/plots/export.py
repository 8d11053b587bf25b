"""Figures as files: SVG, PDF, PNG, and HTML that works without a network."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skycell.plots import theme
from skycell.plots.files import refuse_overwriting, write_all
from skycell.plots.page import figure_page
from skycell.plots.svg import renumbered, with_fonts

if TYPE_CHECKING:
    from skycell.plots.figure import Figure

FORMATS = ("svg", "pdf", "png", "html")
"""File name endings that :func:`save` understands."""

PNG_SCALE = 2
"""Pixels of a PNG per pixel of the drawing."""


class UnknownFormatError(ValueError):
    """The ending of a file's name is none of :data:`FORMATS`."""


class RenderError(RuntimeError):
    """The child process that draws has failed; the message is what it said."""


def render(jobs: Sequence[tuple[Mapping[str, Any] | None, str]]) -> list[bytes]:
    """Draws specs in one child process.

    Args:
        jobs: pairs of a Vega-Lite spec and a format ``svg``, ``png`` or ``pdf``; the format ``js``
            needs no spec and gives the script that draws Vega-Lite in a page.

    Returns:
        The bytes of each file, in the order of the jobs.

    Raises:
        RenderError: the child process failed.
    """
    with tempfile.TemporaryDirectory(prefix="skycell-") as folder:
        outputs = [Path(folder) / f"{number}.{form}" for number, (_, form) in enumerate(jobs)]
        order = {
            "fonts": str(theme.FONT_DIRECTORY),
            "jobs": [
                {"spec": spec, "format": form, "scale": PNG_SCALE, "out": str(out)}
                for (spec, form), out in zip(jobs, outputs, strict=True)
            ],
        }
        # The file itself, not `-m`: the child then imports nothing but vl-convert.
        child = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("_render.py"))],
            input=json.dumps(order),
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        if child.returncode != 0:
            raise RenderError(child.stderr.strip() or f"exit code {child.returncode}")
        return [
            renumbered(out.read_text(encoding="utf-8")).encode()
            if form == "svg"
            else out.read_bytes()
            for (_, form), out in zip(jobs, outputs, strict=True)
        ]


def format_of(path: Path) -> str:
    """The format that a file's name asks for.

    Raises:
        UnknownFormatError: the ending is none of :data:`FORMATS`.
    """
    ending = path.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        allowed = ", ".join(f".{form}" for form in FORMATS)
        raise UnknownFormatError(f"{path.name}: a figure is written as one of {allowed}")
    return ending


def save(figures: Mapping[Path, Figure], *, force: bool = False) -> list[Path]:
    """Writes figures to files; the ending of each file's name chooses its format.

    Args:
        figures: which figure goes into which file; a figure may go into several.
        force: whether files that exist are replaced.

    Returns:
        The files, in the order given.

    Raises:
        UnknownFormatError: a file's ending is none of :data:`FORMATS`.
        WouldOverwriteError: a file exists and ``force`` is not given; then none was written.
        RenderError: drawing failed.
    """
    formats = {path: format_of(path) for path in figures}
    refuse_overwriting(figures, force=force)
    jobs = [
        (None, "js") if formats[path] == "html" else (figure.spec(), formats[path])
        for path, figure in figures.items()
    ]
    contents = {}
    for (path, figure), drawn in zip(figures.items(), render(jobs), strict=True):
        match formats[path]:
            case "html":
                contents[path] = figure_page(figure, drawn.decode()).encode()
            case "svg":
                contents[path] = with_fonts(drawn.decode()).encode()
            case _:
                contents[path] = drawn
    return write_all(contents, force=force)
