"""A figure: a chart, the words that belong to it, and where its numbers come from."""

from __future__ import annotations

import hashlib
import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skycell.input.printable import printable
from skycell.input.quantities import counted
from skycell.input.settings import write_value
from skycell.plots import theme
from skycell.version import version

if TYPE_CHECKING:
    import altair as alt

CAPTION_COLUMNS = 118
"""Letters of a caption line; at 11 pixels a line then is about as wide as the figure."""


class NothingToDrawError(ValueError):
    """The data that a figure needs is not there; the message says what to ask the run for."""


@dataclass(frozen=True)
class Origin:
    """Which runs the numbers of a figure come from.

    Attributes:
        engine: name of the engine, such as ``reference``.
        version: version of the package that simulated.
        spec_hashes: hash of each run's resolved spec, hexadecimal.
        seed: the run's seed, or the first one of a study.
        replications: runs with different seeds behind every mean; None for a single run.
        source: the publication that the figure compares with.
        set_otherwise: what was set otherwise than the study says, by choice or scenario key.
    """

    engine: str
    version: str
    spec_hashes: tuple[str, ...] = ()
    seed: int | None = None
    replications: int | None = None
    source: str | None = None
    set_otherwise: Mapping[str, Any] = field(default_factory=dict)

    def of_rows(self, rows: Sequence[Mapping[str, Any]]) -> Origin:
        """The origin of some of the runs, by their rows with a `spec_hash`."""
        return replace(self, spec_hashes=tuple(dict.fromkeys(row["spec_hash"] for row in rows)))

    def sentence(self) -> str:
        """The last sentence of a caption."""
        parts = [f"skycell\u00a0{self.version}, engine\u00a0{self.engine}"]
        if len(self.spec_hashes) == 1:
            parts.append(f"scenario\u00a0{self.spec_hashes[0][:12]}")
        elif self.spec_hashes:
            parts.append(
                f"{len(self.spec_hashes)}\u00a0runs, scenarios\u00a0{digest(self.spec_hashes)}"
            )
        if self.seed is not None:
            parts.append(f"{'first seed' if self.replications else 'seed'}\u00a0{self.seed}")
        sentences = [", ".join(parts) + "."]
        if self.set_otherwise:
            otherwise = self.set_otherwise.items()
            changed = (f"{key} = {write_value(value)}" for key, value in otherwise)
            sentences.insert(0, f"Set differently from the study: {', '.join(changed)}.")
        if self.source:
            sentences.insert(0, f"Published values: {self.source}.")
        return " ".join(sentences)


@dataclass(frozen=True)
class TableOrigin:
    """A table that somebody brought, which the numbers of a figure come from.

    Attributes:
        file: its name.
        rows: how many of its rows.
        sha256: of the file, hexadecimal.
        version: of the package that read it.
    """

    file: str
    rows: int
    sha256: str
    version: str

    @classmethod
    def of(cls, file: Path, rows: int) -> TableOrigin:
        """The origin of what a file holds.

        Raises:
            OSError: it cannot be read.
        """
        with file.open("rb") as data:
            sha256 = hashlib.file_digest(data, "sha256").hexdigest()
        return cls(file.name, rows, sha256, version())

    def of_rows(self, rows: Sequence[Mapping[str, Any]]) -> TableOrigin:
        """The origin of some of its rows."""
        return replace(self, rows=len(rows))

    def sentence(self) -> str:
        """The last sentence of a caption."""
        parts = [
            f"Table {self.file}",
            counted(self.rows, "row"),
            f"SHA-256\u00a0{self.sha256[:12]}",
        ]
        return f"{', '.join(parts)}; read by skycell\u00a0{self.version}."


FigureOrigin = Origin | TableOrigin
"""Where the numbers of a figure come from."""


def digest(spec_hashes: Iterable[str]) -> str:
    """Twelve hexadecimal digits that stand for a set of runs: SHA-256 over the sorted hashes."""
    return hashlib.sha256("\n".join(sorted(spec_hashes)).encode()).hexdigest()[:12]


