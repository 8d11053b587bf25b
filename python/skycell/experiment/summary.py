"""The part of a run's records that a study keeps: what each flow and each congested port did.

The ledger has balanced by then, and ports that hold whatever arrives discard nothing, so a few
kilobytes a run are enough for every number that the studies print.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

SUMMARY_FORM = 4
"""Version of the summary's form; part of a stored run's key."""


def summarise(records: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Keeps the flows and the ports with a limited buffer.

    Args:
        records: JSON form of the run's `RunRecords`.
        spec: JSON form of its `NetworkSpec`.

    Returns:
        `duration_ps`, `flows` and `ports` as in the records, of a VC's occupancy its mean only,
        `engine_stats`, of VCs with a GFR contract the frames that were offered and tagged, and
        where links move what was lost on them over all VCs (`moving`).
        Functions of `skycell.metrics` that take records take a summary as well.
    """
    limited = [
        {
            **port,
            "vc_queues": [{key: vc[key] for key in ("vc", "mean")} for vc in port["vc_queues"]],
        }
        for port, link in zip(records["ports"], spec["links"], strict=True)
        if any(queue["capacity_cells"] is not None for queue in link["port"]["queues"])
    ]
    promised = [
        {"vc": i, **{key: record[key] for key in _GFR_COUNTS}}
        for i, (record, vc) in enumerate(zip(records["vcs"], spec["vcs"], strict=True))
        if vc["gfr"] is not None
    ]
    gfr = {"gfr_vcs": promised} if promised else {}
    moves = any(link["motion"] is not None for link in spec["links"])
    moving = {"moving": _lost_on_the_way(records["vcs"])} if moves else {}
    web = {"web": records["web"]} if "web" in records else {}
    return {
        "duration_ps": records["duration_ps"],
        "flows": [_flow(flow) for flow in records["flows"]],
        "ports": limited,
        **web,
        **gfr,
        **moving,
        "engine_stats": records["engine_stats"],
    }


#: What is kept of each VC with a GFR contract.
_GFR_COUNTS = (
    "frames_offered",
    "frames_tagged",
    "frames_eligible",
    "cells_eligible",
    "frames_refused",
    "cells_whole",
    "guarantee",
    "run_guarantee",
)
#: What is kept of each web user; response times are kept over all of them.
_WEB_COUNTS = ("requests", "requests_answered", "octets_scheduled")


def _flow(flow: Mapping[str, Any]) -> Mapping[str, Any]:
    if "web" not in flow:
        return flow
    return {**flow, "web": {key: flow["web"][key] for key in _WEB_COUNTS}}


def _lost_on_the_way(vcs: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Frames that arrived spoilt, and cells that links lost."""
    return {
        "frames_corrupt": sum(vc["frames_corrupt"] for vc in vcs),
        "cells_lost": sum(sum(vc["cells_lost"].values()) for vc in vcs),
    }


def summary_text(summary: Mapping[str, Any]) -> str:
    """A summary as compact JSON with sorted keys."""
    return json.dumps(summary, sort_keys=True, separators=(",", ":"))
