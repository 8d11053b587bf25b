"""Tables of a run over a constellation: its fullest links, and the nodes that serve most."""

from __future__ import annotations

from skycell.metrics.network import units_in_words
from skycell.tables.recorded import Recorded
from skycell.tables.table import Table, columns, count, number, share, words

_FULLEST = 10
"""Links and nodes that a table names."""


def links(run: Recorded) -> Table | None:
    """The links that were busy longest; None without a constellation."""
    if run.spec.sky is None or "sky_ports" not in run.traces:
        return None
    from skycell.records.sky import sky_links

    all_links = sky_links(run.spec, run.traces).sort("load", "link", descending=[True, False])
    rows = [
        (
            words(row["link"]),
            words(row["kind"]),
            share(row["load"]),
            number(row["mbps"], 3),
            count(row["packets"]),
            count(row["discarded"]),
            number(row["queue_mean"], 1),
            count(row["queue_max"]),
        )
        for row in all_links.head(_FULLEST).iter_rows(named=True)
    ]
    units = units_in_words(run.spec.sky.kinds)
    heads = ("busy", "Mbit/s", units, "discarded", "mean queue", "largest")
    of_all = f" of {len(all_links)}" if len(all_links) > _FULLEST else ""
    return Table(
        title=f"Fullest links: {len(rows)}{of_all} that carried {units}",
        caption=(
            f"Busy: part of the time in which {units} were sent. Mbit/s of "
            f"{'IP packets' if units == 'packets' else 'cells with their headers'}. Queues in "
            f"{units}, with the one being sent; the mean is over time."
        ),
        columns=columns("link", "kind", *heads, numeric=heads),
        rows=tuple(rows),
    )


def nodes(run: Recorded) -> Table | None:
    """The nodes that forwarded most, and what was lost there; None without a constellation."""
    if run.spec.sky is None or "sky_nodes" not in run.traces:
        return None
    import polars as pl

    from skycell.records.sky import satellites_of, sky_nodes

    all_nodes = sky_nodes(run.spec, run.traces)
    # Places that forward stand among satellites, if there are some.
    satellites = satellites_of(run.spec)
    routers = {node.name for node in run.spec.nodes if node.kind != "host"}
    serving = all_nodes.filter(pl.col("node").is_in(list(routers)))
    serving = serving.sort("arrived", "node", descending=[True, False])
    rows = [
        (
            words(row["node"]),
            count(row["arrived"]),
            count(row["rerouted"]),
            count(row["turned_back"]),
            count(row["no_route"] + row["gone"]),
            count(row["hop_limit"]),
        )
        for row in serving.head(_FULLEST).iter_rows(named=True)
    ]
    units = units_in_words(run.spec.sky.kinds)
    heads = (units, "rerouted", "turned back", "without link or route", "hop limit")
    of_all = f" of {len(serving)}" if len(serving) > _FULLEST else ""
    what = "satellite" if routers == set(satellites) else "node"
    return Table(
        title=f"{what.capitalize()}s that forwarded most: {len(rows)}{of_all}",
        caption=(
            f"{units.capitalize()} that came to each {what}. Rerouted: {units} that went to "
            f"another port as their route had changed. Turned back: {units} that went back over "
            f"the link that they had come by. The last two columns are {units} lost there."
        ),
        columns=columns(what, *heads, numeric=heads),
        rows=tuple(rows),
    )
