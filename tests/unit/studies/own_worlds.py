"""Numbers made by hand in which every conclusion of our own studies holds."""

from collections.abc import Callable
from itertools import product

from skycell.studies.model import Level
from skycell.studies.values import Entry

SCHEMES = (
    "tail_drop",
    "ppd",
    "epd",
    "red",
    "selective_drop",
    "fair_buffer_allocation",
    "fred",
    "virtual_queueing",
    "dynamic_epd",
    "priority_drop",
    "dfba",
    "weighted_round_robin",
    "wfq",
)
KEEP = {"dfba": 0.004, "wfq": 0.001, "weighted_round_robin": 0.002}


def _shortfall(scheme: str, latency: str, percent: int, cells: int, tcps: int) -> float:
    """Larger where more is reserved, for one TCP, over GEO, and in one TCP's large buffers."""
    if latency == "geo":
        return 0.5 if tcps == 1 else 0.1
    base = KEEP.get(scheme, 0.05 if scheme == "priority_drop" else 0.2)
    if tcps == 1:
        base = KEEP.get(scheme, 0.2) * (1 + cells / 16_000)
    return base if percent == 85 else base / 20


def gfr_schemes() -> list[Entry]:
    """All combinations, their means, and parts of the variation."""
    entries = []
    axes = (SCHEMES, ("lan", "wan", "geo"), (1, 20))
    for scheme, latency, tcps in product(*axes):
        cells = []
        for percent, buffer_cells in product((51, 85), (1000, 4000, 16_000)):
            value = _shortfall(scheme, latency, percent, buffer_cells, tcps)
            cells.append(value)
            factors: dict[str, Level] = {
                "scheme": scheme,
                "latency": latency,
                "mcr_allocation_percent": percent,
                "buffer_cells": buffer_cells,
                "tcps_per_vc": tcps,
            }
            entries.append(Entry("gfr-schemes-cells", "guarantee_shortfall", factors, value))
        means = {
            "guarantee_shortfall": sum(cells) / len(cells),
            "efficiency": 0.98 if scheme in KEEP else 0.95,
            "excess_fairness": 0.85 if scheme in KEEP else 0.6,
        }
        where: dict[str, Level] = {"scheme": scheme, "latency": latency, "tcps_per_vc": tcps}
        entries += [Entry("gfr-schemes-means", key, where, v) for key, v in means.items()]
    parts = {
        "gfr-schemes-variation": {"scheme": 4.0, "latency": 26.0, "tcps_per_vc": 14.0},
        "gfr-schemes-variation-near": {"scheme": 25.0, "latency": 1.0, "tcps_per_vc": 6.0},
    }
    for table, shares in parts.items():
        rest = {"mcr_allocation_percent": 30.0, "latency_x_tcps_per_vc": 17.0}
        entries += [
            Entry(table, "guarantee_shortfall_share", {"component": name}, share)
            for name, share in (shares | rest).items()
        ]
    return entries


LEO = {"6x11": 0.01, "12x24": 0.05, "shell": 0.012}
"""What handovers cost over each path where cells arrive; four times as much where they are lost."""


def leo_handover() -> list[Entry]:
    """Four TCPs over three paths that move and one that does not."""
    entries = []
    modes = ("arrive", "are_lost")
    cases = [(path, mode) for path in LEO for mode in modes] + [("geo_slot", "arrive")]
    for (path, mode), tcp in product(cases, ("vanilla", "reno", "newreno", "sack")):
        where: dict[str, Level] = {"satellites": path, "under_way": mode, "tcp": tcp}
        weight = {"vanilla": 0.8, "reno": 1.2, "newreno": 1.1, "sack": 0.5}[tcp]
        cost = LEO.get(path, 0.0) * weight * (4 if mode == "are_lost" else 1)
        efficiency = 0.96 if path == "geo_slot" else 1.0 - cost
        entries.append(Entry("leo-handover-throughput", "efficiency", where, efficiency))
        is_repaired = tcp in ("newreno", "sack") and mode == "arrive"
        recovery = {
            "timeouts": 0.0 if path == "geo_slot" or is_repaired else 2.0,
            "timeouts_without_loss": 0.0,
            "retransmitted_part": 5 * cost,
            "needless_part": cost / 2,
        }
        entries += [Entry("leo-handover-recovery", key, where, v) for key, v in recovery.items()]
    return entries


WORLDS: dict[str, Callable[[], list[Entry]]] = {
    "gfr-schemes": gfr_schemes,
    "leo-handover": leo_handover,
}
