"""Tables of what the flows of a run got, and how long users waited."""

from __future__ import annotations

from typing import Any

from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND
from skycell.metrics import flow_delays_s, throughputs_bps
from skycell.metrics.network import units_in_words
from skycell.metrics.run_rows import (
    RESPONSE_HEADS,
    TRANSFER_HEADS,
    delivery_rows,
    is_of_many,
    response_rows,
    transfer_rows,
)
from skycell.records.delay_rows import TERM_HEADS, term_row
from skycell.tables.recorded import Recorded, made, times
from skycell.tables.table import NOTHING, Cell, Table, columns, count, number, words


def flows_in_brief(run: Recorded) -> Table | None:
    """What each flow got and how it recovered, in a line; None without flows."""
    flows = run.records["flows"]
    if not flows:
        return None
    marks = any(flow["segments_marked"] for flow in flows)
    rows = [
        (
            words(flow["name"]),
            number(rate / 1e6, 2),
            count(flow["segments_sent"]),
            count(flow["segments_retransmitted"]),
            count(flow["timeouts"]),
            count(flow["fast_retransmits"]),
            *([count(flow["ecn_reductions"])] if marks else []),
            Cell(f"{count(flow['cwnd_max']).text} B", flow["cwnd_max"]),
            # Of a split flow the record has the delay of its last connection, not from end to end.
            _delay(
                flow["delay_mean_ps"]
                if flow["segments_received"] and "connections" not in flow
                else None
            ),
        )
        for flow, rate in zip(flows, throughputs_bps(run.records), strict=True)
    ]
    heads = (
        "Mbit/s",
        "segments",
        "sent again",
        "timeouts",
        "fast retransmits",
        *(["cut by marks"] if marks else []),
        "largest cwnd",
        "mean delay",
    )
    return Table("Flows", columns("flow", *heads, numeric=heads), tuple(rows))


def _delay(delay_ps: float | None) -> Cell:
    if delay_ps is None:
        return Cell(NOTHING, sort="")
    return Cell(f"{number(delay_ps / PS_PER_MS, 2).text} ms", delay_ps)


def flows(run: Recorded) -> Table | None:
    """Throughput and delay of each flow; None without flows."""
    records = run.records
    if not records["flows"]:
        return None
    last = "cell's" if units_in_words(run.spec.carriers) == "cells" else "bit's"
    delays = flow_delays_s(records)
    rates = throughputs_bps(records)
    rows = [
        (
            words(flow["name"]),
            number(rate / 1e6, 3),
            number(flow["octets_delivered"] / 1e6, 3),
            number(flow["start_ps"] / PS_PER_SECOND, 3),
            number(flow["cwnd_max"] / 1e3, 1),
            number(delay.mean_s * 1e3 if delay else None, 3),
            number(delay.smallest_s * 1e3 if delay else None, 3),
            number(delay.largest_s * 1e3 if delay else None, 3),
        )
        for flow, rate, delay in zip(records["flows"], rates, delays, strict=True)
    ]
    heads = (
        "flow",
        "throughput (Mbit/s)",
        "delivered (MB)",
        "start (s)",
        "largest cwnd (kB)",
        "delay: mean (ms)",
        "smallest (ms)",
        "largest (ms)",
    )
    return Table(
        caption=(
            "Throughput: octets delivered in order, divided by the simulated time. Delay: of a "
            f"data segment, from the sender's port to its last {last} arrival."
        ),
        columns=columns(*heads, numeric=heads[1:]),
        rows=tuple(rows),
    )


def recovery(run: Recorded) -> Table | None:
    """What each flow sent and how it recovered; None without flows."""
    if not run.records["flows"]:
        return None
    any_marked = any(flow["segments_marked"] for flow in run.records["flows"])
    marks = {"ecn_reductions": "cut by marks"} if any_marked else {}
    keys = {
        "segments_sent": "segments sent",
        "segments_retransmitted": "sent again",
        "segments_received": "arrived",
        "segments_duplicate": "without new data",
        "timeouts": "timeouts",
        "fast_retransmits": "fast retransmits",
        **marks,
        "dup_acks_received": "duplicate ACKs",
        "transfers": "transfers",
    }
    rows = [
        (words(flow["name"]), *(count(flow[key]) for key in keys)) for flow in run.records["flows"]
    ]
    return Table(
        caption="What each flow sent and how it recovered from losses.",
        columns=columns("flow", *keys.values(), numeric=list(keys.values())),
        rows=tuple(rows),
    )


