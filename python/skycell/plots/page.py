"""A page that holds one figure with its script, font and data, and asks nothing of a network."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from skycell.input.printable import printable
from skycell.plots import theme
from skycell.plots.figure import spec_text
from skycell.plots.svg import font_faces

if TYPE_CHECKING:
    from skycell.plots.figure import Figure

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "img-src data: blob:; font-src data:"
)
"""Content security policy: a browser that follows it cannot load anything from outside.

Vega compiles its expressions, for which the policy must allow ``unsafe-eval``."""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>
{fonts}
:root {{ color-scheme: light; }}
body {{ margin: 0 auto; padding: 24px 20px; max-width: 820px; background: {paper}; color: {ink};
  font: 15px/1.5 {stack}; }}
h1 {{ font-size: 20px; font-weight: 600; line-height: 1.3; margin: 0 0 4px; }}
p {{ margin: 0 0 16px; color: {muted}; }}
.figure {{ overflow-x: auto; }}
figcaption {{ font-size: 13px; color: {muted}; }}
figure {{ margin: 0; }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{subtitle}</p>
<figure>
<div class="figure" id="figure" role="img" aria-label="{description}"></div>
<figcaption>{caption}</figcaption>
</figure>
<script type="module">
{script}
const actions = {{export: true, source: false, compiled: false, editor: false}};
const spec = {spec};
// The font is measured while the figure is laid out, so it has to be there first.
await Promise.all(["400", "600"].map(w => document.fonts.load(w + " 12px '{font}'")));
await window.vegaEmbed("#figure", spec, {{renderer: "svg", actions}});
</script>
</body>
</html>
"""


def in_script(text: str) -> str:
    """Script or JSON text that cannot end the element it stands in."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def figure_page(figure: Figure, script: str) -> str:
    """The page of one figure.

    Args:
        figure: what it shows; tool tips come from the chart.
        script: Vega, Vega-Lite and Vega-Embed, as ``vl_convert.javascript_bundle`` gives them.
    """
    return _PAGE.format(
        policy=POLICY,
        fonts=font_faces(),
        paper=theme.PAPER,
        ink=theme.INK,
        muted=theme.MUTED,
        stack=html.escape(theme.FONT_STACK, quote=False),
        font=theme.FONT,
        title=html.escape(printable(figure.title)),
        subtitle=html.escape(printable(figure.subtitle or "")),
        description=html.escape(printable(figure.description), quote=True),
        caption=html.escape(printable(figure.caption_text())),
        script=in_script(script),
        spec=in_script(spec_text(figure.bare_spec())),
    )
