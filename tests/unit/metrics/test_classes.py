"""Losses and delays of cells, and shares of a link, from records."""

from typing import Any

import pytest

from skycell.metrics import cell_delay, cell_loss_ratio, link_shares

MS = 10**9  # picoseconds


def test_each_time_of_a_cells_delay_is_what_was_recorded_in_seconds() -> None:
    record: dict[str, Any] = {
        "cells": 1000,
        "mean_ps": 3.5 * MS,
        "max_ps": 9 * MS,
        "fixed_ps": 2 * MS,
        "p50_ps": 3 * MS,
        "p90_ps": 5 * MS,
        "p99_ps": 6 * MS,
        "p999_ps": 8 * MS,
    }
    delay = cell_delay(record)
    assert delay is not None
    assert (delay.mean_s, delay.max_s, delay.fixed_s) == (0.0035, 0.009, 0.002)
    assert delay.quantiles_s == {500: 0.003, 900: 0.005, 990: 0.006, 999: 0.008}
    # Peak to peak is the quantile of 99.9 % less what no cell can be faster than.
    assert delay.peak_to_peak_cdv_s() == pytest.approx(0.006)
    assert cell_delay(record | {"cells": 0}) is None


def vc(offered: int, *, policed: int = 0, refused: int = 0, lost: int = 0) -> dict[str, Any]:
    return {
        "cells_offered": offered,
        "cells_policed": policed,
        "cells_refused": refused,
        "cells_discarded": {"overflow": 0},
        "cells_lost": {"drawn": lost},
    }


def test_vcs_together_lose_a_part_of_what_all_of_them_were_offered() -> None:
    # 6 of 400 cells: not the mean of 5 of 100 and 1 of 300.
    assert cell_loss_ratio(vc(100, policed=2, refused=3), vc(300, lost=1)) == 0.015
    assert cell_loss_ratio(vc(0), vc(0)) == 0


def test_a_port_that_sent_nothing_was_shared_by_nobody() -> None:
    queues = [{"class": "cbr", "departed": 0}, {"class": None, "departed": 0}]
    assert link_shares({"queues": queues}) == {"cbr": 0, None: 0}
