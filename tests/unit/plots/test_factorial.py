"""Figures of a factorial study draw the numbers of its analysis and nothing else."""

import json
import random
import re
from typing import Any

import pytest

from skycell.plots.factorial import FACTORIAL_KINDS, factorial_figures
from skycell.plots.factorial_parts import Explained
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.stats import analyse
from skycell.stats.result import Analysis

RUNS = Origin("fast", "0.1.0", ("aa", "bb"), seed=1, replications=3)


def rows(replications: int = 3, factors: int = 2) -> list[dict[str, Any]]:
    draw = random.Random(1)
    return [
        {"tcp": tcp, "buffer": buffer, "policy": policy, "efficiency": value + draw.gauss(0, 0.01)}
        for tcp, value in (("reno", 0.6), ("sack", 0.9))
        for buffer in (0.5, 1.0, 2.0)
        for policy in (("epd", "selective_drop") if factors == 3 else ("epd",))
        for _ in range(replications)
    ]


@pytest.fixture(scope="module")
def found() -> Analysis:
    return analyse(rows(), ["tcp", "buffer"], "efficiency")


def draw(found: Analysis, kind: str) -> Figure:
    return FACTORIAL_KINDS[kind](Explained(found, RUNS, "Two factors"))


def values(spec: Any) -> list[dict[str, Any]]:
    """All rows of data of a drawn figure."""
    return [row for data in spec["datasets"].values() for row in data]


def test_main_effects_are_those_of_the_analysis_with_their_intervals(found: Analysis) -> None:
    marks = {
        row["x"]: row for row in values(draw(found, "main-effects").bare_spec()) if "low" in row
    }
    assert list(dict.fromkeys(marks)) == ["Reno", "SACK", "0.5", "1", "2"]
    reno = found.factor("tcp").levels[0].effect
    assert (marks["Reno"]["value"], marks["Reno"]["low"]) == (reno.value, reno.low)
    assert marks["Reno"]["high"] == reno.high


@pytest.mark.parametrize("kind", ["response", "main-effects", "interactions"])
def test_a_factor_of_numbers_stands_on_its_axis_with_its_unit(found: Analysis, kind: str) -> None:
    def titles(of: Analysis) -> set[str]:
        spec = json.dumps(draw(of, kind).bare_spec())
        return set(re.findall(r'"title": "((?:Buffer|buffer)[^"]*)"', spec))

    assert titles(found) == {"buffer"}
    assert titles(found.named({"buffer": "RTT"})) == {"buffer (RTT)"}


def test_the_response_shows_every_run_once_for_each_factor(found: Analysis) -> None:
    drawn = values(draw(found, "response").bare_spec())
    runs = [row for row in drawn if "run" in row]
    assert len(runs) == 18 * 2
    assert sorted(row["run"] for row in runs) == sorted(2 * [r["efficiency"] for r in rows()])
    means = {row["x"]: row["value"] for row in drawn if "low" in row}
    assert means["SACK"] == found.factor("tcp").levels[1].mean.value


def test_the_allocation_has_a_bar_for_each_component(found: Analysis) -> None:
    figure = draw(found, "allocation")
    bars = {row["component"]: row["percent"] for row in values(figure.bare_spec())}
    assert bars == pytest.approx(
        {
            {"tcp": "TCP", "tcp × buffer": "TCP × buffer"}.get(row.name, row.name): 100 * row.share
            for row in found.variation
        }
    )
    assert "need not add up" not in figure.caption_text()
    partly = analyse(rows()[:-1], ["tcp", "buffer"], "efficiency")
    assert "need not add up" in draw(partly, "allocation").caption_text()


def test_interactions_show_the_mean_of_every_pair_in_a_panel_for_each_two_factors() -> None:
    found = analyse(rows(2, 3), ["tcp", "buffer", "policy"], "efficiency")
    figure = draw(found, "interactions")
    spec = figure.bare_spec()
    assert len(spec["concat"]) == 3
    drawn = [row for row in values(spec) if "series" in row]
    assert len(drawn) == 2 * 3 + 2 * 2 + 3 * 2
    assert drawn[0]["value"] == found.interactions[0].cells[0].mean.value


def test_residuals_are_drawn_against_the_model_and_the_normal_quantiles(found: Analysis) -> None:
    figure = draw(found, "residuals")
    drawn = [row for row in values(figure.bare_spec()) if "fitted" in row]
    assert sorted(row["residual"] for row in drawn[:18]) == pytest.approx(
        sorted(own.residual for own in found.residuals)
    )
    ordered = sorted(drawn[:18], key=lambda row: row["residual"])
    assert [row["normal"] for row in ordered] == sorted(row["normal"] for row in ordered)
    assert "Shapiro-Wilk: p = " in figure.caption_text()


def test_residuals_stand_over_values_with_their_unit_under_labels_apart(found: Analysis) -> None:
    figure = FACTORIAL_KINDS["residuals"](Explained(found, RUNS, "Two factors", "ms"))
    left, right = figure.bare_spec()["hconcat"]
    below = [panel["layer"][1]["encoding"]["x"] for panel in (left, right)]
    assert below[0]["title"] == "Efficiency (ms), by the model"
    # The first label, moved inwards, ran into the second.
    assert all(not x["axis"]["labelFlush"] for x in below)


@pytest.fixture(scope="module")
def many() -> Analysis:
    """Seven and eight levels, twelve runs of each pair: more than are drawn one by one."""
    draw = random.Random(3)
    runs = [
        {"buffer": buffer, "rate": rate, "tcp": tcp, "efficiency": buffer * rate + draw.random()}
        for buffer in range(7)
        for rate in range(8)
        for tcp in ("reno", "sack")
        for _ in range(6)
    ]
    return analyse(runs, ["buffer", "rate", "tcp"], "efficiency")


