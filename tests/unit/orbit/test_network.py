"""Which satellite a station uses, how a path changes, and what tables say of it."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from skycell.orbit import as_constellation, find_places, look, series
from skycell.orbit.over_time import NO_PATH_PS

SECOND = 10**12
PLACES = find_places(["new_york", "tokyo"])
BASE = as_constellation("jsac98-6x11")


def test_nearest_and_highest_are_the_extremes_of_what_is_seen() -> None:
    for rule, key in (("nearest", "slant_range_km"), ("highest", "elevation_deg")):
        moment = look(BASE.with_values({"ground.access": rule}), PLACES, at_ps=777 * SECOND)
        for name, sights in moment.sights.items():
            best = min if rule == "nearest" else max
            assert moment.used[name] == best(sights, key=lambda s: getattr(s, key)).satellite


def test_the_longest_visible_satellite_outlives_the_others() -> None:
    found = BASE.with_values({"ground.access": "longest", "ground.mask": "10 deg"})
    moment = look(found, PLACES)
    last: dict[str, int] = {}
    for second in range(0, 1500, 5):
        later = look(found, PLACES, at_ps=second * SECOND)
        for sight in later.sights["new_york"]:
            if last.get(sight.satellite, -5) == second - 5:
                last[sight.satellite] = second
    at_start = {sight.satellite for sight in moment.sights["new_york"]}
    longest = max(last[name] for name in at_start)
    assert last[str(moment.used["new_york"])] == longest


def test_a_held_satellite_is_left_only_when_it_has_set() -> None:
    held = BASE.with_values({"ground.hold": True, "ground.mask": "10 deg"})
    found = series(held, PLACES, [(0, 1)], duration_ps=3000 * SECOND)
    free = series(
        held.with_values({"ground.hold": False}), PLACES, [(0, 1)], duration_ps=3000 * SECOND
    )
    changes = [change for change in found.handovers() if change.what == "up"]
    assert changes
    for change in changes:
        seen = look(held, PLACES, at_ps=change.at_ps).sights["new_york"]
        assert change.before[0] not in {sight.satellite for sight in seen}
    assert found.handovers()[0].at_ps > free.handovers()[0].at_ps


def test_without_links_a_path_is_one_satellite_that_both_ends_see() -> None:
    ring = as_constellation(
        {
            "pattern": {"kind": "slots", "longitudes": ["-30 deg", "80 deg"]},
            "ground": {"access": "any"},
        }
    )
    places = find_places(["new_york", "paris", "tokyo"])
    first, second = look(ring, places, [(0, 1), (0, 2)]).routes
    assert first.satellites == ("slot-1",)
    assert second.missing == "the satellites at both ends are not connected"


def test_a_place_that_sees_nothing_now_is_told_how_high_the_highest_stands() -> None:
    sparse = BASE.with_values({"ground.mask": "40 deg"})
    route = look(sparse, PLACES, [(0, 1)]).routes[0]
    assert route.delay_ps is None
    assert route.missing.startswith("new_york sees no satellite; the highest, ")
    assert route.missing.endswith("deg")


def test_intervals_cover_every_step_of_every_pair_once() -> None:
    found = series(
        BASE.with_values({"ground.mask": "25 deg"}),
        PLACES,
        [(0, 1), (1, 0)],
        duration_ps=1000 * SECOND,
    )
    for pair in (0, 1):
        own = [interval for interval in found.intervals if interval.pair == pair]
        assert own[0].first_step == 0
        assert sum(interval.steps for interval in own) == found.steps
        assert all(a.satellites != b.satellites or a.missing != b.missing for a, b in pairwise(own))
        for interval in own:
            steps = slice(interval.first_step, interval.first_step + interval.steps)
            missing = found.delays_ps(pair)[steps] == NO_PATH_PS
            assert missing.all() if not interval.satellites else not missing.any()
    assert {change.what for change in found.handovers()} >= {"lost", "found"}


def test_links_add_up_to_the_delay_of_every_step() -> None:
    found = series(BASE, PLACES, [(0, 1), (1, 0)], duration_ps=600 * SECOND, with_links=True)
    links = found.link_table()
    summed = links.group_by(["from", "to", "time_ps"], maintain_order=True).agg(
        pl.col("delay_ps").sum()
    )
    delays = found.delay_table()
    assert summed["delay_ps"].to_list() == delays["delay_ps"].to_list()
    first = links.filter((links["time_ps"] == 0) & (links["from"] == "new_york"))
    assert first["source"][0] == "new_york"
    assert first["target"][-1] == "tokyo"
    assert first["target"].to_list()[:-1] == first["source"].to_list()[1:]


def test_links_are_refused_where_they_were_not_kept() -> None:
    found = series(BASE, PLACES, [(0, 1)], duration_ps=10 * SECOND)
    with pytest.raises(ValueError, match="with_links keeps them"):
        found.link_table()


def test_a_ring_that_stands_still_keeps_its_delay() -> None:
    ring = as_constellation("geo-ring").with_values({"pattern.count": 6})
    found = series(ring, PLACES, [(0, 1)], duration_ps=3600 * SECOND, step_ps=60 * SECOND)
    assert len(set(found.delays_ps(0).tolist())) == 1
    assert found.handovers() == []


def test_delays_change_smoothly_between_handovers() -> None:
    # Two ends approach at less than 2 x 7.5 km/s: 50 us of delay a second and link.
    found = series(BASE, PLACES, [(0, 1)], duration_ps=1200 * SECOND)
    delays = found.delays_ps(0).astype(np.int64)
    steps = np.abs(np.diff(delays))
    jumps = {change.at_ps // SECOND for change in found.handovers()}
    for step, change in enumerate(steps, start=1):
        assert step in jumps or change < 7 * 50e6


def test_series_need_steps_and_room() -> None:
    with pytest.raises(ValueError, match="steps are above 0"):
        series(BASE, PLACES, [(0, 1)], duration_ps=SECOND, step_ps=0)
    with pytest.raises(
        ValueError, match=r"delays at 1000000001 steps, threads: \d+; allowed are 200000000"
    ):
        series(BASE, PLACES, [(0, 1)], duration_ps=10**9 * SECOND)


def test_a_series_can_be_given_up() -> None:
    from skycell._core import RunCancelled

    with pytest.raises(RunCancelled):
        series(
            as_constellation("starlink-like"),
            PLACES,
            [(0, 1)] * 40,
            duration_ps=20_000 * SECOND,
            on_progress=lambda share: False,
        )
