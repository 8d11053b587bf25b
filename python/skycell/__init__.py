"""skycell: TCP/IP over satellite and cell-switched networks, simulated cell by cell.

A scenario comes from a file (`load`), or from its text or data (`parse`); `check` hands its faults
back. `Scenario.with_values` changes it by dotted keys, and `run` simulates it. A `RunResult` has
`flows`, `vcs`, `ports` and `traces` as polars frames, and all records as plain data. `sweep` runs
the combinations of factors, `analyse` tells which factors of a sweep or of any table matter, and
`reproduce` puts published tables beside ours. `run_spec` takes what `Scenario.resolve` gives. The
faults of a scenario are raised as `ScenarioFaults`, all of them together.

>>> import skycell
>>> scenario = skycell.parse({
...     "preset": "icccn97-lan",
...     "run": {"duration": "10 ms"},
...     "start": {"kind": "together"},
... })
>>> result = skycell.run(scenario)
>>> result.flows["octets_delivered"].sum() > 0
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skycell.experiment.run import run, run_spec
    from skycell.experiment.sweep import sweep
    from skycell.records.result import RunResult
    from skycell.scenario import Fault, NetworkSpec, Scenario, ScenarioFaults, check, load, parse
    from skycell.stats import analyse
    from skycell.studies.reproduce import reproduce

# Where each name of the front stands; imported when it is first used, so that `import skycell` and
# `skycell --help` stay quick.
_HOMES = {
    "Fault": "skycell.scenario",
    "NetworkSpec": "skycell.scenario",
    "RunResult": "skycell.records.result",
    "Scenario": "skycell.scenario",
    "ScenarioFaults": "skycell.scenario",
    "analyse": "skycell.stats",
    "check": "skycell.scenario",
    "load": "skycell.scenario",
    "parse": "skycell.scenario",
    "reproduce": "skycell.studies.reproduce",
    "run": "skycell.experiment.run",
    "run_spec": "skycell.experiment.run",
    "sweep": "skycell.experiment.sweep",
}

__all__ = [
    "Fault",
    "NetworkSpec",
    "RunResult",
    "Scenario",
    "ScenarioFaults",
    "analyse",
    "check",
    "load",
    "parse",
    "reproduce",
    "run",
    "run_spec",
    "sweep",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from skycell.version import version

        return version()
    if name not in _HOMES:
        raise AttributeError(f"module 'skycell' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
