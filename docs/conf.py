"""The site that `make docs` builds: the tree's Markdown pages as they are, by Sphinx with MyST.

The source folder is the top of the tree, so that pages beside the code (studies, benches) belong to
the site and a link means the same here as in the repository. A link to a file that is no page leads
to a copy of it. Any warning ends the build: a link or an anchor that leads nowhere, and a page that
docs/README.md does not list. Nothing on the site is loaded from elsewhere.
"""

import re
import shutil
from pathlib import Path
from posixpath import normpath

from sphinx.application import Sphinx

INDEX = "docs/README"

project = "skycell"
project_copyright = "the skycell authors"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "README"
include_patterns = [
    "*.md",
    "docs/**",
    "benches/*.md",
    "benches/*/*.md",
    "python/skycell/studies/README.md",
    "python/skycell/studies/*/README.md",
]
html_theme = "furo"
html_title = "skycell"
html_copy_source = False
html_show_sourcelink = False
myst_heading_anchors = 4  # anchors as GitHub gives them
suppress_warnings = ["misc.highlighting_failure"]  # excerpts, and languages that Pygments lacks

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_PAGE = re.compile(r"\]\(([^)#]+)\.md\)")


def setup(app: Sphinx) -> None:
    """Makes the index the navigation, and the front page one that a folder opens with."""
    app.connect("source-read", _add_navigation)
    app.connect("build-finished", _add_index)


def _add_navigation(app: Sphinx, name: str, source: list[str]) -> None:
    """Puts docs/README.md's sections, each a list of pages, into the front page's navigation."""
    if name != root_doc:
        return
    index = Path(app.srcdir, f"{INDEX}.md").read_text(encoding="utf-8")
    _, *sections = _SECTION.split(index)
    parts = [source[0], _toctree("Documents", [INDEX])]
    for heading, text in zip(sections[::2], sections[1::2], strict=True):
        pages = [normpath(f"docs/{page}") for page in _PAGE.findall(text)]
        parts.append(_toctree(heading, pages))
    source[0] = "\n\n".join(parts)


def _add_index(app: Sphinx, _: Exception | None) -> None:
    """Gives the front page the name that browsers and servers look for as well."""
    front = Path(app.outdir, f"{root_doc}.html")
    if front.exists():
        shutil.copyfile(front, front.with_name("index.html"))


def _toctree(caption: str, pages: list[str]) -> str:
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```"])
