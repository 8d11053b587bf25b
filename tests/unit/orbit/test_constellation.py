"""Constellation files: what they become, and every fault with its numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skycell.orbit import as_constellation, constellations, find_places, look, positions_km
from skycell.scenario import ScenarioFaults

STAR: dict[str, Any] = {
    "kind": "star",
    "planes": 6,
    "satellites_per_plane": 11,
    "altitude": "780 km",
    "inclination": "86.4 deg",
}
DELTA: dict[str, Any] = {**STAR, "kind": "delta", "inclination": "53 deg", "phasing": 1}


def faults(values: dict[str, Any]) -> list[tuple[str, str, str]]:
    with pytest.raises(ScenarioFaults) as caught:
        as_constellation(values)
    return [(fault.path, fault.got, fault.allowed) for fault in caught.value.faults]


@pytest.mark.parametrize("name", list(constellations()))
def test_every_preset_is_sound_and_says_for_every_value_where_it_is_from(name: str) -> None:
    constellation = as_constellation(name)
    assert len(set(constellation.satellites)) == len(constellation.satellites)
    assert all(value.reason for value in constellations()[name].all_values().values())
    at = positions_km(constellation, [0, 10**15])
    assert at.shape == (2, len(constellation.satellites), 3)


def test_a_file_is_a_preset_and_what_differs(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('preset = "iridium-like"\npattern.altitude = "1000 km"\n', encoding="utf-8")
    at = positions_km(as_constellation(file), [0])[0]
    assert np.linalg.norm(at, axis=1) == pytest.approx(7378.137)


def test_all_faults_of_a_file_are_told_with_their_place(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    text = 'preset = "iridium-like"\n[pattern]\naltitude = "780 m"\n[links]\nseams = "none"\n'
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioFaults) as caught:
        as_constellation(file)
    reported = str(caught.value)
    assert "own.toml:3:12: pattern.altitude" in reported
    assert "distance from 100 km to 1 000 000 km" in reported
    assert "did you mean seam?" in reported
    assert reported.endswith("2 faults; nothing was run.")


def test_an_unknown_preset_is_answered_with_its_neighbour() -> None:
    ((path, got, allowed),) = faults({"preset": "iridium"})
    assert (path, got) == ("preset", '"iridium"')
    assert 'did you mean "iridium-like"?' in allowed


def test_slots_are_either_counted_or_named() -> None:
    both = {"kind": "slots", "count": 3, "longitudes": ["0 deg"]}
    assert faults({"pattern": both})[0][1:] == ("both", "one of count and longitudes")
    assert faults({"pattern": {"kind": "slots"}})[0][1] == "neither"


def test_phasing_has_as_many_values_as_there_are_planes() -> None:
    ((path, got, allowed),) = faults({"pattern": {**DELTA, "phasing": 6}})
    assert (path, got, allowed) == ("pattern.phasing", "6", "a whole number from 0 to 5 (P - 1)")


def test_a_star_has_a_seam_that_does_not_close() -> None:
    ((path, got, _),) = faults({"pattern": STAR, "links": {"kind": "grid", "seam": "closed"}})
    assert (path, got) == ("links.seam", '"closed"')


def test_a_grid_needs_planes() -> None:
    ((path, _, allowed),) = faults(
        {"pattern": {"kind": "slots", "count": 3}, "links": {"kind": "grid"}}
    )
    assert path == "links.kind"
    assert "a pattern of slots has no planes" in allowed


def test_a_greedy_route_needs_a_satellite_to_go_to() -> None:
    ((path, got, _),) = faults({"pattern": STAR, "route": "greedy", "ground": {"access": "any"}})
    assert (path, got) == ("ground.access", '"any"')


def test_given_links_name_two_satellites() -> None:
    links = {"given": [["slot-1", "slot-9"], ["slot-2", "slot-2"]]}
    found = faults({"pattern": {"kind": "slots", "count": 3}, "links": links})
    assert [path for path, _, _ in found] == ["links.given[0][1]", "links.given[1]"]


def test_satellites_of_elements_need_a_date() -> None:
    ((path, _, allowed),) = faults({"pattern": {"kind": "elements", "file": "x.tle"}})
    assert path == "earth.epoch"
    assert "a moment of UTC" in allowed


@pytest.mark.parametrize("epoch", ["2026-11-21", "2026-11-21T12:00:00", "1066-10-14T09:00:00Z"])
def test_an_epoch_is_a_moment_of_utc(epoch: str) -> None:
    ((path, _, _),) = faults({"pattern": STAR, "earth": {"epoch": epoch}})
    assert path == "earth.epoch"


def test_a_closed_delta_gives_each_satellite_four_links() -> None:
    constellation = as_constellation(
        {"pattern": {**DELTA, "planes": 12}, "links": {"kind": "grid", "seam": "closed"}}
    )
    links = look(constellation, []).links
    counts = {name: sum(name in link for link in links) for name in constellation.satellites}
    assert set(counts.values()) == {4}


def test_links_between_planes_are_off_near_the_poles() -> None:
    below = {"kind": "grid", "cross_plane_below": "60 deg"}
    constellation = as_constellation({"pattern": STAR, "links": below})
    at = positions_km(constellation, [0])[0]
    latitude_deg = np.degrees(np.arcsin(at[:, 2] / np.linalg.norm(at, axis=1)))
    number = {name: place for place, name in enumerate(constellation.satellites)}
    across = [
        link
        for link in look(constellation, []).links
        if link[0].split("-")[0] != link[1].split("-")[0]
    ]
    assert across
    assert all(abs(latitude_deg[number[end]]) <= 60 for link in across for end in link)


def test_a_matched_seam_pairs_each_satellite_once_with_the_least_total_length() -> None:
    constellation = as_constellation(
        {"pattern": STAR, "links": {"kind": "grid", "seam": "matched"}}
    )
    for minute in (0, 3, 17):
        moment = look(constellation, [], at_ps=minute * 60 * 10**12)
        at = dict(
            zip(
                constellation.satellites,
                positions_km(constellation, [minute * 60 * 10**12])[0],
                strict=True,
            )
        )
        seam = [link for link in moment.links if {e.split("-")[0] for e in link} == {"1", "6"}]
        assert len({end for link in seam for end in link}) == 22
        total = sum(np.linalg.norm(at[a] - at[b]) for a, b in seam)
        totals = [
            sum(np.linalg.norm(at[f"1-{s + 1}"] - at[f"6-{(k - s) % 11 + 1}"]) for s in range(11))
            for k in range(11)
        ]
        assert total == pytest.approx(min(totals))


def test_the_seam_of_the_paper_moves_on_by_one_when_both_planes_have_moved_by_half_a_place() -> (
    None
):
    constellation = as_constellation("jsac98-6x11")
    half_s = 6027.146 / 11 / 2  # period of the orbit over satellites, over two

    def partner(seconds: float) -> int:
        links = look(constellation, [], at_ps=int(seconds * 1e12)).links
        (link,) = [pair for pair in links if "1-1" in pair and any(e[:2] == "6-" for e in pair)]
        return int(next(end for end in link if end != "1-1")[2:])

    assert partner(0) == 9  # 11 - 1 - 1
    assert partner(half_s / 2 - 1) == 9
    assert partner(half_s / 2 + 1) == 8
    assert partner(3 * half_s / 2 + 1) == 7


def test_nearest_links_are_the_shortest_that_leave_each_satellite_its_count() -> None:
    constellation = as_constellation(
        {
            "pattern": {**DELTA, "planes": 3, "satellites_per_plane": 5},
            "links": {"kind": "nearest", "count": 2},
        }
    )
    links = look(constellation, []).links
    counts = [sum(name in link for link in links) for name in constellation.satellites]
    assert max(counts) == 2
    at = dict(zip(constellation.satellites, positions_km(constellation, [0])[0], strict=True))
    lengths = {pair: np.linalg.norm(at[pair[0]] - at[pair[1]]) for pair in links}
    # The shortest of all possible links is among them.
    names = constellation.satellites
    shortest = min(
        np.linalg.norm(at[a] - at[b]) for n, a in enumerate(names) for b in names[n + 1 :]
    )
    assert min(lengths.values()) == pytest.approx(shortest)


def test_phasings_of_the_shells_keep_satellites_farthest_apart() -> None:
    # Satellites meet where planes cross: sampled finely over the first satellite's neighbours.
    def closest_km(name: str, phasing: int) -> float:
        constellation = as_constellation(name).with_values({"pattern.phasing": phasing})
        period_ps = int(6000e12)
        times = list(range(0, period_ps, period_ps // 900))
        at = positions_km(constellation, times)
        apart = np.linalg.norm(at[:, 1:] - at[:, :1], axis=2)
        return float(apart.min())

    for name, chosen, others in (
        ("kuiper-like", 7, (5, 8, 11)),
        ("starlink-like", 65, (17, 33, 63)),
    ):
        assert all(closest_km(name, chosen) > closest_km(name, other) for other in others)


def test_places_that_no_satellite_rises_for_are_told_with_the_reach() -> None:
    with pytest.raises(ScenarioFaults) as caught:
        look(as_constellation("starlink-like"), find_places(["longyearbyen", "oslo"]))
    (fault,) = caught.value.faults
    assert (fault.path, fault.got) == ("longyearbyen", "latitude 78.22 deg")
    assert fault.allowed == "up to 61.5 deg, where a satellite still rises to 25 deg"


def test_a_place_away_from_every_slot_is_told() -> None:
    slots = as_constellation({"pattern": {"kind": "slots", "longitudes": ["0 deg"]}})
    with pytest.raises(ScenarioFaults, match=r"got +1[0-9]{2}\.[0-9] deg from the nearest slot"):
        look(slots, find_places(["tokyo"]))
