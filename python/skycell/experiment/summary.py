"""The part of a run's records that a study keeps: what each flow and each congested port did.

The ledger has balanced by then, and ports that hold whatever arrives discard nothing, so a few
kilobytes a run are enough for every number that the studies print.
"""

import json
from collections.abc import Mapping
from typing import Any

SUMMARY_FORM = 2
"""Version of the summary's form; part of a stored run's key."""


def summarise(records: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Keeps the flows and the ports with a limited buffer.

    Args:
        records: JSON form of the run's `RunRecords`.
        spec: JSON form of its `NetworkSpec`.

    Returns:
        `duration_ps`, `flows` and `ports` as in the records, of a VC's occupancy its mean only, and
        `engine_stats`. Functions of
        `skycell.metrics` that take records take a summary as well.
    """
    limited = [
        {
            **port,
            "vc_queues": [{key: vc[key] for key in ("vc", "mean")} for vc in port["vc_queues"]],
        }
        for port, link in zip(records["ports"], spec["links"], strict=True)
        if any(queue["capacity_cells"] is not None for queue in link["port"]["queues"])
    ]
    return {
        "duration_ps": records["duration_ps"],
        "flows": list(records["flows"]),
        "ports": limited,
        "engine_stats": records["engine_stats"],
    }


def summary_text(summary: Mapping[str, Any]) -> str:
    """A summary as compact JSON with sorted keys."""
    return json.dumps(summary, sort_keys=True, separators=(",", ":"))
