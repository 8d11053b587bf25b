"""Whether the cells of VCs kept to the bounds on their losses and delays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skycell.metrics.classes import cell_loss_ratio
from skycell.scenario.file.qos import QUANTILES, QosTargets
from skycell.spec.network import NetworkSpec

MET, MISSED, UNDECIDED = "met", "missed", "undecided"
"""Verdicts; undecided is one on fewer cells than the bound needs."""


def qos_verdicts(
    targets: Sequence[QosTargets], spec: NetworkSpec, records: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """What each bound on a VC comes to, in the order of the file: loss, delay, variation.

    Args:
        targets: of the scenario.
        spec: of the run.
        records: that it left.

    Returns:
        For each VC and bound: `vc` (name), `profile` (or None), `what` (`clr`, `ctd_ps` or
        `cdv_ps`), `quantile` (None for a loss), `bound` and `measured` in the unit of `what`
        (measured is None without cells), `cells` (offered for a loss, else arrived) and `verdict`.
    """
    ids = {vc.name: i for i, vc in enumerate(spec.vcs)}
    delays = {delay["vc"]: delay for delay in records["cell_delays"]}
    found = []
    for one in targets:
        for name in one.vcs:
            vc = ids[name]
            for what, bound in one.bounds._asdict().items():
                if bound is None:
                    continue
                if what == "clr":
                    row = _of_losses(records["vcs"][vc], bound)
                else:
                    is_rerouted = spec.vcs[vc].rerouting is not None
                    row = _of_delays(delays[vc], what, bound, one.quantile, is_rerouted)
                found.append({"vc": name, "profile": one.profile, "what": what} | row)
    return found


def _of_losses(vc: Mapping[str, Any], bound: float) -> dict[str, Any]:
    """The verdict on losses; none lost of n cells shows a ratio below 3 / n, with 95 % confidence.

    >>> vc = {"cells_offered": 1000, "cells_policed": 0, "cells_refused": 0,
    ...       "cells_discarded": {"overflow": 2}, "cells_lost": {"drawn": 0}}
    >>> [_of_losses(vc, bound)["verdict"] for bound in (0.001, 0.002, 0.003)]
    ['missed', 'undecided', 'met']
    """
    offered = vc["cells_offered"]
    ratio = cell_loss_ratio(vc) if offered else None
    if ratio is None or (0 < bound < 1 and ratio <= bound and offered * bound < 3):
        verdict = UNDECIDED
    else:
        verdict = MET if ratio <= bound else MISSED
    return {
        "quantile": None,
        "bound": bound,
        "measured": ratio,
        "cells": offered,
        "verdict": verdict,
    }


def _of_delays(
    delay: Mapping[str, Any], what: str, bound: int, quantile: float, is_rerouted: bool
) -> dict[str, Any]:
    cells = delay["cells"]
    measured = None
    if cells:
        measured = delay[QUANTILES[quantile]]
        if what == "cdv_ps":
            # Of a VC over satellites that switch on board, fixed_ps is of its first and last link.
            measured -= delay["min_ps"] if is_rerouted else delay["fixed_ps"]
    # Of fewer cells than this the quantile is the largest of them.
    fewest = 1 if quantile == 1 else round(1 / (1 - quantile))
    if measured is None or (measured <= bound and cells < fewest):
        verdict = UNDECIDED
    else:
        verdict = MET if measured <= bound else MISSED
    return {
        "quantile": quantile,
        "bound": bound,
        "measured": measured,
        "cells": cells,
        "verdict": verdict,
    }
