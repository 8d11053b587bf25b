"""Figures as files: SVG, PDF, PNG, and HTML that works without a network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

from skycell.plots.figure import spec_text
from skycell.plots.files import refuse_overwriting, write_all
from skycell.plots.page import figure_page
from skycell.plots.render_workers import DrawingFailed, RenderError, RenderWorkers
from skycell.plots.svg import with_fonts

if TYPE_CHECKING:
    from skycell.plots.figure import Figure

FORMATS = ("svg", "pdf", "png", "html")
"""File name endings that :func:`save` understands."""


class UnknownFormatError(ValueError):
    """The ending of a file's name is none of :data:`FORMATS`."""


def format_of(path: Path, also: tuple[str, ...] = ()) -> str:
    """The format that a file's name asks for.

    Args:
        path: the file.
        also: endings that the caller writes itself.

    Raises:
        UnknownFormatError: the ending is none of :data:`FORMATS`, and none of the caller's.
    """
    ending = path.suffix.lower().removeprefix(".")
    if ending not in FORMATS + also:
        allowed = ", ".join(f".{form}" for form in FORMATS + also)
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
        DrawingFailed: a figure could not be drawn; then none was written.
    """
    formats_of(figures)
    refuse_overwriting(figures, force=force)
    with RenderWorkers() as render_workers:
        drawing = Drawing(figures, render_workers)
        contents = drawing.contents()
    if drawing.failed:
        raise DrawingFailed(drawing.failed)
    return write_all(contents, force=force)


def formats_of(files: Iterable[Path]) -> dict[Path, str]:
    """The format of each file; raises `UnknownFormatError`."""
    return {file: format_of(file) for file in files}


class Drawing:
    """Figures on their way into files, for callers who have something else to do meanwhile."""

    def __init__(self, figures: Mapping[Path, Figure], render_workers: RenderWorkers) -> None:
        """Orders the pictures.

        Args:
            figures: which figure goes into which file, as for `save`.
            render_workers: who draws them.

        Raises:
            UnknownFormatError: a file's ending is none of :data:`FORMATS`.
        """
        formats = formats_of(figures)
        self.failed: dict[str, str] = {}
        """Why a figure could not be drawn, by its name; complete when `contents` has returned."""
        self._figures = dict(figures)
        files: dict[int, list[Path]] = {}  # of each figure
        for path, figure in figures.items():
            files.setdefault(id(figure), []).append(path)
        self._ordered: list[tuple[list[Path], Future[list[bytes]]]] = []
        for paths in files.values():
            pages = [path for path in paths if formats[path] == "html"]
            if pages:
                self._ordered += [([page], render_workers.order(None, ["js"])) for page in pages]
            pictures = [path for path in paths if formats[path] != "html"]
            if pictures:
                spec = spec_text(figures[pictures[0]].spec())
                drawn = render_workers.order(spec, [formats[path] for path in pictures])
                self._ordered.append((pictures, drawn))

    def contents(self) -> dict[Path, bytes]:
        """What goes into each file, once it is drawn; nothing where that failed."""
        contents = {}
        for paths, drawn in self._ordered:
            try:
                pictures = drawn.result()
            except RenderError as error:
                self.failed[self._figures[paths[0]].name] = str(error)
                continue
            for path, picture in zip(paths, pictures, strict=True):
                match format_of(path):
                    case "html":
                        text = figure_page(self._figures[path], picture.decode())
                        contents[path] = text.encode()
                    case "svg":
                        contents[path] = with_fonts(picture.decode()).encode()
                    case _:
                        contents[path] = picture
        return {path: contents[path] for path in self._figures if path in contents}
