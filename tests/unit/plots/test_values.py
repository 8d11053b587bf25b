"""A measure by factors as somebody arranges them: over numbers, over names, over a measure."""

from typing import Any

import pytest

from skycell.experiment.value import values_of
from skycell.plots.figure import Figure, NothingToDrawError, TableOrigin
from skycell.plots.values import Axes, values_figure
from tests.unit.plots.test_study_figures import datasets

ORIGIN = TableOrigin("runs.csv", 8, "0" * 64, "0.1.0")
UNITS = {"delay": "ms", "rate": "Mbit/s"}


def rows(policies: int = 2, sites: int = 2) -> list[dict[str, Any]]:
    runs = [
        {
            "policy": f"p{policy}",
            "buffer": buffer,
            "site": f"s{site}",
            "delay": 10.0 * buffer + policy,
            "rate": 5.0 + buffer + site,
        }
        for policy in range(policies)
        for buffer in (0.25, 1)
        for site in range(sites)
    ]
    factors = [name for name in ("policy", "buffer", "site") if name != "site" or sites > 1]
    return [value.as_dict() for value in values_of(runs, factors, UNITS)]


def drawn(axes: Axes, measure: str = "rate", **of_rows: int) -> Figure:
    units = {"buffer": "RTT"}
    return values_figure(rows(**of_rows), ORIGIN, axes, measure, study="s", units=units)


def test_a_factor_with_numbers_has_lines_and_what_has_no_place_panels() -> None:
    figure = drawn(Axes("buffer", "policy"))
    assert {(r["panel"], r["series"], r["x"], r["value"]) for r in datasets(figure)} == {
        (f"site = s{site}", f"p{policy}", buffer, 5.0 + buffer + site)
        for policy in (0, 1)
        for buffer in (0.25, 1)
        for site in (0, 1)
    }
    assert figure.name == "rate-by-buffer"
    assert "buffer (RTT)" in str(figure.bare_spec())


def test_a_factor_with_names_has_dots_and_several_factors_of_panels_one_panel_each() -> None:
    figure = drawn(Axes("policy", facet=("site",)))
    panels = {row["row"] for row in datasets(figure)}
    assert panels == {
        f"site = s{site}, buffer = {buffer} RTT" for site in (0, 1) for buffer in ("0.25", "1")
    }
    assert "'shape'" in str(figure.bare_spec())
    assert "symbolFillColor" not in str(figure.bare_spec())  # nothing is published beside ours


def test_a_measure_over_another_has_a_named_point_for_each_combination() -> None:
    figure = drawn(Axes("delay", "policy", ("site",)))
    points = {(r["series"], r["name"], r["x"], r["y"]) for r in datasets(figure)}
    assert ("p1", "0.25 RTT", 3.5, 5.25) in points
    assert len(points) == 8
    assert "Delay (ms)" in figure.caption_text()
    lone = drawn(Axes("delay", "policy"), sites=1, policies=1)
    assert {r["name"] for r in datasets(lone)} == {"0.25 RTT", "1 RTT"}


def test_more_than_can_be_read_as_one_figure_is_refused() -> None:
    with pytest.raises(NothingToDrawError, match="policy has 7 levels, and 6 lines"):
        drawn(Axes("buffer", "policy"), policies=7)
    with pytest.raises(
        NothingToDrawError, match="site and policy would have 14 panels, at most 12"
    ):
        drawn(Axes("buffer", facet=("site",)), policies=7)
    with pytest.raises(NothingToDrawError, match="no run has a value of speed"):
        drawn(Axes("buffer", "policy"), "speed")
