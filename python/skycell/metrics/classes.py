"""What service classes and cell sources got: shares of a link, losses and delays of cells."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from skycell.input.quantities import PS_PER_SECOND

OTHER_CLASSES = "rest"
"""What the default queue of a port with several is called, which holds all other classes."""


def cell_loss_ratio(*vcs: Mapping[str, Any]) -> float:
    """Share of the cells of some VCs together that were lost, 0 to 1; 0 if none were there.

    Lost is what ports, a VC's policer or its GFR contract discarded, and what was lost on links.
    Cells that were under way when counting began count beside those offered (`cells_counted`).

    Args:
        vcs: entries of the records' `vcs`.

    >>> vc = {"cells_offered": 200, "cells_policed": 1, "cells_refused": 2,
    ...       "cells_discarded": {"overflow": 3}, "cells_lost": {"drawn": 4}}
    >>> cell_loss_ratio(vc)
    0.05

    Source: ATM Forum Traffic Management 4.0: lost cells over transmitted cells.
    """
    counted = sum(map(cells_counted, vcs))
    return sum(map(lost_cells, vcs)) / counted if counted else 0.0


def cells_counted(vc: Mapping[str, Any]) -> int:
    """Cells of a VC that could be lost in the time that counts: `vc` is one of the records' `vcs`.

    Those offered then, and those under way when counting began.

    >>> cells_counted({"cells_offered": 200}), cells_counted(
    ...     {"cells_offered": 200, "earlier_cells": 30}
    ... )
    (200, 230)
    """
    counted: int = vc["cells_offered"] + vc.get("earlier_cells", 0)
    return counted


def lost_cells(vc: Mapping[str, Any]) -> int:
    """Cells of a VC that were lost, on whichever way; `vc` is one entry of the records' `vcs`."""
    by_reason = (*vc["cells_discarded"].values(), *vc["cells_lost"].values())
    lost: int = vc["cells_policed"] + vc["cells_refused"] + sum(by_reason)
    return lost


class CellDelay(NamedTuple):
    """Cell transfer delay of a VC in seconds, quantiles by their per mille."""

    mean_s: float
    max_s: float
    fixed_s: float
    quantiles_s: Mapping[int, float]

    def peak_to_peak_cdv_s(self, permille: int = 999) -> float:
        """Peak-to-peak cell delay variation: that quantile of the delay less its fixed part.

        Of a VC by label, whose record has no fixed part, the least delay takes its place.

        Source: ATM Forum Traffic Management 4.0, section 3.6.1.2, with alpha = 1 - permille / 1000.
        """
        return self.quantiles_s[permille] - self.fixed_s


def cell_delay(record: Mapping[str, Any]) -> CellDelay | None:
    """Delay of a VC's cells; none if none arrived.

    Args:
        record: one entry of the records' `cell_delays`.

    >>> record = {"cells": 9, "mean_ps": 3e9, "max_ps": 6 * 10**9, "fixed_ps": 10**9,
    ...           "p50_ps": 3 * 10**9, "p90_ps": 5 * 10**9, "p99_ps": 6 * 10**9,
    ...           "p999_ps": 6 * 10**9}
    >>> cell_delay(record).peak_to_peak_cdv_s(900)
    0.004
    """
    if not record["cells"]:
        return None
    quantiles = {500: "p50_ps", 900: "p90_ps", 990: "p99_ps", 999: "p999_ps"}
    return CellDelay(
        record["mean_ps"] / PS_PER_SECOND,
        record["max_ps"] / PS_PER_SECOND,
        (record["fixed_ps"] or record["min_ps"]) / PS_PER_SECOND,
        {permille: record[key] / PS_PER_SECOND for permille, key in quantiles.items()},
    )


def link_shares(port: Mapping[str, Any]) -> dict[str | None, float]:
    """Each class's share of the cells that a port with several queues has sent, 0 to 1.

    Args:
        port: one entry of the records' `ports`; the key none stands for the default queue.

    >>> link_shares({"queues": [{"class": "cbr", "departed": 30}, {"class": None, "departed": 90}]})
    {'cbr': 0.25, None: 0.75}
    """
    queues: Sequence[Mapping[str, Any]] = port["queues"]
    total = sum(queue["departed"] for queue in queues)
    return {queue["class"]: queue["departed"] / total if total else 0.0 for queue in queues}
