"""Tables of one run that a terminal and a page both show; none of what a run does not have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import PS_PER_MS
from skycell.metrics.calls import blocking_probability
from skycell.metrics.run_rows import (
    BIT_ERROR_HEADS,
    CELL_DELAY_HEADS,
    POLICED_HEADS,
    RESPONSE_HEADS,
    SOJOURN_HEADS,
    TRANSFER_HEADS,
    bit_error_rows,
    cell_delay_rows,
    contract_rows,
    delivery_rows,
    policed_rows,
    response_rows,
    sojourn_rows,
    transfer_rows,
)
from skycell.plots.run import is_of_many
from skycell.records.delay_rows import TERM_HEADS, term_row
from skycell.tables.table import Cell, Table, columns, count, loss, number, words

if TYPE_CHECKING:
    from skycell.records.result import RunResult
    from skycell.spec.network import NetworkSpec


def _made(
    title: str,
    caption: str,
    first: str,
    heads: Sequence[str],
    rows: Iterable[tuple[Cell, ...]],
    last: Sequence[str] = (),
) -> Table | None:
    """A table of the rows, with names in the first columns, numbers under `heads`, words last."""
    found = tuple(rows)
    if not found:
        return None
    return Table(
        caption=caption,
        title=title,
        columns=columns(first, *heads, *last, numeric=heads),
        rows=found,
    )


def _times(times: Iterable[float | None]) -> list[Cell]:
    return [number(time, 3) for time in times]


def responses(result: RunResult) -> Table | None:
    """How long users of the web waited."""
    return _made(
        "How long web users waited, s",
        "How long web users waited, in seconds, over all users: for files from request to last "
        "octet, for pages from first request to last octet. Files and pages that were not whole at "
        "the end of the run are not counted in the times. With measure_from all are files and "
        "pages that were asked for from then on.",
        "what",
        ("asked for", "whole", *RESPONSE_HEADS),
        (
            (words(row.what), count(row.asked), count(row.whole), *_times(row.times_s))
            for row in response_rows(result.records)
        ),
    )


def contracts(result: RunResult) -> Table | None:
    """What became of the frames and the guarantees of VCs with a GFR contract."""
    keys = ("frames_offered", "frames_eligible", "frames_tagged", "frames_refused", "cells_whole")
    return _made(
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
            for vc in contract_rows(result.spec, result.records)
        ),
        last=("run", "windows met"),
    )


def policed(result: RunResult) -> Table | None:
    """Cells of the VCs that are held to a rate where they enter the network."""
    return _made(
        "Policing at the first switch, in cells",
        "Cells of the VCs that are policed where they enter the first switch: offered, not "
        "conforming to the buckets, and how many of the latter were tagged or discarded.",
        "VC",
        tuple(POLICED_HEADS.values()),
        (
            (words(vc["name"]), *(count(vc[key]) for key in POLICED_HEADS))
            for vc in policed_rows(result.spec, result.records)
        ),
    )


def resequencers(records: Mapping[str, Any]) -> Table | None:
    """Cells that waited for earlier ones where their VC ends."""
    heads = ("held", "given up", "late", "most at a time")
    keys = ("cells_held", "cells_given_up", "cells_late", "cells_most")
    return _made(
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
                *_times(found[key] / PS_PER_MS for key in ("wait_mean_ps", "wait_max_ps")),
            )
            for vc in records["vcs"]
            if (found := vc.get("resequencer"))
        ),
    )


_WAITS = ("mean_ps", "p50_ps", "p99_ps", "max_ps")


def uplinks(records: Mapping[str, Any]) -> Table | None:
    """How slots of uplinks were used, and how long frames waited for access to them."""
    rows = []
    for uplink in records.get("uplinks", ()):
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
                *_times(waits),
            )
        )
    return _made(
        "Access to shared uplinks, delays in ms",
        "Slots of the uplinks that terminals share: all, those in which a burst got through, and "
        "those in which several collided; requests for slots; and the access delay in "
        "milliseconds, from the arrival of a frame at its terminal to the beginning of its "
        "transmission. It is a part of the delay of what crosses the uplink.",
        "uplink to",
        ("slots", "through", "collided", "requests", "mean", "median", "99 %", "largest"),
        rows,
    )


def calls(records: Mapping[str, Any]) -> Table | None:
    """The calls that were asked for, and those that found no room."""

    def blocking(row: Mapping[str, Any]) -> Cell:
        return loss(blocking_probability(row)) if row["offered"] else number(None, 3)

    rows = records.get("calls", ())
    has_again = any("again" in row for row in rows)
    return _made(
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


_BOUNDED = {"clr": "loss", "clr0": "loss, CLP = 0", "ctd_ps": "delay", "cdv_ps": "variation"}


def qos(records: Mapping[str, Any]) -> Table | None:
    """The bounds on losses and delays of VCs, and whether they were kept."""

    def shown(row: Mapping[str, Any], key: str) -> Cell:
        if row[key] is None:
            return number(None, 3)
        if row["what"] in ("clr", "clr0"):
            return loss(row[key])
        return Cell(f"{number(row[key] / PS_PER_MS, 3).text} ms", row[key])

    rows = records.get("qos", ())
    has_ports = any("port" in row for row in rows)
    return _made(
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


def bit_errors(records: Mapping[str, Any]) -> Table | None:
    """What bit errors on links did to the cells and packets that they carried."""
    return _made(
        "Links with bit errors, in cells or packets",
        "Links with bit errors: cells, or packets, that were sent; headers of cells corrected by "
        "the HEC, cells lost because it saw errors, and those with another VC's header; cells that "
        "went on with errors in their payload, whose frames fail their CRC at the end of the VC; "
        "packets and RM cells that failed their check.",
        "link",
        ("sent", *BIT_ERROR_HEADS.values()),
        ((words(name), *map(count, counts)) for name, counts in bit_error_rows(records)),
    )


def cell_delays(result: RunResult) -> Table | None:
    """Losses and delays of the cells whose delay is measured."""
    return _made(
        "Cells whose delay is measured, ms",
        "Cells of the VCs whose delays are measured, by default those of cell sources: offered, "
        "lost, and the delay in milliseconds of those that arrived, first what it would be without "
        "waiting. Variation: peak to peak, the 99.9 % quantile minus the delay without waiting; "
        "for a class with several VCs, whose row comes before theirs, the delay of each cell's own "
        "VC is subtracted.",
        "VC",
        ("offered", "lost", *CELL_DELAY_HEADS),
        (
            (words(row.vc), count(row.offered), loss(row.lost), *_times(row.times_ms))
            for row in cell_delay_rows(result.records)
        ),
    )


def proxies(result: RunResult) -> Table | None:
    """What proxies between the connections of split flows did."""
    heads = ("accepted, B", "passed on", "held", "most held", "buffer", "part", "refused")
    rows = []
    for flow, spec in zip(result.records["flows"], result.spec.flows, strict=True):
        for connection, pep in zip(flow.get("connections", ())[1:], spec.peps, strict=True):
            found = connection["pep"]
            keys = ("octets_accepted", "octets_passed_on", "octets_held", "octets_held_max")
            most = found["octets_held_max"] / pep.buffer_octets
            rows.append(
                (
                    words(connection["name"]),
                    *(count(found[key]) for key in keys),
                    count(pep.buffer_octets),
                    Cell(f"{most:.1%}", most),
                    count(found["segments_refused"]),
                )
            )
    return _made(
        "Proxies, in octets: acknowledged before, delivered behind",
        "Proxies by the connection that begins there, in octets: accepted and acknowledged to the "
        "connection before, of that acknowledged from behind, and the rest that is held: at the "
        "end of the run, at most, and that as a part of the buffer; segments that found no room.",
        "connection",
        heads,
        rows,
    )


def deliveries(result: RunResult) -> Table | None:
    """How long transfers took to come whole; of too many flows the row that is of all of them."""
    found = delivery_rows(result.records, result.traces)
    return _made(
        "How long transfers took to come, s: to the last octet in the receiver's application",
        "How long transfers took to come, in seconds: from the moment the application hands one "
        "over (with a handshake: from the SYN) until its last octet is in the application at the "
        "destination, behind all proxies.",
        "flow",
        ("come", *RESPONSE_HEADS),
        (
            (words(row.flow), count(row.finished), *_times(row.times_s[:-1]))
            for row in (found[:1] if is_of_many(result.spec) else found)
        ),
    )


def transfers(result: RunResult) -> Table | None:
    """How long finished transfers took; of too many flows the row that is of all of them."""
    found = transfer_rows(result.records, result.traces)
    return _made(
        "How long finished transfers took, s: to the last octet acknowledged",
        "How long finished transfers took, in seconds: from the moment the application hands one "
        "over (with a handshake: from the SYN) until its last octet is acknowledged. Then closing: "
        "what the connection took after that to close (with a handshake: FIN and answer), in the "
        "mean.",
        "flow",
        ("finished", *TRANSFER_HEADS),
        (
            (words(row.flow), count(row.finished), *_times(row.times_s))
            for row in (found[:1] if is_of_many(result.spec) else found)
        ),
    )


def delay_terms(records: Mapping[str, Any], digits: int = 3) -> Table | None:
    """What delays over constellations are made of, ms to so many places after the point."""
    rows = [term_row(terms) for terms in records.get("delay_terms", ())]
    # Media access, a part of t_q, where a path has an uplink that terminals share.
    has_access = any(row.media_access is not None for row in rows)
    heads = (*TERM_HEADS, *(["t_a in t_q"] if has_access else []))
    shared = "; of it t_a, the mean access delay of an uplink" if has_access else ""
    return _made(
        "Mean delay and its terms, ms",
        "Terms of the mean delay D over the constellation, in ms: transmission t_t of a full "
        "segment, propagation on links to hosts (access), up, between satellites and down, "
        "switching t_s (a cell time at each port, and what nodes take), and queueing t_q, the "
        f"rest{shared}. Bound: the largest delay that full buffers allow, each adding its size "
        "divided by its rate.",
        "flow",
        ("satellites", *heads),
        (
            (
                words(row.flow),
                words(row.satellites),
                *(number(n, digits) for n in row.numbers),
                *([number(row.media_access, digits)] if has_access else []),
            )
            for row in rows
        ),
    )


def sojourns(spec: NetworkSpec, records: Mapping[str, Any]) -> Table | None:
    """Octets in ports of packets, and how long these stayed."""
    return _made(
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
                *_times(row.times_ms),
            )
            for row in sojourn_rows(spec, records)
        ),
    )
