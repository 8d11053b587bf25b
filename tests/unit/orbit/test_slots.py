"""Access in slots, and what places may use: against single moments and other limits."""

from typing import Any

import pytest

from skycell.input.faults import ScenarioFaults
from skycell.orbit import Constellation, as_constellation, find_places, look, series

SECOND = 10**12
PLACES = find_places(["new_york", "london", "paris"])
RULES = ["nearest", "highest", "longest", "random", "least_used"]


def slotted(rule: str, **ground: Any) -> Constellation:
    keys = {"access": rule, "reassign": "15 s", "phase": "12 s", "mask": "25 deg", **ground}
    return as_constellation({"preset": "starlink-like", "ground": keys})


@pytest.mark.parametrize("rule", RULES)
def test_satellites_change_at_the_slots_and_stay_between_them(rule: str) -> None:
    found = slotted(rule)
    changes = [
        change
        for change in series(
            found, PLACES, [(0, 1)], duration_ps=120 * SECOND, precision_ps=1000
        ).handovers(0)
        if change.what in ("up", "down") and change.before and change.after
    ]
    assert changes
    at = [change.at_ps / SECOND for change in changes]
    assert all(abs((moment - 12) % 15) < 1e-6 or 15 - (moment - 12) % 15 < 1e-6 for moment in at)
    for begin in (12, 27, 42):
        used = [look(found, PLACES, at_ps=int((begin + d) * SECOND)).used for d in (0, 7, 14.999)]
        assert used[0] == used[1] == used[2]


def test_slots_are_counted_from_1970_with_an_epoch() -> None:
    # 00:00:05 is 7 s before :12, where a slot begins; without an epoch time 0 is a multiple.
    found = slotted("nearest").with_values({"earth.epoch": "2026-01-01T00:00:05Z"})
    assert found.spec()["access"]["slots"]["phase_ps"] == 7 * SECOND
    assert slotted("nearest").spec()["access"]["slots"]["phase_ps"] == 12 * SECOND


@pytest.mark.parametrize("rule", ["nearest", "highest"])
def test_the_choice_is_the_best_of_those_that_last_the_slot(rule: str) -> None:
    found = slotted(rule)
    begin, end = (look(found, PLACES, at_ps=at * SECOND) for at in (27, 42))
    for name in begin.sights:
        lasting = {sight.satellite for sight in end.sights[name]}
        sights = [sight for sight in begin.sights[name] if sight.satellite in lasting]
        best = (
            min(sights, key=lambda s: s.slant_range_km)
            if rule == "nearest"
            else max(sights, key=lambda s: s.elevation_deg)
        )
        assert begin.used[name] == best.satellite


def test_the_least_used_is_shared_only_where_all_are_used() -> None:
    points = find_places(["50.0,8.0", "50.1,8.1", "50.2,8.2"])
    moment = look(slotted("least_used"), points, at_ps=12 * SECOND)
    assert all(len(seen) >= 3 for seen in moment.sights.values())
    assert len(set(moment.used.values())) == 3
    shared = look(slotted("nearest"), points, at_ps=12 * SECOND)
    assert len(set(shared.used.values())) < 3


def test_the_random_choice_takes_every_satellite_and_depends_on_the_seed() -> None:
    def chosen(**keys: Any) -> list[Any]:
        found = slotted("random", **keys)
        return [look(found, PLACES, at_ps=(12 + 15 * n) * SECOND).used["paris"] for n in range(12)]

    assert chosen() == chosen()
    assert chosen() != chosen(seed=2)
    assert len(set(chosen())) > 3


@pytest.mark.parametrize(
    ("ground", "key"),
    [
        ({"access": "random"}, "ground.access"),
        ({"access": "any", "reassign": "15 s"}, "ground.access"),
        ({"access": "nearest", "reassign": "15 s", "hold": True}, "ground.hold"),
    ],
)
def test_rules_that_contradict_each_other_are_faults(ground: dict[str, Any], key: str) -> None:
    with pytest.raises(ScenarioFaults) as caught:
        as_constellation({"preset": "starlink-like", "ground": ground})
    assert [fault.path for fault in caught.value.faults] == [key]


def test_delays_beside_the_way_of_light_are_added_for_each_satellite_and_each_ground_link() -> None:
    for access in ("nearest", "any"):
        plain = as_constellation("jsac98-6x11")
        plain = plain.with_values({"route": "shortest", "ground.access": access})
        (before,) = look(plain, PLACES, [(0, 2)]).routes
        slow = plain.with_values({"ground.frame_delay": "3 ms"})
        (after,) = look(slow, PLACES, [(0, 2)]).routes
        assert after.satellites == before.satellites
        assert after.delay_ps is not None
        assert before.delay_ps is not None
        assert after.delay_ps - before.delay_ps == 2 * 3 * 10**9
        hops = look(plain.with_values({"links.satellite_delay": "1 us"}), PLACES, [(0, 2)])
        (after,) = hops.routes
        assert after.delay_ps is not None
        assert after.delay_ps - before.delay_ps == len(after.satellites) * 10**6


def test_a_place_sees_within_its_range_and_outside_its_sectors_and_the_geostationary_arc() -> None:
    base = as_constellation("starlink-like").with_values({"ground.mask": "10 deg"})
    seen = look(base, PLACES).sights["paris"]
    near = look(base.with_values({"ground.max_range": "1200 km"}), PLACES).sights["paris"]
    assert near == tuple(s for s in seen if s.slant_range_km <= 1200)
    sector = base.with_values({"ground.horizon": [["90 deg", "40 deg"], ["180 deg", "0 deg"]]})
    assert look(sector, PLACES).sights["paris"] == tuple(
        s for s in seen if not 90 <= s.azimuth_deg < 180 or s.elevation_deg >= 40
    )
    away = look(base.with_values({"ground.gso_exclusion": "18 deg"}), PLACES).sights["paris"]
    assert 0 < len(away) < len(seen)
    # From latitude 48.9 the orbit culminates at 34 degrees in the south; the north is free.
    north = {s.satellite for s in seen if s.azimuth_deg < 60 or s.azimuth_deg > 300}
    assert north <= {s.satellite for s in away}
