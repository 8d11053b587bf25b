"""Tables of the VCs of a run, of their contracts, calls and bounds, and of its ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skycell.input.quantities import PS_PER_MS
from skycell.metrics.calls import blocking_probability
from skycell.metrics.network import units_in_words
from skycell.metrics.recorded_ports import recorded_ports
from skycell.metrics.run_rows import (
    CELL_DELAY_HEADS,
    POLICED_HEADS,
    cell_delay_rows,
    contract_rows,
    policed_rows,
)
from skycell.plots.labels import grouped
from skycell.tables.recorded import UNITS, Recorded, made, times
from skycell.tables.table import Cell, Table, columns, count, loss, number, words


def contracts(run: Recorded) -> Table | None:
    """What became of the frames and the guarantees of VCs with a GFR contract."""
    keys = ("frames_offered", "frames_eligible", "frames_tagged", "frames_refused", "cells_whole")
    return made(
        "VCs with a GFR contract",
        "VCs with a GFR contract: frames offered, eligible under F-GCRA, forwarded with a tag, and "
        "refused at the edge; cells of whole frames compared with what the MCR promises over the "
        "run, and windows in which the MCR was met.",
        "VC",
        ("frames", "eligible", "tagged", "refused", "cells got", "due"),
        (
            (
                words(vc["name"]),
                *(count(vc[key]) for key in keys),
                count(vc["run_guarantee"]["due_cells"]),
                words("met" if vc["run_guarantee"]["is_met"] else "missed"),
                words(f"{vc['guarantee']['met']} of {vc['guarantee']['windows']}"),
            )
            for vc in contract_rows(run.spec, run.records)
        ),
        last=("run", "windows met"),
    )


def policed(run: Recorded) -> Table | None:
    """Cells of the VCs that are held to a rate where they enter the network."""
    return made(
        "Policing at the first switch, in cells",
        "Cells of the VCs that are policed where they enter the first switch: offered, not "
        "conforming to the buckets, and how many of the latter were tagged or discarded.",
        "VC",
        tuple(POLICED_HEADS.values()),
        (
            (words(vc["name"]), *(count(vc[key]) for key in POLICED_HEADS))
            for vc in policed_rows(run.spec, run.records)
        ),
    )


def cell_delays(run: Recorded) -> Table | None:
    """Losses and delays of the cells whose delay is measured."""
    return made(
        "Cells whose delay is measured, ms",
        "Cells of the VCs whose delays are measured, by default those of cell sources: offered, "
        "lost, and the delay in milliseconds of those that arrived, first what it would be without "
        "waiting. Variation: peak to peak, the 99.9 % quantile minus the delay without waiting; "
        "for a class with several VCs, whose row comes before theirs, the delay of each cell's own "
        "VC is subtracted.",
        "VC",
        ("offered", "lost", *CELL_DELAY_HEADS),
        (
            (words(row.vc), count(row.offered), loss(row.lost), *times(row.times_ms))
            for row in cell_delay_rows(run.records)
        ),
    )


_BOUNDED = {"clr": "loss", "clr0": "loss, CLP = 0", "ctd_ps": "delay", "cdv_ps": "variation"}


def qos(run: Recorded) -> Table | None:
    """The bounds on losses and delays of VCs, and whether they were kept."""

    def shown(row: Mapping[str, Any], key: str) -> Cell:
        if row[key] is None:
            return number(None, 3)
        if row["what"] in ("clr", "clr0"):
            return loss(row[key])
        return Cell(f"{number(row[key] / PS_PER_MS, 3).text} ms", row[key])

    rows = run.records.get("qos", ())
    has_ports = any("port" in row for row in rows)
    return made(
        "Bounds on losses and delays",
        "Bounds on the losses and delays of VCs, and whether the run kept them. Loss: cells lost "
        "as a part of those offered, under VBR.2 and VBR.3 of those with CLP = 0 alone. "
        "Delay: within which this part of the cells arrived. "
        "Variation: that delay less what a cell takes where nothing waits. A verdict is undecided "
        "where it would be met by too few cells to tell: fewer than 3 for each that may be lost, "
        "or fewer than reach beyond the quantile."
        + (
            " At ports the same of packets that came, and of how long they or the cells stayed, "
            "less the shortest stay; of a flow without a port of its packets from end to end."
            if has_ports
            else ""
        ),
        "VC, port or flow" if has_ports else "VC",
        ("what", "at", "bound", "measured", "units" if has_ports else "cells"),
        (
            (
                words(" ".join(row[key] for key in ("port", "vc", "flow") if row.get(key))),
                words(_BOUNDED[row["what"]]),
                words("" if row["quantile"] is None else f"{100 * row['quantile']:g} %"),
                shown(row, "bound"),
                shown(row, "measured"),
                count(row["cells" if "cells" in row else "packets"]),
                words(row["verdict"]),
            )
            for row in rows
        ),
        last=("verdict",),
    )


def calls(run: Recorded) -> Table | None:
    """The calls that were asked for, and those that found no room."""

    def blocking(row: Mapping[str, Any]) -> Cell:
        return loss(blocking_probability(row)) if row["offered"] else number(None, 3)

    rows = run.records.get("calls", ())
    has_again = any("again" in row for row in rows)
    return made(
        "Calls",
        "Calls of each class that were asked for while the run counts, those of them that were "
        "blocked because a link had no room, as a part, and the first such link of most of them; "
        + ("those made again after they were blocked; " if has_again else "")
        + "calls under way in the mean over time (the traffic carried, in erlang), and at most.",
        "calls",
        ("offered", "blocked", "part", *(["again"] if has_again else []), "carried", "at most"),
        (
            (
                words(row["name"]),
                count(row["offered"]),
                count(row["blocked"]),
                blocking(row),
                *([count(row.get("again", 0))] if has_again else []),
                number(row["carried"], 2),
                count(row["most"]),
                words(max(row["blocked_at"], key=row["blocked_at"].__getitem__, default="")),
            )
            for row in rows
        ),
        last=("mostly at",),
    )


def resequencers(run: Recorded) -> Table | None:
    """Cells that waited for earlier ones where their VC ends."""
    heads = ("held", "given up", "late", "most at a time")
    keys = ("cells_held", "cells_given_up", "cells_late", "cells_most")
    return made(
        "Resequencers, in cells, and waits in ms",
        "Cells of VCs with a resequencer at their end: those that waited there for earlier ones, "
        "earlier ones for which they no longer waited, those that then came late, and the most in "
        "it at a time; and how long those that waited did, in milliseconds.",
        "VC",
        (*heads, "mean wait", "longest wait"),
        (
            (
                words(vc["name"]),
                *(count(found[key]) for key in keys),
                *times(found[key] / PS_PER_MS for key in ("wait_mean_ps", "wait_max_ps")),
            )
            for vc in run.records["vcs"]
            if (found := vc.get("resequencer"))
        ),
    )


def vc_queues(run: Recorded) -> list[Table]:
    """The queues of VCs in ports that were sampled VC by VC, a table for each unit."""
    return [table for unit in UNITS if (table := _vc_queues_of(run, unit))]


def _vc_queues_of(run: Recorded, unit: str) -> Table | None:
    vcs = [vc.name for vc in run.spec.vcs]
    rows = [
        (
            words(vcs[queue["vc"]]),
            words(port["name"]),
            number(queue["mean"], 1),
            *(count(queue[key]) for key in ("p50", "p90", "p99", "max")),
        )
        for link, port in zip(recorded_ports(run.spec).values(), run.records["ports"], strict=True)
        if units_in_words([link]) == unit
        for queue in port["vc_queues"]
    ]
    heads = ("VC", "port", "mean", "median", "90 %", "99 %", "largest")
    if not rows:
        return None
    return Table(
        caption=f"{unit.capitalize()} of each VC in the ports that were sampled VC by VC.",
        columns=columns(*heads, numeric=heads[2:]),
        rows=tuple(rows),
    )


def counts(run: Recorded) -> list[Table]:
    """What became of the units and frames of each VC, a table for each unit."""
    return [table for unit in UNITS if (table := _vcs_of(run, unit))]


def _vcs_of(run: Recorded, unit: str) -> Table | None:
    records, links = run.records, run.spec.links
    links_lose = any(sum(vc["cells_lost"].values()) for vc in records["vcs"])
    of_frames = ("frames offered", "whole", "not whole") if unit == "cells" else ()
    kinds = () if run.spec.sky is None else run.spec.sky.kinds
    by_label = units_in_words(kinds)
    rows = [
        (
            words(vc["name"]),
            count(vc["cells_offered"]),
            count(vc["cells_delivered"]),
            count(sum(vc["cells_discarded"].values())),
            *([count(sum(vc["cells_lost"].values()))] if links_lose else []),
            *(
                count(vc[key])
                for key in ("frames_offered", "frames_delivered", "frames_corrupt")
                if of_frames
            ),
        )
        for own, vc in zip(run.spec.vcs, records["vcs"], strict=True)
        if (by_label if own.by_label else units_in_words([links[own.path[0]]])) == unit
    ]
    if not rows:
        return None
    heads = (
        "VC",
        f"{unit} offered",
        "delivered",
        "discarded",
        *(["lost on links"] if links_lose else []),
        *of_frames,
    )
    return Table(
        caption=f"What happened to each VC's {unit}{' and frames' if of_frames else ''}.",
        columns=columns(*heads, numeric=heads[1:]),
        rows=tuple(rows),
    )


def ledger(run: Recorded) -> Table:
    """What went in, and where it was found."""
    rows = [
        (
            words(account["name"]),
            count(account["put_in"]),
            words(", ".join(f"{grouped(n)} {where}" for where, n in account["found"])),
        )
        for account in run.records["ledger"]["accounts"]
    ]
    return Table(
        caption="What went in, and where it was found at the end of the run.",
        columns=columns("account", "put in", "found", numeric=["put in"]),
        rows=tuple(rows),
        sortable=False,
    )
