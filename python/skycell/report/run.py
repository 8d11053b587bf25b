"""The report of one run: flows, ports, ledger, and the figures of the traces it kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from skycell.input.quantities import PS_PER_SECOND
from skycell.metrics import (
    Network,
    discard_ratio,
    flow_delays_s,
    max_min_fairness,
    throughputs_bps,
)
from skycell.metrics.network import units_in_words
from skycell.metrics.run_rows import lost_on_links, queue_rows, share_of_ceiling, source_totals
from skycell.plots.labels import NAMES, grouped
from skycell.plots.run import is_of_many
from skycell.records.result import RunResult, simulated
from skycell.report.page import Picture, page
from skycell.tables import run as tables
from skycell.tables.table import Cell, Table, columns, count, number, share, shortened, words


def run_page(result: RunResult, pictures: Sequence[Picture]) -> str:
    """The report of one run as one HTML page; `pictures` are of the traces it kept."""
    records = result.records
    seconds = records["duration_ps"] / PS_PER_SECOND
    title = f"{result.spec.users_in_words} over {seconds:g} s"
    if len(records["flows"]) == 1:
        title = f"One flow over {seconds:g} s"
    brief = _brief_of(result)
    ports = (
        *(brief(_congested(result, unit), "discarded", "ports") for unit in _UNITS),
        brief(tables.sojourns(result.spec, result.records), "largest", "ports"),
        brief(tables.bit_errors(result.records), "sent", "ports"),
        *(brief(_other_ports(result, unit), "busy", "ports") for unit in _UNITS),
    )
    return page(
        "run.html.j2",
        {
            "title": title,
            "version": result.version,
            "verdict": _verdict(result),
            "notes": result.notes,
            "identity": [
                ("Run", simulated(records)),
                ("Seed", str(result.seed)),
                ("Engine", f"{result.engine_in_words}, skycell {result.version}"),
                ("Spec", result.spec_hash),
                ("Events", grouped(records["engine_stats"]["events"])),
            ],
            "flows": brief(
                _flows(result) if records["flows"] else None,
                "throughput (Mbit/s)",
                "flows",
            ),
            "losses": brief(_recovery(records), "sent again", "flows"),
            "responses": tables.responses(result),
            "transfers": tables.transfers(result),
            "deliveries": tables.deliveries(result),
            "proxies": brief(tables.proxies(result), "most held", "flows"),
            "delay_terms": brief(tables.delay_terms(records), "D", "delay_terms"),
            "ports": _those(ports),
            "contracts": brief(tables.contracts(result), "cells got", "vcs"),
            "policed": brief(tables.policed(result), "not conforming", "vcs"),
            "cell_delays": brief(tables.cell_delays(result), "largest", "cell_delays"),
            "qos": tables.qos(records),
            "calls": tables.calls(records),
            "resequencers": tables.resequencers(records),
            "uplinks": tables.uplinks(records),
            "vc_queues": _those(brief(_vc_queues(result, u), "largest", "ports") for u in _UNITS),
            "vcs": _those(brief(_vcs(result, unit), "discarded", "vcs") for unit in _UNITS),
            "pictures": pictures,
            "ledger_text": _ledger_text(records, units_in_words(result.spec.links)),
            "ledger": brief(_ledger(records), "put in", "ledger"),
            "again": _again(result),
        },
    )


_UNITS = ("cells", "packets")
"""What ports hold."""


def _those(tables: Iterable[Table | None]) -> list[Table]:
    """The tables that there are."""
    return [table for table in tables if table is not None]


_Brief: TypeAlias = "Callable[[Table | None, str, str], Table | None]"
"""Shortens a table by a column; the last is the key of the records that hold all its rows."""


def _brief_of(result: RunResult) -> _Brief:
    """What makes the tables of a run with very many flows, VCs or links short enough to read."""
    is_long = is_of_many(result.spec)

    def brief(table: Table | None, by: str, key: str) -> Table | None:
        if table is None or not is_long:
            return table
        where = (
            f"All are under \u201c{key}\u201d in records.json, which `skycell run --out` writes, "
            "and in what `skycell run --json` prints."
        )
        return shortened(table, by, where)

    return brief


def _verdict(result: RunResult) -> str:
    lost = [f"{line}." for line in lost_on_links(result.spec, result.records)]
    if not result.spec.flows:
        found = source_totals(result.spec, result.records)
        who = "Cell sources" if found.unit == "cells" else "Sources"
        rate = f"{found.arrived_bps / 1e6:.2f} Mbit/s with their headers"
        return " ".join([f"{who} alone: {found.in_words}, {rate}.", *lost])
    rates = throughputs_bps(result.records)
    fairness = max_min_fairness(Network.of(result.spec), result.records)
    text = f"Together {sum(rates) / 1e6:.2f} Mbit/s of TCP payload were delivered in order"
    ceiling = result.ceiling_bps
    if ceiling:
        text += f", {share_of_ceiling(result.spec, sum(rates), ceiling)}"
    if len(rates) > 1 and fairness is not None:
        text += f", with a fairness index of {fairness:.3f} against their max-min fair shares"
    return " ".join([f"{text}.", *lost])


def _flows(result: RunResult) -> Table:
    records = result.records
    last = "cell's" if units_in_words(result.spec.links) == "cells" else "bit's"
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


def _recovery(records: Mapping[str, Any]) -> Table:
    any_marked = any(flow["segments_marked"] for flow in records["flows"])
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
    rows = [(words(flow["name"]), *(count(flow[key]) for key in keys)) for flow in records["flows"]]
    return Table(
        caption="What each flow sent and how it recovered from losses.",
        columns=columns("flow", *keys.values(), numeric=list(keys.values())),
        rows=tuple(rows),
    )


def _congested(result: RunResult, unit: str) -> Table | None:
    rows = []
    queues = [row for row in queue_rows(result.spec, result.records) if row.unit == unit]
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
    if not rows:
        return None
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


def _other_ports(result: RunResult, unit: str) -> Table | None:
    rows = [
        (
            words(port["name"]),
            count(port["arrived"]),
            share(port["busy_ps"] / result.records["duration_ps"]),
            number(port["queue"]["mean"], 1),
            count(port["queue"]["max"]),
        )
        for link, port in zip(result.spec.links, result.records["ports"], strict=True)
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


def _vc_queues(result: RunResult, unit: str) -> Table | None:
    vcs = [vc.name for vc in result.spec.vcs]
    rows = [
        (
            words(vcs[queue["vc"]]),
            words(port["name"]),
            number(queue["mean"], 1),
            *(count(queue[key]) for key in ("p50", "p90", "p99", "max")),
        )
        for link, port in zip(result.spec.links, result.records["ports"], strict=True)
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


def _vcs(result: RunResult, unit: str) -> Table | None:
    records, links = result.records, result.spec.links
    links_lose = any(sum(vc["cells_lost"].values()) for vc in records["vcs"])
    of_frames = ("frames offered", "whole", "not whole") if unit == "cells" else ()
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
        for own, vc in zip(result.spec.vcs, records["vcs"], strict=True)
        if units_in_words([links[own.path[0]]]) == unit
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


def _ledger_text(records: Mapping[str, Any], units: str = "cells") -> str:
    accounts = records["ledger"]["accounts"]
    last = "packet" if units == "packets" else "cell"
    open_ones = [a for a in accounts if a["put_in"] != sum(n for _, n in a["found"])]
    if open_ones:
        return f"{len(open_ones)} of {len(accounts)} accounts do not balance."
    return (
        f"All {len(accounts)} accounts balance: every octet, segment and {last} that went in was "
        "found again."
    )


def _ledger(records: Mapping[str, Any]) -> Table:
    rows = [
        (
            words(account["name"]),
            count(account["put_in"]),
            words(", ".join(f"{grouped(n)} {where}" for where, n in account["found"])),
        )
        for account in records["ledger"]["accounts"]
    ]
    return Table(
        caption="What went in, and where it was found at the end of the run.",
        columns=columns("account", "put in", "found", numeric=["put in"]),
        rows=tuple(rows),
        sortable=False,
    )


def _again(result: RunResult) -> dict[str, str]:
    is_long = is_of_many(result.spec)
    spec = "" if is_long else json.dumps(json.loads(result.spec.canonical_json()), indent=1)
    own = "The spec below is all" if spec else "The spec is all"
    saved = "saved as spec.json" if spec else "from the spec.json that `skycell run --out` writes"
    return {
        "text": (
            f"{own} that the run depends on. With skycell {result.version}, {saved}, it gives the "
            "same records, digit for digit:"
        ),
        "python": (
            "from pathlib import Path\n"
            "from skycell import NetworkSpec, run_spec\n\n"
            'spec = NetworkSpec.model_validate_json(Path("spec.json").read_text())\n'
            f'result = run_spec(spec, "{result.engine}")'
        ),
        "spec": spec,
    }
