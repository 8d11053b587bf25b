"""Tables and figures that put published values beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from skycell.plots.figure import Figure, Origin
from skycell.plots.labels import described, lowered, metric, replicated
from skycell.studies.effects import EFFECT_MEASURES
from skycell.studies.path_measures import PATH_MEASURES
from skycell.tables.table import NOTHING, Cell, Table, columns, count, number, words
from skycell.tables.values import telling, values_table

if TYPE_CHECKING:
    from skycell.studies.compare import Row, Score, TableSummary
    from skycell.studies.model import Table as StudyTable
    from skycell.studies.reproduction import Reproduction

NOT_DRAWN = {
    "cells_discarded",
    "timeouts",
    "fast_retransmits",
    "threshold_total",
    "threshold_share",
    "offered_load",
    "mean_file",
    *PATH_MEASURES,
    *EFFECT_MEASURES,
}
"""Counts beside a table's values, and inputs of its runs: their numbers say it all."""

BUFFER_SIZES = {"atmf970616": "atmf970616-s4-buffer-sizes.csv"}
"""Buffer studies, with the file that gives their buffers in RTT x bandwidth."""

# 97-0616 section 5: average efficiency above 98 % for buffers above 0.5 RTT, whatever N.
PROMISED = {"efficiency": (0.98, "which the publication states for buffers above 0.5 RTT")}
"""Lines across the figures of a buffer study, by metric."""


@dataclass(frozen=True)
class Group:
    """Rows of one table that share metric, unit and factors: one table of the page, one figure."""

    table: StudyTable
    rows: tuple[Row, ...]

    @property
    def is_average(self) -> bool:
        """Whether the rows are averages over other rows of the table."""
        return self.rows[0].is_average

    @property
    def name(self) -> str:
        """Short name for files: letters, digits and hyphens."""
        first = self.rows[0]
        parts = [self.table.id, first.metric, "averages" if self.is_average else ""]
        return "-".join(part for part in parts if part).replace("_", "-")


def groups_of(reproduction: Reproduction, study_id: str) -> list[Group]:
    """The rows of a study, table by table and kind by kind."""
    groups = []
    for study in reproduction.studies:
        if study.id == study_id:
            for table in study.tables:
                groups += groups_in(table, reproduction.rows_of(table.id))
    return groups


def comparison_tables(reproduction: Reproduction) -> list[Table]:
    """All rows of a reproduction, published beside ours, table by table and kind by kind.

    `skycell.tables.latex.latex` makes LaTeX of each.
    """
    found = []
    for study in reproduction.studies:
        groups = groups_of(reproduction, study.id)
        tables = [group.table.id for group in groups]
        found += [
            comparison_table(group, several=tables.count(group.table.id) > 1) for group in groups
        ]
    return found


def groups_in(table: StudyTable, rows: Iterable[Row]) -> list[Group]:
    """The rows of a table, kind by kind."""
    kinds: dict[object, list[Row]] = {}
    for row in rows:
        kind = (row.metric, row.unit, tuple(row.factors), row.is_average)
        kinds.setdefault(kind, []).append(row)
    return [Group(table, tuple(own)) for own in kinds.values()]


def comparison_table(group: Group, *, several: bool, why: str = "") -> Table:
    """The rows of a group, published beside ours.

    Args:
        group: the rows.
        several: whether the table has other groups, which the caption then tells apart.
        why: the reason of those that are off.
    """
    parts = _said(group, several=several)
    first = group.rows[0]
    runs = replicated(row.n for row in group.rows)
    ours = f"Ours: mean of {runs}; SD: their standard deviation."
    if all(row.is_computed for row in group.rows):
        ours = "Ours: computed once, as nothing is drawn."
    title = "; ".join([f"{first.table}: {group.table.title}", *parts])
    return values_table(
        group.rows,
        caption=f"{'; '.join([group.table.label, *parts])}. {ours}",
        title=title,
        why=why,
    )


def _said(group: Group, *, several: bool) -> list[str]:
    """What the values are, where that is to be said, and what is the same in all of them."""
    first = group.rows[0]
    unit = "" if first.unit in {"1", "events"} else f" in {first.unit}"
    what = f"{metric(first.metric)}{unit}"
    if group.is_average:
        what = f"averages, {lowered(what)}"
    varying = telling(group.rows)
    constant = {key: own for key, own in first.factors.items() if key not in varying}
    parts = [what] if several or unit else []
    return [*parts, described(constant)] if constant else parts


def comparison_figure(group: Group, origin: Origin) -> Figure | None:
    """The figure of a group; none where nothing was measured, and none for counts and inputs."""
    rows = [row.as_dict() for row in group.rows if row.mean is not None]
    if not rows or group.rows[0].metric in NOT_DRAWN:
        return None
    drawn = {part.measure for part in group.table.parts if part.measure not in NOT_DRAWN}
    figure = table_figure(rows, group.table, origin, several=len(drawn) > 1)
    title = f"{figure.title}, averages" if group.is_average else figure.title
    return replace(figure, name=group.name, title=title)


