"""Verdicts on losses and delays, from records worked out by hand."""

from types import SimpleNamespace
from typing import Any

import pytest

from skycell.metrics.qos import qos_verdicts
from skycell.scenario.file.qos import QosTargets

MS = 10**9  # picoseconds


def verdicts(
    target: dict[str, Any],
    *,
    offered: int = 10_000,
    lost: int = 0,
    arrived: int = 10_000,
    rerouting: object = None,
) -> dict[str, Any]:
    """Rows by what is bounded: 1 ms without queues, 2 ms at least, 4 ms at 99.9 %, at most 9 ms."""
    delay = {
        "vc": 0,
        "cells": arrived,
        "fixed_ps": 1 * MS,
        "min_ps": 2 * MS,
        "p50_ps": 3 * MS,
        "p999_ps": 4 * MS,
        "max_ps": 9 * MS,
    }
    vc = {
        "cells_offered": offered,
        "cells_policed": 0,
        "cells_refused": 0,
        "cells_discarded": {"overflow": lost},
        "cells_lost": {},
    }
    spec: Any = SimpleNamespace(
        vcs=[SimpleNamespace(name="voice", rerouting=rerouting, policing=())]
    )
    records = {"vcs": [vc], "cell_delays": [delay]}
    rows = qos_verdicts([QosTargets(vcs=("voice",), **target)], spec, records)
    return {row["what"]: row for row in rows}


def test_delay_and_variation_are_held_against_the_same_quantile() -> None:
    rows = verdicts({"ctd": "4 ms", "cdv": "2.9 ms"})
    assert (rows["ctd_ps"]["measured"], rows["ctd_ps"]["verdict"]) == (4 * MS, "met")
    assert (rows["cdv_ps"]["measured"], rows["cdv_ps"]["verdict"]) == (3 * MS, "missed")
    largest = verdicts({"ctd": "8 ms", "cdv": "8 ms", "quantile": 1})
    assert (largest["ctd_ps"]["measured"], largest["ctd_ps"]["verdict"]) == (9 * MS, "missed")
    assert (largest["cdv_ps"]["measured"], largest["cdv_ps"]["verdict"]) == (8 * MS, "met")


def test_variation_over_satellites_that_switch_on_board_is_beyond_the_least_delay() -> None:
    assert verdicts({"cdv": "1 ms"}, rerouting=object())["cdv_ps"]["measured"] == 2 * MS


@pytest.mark.parametrize(
    ("lost", "clr", "verdict"),
    [
        (0, 3.1e-4, "met"),
        # 3e-4 of 10 000 cells are 3, from which on none lost tells.
        (0, 2.9e-4, "undecided"),
        (1, 0, "missed"),
        (0, 0, "met"),
        (4, 3e-4, "missed"),
        (1, 1e-5, "missed"),
    ],
)
def test_a_loss_needs_cells_to_be_met(lost: int, clr: float, verdict: str) -> None:
    assert verdicts({"clr": clr}, lost=lost)["clr"]["verdict"] == verdict


def test_a_quantile_needs_cells_beyond_it_to_be_met() -> None:
    assert verdicts({"ctd": "4 ms"}, arrived=999)["ctd_ps"]["verdict"] == "undecided"
    assert verdicts({"ctd": "4 ms"}, arrived=1000)["ctd_ps"]["verdict"] == "met"
    assert verdicts({"ctd": "3 ms", "quantile": 0.5}, arrived=2)["ctd_ps"]["verdict"] == "met"
    assert verdicts({"ctd": "3 ms"}, arrived=1)["ctd_ps"]["verdict"] == "missed"
    nothing = verdicts({"ctd": "9 ms", "quantile": 1}, offered=0, arrived=0)["ctd_ps"]
    assert (nothing["measured"], nothing["verdict"]) == (None, "undecided")
    assert verdicts({"clr": 0.5}, offered=0)["clr"]["verdict"] == "undecided"


def test_a_bound_of_the_table_replaces_that_of_its_profile() -> None:
    rows = verdicts({"profile": "itu_class_1", "cdv": "2 ms"})
    assert {what: row["bound"] for what, row in rows.items()} == {
        "clr": 3e-7,
        "ctd_ps": 400 * MS,
        "cdv_ps": 2 * MS,
    }
    assert list(verdicts({"profile": "itu_class_2"})) == ["clr"]
