"""A connection that loses a segment in ten thousand at random, and that nothing else limits."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

import skycell
from skycell.metrics import throughputs_bps

LOSS = 1e-4
RTT_S = 0.1
MSS = 1460


def mean_window(tcp: Mapping[str, Any]) -> float:
    """Time average of the window, in segments, over four runs of 3000 s.

    Args:
        tcp: parameters beside those of the path, such as the loss recovery. A window of some
            hundreds of segments needs a sixth of the 155 Mbit/s, so nothing queues.
    """
    scenario = skycell.parse(
        {
            "topology": {
                "kind": "dumbbell",
                "sources": 1,
                "bottleneck": {
                    "rate": "155.52 Mbit/s",
                    "framing": "none",
                    "delay": "49 ms",
                    "buffer": "unlimited",
                    "loss": LOSS,
                },
                "access": {"delay": "0.5 ms"},
            },
            "tcp": {
                "mss": f"{MSS} B",
                "receiver_window": "8000000 B",
                "window_scaling": True,
                "tick": "1 ms",
                "rto_min": "200 ms",
                **tcp,
            },
            "run": {"duration": "3000 s"},
        }
    )
    rates = [throughputs_bps(skycell.run(scenario, seed=seed).records)[0] for seed in range(1, 5)]
    return fmean(rates) * RTT_S / 8 / MSS
