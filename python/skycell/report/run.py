"""The report of one run: flows, ports, ledger, and the figures of the traces it kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from skycell.input.quantities import PS_PER_SECOND
from skycell.metrics import (
    Network,
    max_min_fairness,
    throughputs_bps,
)
from skycell.metrics.applications import carried_in_words
from skycell.metrics.network import units_in_words
from skycell.metrics.run_rows import is_of_many, lost_on_links, share_of_ceiling, source_totals
from skycell.plots.labels import grouped
from skycell.records.result import RunResult, simulated
from skycell.report.page import Picture, page
from skycell.report.sky_frames import map_over_time
from skycell.tables.run import page_tables


def run_page(result: RunResult, pictures: Sequence[Picture]) -> str:
    """The report of one run as one HTML page; `pictures` are of the traces it kept."""
    records = result.records
    seconds = records["duration_ps"] / PS_PER_SECOND
    title = f"{result.spec.users_in_words} over {seconds:g} s"
    if len(records["flows"]) == 1:
        title = f"One flow over {seconds:g} s"
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
            "flows": page_tables(result, "flows"),
            "ports": page_tables(result, "ports", "vcs"),
            "map": map_over_time(result),
            "pictures": pictures,
            "ledger_text": _ledger_text(records, units_in_words(result.spec.carriers)),
            "ledger": page_tables(result, "ledger"),
            "again": _again(result),
        },
    )


def _verdict(result: RunResult) -> str:
    lost = [f"{line}." for line in lost_on_links(result.spec, result.records)]
    if result.spec.users is not None:
        carried = carried_in_words(result.records)
        return " ".join([f"Connections carried {carried}, of TCP payload in order.", *lost])
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
