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
    ordered = Drawing(figures)
    refuse_overwriting(figures, force=force)
    return write_all(ordered.contents(ordered.draw()), force=force)


class Drawing:
    """Figures on their way into files, for callers who have something else to do meanwhile.

    What it is made from, and `contents`, belong to the caller's thread; `draw` waits for a process
    of its own, and may be called in another.
    """

    def __init__(self, figures: Mapping[Path, Figure]) -> None:
        """Orders the pictures.

        Args:
            figures: which figure goes into which file, as for `save`.

        Raises:
            UnknownFormatError: a file's ending is none of :data:`FORMATS`.
        """
        self._figures = dict(figures)
        self._formats = {path: format_of(path) for path in figures}
        specs: dict[int, Mapping[str, Any]] = {}  # a figure's is the same in all formats
        self._jobs: list[tuple[Mapping[str, Any] | None, str]] = []
        for path, figure in figures.items():
            if self._formats[path] == "html":
                self._jobs.append((None, "js"))
                continue
            if id(figure) not in specs:
                specs[id(figure)] = figure.spec()
            self._jobs.append((specs[id(figure)], self._formats[path]))

    def draw(self) -> list[bytes]:
        """Draws them; raises `RenderError` where that fails."""
        return render(self._jobs)

    def contents(self, drawn: Sequence[bytes]) -> dict[Path, bytes]:
        """What goes into each file, from what `draw` gave."""
        contents = {}
        for (path, figure), picture in zip(self._figures.items(), drawn, strict=True):
            match self._formats[path]:
                case "html":
                    contents[path] = figure_page(figure, picture.decode()).encode()
                case "svg":
                    contents[path] = with_fonts(picture.decode()).encode()
                case _:
                    contents[path] = picture
        return contents
