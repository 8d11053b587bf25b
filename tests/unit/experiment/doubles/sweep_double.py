"""A stand-in for the engine: flows whose throughput follows from the spec by a simple rule."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skycell.experiment.tasks import OnProgress, Task


def run(task: Task, on_progress: OnProgress) -> str:
    """Each flow delivers 1 MB, 2 MB with SACK, and as many octets more as the seed says."""
    spec = json.loads(task.spec_json)
    folder = Path(os.environ["SWEEP_DOUBLE"])
    with (folder / "made.txt").open("a", encoding="utf-8") as log:
        log.write(f"{task.name}\n")
    if (folder / "fail").exists() and spec["seed"] == 2:
        raise ValueError("told to fail")
    summary = {
        "duration_ps": spec["duration_ps"],
        "flows": [_flow(flow, spec) for flow in spec["flows"]],
        "ports": [
            {
                "name": link["name"],
                "arrived": 100,
                "departed": 96,
                "queued": 0,
                "discarded": {"overflow": 4},
                "queue": {"mean": link["port"]["queues"][0]["capacity_cells"] / 2, "max": 9},
            }
            for link in spec["links"]
            if link["port"]["queues"][0]["capacity_cells"] is not None
        ],
    }
    return json.dumps(summary)


def _flow(flow: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    octets = (2_000_000 if flow["tcp"]["recovery"]["kind"] == "sack" else 1_000_000) + spec["seed"]
    return {
        "name": flow["name"],
        "octets_delivered": octets,
        "octets_received": octets,
        "segments_sent": 100,
        "segments_retransmitted": 5,
        "segments_received": 95,
        "timeouts": 2,
        "fast_retransmits": 3,
        "delay_mean_ps": 10**10,
        "delay_max_ps": 3 * 10**10,
    }
