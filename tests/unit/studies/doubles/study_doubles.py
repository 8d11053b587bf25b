"""Test doubles of a worker's run: summaries whose numbers a test can work out.

They stand in for the engine, which these tests do not need. What they do is set by files in the
folder that the environment names, since worker processes share nothing else with a test.
"""

import json
import os
from pathlib import Path

from skycell.experiment.tasks import OnProgress, Task

FOLDER = "SKYCELL_TEST_FOLDER"


def run(task: Task, on_progress: OnProgress) -> str:
    """Flow i of n gets (seed + i) thousandths of the link's cells as payload, in every second."""
    folder = Path(os.environ[FOLDER])
    spec = json.loads(task.spec_json)
    with (folder / "made.txt").open("a") as made:
        made.write(f"{task.name}\n")
    if (folder / "fail").exists() and str(spec["seed"]) == (folder / "fail").read_text():
        raise RuntimeError("this seed fails")
    if (folder / "slow").exists():
        import time

        while on_progress(1):
            time.sleep(0.02)
        raise RuntimeError("cancelled")
    duration_s = spec["duration_ps"] / 1e12
    flows = []
    for place, flow in enumerate(spec["flows"]):
        octets = round((spec["seed"] + place) * 1e-3 * 155.52e6 / 8 * duration_s)
        flows.append(
            {
                "name": flow["name"],
                "connected_ps": spec["duration_ps"],
                "octets_delivered": octets,
                "octets_received": octets,
                "octets_highest": octets,
                "timeouts": 1,
                "fast_retransmits": 2,
            }
        )
    discarded = {"overflow": 3, "rest_of_frame": 4}
    ports = [{"name": "switch1>switch2", "arrived": 100, "discarded": discarded}]
    return json.dumps({"duration_ps": spec["duration_ps"], "flows": flows, "ports": ports})
