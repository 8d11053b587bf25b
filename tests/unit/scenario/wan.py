"""A small scenario that tests vary."""

from typing import Any

from skycell.scenario import Scenario, parse

BOTTLENECK = {
    "rate": "155.52 Mbit/s",
    "framing": "none",
    "delay": "5 ms",
    "buffer": "12000 cells",
}


def wan(**changes: Any) -> Scenario:
    """Two sources, 30 ms around, 12000 cells; `changes` by dotted key with `__` for the dot."""
    scenario = parse(
        {
            "run": {"duration": "10 s"},
            "topology": {
                "kind": "dumbbell",
                "sources": 2,
                "bottleneck": BOTTLENECK,
                "access": {"delay": "5 ms"},
            },
        },
        "wan",
    )
    return scenario.with_values({key.replace("__", "."): value for key, value in changes.items()})