def spec_text(spec: Mapping[str, Any]) -> str:
    r"""Vega-Lite as JSON. What would hide in a picture, or turn its text, is an escape there.

    >>> spec_text({"text": "a\u202eb\u00a0\u00d7"})
    '{"text": "a\\\\u202eb\\u00a0\\u00d7"}'
    """
    return _ESCAPE.sub(_visible, json.dumps(spec))


_ESCAPE = re.compile(r"(?:\\u[0-9a-f]{4})+|\\.")


def _visible(found: re.Match[str]) -> str:
    written = found[0]
    if written[1] != "u":
        return f"\\{written}" if written[1] in "bfr" else written
    return json.dumps(printable(json.loads(f'"{written}"'), keep="\n\t"))[1:-1]


@dataclass(frozen=True)
class Figure:
    """One figure, ready to be shown, saved or put into a page.

    Attributes:
        name: short name, used for files: letters, digits and hyphens.
        title: what the figure shows, one line.
        chart: the Altair chart without title and caption.
        caption: sentences on units, replications, bars and thinning.
        origin: where the numbers come from; ends the caption.
        description: what a reader who cannot see the figure should know.
        subtitle: second line under the title.
        datasets: rows that the chart refers to by name; Altair takes long to look at many.
    """

    name: str
    title: str
    chart: alt.TopLevelMixin = field(repr=False)
    caption: tuple[str, ...]
    origin: FigureOrigin
    description: str = field(repr=False)
    subtitle: str | None = None
    datasets: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def of_study_set(self, otherwise: Mapping[str, Any]) -> Figure:
        """The figure of a study of which something was set otherwise; its caption tells it."""
        assert isinstance(self.origin, Origin), "a study has runs"
        return replace(self, origin=replace(self.origin, set_otherwise=otherwise))

    def caption_text(self) -> str:
        """The whole caption, as one paragraph."""
        return " ".join([*self.caption, self.origin.sentence()])

    @cached_property
    def _drawn(self) -> dict[str, Any]:
        """The chart as Vega-Lite; tests check it against the schema, which takes a while."""
        drawn = dict(self.chart.to_dict(validate=False))
        if self.datasets:
            drawn["datasets"] = {**drawn.get("datasets", {}), **self.datasets}
        return drawn

    def bare_spec(self) -> dict[str, Any]:
        """Vega-Lite without title and caption, for pages that set them as text."""
        return {
            **self._drawn,
            "config": {**theme.config(), "padding": 4},
            "description": self.description,
        }

    def spec(self) -> dict[str, Any]:
        """Vega-Lite with title above and caption below, for a picture that stands alone."""
        inner = self.bare_spec()
        inner.pop("config")
        outer: dict[str, Any] = {
            key: inner.pop(key) for key in ("$schema", "datasets") if key in inner
        }
        # Parameters that are no selections belong to no view.
        params = inner.pop("params", [])
        outer["params"] = [param for param in params if "select" not in param]
        inner["params"] = [param for param in params if "select" in param]
        for view in (outer, inner):
            if not view["params"]:
                del view["params"]
        # Legends belong to the outer view, so its title is above them and the caption below all.
        inner["title"] = {
            "text": textwrap.wrap(self.caption_text(), CAPTION_COLUMNS),
            "orient": "bottom",
            "fontSize": 11,
            "fontWeight": 400,
            "lineHeight": 15,
            "color": theme.MUTED,
            "offset": 12,
        }
        title: dict[str, Any] = {"text": self.title}
        if self.subtitle:
            title["subtitle"] = self.subtitle
        return {
            **outer,
            "config": theme.config(),
            "description": self.description,
            "title": title,
            "vconcat": [inner],
        }

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """What a notebook shows."""
        return {
            "application/vnd.vegalite.v6+json": self.spec(),
            "text/plain": f"{self.title}\n{self.caption_text()}",
        }
