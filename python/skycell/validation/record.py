"""Recording real hosts: this machine's kernel over the paths of the scenarios."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skycell.input.quantities import PS_PER_MS
from skycell.validation.measures import MEASURES, dropped
from skycell.validation.scenarios import RecordedScenario, linux
from skycell.validation.validate import as_scenario

FILE = "recordings.csv"
"""What a folder of recordings has; a row for each replication and flow."""

COLUMNS = (
    "scenario",
    "replication",
    "flow",
    *(measure.name for measure in MEASURES),
    "late_p99_us",
    "late_max_us",
)

_PS_PER_US = 1_000_000
_ROUNDED = 6
"""Places after the point that are kept: a microsecond."""

OnRecorded = Callable[["Recorded"], object]


@dataclass(frozen=True)
class Recorded:
    """One run on real hosts.

    Attributes:
        scenario: its ID.
        replication: from 0.
        rows: for the file, one for each flow.
        kernel: release of the kernel.
        late_p99_us: 99th percentile of how late packets were delivered.
        is_good: whether that is little enough for the run to be kept.
    """

    scenario: str
    replication: int
    rows: tuple[Mapping[str, Any], ...]
    kernel: str
    late_p99_us: float
    is_good: bool


def record_linux(
    scenarios: Sequence[RecordedScenario],
    out: Path,
    *,
    replications: int = 3,
    on_recorded: OnRecorded | None = None,
) -> list[Recorded]:
    """Records scenarios on this machine, one run after the other, and keeps them in a file.

    A run that is in the file is not made again. One whose packets were delivered too late is not
    kept.

    Args:
        scenarios: what to record.
        out: folder of the file; made where it is missing.
        replications: runs of each.
        on_recorded: told each run as it ends.

    Returns:
        The runs that were made, those that were not kept among them.

    Raises:
        skycell._core.EmulateError: the system refuses what a recording needs, such as without root.
        KeyboardInterrupt: Ctrl-C was pressed; the file has what was recorded.
    """
    out.mkdir(parents=True, exist_ok=True)
    file = out / FILE
    had = _had(file)
    made = []
    for scenario in scenarios:
        for replication in range(replications):
            if (scenario.id, replication) in had:
                continue
            run = record_once(scenario, replication)
            if run.is_good:
                _append(file, run.rows)
            made.append(run)
            if on_recorded is not None:
                on_recorded(run)
    return made


def record_once(scenario: RecordedScenario, replication: int) -> Recorded:
    """One run of a scenario on real hosts.

    Raises:
        skycell._core.EmulateError: the system refuses what a recording needs, such as without root.
    """
    from skycell import _core

    # Of the spec's TCP nothing is taken, so any kind that we know will do.
    # What its links lose at random is drawn anew in each replication.
    spec = as_scenario(replace(scenario, congestion="reno"), {}).resolve(replication + 1)
    congestions = list(scenario.congestions)
    settings = list(linux().settings.items())
    text = _core.record(spec.canonical_json(), congestions, settings)
    found = json.loads(text)
    late = found["late"]
    rows = [
        _row(scenario, replication, number, found) for number in range(scenario.group.connections)
    ]
    late_p99_us = late["p99_ps"] / _PS_PER_US
    return Recorded(
        scenario.id, replication, tuple(rows), found["kernel"], late_p99_us, found["is_good"]
    )


def _row(
    scenario: RecordedScenario, replication: int, number: int, found: Mapping[str, Any]
) -> dict[str, Any]:
    flow, port, late = found["flows"][number], found["ports"][0], found["late"]
    of_path = {
        "mean_queue_packets": port["queue"]["mean"],
        "p95_sojourn_ms": port["octets"]["sojourn"]["p95_ps"] / PS_PER_MS,
        "drops": dropped(found["ports"]),
        "late_p99_us": late["p99_ps"] / _PS_PER_US,
        "late_max_us": late["max_ps"] / _PS_PER_US,
    }
    goodput = None
    if scenario.size_octets is None:
        goodput = flow["read_octets"] * 8 / (found["seconds"] - flow["start_s"]) / 1e6
    values = {**flow, **of_path, "goodput_mbit_s": goodput}
    row = {"scenario": scenario.id, "replication": replication, "flow": number}
    return row | {name: _written(values[name]) for name in COLUMNS if name not in row}


def _written(value: float | None) -> str:
    """A number in the file; nothing for none.

    >>> _written(9.5), _written(40), _written(None)
    ('9.5', '40', '')
    """
    return "" if value is None else f"{value:.{_ROUNDED}f}".rstrip("0").rstrip(".")


def _had(file: Path) -> set[tuple[str, int]]:
    if not file.exists():
        return set()
    with file.open(encoding="utf-8", newline="") as text:
        return {(row["scenario"], int(row["replication"])) for row in csv.DictReader(text)}


def _append(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    is_new = not file.exists()
    with file.open("a", encoding="utf-8", newline="") as text:
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerows(rows)
