"""Templates to pages: one file each, with its style, script, font and pictures inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from skycell.input.printable import printable
from skycell.plots.figure import spec_text
from skycell.plots.render_workers import RenderError, RenderWorkers

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from skycell.plots.figure import Figure
    from skycell.report.sky_frames import FramesOverTime


@dataclass(frozen=True)
class Picture:
    """A figure as it stands in a page."""

    svg: Markup
    title: str
    subtitle: str | None
    caption: str


class PageFigures:
    """Figures on their way into a page: without title and caption, which the page sets as text."""

    def __init__(
        self, figures: Sequence[Figure], render_workers: RenderWorkers, first: int = 0
    ) -> None:
        """Orders the pictures.

        Args:
            figures: in their order in the page.
            render_workers: who draws them.
            first: number of the first one in the page.
        """
        self.failed: dict[str, str] = {}
        """Why a figure could not be drawn, by its name; complete when `pictures` has returned."""
        self._ordered = [
            (f"{figure.name}-{place}", figure, render_workers.order(_bare(figure), ["svg"]))
            for place, figure in enumerate(figures, start=first)
        ]

    def pictures(self) -> list[Picture]:
        """The pictures, once they are drawn; one that failed says so in its place."""
        return [
            Picture(
                self._drawn(name, figure, drawn),
                figure.title,
                figure.subtitle,
                figure.caption_text(),
            )
            for name, figure, drawn in self._ordered
        ]

    def _drawn(self, name: str, figure: Figure, drawn: Future[list[bytes]]) -> Markup:
        from markupsafe import Markup

        from skycell.plots.svg import inline

        try:
            svg = drawn.result()[0].decode()
        except RenderError as error:
            self.failed[figure.name] = str(error)
            return Markup("<p>This figure could not be drawn: {}</p>").format(str(error))
        # The renderer's own output, with the description escaped by `inline`.
        return Markup(inline(svg, name=name, description=figure.description))


def _bare(figure: Figure) -> str:
    spec = figure.bare_spec()
    # `inline` leaves out what marks say of themselves, so Vega need not put it together.
    return spec_text({**spec, "config": {**spec["config"], "aria": False}})


def page(template: str, context: Mapping[str, Any]) -> str:
    """Fills a template. No sign of the page is hidden or turns the text around.

    Args:
        template: its name, such as ``study.html.j2``.
        context: what it speaks of, with ``title`` and ``version``.
    """
    from markupsafe import Markup

    from skycell.plots.svg import font_faces

    environment = _environment()
    source = _source(environment)
    filled = environment.get_template(template).render(
        {
            **context,
            "fonts": Markup(font_faces()),
            "style": Markup(source("style.css")),
            "script": Markup(source("sort.js") + source("frames.js")),
        }
    )
    return printable(filled, keep="\n")


def frames_part(data: FramesOverTime) -> str:
    """A picture of several moments as part of a page, which `frames.js` has play."""
    parts: Any = _environment().get_template("parts.html.j2").module
    return printable(str(parts.frames(data)), keep="\n")


def page_source(name: str) -> str:
    """A script or style that stands beside the templates."""
    text: str = _source(_environment())(name)
    return text


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("skycell.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _source(environment: Environment) -> Any:
    """Reads a file beside the templates as it is."""

    def read(name: str) -> str:
        assert environment.loader is not None
        return environment.loader.get_source(environment, name)[0]

    return read