def table_figure(
    rows: Sequence[Mapping[str, Any]], table: StudyTable, origin: Origin, *, several: bool
) -> Figure:
    """The figure of some values of a table: against the buffer in a buffer study, else compared.

    Args:
        rows: as in ``Reproduction.as_dict``, of one metric, each with a mean.
        table: the table they belong to.
        origin: the runs.
        several: whether the table has figures of other metrics, from which the subtitle tells it.
    """
    from skycell.plots.comparison import comparison

    title = table.title[0].upper() + table.title[1:]
    in_rtt = with_buffer_in_rtt(rows)
    if in_rtt is not None:
        figure = _by_buffer(in_rtt, origin, title)
    else:
        in_print = any(row["published"] is not None for row in rows)
        origin = replace(origin, source=table.printed_as if in_print else None)
        figure = comparison(rows, origin, title=title)
    if not several:
        return figure
    words = [metric(rows[0]["metric"]), figure.subtitle]
    return replace(figure, subtitle="; ".join(word for word in words if word))


def _by_buffer(rows: Sequence[Mapping[str, Any]], origin: Origin, title: str) -> Figure:
    """A metric against the buffer: a panel for each configuration, a line for each N."""
    from skycell.plots.curves import ReferenceLine, curves, label

    name = rows[0]["metric"]
    goal, meaning = PROMISED.get(name, (None, ""))
    lines = []
    if goal is not None:
        sizes = [(label(row, "config"), row["factors"]["buffer_rtt"]) for row in rows]
        lines = [
            ReferenceLine(panel, "", tuple((x, goal) for own, x in sorted(sizes) if own == panel))
            for panel in dict.fromkeys(panel for panel, _ in sizes)
        ]
    return curves(
        rows,
        origin,
        title=title,
        x="buffer_rtt",
        series="n_sources",
        column="config",
        reference=lines,
        meaning=f"{goal:g}, {meaning}" if goal is not None else "",
        own="x",
        is_log=True,
        figure_name=f"{name}-by-buffer",
    )


def with_buffer_in_rtt(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """Rows of a buffer study with the factor ``buffer_rtt``; None for rows of any other study.

    The study's own list says how many RTT x bandwidth each of its buffers is.
    """
    from skycell.studies.library import load_study
    from skycell.studies.published import read_rows

    study, file = rows[0]["study"], BUFFER_SIZES.get(rows[0]["study"])
    if file is None:
        return None
    sizes = {
        (line["config"], int(line["buffer_cells"])): float(line["buffer_rtt_multiple_derived"])
        for line in read_rows(load_study(study), file)
    }
    return [
        {
            **row,
            "factors": {
                **row["factors"],
                "buffer_rtt": sizes[row["factors"]["config"], row["factors"]["buffer_cells"]],
            },
        }
        for row in rows
    ]


def scores_table(summaries: Iterable[TableSummary], titles: Mapping[str, str]) -> Table:
    """Counts of verdicts and mean absolute errors, table by table."""
    rows = []
    for summary in summaries:
        kinds = {
            "values": summary.cells,
            "suspect print": summary.suspect,
            "averages": summary.averages,
        }
        for kind, score in kinds.items():
            if score.compared:
                rows.append(_score_row(titles[summary.table], kind, score))
        unprinted = summary.unpublished
        if unprinted:
            rows.append(_empty_row(titles[summary.table], "never printed as numbers", unprinted))
        if summary.own:
            rows.append(_empty_row(titles[summary.table], "of our own", summary.own))
        if summary.failed:
            rows.append(_empty_row(titles[summary.table], "failed", summary.failed))
    heads = ("table", "what", "values", "inside", "near", "off", "mean absolute error")
    return Table(
        caption=(
            "Values inside, near and off, and how far our means are from the print, in the unit of "
            "the values."
        ),
        columns=columns(*heads, numeric=heads[2:]),
        rows=tuple(rows),
        sortable=False,
    )


def _score_row(title: str, kind: str, score: Score) -> tuple[Cell, ...]:
    return (
        words(title),
        words(kind),
        count(score.compared),
        count(score.inside),
        count(score.near),
        count(score.off),
        number(score.mean_absolute_error, 3),
    )


def _empty_row(title: str, kind: str, values: int) -> tuple[Cell, ...]:
    return (words(title), words(kind), count(values), *[words(NOTHING)] * 4)


def tally(summaries: Sequence[TableSummary]) -> str:
    """One sentence on how many published values are reproduced."""
    parts = [
        score
        for summary in summaries
        for score in (summary.cells, summary.suspect, summary.averages)
    ]
    compared = sum(score.compared for score in parts)
    if not compared:
        return "These tables have no numbers in print to compare with."
    inside, near, off = (
        sum(getattr(s, verdict) for s in parts) for verdict in ("inside", "near", "off")
    )
    if compared == 1:
        place = "lies inside" if inside else "is near" if near else "is off"
        return f"The one published value {place} the span of our replications."
    verb = "lies" if inside == 1 else "lie"
    return (
        f"Of {compared} published values {inside} {verb} inside the span of our replications, "
        f"{near} near it and {off} off."
    )
