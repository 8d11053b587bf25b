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
    "wfq",
)
KEEP = {"dfba": 0.004, "wfq": 0.001}


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


WORLDS: dict[str, Callable[[], list[Entry]]] = {"gfr-schemes": gfr_schemes}
