"""Scenario files: from what people write to the complete spec of a run, or to all its faults.

>>> scenario = parse({
...     "run": {"duration": "2 s"},
...     "topology": {
...         "kind": "dumbbell", "sources": 2,
...         "bottleneck": {"rate": "155.52 Mbit/s", "framing": "sts3c", "delay": "5 ms",
...                        "buffer": "1 RTT", "policy": "epd"},
...         "access": {"delay": "5 ms"},
...     },
... })
>>> scenario.resolve().links[4].port.capacity_cells  # 30 ms at 353 207 cells/s
10596
"""

from skycell.input.faults import Fault, ScenarioFaults
from skycell.scenario.scenario import Scenario, ScenarioLike, as_scenario, check, load, parse
from skycell.spec.declared.network import NetworkSpec

__all__ = [
    "Fault",
    "NetworkSpec",
    "Scenario",
    "ScenarioFaults",
    "ScenarioLike",
    "as_scenario",
    "check",
    "load",
    "parse",
]
