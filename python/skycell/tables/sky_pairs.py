"""Table of the pairs of stations of a run over a constellation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from skycell.records.sky import ROUND_TRIPS
from skycell.tables.recorded import Recorded
from skycell.tables.table import Cell, Table, columns, count, number, words

if TYPE_CHECKING:
    import polars as pl

_MOST = 10
"""Pairs that a terminal names."""

BY = "99 %"
"""Heading of the round-trip time that the slowest pairs are chosen by."""

_CAUSES = {
    "dropped": "dropped",
    "no_route": "no route",
    "link_gone": "link gone",
    "in_flight": "in flight",
    "hop_limit": "hop limit",
    "on_links": "on links",
}
"""Losses by their columns, with a heading."""

_MEANINGS = {
    "dropped": "dropped in queues",
    "no_route": "without a route at a node",
    "link_gone": "whose link was gone as they left",
    "in_flight": "in flight over a link that ended",
    "hop_limit": "at the hop limit",
    "on_links": "lost on links by draw or bit errors",
}


def pairs(run: Recorded) -> Table | None:
    """All pairs, a row each; None without a constellation, or without traffic between stations."""
    found = _found(run)
    if found is None:
        return None
    rows = [_row(row, words(row["pair"]), _causes(found)) for row in found.iter_rows(named=True)]
    return Table(
        caption=f"Pairs of stations. {_caption(found)}",
        columns=_columns(found),
        rows=tuple(rows),
    )


def pairs_in_brief(run: Recorded) -> Table | None:
    """The slowest pairs, and how all are spread if there are more; None as `pairs`."""
    found = _found(run)
    if found is None:
        return None
    slowest = found.head(_MOST)
    causes = _causes(found)
    rows = [_row(row, words(row["pair"]), causes) for row in slowest.iter_rows(named=True)]
    of_all = f": {len(found)}"
    if len(found) > _MOST:
        of_all = f": {_MOST} of {len(found)}, the slowest by the 99 % of the RTT"
        for name, part in (("least", 0.0), ("median", 0.5), ("most", 1.0)):
            own = {
                column: _ranked(found[column], part)
                for column, kind in found.schema.items()
                if kind.is_numeric()
            }
            rows.append(_row(own, words(f"{name} of all"), causes))
    return Table(
        title=f"Pairs of stations{of_all}; RTT in ms",
        caption=_caption(found),
        columns=_columns(found),
        rows=tuple(rows),
        ruled=frozenset({_MOST - 1} if len(found) > _MOST else ()),
    )


def _found(run: Recorded) -> pl.DataFrame | None:
    """The pairs, the slowest first; those without a round trip last."""
    if run.spec.sky is None or ROUND_TRIPS not in run.traces:
        return None
    from skycell.records.sky_pairs import sky_pairs

    found = sky_pairs(run.spec, run.records, run.traces)
    if found.is_empty():
        return None
    order = ["rtt_p99_ms", "mbps", "pair"]
    return found.sort(order, descending=[True, False, False], nulls_last=True)


def _causes(found: pl.DataFrame) -> list[str]:
    """The causes by which a pair lost something, and drops in queues."""
    return [cause for cause in _CAUSES if cause == "dropped" or found[cause].sum() > 0]


def _columns(found: pl.DataFrame) -> Any:
    heads = ["Mbit/s", "RTT least", "median", BY, *(_CAUSES[cause] for cause in _causes(found))]
    if "hops_most" in found:
        heads[4:4] = ["hops", "changes"]
    return columns("pair", *heads, numeric=heads)


def _row(row: dict[str, Any], name: Cell, causes: list[str]) -> tuple[Cell, ...]:
    of_path: tuple[Cell, ...] = ()
    if "hops_most" in row:
        of_path = (_hops(row["hops_least"], row["hops_most"]), count(row["changes"]))
    return (
        name,
        number(row["mbps"], 3),
        *(number(row[f"rtt_{key}_ms"], 2) for key in ("least", "p50", "p99")),
        *of_path,
        *(count(row[cause]) for cause in causes),
    )


def _hops(least: int | None, most: int | None) -> Cell:
    if least is None or most is None or least == most:
        return count(most)
    return Cell(f"{least} to {most}", sort=most)


def _ranked(values: pl.Series, part: float) -> Any:
    """A quantile by nearest rank; None without values."""
    ordered = values.drop_nulls().sort()
    if ordered.is_empty():
        return None
    return ordered[max(math.ceil(part * len(ordered)), 1) - 1]


def _caption(found: pl.DataFrame) -> str:
    lost = [_MEANINGS[cause] for cause in _causes(found)]
    of_path = ""
    if "hops_most" in found:
        of_path = (
            " Hops: links of the path, least to most over the run. Changes: times that the path "
            "changes."
        )
    return (
        "Mbit/s: of TCP payload delivered in order, and of datagrams delivered, over the run. RTT "
        "in ms: from the sending of a data segment to its acknowledgement, queues and held "
        "acknowledgements included, of one segment of each connection at a time that was sent "
        "once; least, median and 99 % of all connections of the pair together."
        f"{of_path} Losses: packets from the first station to the second, acknowledgements for "
        f"the opposite pair included: {', '.join(lost)}."
    )
