"""The site that `make docs` builds: the tree's Markdown pages as they are, by Sphinx with MyST.

The source folder is the top of the tree, so that pages beside the code (studies, benches) belong to
the site and a link means the same here as in the repository. A link to a file that is no page leads
to a copy of it. Any warning ends the build: of a link or an anchor that leads nowhere, or of a page
that neither docs/README.md nor the README of its folder lists. Nothing is loaded from elsewhere.
"""

import re
import shutil
from collections.abc import Iterable
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
    "conformance/*.md",
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
    """Puts what a page leads to into the navigation.

    The front page leads to docs/README.md and its sections, each a list of pages; the README of a
    folder below leads to the pages beside it that it links to.
    """
    if name == root_doc:
        index = Path(app.srcdir, f"{INDEX}.md").read_text(encoding="utf-8")
        _, *sections = _SECTION.split(index)
        source[0] += _toctree("Documents", [INDEX])
        for heading, text in zip(sections[::2], sections[1::2], strict=True):
            source[0] += _toctree(
                heading, [normpath(f"docs/{page}") for page in _PAGE.findall(text)]
            )
    elif name.startswith("docs/") and name.endswith("/README") and name != INDEX:
        beside = [page for page in _PAGE.findall(source[0]) if "/" not in page]
        source[0] += _toctree("", dict.fromkeys(beside))


def _toctree(caption: str, pages: Iterable[str]) -> str:
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    return "\n".join(["", "", "```{toctree}", *options, "", *pages, "```", ""])


def _add_index(app: Sphinx, _: Exception | None) -> None:
    """Gives the front page the name that browsers and servers look for as well."""
    front = Path(app.outdir, f"{root_doc}.html")
    if front.exists():
        shutil.copyfile(front, front.with_name("index.html"))
