"""The tables that are computed on constellations, beside their print."""

from pathlib import Path

import pytest

from skycell.scenario import ScenarioFaults
from skycell.studies import Reproduction, Row, reproduce


@pytest.fixture(scope="module")
def result() -> Reproduction:
    return reproduce(["jsac98"], version="test")


def error_ms(row: Row) -> float:
    assert row.mean is not None
    assert row.published is not None
    return abs(row.mean - row.published)


@pytest.mark.parametrize("table", ["jsac98-t4", "jsac98-t6"])
def test_every_printed_delay_between_cities_is_met_within_a_millisecond(
    result: Reproduction, table: str
) -> None:
    rows = result.rows_of(table)
    assert len(rows) == 55
    assert max(map(error_ms, rows)) < 1


@pytest.mark.parametrize("table", ["jsac98-t5", "jsac98-t7"])
def test_every_printed_count_of_satellites_is_exact(result: Reproduction, table: str) -> None:
    rows = result.rows_of(table)
    assert len(rows) == 55
    assert [row.mean for row in rows] == [row.published for row in rows]


def test_links_between_satellites_of_the_example_are_those_in_print(result: Reproduction) -> None:
    links = [row for row in result.rows_of("jsac98-t3") if row.factors["link"] == "isl"]
    assert len(links) == 6
    assert max(map(error_ms, links)) <= 0.005 + 1e-9  # two decimals in print


def test_the_ring_is_exact_to_the_rounding_of_the_print(result: Reproduction) -> None:
    rows = result.rows_of("jsac98-t1")
    assert len(rows) == 20
    assert max(map(error_ms, rows)) <= 0.5


def test_the_greedy_route_is_shortest_for_as_many_pairs_as_the_topology_has_it(
    result: Reproduction,
) -> None:
    # Counted by hand on the recovered topology: 22 and 11 of 45.
    lost = [row for row in result.rows_of("jsac98-greedy") if row.metric == "delay_lost"]
    counts = {
        name: sum(
            row.mean is not None and row.mean < 1e-6
            for row in lost
            if row.factors["constellation"] == name
        )
        for name in ("6x11", "12x24")
    }
    assert counts == {"6x11": 22, "12x24": 11}


def test_nothing_is_drawn_so_there_is_one_value_without_spread(result: Reproduction) -> None:
    assert {(row.n, row.sd) for row in result.rows} == {(1, 0.0)}
    assert result.runs.needed == 0
    assert result.replications == {"jsac98": 1}


def test_another_speed_of_light_moves_the_delays() -> None:
    rows = reproduce(
        ["jsac98-t1"], overrides={"light.speed": "299792.458 km/s"}, version="test"
    ).rows
    first = next(row for row in rows if row.metric == "isl_delay")
    assert first.mean == pytest.approx(243.602, abs=1e-3)  # 73 030.19 km


def test_without_links_across_the_seam_counts_differ_from_the_print() -> None:
    rows = reproduce(["jsac98-t5"], overrides={"links.seam": "none"}, version="test").rows
    assert any(row.mean != row.published for row in rows)


def test_a_value_that_the_constellation_cannot_have_is_refused() -> None:
    with pytest.raises(ScenarioFaults, match=r"earth\.shape"):
        reproduce(["jsac98-t1"], overrides={"earth.shape": "flat"}, version="test")


def test_a_report_of_computed_tables_shows_no_run_and_says_so(
    result: Reproduction, tmp_path: Path
) -> None:
    from skycell.report import write_study_report

    write_study_report(result, tmp_path, False)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Ours: computed once, as nothing is drawn." in text
    assert "Figures</h2>" not in text


def test_handovers_and_hops_of_the_text_come_out() -> None:
    found = reproduce(["delay-variation-handovers", "delay-variation-hops"], version="test")
    low = [
        row.mean
        for row in found.rows_of("delay-variation-handovers")
        if row.factors["constellation"] == "6x11"
    ]
    assert len(low) == 5
    assert all(mean is not None and 8 < mean < 11 for mean in low)
    hops = {
        (row.factors["altitude_km"], row.factors["elevation_deg"]): row.mean
        for row in found.rows_of("delay-variation-hops")
    }
    assert hops["35786", "90"] == pytest.approx(2 * 35_786 / 300, abs=1e-6)
    # Along the horizon: the other leg of a right triangle.
    across_km = ((6378.137 + 35_786) ** 2 - 6378.137**2) ** 0.5
    assert hops["35786", "0"] == pytest.approx(2 * across_km / 300, abs=1e-6)


def test_without_links_across_the_seam_no_path_crosses_it() -> None:
    rows = reproduce(["jsac98-seam"], overrides={"links.seam": "none"}, version="test").rows
    found = [(row.factors["seam"], row.mean is not None) for row in rows]
    assert sorted(found) == [("crossed", False)] * 6 + [("elsewhere", True)] * 6
