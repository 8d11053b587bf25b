"""Templates to pages: one file each, with its style, script, font and pictures inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from skycell.plots.figure import Figure


@dataclass(frozen=True)
class Picture:
    """A figure as it stands in a page."""

    svg: Markup
    title: str
    subtitle: str | None
    caption: str


def pictures(figures: Sequence[Figure]) -> list[Picture]:
    """Draws figures for a page: without title and caption, which the page sets as text."""
    from markupsafe import Markup

    from skycell.plots.export import render
    from skycell.plots.svg import inline

    drawn = render([(figure.bare_spec(), "svg") for figure in figures]) if figures else []
    return [
        Picture(
            # The renderer's own output, with the description escaped by `inline`.
            Markup(
                inline(
                    svg.decode(),
                    name=f"{figure.name}-{place}",
                    description=figure.description,
                )
            ),
            figure.title,
            figure.subtitle,
            figure.caption_text(),
        )
        for place, (figure, svg) in enumerate(zip(figures, drawn, strict=True))
    ]


def page(template: str, context: Mapping[str, Any]) -> str:
    """Fills a template.

    Args:
        template: its name, such as ``study.html.j2``.
        context: what it speaks of, with ``title`` and ``version``.
    """
    from markupsafe import Markup

    from skycell.plots.svg import font_faces

    environment = _environment()
    source = _source(environment)
    return environment.get_template(template).render(
        {
            **context,
            "fonts": Markup(font_faces()),
            "style": Markup(source("style.css")),
            "script": Markup(source("sort.js")),
        }
    )


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
