"""Figures of a reproduced study from the JSON file that it left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.records.reading import NotAResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skycell.studies.figures import StudyFigure

NEEDED = ("engine", "version", "seed", "replications", "rows")


def stored_figure(file: Path, *, metric: str | None = None, table: str | None = None) -> Figure:
    """The figure of one table's values.

    Args:
        file: JSON form of a `Reproduction`.
        metric: which values, or a figure that the study lists, by its id; the first values of the
            table when None.
        table: id of the table; the only one that has the metric when None.

    Raises:
        NotAResult: the file cannot be read, or is no reproduction.
        NothingToDrawError: it holds no such values, or several tables have them.
    """
    from skycell.report.comparison import table_figure
    from skycell.studies.library import table_of

    data = _read(file)
    traced = _traced(data, metric)
    if traced is not None:
        return traced
    listed = _listed(data, metric)
    if listed is not None:
        return _listed_figure(file, data, listed)
    rows = [row for row in data["rows"] if row["mean"] is not None and not row["average"]]
    tables = list(dict.fromkeys(row["table"] for row in rows))
    if table is not None and table not in tables:
        raise NothingToDrawError(f"{file} holds no table {table}; it holds {', '.join(tables)}")
    chosen = [row for row in rows if table is None or row["table"] == table]
    metrics = list(dict.fromkeys(row["metric"] for row in chosen))
    if not metrics:
        raise NothingToDrawError(f"{file} holds no values")
    if metric is not None and metric not in metrics:
        raise NothingToDrawError(f"{file} holds no {metric}; it holds {', '.join(metrics)}")
    wanted = metric or metrics[0]
    chosen = [row for row in chosen if row["metric"] == wanted]
    having = list(dict.fromkeys(row["table"] for row in chosen))
    if len(having) > 1:
        raise NothingToDrawError(
            f"{len(having)} tables of {file} hold {wanted}; name one with --table: "
            f"{', '.join(having)}"
        )
    several = len({row["metric"] for row in rows if row["table"] == having[0]}) > 1
    found = table_of(having[0]).table
    return table_figure(chosen, found, _origin(data, chosen), several=several)


def _traced(data: dict[str, Any], figure: str | None) -> Figure | None:
    """The figure of this id that shows a run of a study in the file, which is simulated for it."""
    from skycell.report.traced import traced_figure
    from skycell.studies.library import load_study

    for study in map(load_study, dict.fromkeys(row["study"] for row in data["rows"])):
        for wanted in study.traced:
            if wanted.id == figure:
                return traced_figure(
                    study,
                    wanted,
                    seed=data["seed"],
                    overrides=data.get("overrides", {}),
                    engine=data["engine"],
                )
    return None


def _listed(data: dict[str, Any], figure: str | None) -> StudyFigure | None:
    """The figure of this id that a study in the file lists."""
    from skycell.studies.library import load_study

    studies = dict.fromkeys(row["study"] for row in data["rows"])
    listed = {entry.id: entry for study in studies for entry in load_study(study).figures}
    return listed.get(figure or "")


def _listed_figure(file: Path, data: dict[str, Any], wanted: StudyFigure) -> Figure:
    from skycell.plots.words import listed
    from skycell.report.study_figures import listed_figure

    rows = [row for row in data["rows"] if wanted.has(row)]
    figure = listed_figure(wanted, rows, _origin(data, rows)) if rows else None
    if figure is None:
        raise NothingToDrawError(
            f"{file} holds no values of {listed(wanted.tables)} for {wanted.id}"
        )
    return figure


def _read(file: Path) -> dict[str, Any]:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise NotAResult(f"{file}: {error.strerror or error}") from None
    except ValueError:
        raise NotAResult(f"{file} is no JSON") from None
    if not isinstance(data, dict) or not data.keys() >= set(NEEDED):
        raise NotAResult(f"{file} is no result of `skycell reproduce`")
    return data


def _origin(data: dict[str, Any], rows: Sequence[dict[str, Any]]) -> Origin:
    hashes = dict.fromkeys(name for row in rows for name in row["specs"])
    study = rows[0]["study"]
    return Origin(
        data["engine"], data["version"], tuple(hashes), data["seed"], data["replications"][study]
    )