def test_of_many_runs_every_one_is_counted_in_a_band_where_it_lies(many: Analysis) -> None:
    figure = draw(many, "response")
    bands = [row for row in values(figure.bare_spec()) if "runs" in row]
    assert sum(row["runs"] for row in bands) == 3 * len(many.residuals) == 3 * 672
    assert len(bands) <= 60 * (7 + 8 + 2)
    at_zero = [own.value for own in many.residuals if own.levels[0] == 0]
    of_zero = bands[: len({row["run"] for row in bands if row["x"] == "0"})]
    assert all(any(row["run"] <= value <= row["to"] for row in of_zero) for value in at_zero)
    assert "as 60 bands: the darker, the more" in figure.caption_text()


def test_of_many_residuals_one_is_drawn_a_spot_and_the_outermost_stay(many: Analysis) -> None:
    figure = draw(many, "residuals")
    panels = [panel["layer"][1]["data"]["name"] for panel in figure.bare_spec()["hconcat"]]
    everything = [own.residual for own in many.residuals]
    for panel in panels:
        drawn = [row["residual"] for row in figure.bare_spec()["datasets"][panel]]
        assert len(drawn) < len(everything)
        assert min(drawn) == pytest.approx(min(everything))
        assert max(drawn) == pytest.approx(max(everything), abs=0.02)
    assert "Points that fall on one spot are drawn once." in figure.caption_text()


def test_pairs_of_many_levels_are_a_map_and_of_few_lines_that_can_be_told_apart(
    many: Analysis,
) -> None:
    figure = draw(many, "interactions")
    panels = {
        panel["encoding"]["y"]["title"] if "encoding" in panel else "lines": panel
        for panel in figure.bare_spec()["concat"]
    }
    assert sorted(panels) == ["lines", "rate"]
    means = [cell.mean.value for pair in many.interactions for cell in pair.cells]
    colour = panels["rate"]["encoding"]["color"]["scale"]["domain"]
    assert colour == [min(means), max(means)]
    assert len(figure.bare_spec()["datasets"][panels["rate"]["data"]["name"]]) == 7 * 8
    # The factor with two levels has the lines, wherever it stands.
    text = json.dumps(figure.bare_spec())
    layers = 3  # bars, lines, points
    assert text.count('"range": ["#0072b2", "#d55e00"]') == layers * 2
    assert "where both factors have more than 6" in figure.caption_text()


@pytest.mark.parametrize("kind", FACTORIAL_KINDS)
def test_every_figure_says_what_it_shows_and_which_runs(found: Analysis, kind: str) -> None:
    figure = draw(found, kind)
    assert figure.title.startswith("Efficiency: ")
    assert figure.subtitle == "Two factors"
    assert figure.name == f"{kind}-efficiency"
    assert "engine\u00a0fast" in figure.caption_text()
    assert len(figure.description) > 20
    assert figure.spec()["title"]["text"] == figure.title


@pytest.mark.parametrize("kind", ["response", "main-effects", "interactions"])
def test_a_caption_says_where_the_intervals_come_from(found: Analysis, kind: str) -> None:
    text = draw(found, kind).caption_text()
    assert "90 % intervals, with the error of the replications (12 degrees" in text


def test_a_caption_tells_that_blocks_move_all_means_together() -> None:
    blocked = [{**row, "run": place % 3} for place, row in enumerate(rows())]
    found = analyse(blocked, ["tcp", "buffer"], "efficiency", block="run")
    said = "They also include what runs with the same run share, which moves all means together"
    assert said in draw(found, "response").caption_text()
    assert said in draw(found, "interactions").caption_text()
    assert said not in draw(found, "main-effects").caption_text()


def test_with_one_run_per_cell_the_caption_says_so_and_there_are_no_pairs() -> None:
    found = analyse(rows(1), ["tcp", "buffer"], "efficiency")
    assert (
        "the higher interactions, with one run per cell" in draw(found, "response").caption_text()
    )
    with pytest.raises(NothingToDrawError, match="no interactions to draw: with two factors"):
        draw(found, "interactions")
    names = [f.name for f in factorial_figures(found, RUNS, study="x")]
    assert "interactions-efficiency" not in names
    assert len(names) == 4


def test_without_an_error_there_are_means_but_no_intervals_and_no_residuals() -> None:
    found = analyse({"tcp": ["reno", "sack"], "y": [1.0, 2.0]}, ["tcp"], "y")
    assert (
        "There is no error term, so there are no intervals."
        in draw(found, "response").caption_text()
    )
    with pytest.raises(NothingToDrawError, match="leaves no residuals"):
        draw(found, "residuals")


def test_a_response_that_does_not_vary_has_no_allocation_to_draw() -> None:
    found = analyse([row | {"efficiency": 1.0} for row in rows()], ["tcp"], "efficiency")
    with pytest.raises(NothingToDrawError, match="efficiency is the same in all runs"):
        draw(found, "allocation")
    assert draw(found, "response").spec()


def test_a_single_flow_is_named_in_the_title() -> None:
    table = [row | {"timeouts:flow2": row["efficiency"]} for row in rows()]
    found = analyse(table, ["tcp"], "timeouts:flow2")
    figure = FACTORIAL_KINDS["response"](Explained(found, RUNS, "x", "events"))
    assert figure.title == "Timeouts, flow2: means of the levels"
    assert figure.name == "response-timeouts-flow2"
    assert "For flow2 only." in figure.caption_text()


def test_a_caption_of_some_runs_counts_those() -> None:
    assert "2\u00a0runs" in RUNS.sentence()
    shown = RUNS.of_rows([{"spec_hash": "bb", "loss": 0}, {"spec_hash": "bb", "loss": 0}])
    assert "scenario\u00a0bb," in shown.sentence()
