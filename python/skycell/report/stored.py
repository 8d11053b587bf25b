"""A reproduced study as the JSON file that it left has it, and its figures."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.labels import listed as names
from skycell.records.reading import NotAResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skycell.plots.values import Axes
    from skycell.studies.figures import StudyFigure, TracedFigure
    from skycell.studies.model import Study

NEEDED = ("engine", "version", "seed", "replications", "rows")


@dataclass(frozen=True)
class StoredStudy:
    """What a reproduction left: the JSON form of a `Reproduction`, and the file that holds it."""

    file: Path
    data: dict[str, Any]
    axes: Axes | None = None
    """How somebody arranges a table's values; none where we do."""

    def refuse_unknown_table(self, table: str) -> None:
        """Raises `NothingToDrawError` for a table of which the file has no values."""
        known = dict.fromkeys(row["table"] for row in self._rows())
        if table not in known:
            reported = f"{self.file} holds no table {table}; it holds {', '.join(known)}"
            raise NothingToDrawError(reported)

    def refuse_unknown_figure(self, metric: str | None, table: str | None) -> None:
        """Refuses what :meth:`figure` cannot show of a table, or of all where it is unknown.

        Raises:
            NothingToDrawError: there are no such values, or several tables have them.
        """
        if _traced(self.data, metric) is not None:
            return
        listed = _listed(self.data, metric)
        if listed is not None:
            if not any(row["mean"] is not None and listed.has(row) for row in self.data["rows"]):
                reported = f"{self.file} holds no values of {names(listed.tables)} for {listed.id}"
                raise NothingToDrawError(reported)
            return
        rows = self._rows(table) or self._rows()
        metrics = list(dict.fromkeys(row["metric"] for row in rows))
        if not metrics:
            raise NothingToDrawError(f"{self.file} holds no values")
        if metric is not None and metric not in metrics:
            reported = f"{self.file} holds no {metric}; it holds {', '.join(metrics)}"
            raise NothingToDrawError(reported)
        wanted = metric or metrics[0]
        having = list(dict.fromkeys(row["table"] for row in rows if row["metric"] == wanted))
        if table is None and len(having) > 1:
            raise NothingToDrawError(
                f"{len(having)} tables of {self.file} hold {wanted}; name one with --table: "
                f"{', '.join(having)}"
            )

    def figure(self, *, metric: str | None = None, table: str | None = None) -> Figure:
        """The figure of one table's values.

        Args:
            metric: which values, or a figure that the study lists, by its id; the first values of
                the table when None.
            table: id of the table; the only one that has the metric when None.

        Raises:
            NothingToDrawError: there are no such values, or several tables have them.
        """
        from skycell.plots.values import values_figure
        from skycell.report.comparison import table_figure
        from skycell.report.study_figures import listed_figure
        from skycell.report.traced import traced_figure
        from skycell.studies.library import table_of

        if table is not None:
            self.refuse_unknown_table(table)
        self.refuse_unknown_figure(metric, table)
        traced = _traced(self.data, metric)
        if traced is not None:
            study, wanted = traced
            return traced_figure(
                study,
                wanted,
                seed=self.data["seed"],
                overrides=_set_otherwise(self.data, study.id),
                engine=self.data["engine"],
            )
        listed = _listed(self.data, metric)
        if listed is not None:
            of_listed = [row for row in self.data["rows"] if listed.has(row)]
            figure = listed_figure(listed, of_listed, _origin(self.data, of_listed))
            assert figure is not None  # it has values
            return figure
        rows, shown = self._rows(table), self._metric(metric, table)
        chosen = [row for row in rows if row["metric"] == shown]
        found = chosen[0]["table"]
        if self.axes is not None:
            own = [row for row in rows if row["table"] == found]
            title = table_of(found).table.title
            return values_figure(own, _origin(self.data, chosen), self.axes, shown, study=title)
        several = len({row["metric"] for row in self._rows(found)}) > 1
        origin = _origin(self.data, chosen)
        return table_figure(chosen, table_of(found).table, origin, several=several)

    def names_of(self, metric: str | None, table: str | None) -> tuple[list[str], list[str]]:
        """The factors of the values that :meth:`figure` draws, and the metrics beside them."""
        rows, shown = self._rows(table), self._metric(metric, table)
        chosen = [row for row in rows if row["metric"] == shown]
        beside = [row for row in rows if row["table"] == chosen[0]["table"]] if chosen else []
        factors = [name for row in chosen for name in row["factors"]]
        return list(dict.fromkeys(factors)), list(dict.fromkeys(row["metric"] for row in beside))

    def _metric(self, metric: str | None, table: str | None) -> str:
        return metric or str(self._rows(table)[0]["metric"])

    def _rows(self, table: str | None = None) -> list[dict[str, Any]]:
        """The rows of a table, or of all, that can be drawn."""
        return [
            row
            for row in self.data["rows"]
            if row["mean"] is not None
            and not row["average"]
            and (table is None or row["table"] == table)
        ]


def read_study(file: Path) -> StoredStudy:
    """Reads what `skycell reproduce --out` wrote.

    Raises:
        NotAResult: the file cannot be read, or is no reproduction.
    """
    return StoredStudy(file, _read(file))


def _traced(data: dict[str, Any], figure: str | None) -> tuple[Study, TracedFigure] | None:
    """The figure of this id that shows a run over time, and the study in the file that lists it."""
    from skycell.studies.library import load_study

    for study in map(load_study, dict.fromkeys(row["study"] for row in data["rows"])):
        for wanted in study.traced:
            if wanted.id == figure:
                return study, wanted
    return None


def _listed(data: dict[str, Any], figure: str | None) -> StudyFigure | None:
    """The figure of this id that a study in the file lists."""
    from skycell.studies.library import load_study

    studies = dict.fromkeys(row["study"] for row in data["rows"])
    listed = {entry.id: entry for study in studies for entry in load_study(study).figures}
    return listed.get(figure or "")


def _read(file: Path) -> dict[str, Any]:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise NotAResult(f"{file}: {error.strerror or error}") from None
    except ValueError:
        raise NotAResult(f"{file} is not JSON") from None
    if not isinstance(data, dict) or not data.keys() >= set(NEEDED):
        raise NotAResult(f"{file} is not a result of `skycell reproduce`")
    return data


def _set_otherwise(data: dict[str, Any], study: str) -> dict[str, Any]:
    """What was set otherwise than a study says, which each of its rows has."""
    own = [row for row in data["rows"] if row["study"] == study]
    return dict(own[0].get("set", {})) if own else {}


def _origin(data: dict[str, Any], rows: Sequence[dict[str, Any]]) -> Origin:
    hashes = dict.fromkeys(name for row in rows for name in row["specs"])
    study = rows[0]["study"]
    return Origin(
        data["engine"],
        data["version"],
        tuple(hashes),
        data["seed"],
        data["replications"][study],
        set_otherwise=_set_otherwise(data, study),
    )