def responses(run: Recorded) -> Table | None:
    """How long users of the web waited."""
    return made(
        "How long web users waited, s",
        "How long web users waited, in seconds, over all users: for files from request to last "
        "octet, for pages from first request to last octet. Files and pages that were not whole at "
        "the end of the run are not counted in the times. With measure_from all are files and "
        "pages that were asked for from then on.",
        "what",
        ("asked for", "whole", *RESPONSE_HEADS),
        (
            (words(row.what), count(row.asked), count(row.whole), *times(row.times_s))
            for row in response_rows(run.records)
        ),
    )


def transfers(run: Recorded) -> Table | None:
    """How long finished transfers took; of too many flows the row that is of all of them."""
    found = transfer_rows(run.records, run.traces)
    return made(
        "How long finished transfers took, s: to the last octet acknowledged",
        "How long finished transfers took, in seconds: from the moment the application hands one "
        "over (with a handshake: from the SYN) until its last octet is acknowledged. Then closing: "
        "what the connection took after that to close (with a handshake: FIN and answer), in the "
        "mean.",
        "flow",
        ("finished", *TRANSFER_HEADS),
        (
            (words(row.flow), count(row.finished), *times(row.times_s))
            for row in (found[:1] if is_of_many(run.spec) else found)
        ),
    )


def deliveries(run: Recorded) -> Table | None:
    """How long transfers took to come whole; of too many flows the row that is of all of them."""
    found = delivery_rows(run.records, run.traces)
    return made(
        "How long transfers took to come, s: to the last octet in the receiver's application",
        "How long transfers took to come, in seconds: from the moment the application hands one "
        "over (with a handshake: from the SYN) until its last octet is in the application at the "
        "destination, behind all proxies.",
        "flow",
        ("come", *RESPONSE_HEADS),
        (
            (words(row.flow), count(row.finished), *times(row.times_s[:-1]))
            for row in (found[:1] if is_of_many(run.spec) else found)
        ),
    )


def _proxies_of_flows(run: Recorded) -> list[tuple[str, dict[str, Any], int]]:
    """The name of each connection behind a proxy, what the proxy did, and its buffer."""
    return [
        (connection["name"], connection["pep"], pep.buffer_octets)
        for flow, spec in zip(run.records["flows"], run.spec.flows, strict=True)
        for connection, pep in zip(flow.get("connections", ())[1:], spec.peps, strict=True)
    ]


def _proxies_of_users(run: Recorded) -> list[tuple[str, dict[str, Any], int]]:
    """The same of each group of users and place among the proxies, the largest buffer there."""
    routes = [] if run.spec.users is None else run.spec.users.routes
    return [
        (
            f"{group['name']}, proxy {k}",
            section["pep"],
            max(route.peps[k - 1].buffer_octets for route in routes if len(route.peps) >= k),
        )
        for group in run.records.get("users", ())
        for k, section in enumerate(group.get("sections", ()))
        if k > 0 and section["pep"]["octets_accepted"] > 0
    ]


def proxies(run: Recorded) -> Table | None:
    """What proxies between connections did: of split flows, and of users."""
    heads = ("accepted, B", "passed on", "held", "most held", "buffer", "part", "refused")
    rows = []
    keys = ("octets_accepted", "octets_passed_on", "octets_held", "octets_held_max")
    for name, found, buffer in _proxies_of_flows(run) + _proxies_of_users(run):
        most = found["octets_held_max"] / buffer
        rows.append(
            (
                words(name),
                *(count(found[key]) for key in keys),
                count(buffer),
                Cell(f"{most:.1%}", most),
                count(found["segments_refused"]),
            )
        )
    return made(
        "Proxies, in octets: acknowledged before, delivered behind",
        "Proxies by the connection that begins there, in octets: accepted and acknowledged to the "
        "connection before, of that acknowledged from behind, and the rest that is held: at the "
        "end of the run, at most, and that as a part of the buffer; segments that found no room.",
        "connection",
        heads,
        rows,
    )


def delay_terms(run: Recorded) -> Table | None:
    """What delays over constellations are made of, ms."""
    rows = [term_row(terms) for terms in run.records.get("delay_terms", ())]
    # Media access, a part of t_q, where a path has an uplink that terminals share.
    has_access = any(row.media_access is not None for row in rows)
    heads = (*TERM_HEADS, *(["t_a in t_q"] if has_access else []))
    shared = "; of it t_a, the mean access delay of an uplink" if has_access else ""
    return made(
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
                *(number(n, 3) for n in row.numbers),
                *([number(row.media_access, 3)] if has_access else []),
            )
            for row in rows
        ),
    )
