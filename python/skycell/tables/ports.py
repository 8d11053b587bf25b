"""Tables of the ports of a run, and of the links behind them."""

from __future__ import annotations

from collections.abc import Sequence

from skycell.input.quantities import PS_PER_MS
from skycell.metrics import discard_ratio
from skycell.metrics.network import units_in_words
from skycell.metrics.recorded_ports import recorded_ports
from skycell.metrics.run_rows import (
    BIT_ERROR_HEADS,
    SOJOURN_HEADS,
    QueueRow,
    bit_error_rows,
    queue_rows,
    sojourn_rows,
)
from skycell.plots.labels import NAMES, grouped
from skycell.tables.recorded import UNITS, Recorded, made, times
from skycell.tables.table import NOTHING, Cell, Table, columns, count, number, share, words


def queues_in_brief(run: Recorded) -> list[Table]:
    """The queues of ports with a limited buffer, a table for each unit."""
    queues = queue_rows(run.spec, run.records)
    units = dict.fromkeys(row.unit for row in queues)
    return [_in_brief([row for row in queues if row.unit == unit], unit) for unit in units]


def _in_brief(queues: Sequence[QueueRow], unit: str) -> Table:
    marks = any(row.marked for row in queues)
    rows = [
        (
            words(row.name),
            words(row.held),
            count(row.counts["arrived"]),
            count(sum(row.counts["discarded"].values())),
            *([count(row.marked)] if marks else []),
            words(f"{row.counts['queue']['mean']:.1f}"),
            count(row.counts["queue"]["p99"]),
            count(row.counts["queue"]["max"]),
            _busy(row.busy),
        )
        for row in queues
    ]
    marked = ["marked"] if marks else []
    heads = ("buffer", "arrived", "discarded", *marked, "mean queue", "99 %", "largest", "busy")
    title = f"Ports with a limited buffer, in {unit}"
    return Table(title, columns("port", *heads, numeric=heads), tuple(rows))


def _busy(part: float | None) -> Cell:
    return words(NOTHING) if part is None else Cell(f"{part:.1%}", sort=part)


def queues(run: Recorded) -> list[Table]:
    """The queues of ports with a limited buffer in full, a table for each unit."""
    queues = queue_rows(run.spec, run.records)
    units = dict.fromkeys(row.unit for row in queues)
    return [_in_full([row for row in queues if row.unit == unit], unit) for unit in units]


def _in_full(queues: Sequence[QueueRow], unit: str) -> Table:
    rows = []
    marks = ["marked"] if any(row.marked for row in queues) else []
    for row in queues:
        policy = NAMES.get(row.policy, row.policy)
        own = "B" if row.counts_octets else unit
        held = "no limit" if row.capacity is None else f"{grouped(row.capacity)} {own}"
        queue = row.counts["queue"]
        rows.append(
            (
                Cell(row.name, small=f"{policy}, {held}"),
                count(row.counts["arrived"]),
                count(sum(row.counts["discarded"].values())),
                share(discard_ratio(row.counts)),
                *([count(row.marked)] if marks else []),
                share(row.busy),
                number(queue["mean"], 1),
                *(count(queue[key]) for key in ("p50", "p90", "p99", "max")),
            )
        )
    heads = ("arrived", "discarded", "part", *marks, "busy")
    heads = (*heads, "mean", "median", "90 %", "99 %", "largest")
    return Table(
        caption=(
            f"Ports with a limited buffer, queue by queue if they have several: {unit} that "
            f"arrived and were discarded{' or marked (ECN)' if marks else ''}, fraction of the "
            f"time spent sending, queue in {unit} (percentiles are those of samples)."
        ),
        columns=columns("port", *heads, numeric=heads),
        rows=tuple(rows),
    )


def sojourns(run: Recorded) -> Table | None:
    """Octets in ports of packets, and how long these stayed."""
    return made(
        "Octets in these ports, and how long packets stayed, ms",
        "Ports of packets with a limited buffer, and flows in those that tell them apart: octets "
        "in them, and how long packets stayed, in milliseconds, from arrival to the departure of "
        "the last bit. Percentiles are from a histogram, at most 1/128 too large.",
        "port",
        ("mean B", "largest B", *SOJOURN_HEADS),
        (
            (
                words(row.name),
                number(row.mean_octets, 0),
                count(row.largest_octets),
                *times(row.times_ms),
            )
            for row in sojourn_rows(run.spec, run.records)
        ),
    )


def bit_errors(run: Recorded) -> Table | None:
    """What bit errors on links did to the cells and packets that they carried."""
    return made(
        "Links with bit errors, in cells or packets",
        "Links with bit errors: cells, or packets, that were sent; headers of cells corrected by "
        "the HEC, cells lost because it saw errors, and those with another VC's header; cells that "
        "went on with errors in their payload, whose frames fail their CRC at the end of the VC; "
        "packets and RM cells that failed their check.",
        "link",
        ("sent", *BIT_ERROR_HEADS.values()),
        ((words(name), *map(count, counts)) for name, counts in bit_error_rows(run.records)),
    )


def other_ports(run: Recorded) -> list[Table]:
    """The ports that hold whatever arrives, a table for each unit."""
    return [table for unit in UNITS if (table := _other_ports_of(run, unit))]


def _other_ports_of(run: Recorded, unit: str) -> Table | None:
    rows = [
        (
            words(port["name"]),
            count(port["arrived"]),
            share(port["busy_ps"] / run.records["duration_ps"]),
            number(port["queue"]["mean"], 1),
            count(port["queue"]["max"]),
        )
        for link, port in zip(recorded_ports(run.spec).values(), run.records["ports"], strict=True)
        if port["arrived"] and not link.port.is_limited and units_in_words([link]) == unit
    ]
    if not rows:
        return None
    heads = ("arrived", "busy", "mean queue", "largest queue")
    return Table(
        caption=f"Ports that hold whatever arrives, if any {unit} reached them; in {unit}.",
        columns=columns("port", *heads, numeric=heads),
        rows=tuple(rows),
    )


_WAITS = ("mean_ps", "p50_ps", "p90_ps", "p99_ps", "max_ps")


def uplinks(run: Recorded) -> Table | None:
    """How slots of uplinks were used, and how long frames waited for access to them."""
    rows = []
    for uplink in run.records.get("uplinks", ()):
        delay = uplink["access_delay"]
        waits = [delay[key] / PS_PER_MS if delay["cells"] else None for key in _WAITS]
        through = uplink["successes"] + uplink["used"] - uplink["lost"]
        rows.append(
            (
                words(uplink["name"]),
                count(uplink["slots"]),
                count(through),
                count(uplink["collisions"]),
                count(uplink["requests"]),
                *times(waits),
            )
        )
    return made(
        "Access to shared uplinks, delays in ms",
        "Slots of the uplinks that terminals share: all, those in which a burst got through, and "
        "those in which several collided; requests for slots; and the access delay in "
        "milliseconds, from the arrival of a frame at its terminal to the beginning of its "
        "transmission. It is a part of the delay of what crosses the uplink.",
        "uplink to",
        ("slots", "through", "collided", "requests", "mean", "median", "90 %", "99 %", "largest"),
        rows,
    )
