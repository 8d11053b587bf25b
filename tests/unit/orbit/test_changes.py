"""When paths change, against series of much shorter steps and against single moments."""

import json

import pytest

from skycell._core import orbit_series
from skycell.orbit import Series, as_constellation, find_places, look, series

MS = 10**9
SECOND = 10**12
PRECISION_PS = 1000
PLACES = find_places(["new_york", "tokyo"])
FREE = as_constellation("jsac98-6x11")
HELD = FREE.with_values({"ground.hold": True, "ground.access": "longest", "ground.mask": "10 deg"})


def exact(constellation: object, seconds: int, step_ps: int, start_ps: int = 0) -> Series:
    return series(
        constellation,  # type: ignore[arg-type]
        PLACES,
        [(0, 1), (1, 0)],
        duration_ps=seconds * SECOND,
        step_ps=step_ps,
        start_ps=start_ps,
        precision_ps=PRECISION_PS,
    )


def test_a_change_is_the_first_moment_of_the_new_path() -> None:
    found = exact(FREE, 900, 10 * SECOND)
    changes = found.handovers()
    assert len(changes) > 4
    for change in changes:
        pair = found.pairs[change.pair]
        before = look(FREE, PLACES, [pair], change.at_ps - PRECISION_PS).routes[0]
        after = look(FREE, PLACES, [pair], change.at_ps).routes[0]
        assert (before.satellites, after.satellites) == (change.before, change.after)
        assert after.delay_ps == change.delay_after_ps
        assert before.delay_ps is not None
        assert change.delay_before_ps is not None
        # The search ends up to the precision before the change.
        assert abs(before.delay_ps - change.delay_before_ps) <= 1


def test_changes_of_long_steps_are_those_that_short_steps_show() -> None:
    long_steps = exact(FREE, 600, 10 * SECOND).handovers(0)
    short = series(FREE, PLACES, [(0, 1)], duration_ps=600 * SECOND, step_ps=50 * MS).handovers()
    assert [change.after for change in long_steps] == [change.after for change in short]
    for found, shown in zip(long_steps, short, strict=True):
        assert 0 <= shown.at_ps - found.at_ps < 50 * MS


def test_a_held_satellite_is_left_as_it_sets_whatever_the_step() -> None:
    coarse = exact(HELD, 1500, 7 * SECOND).handovers()
    fine = exact(HELD, 1500, 500 * MS).handovers()
    assert [(c.pair, c.before, c.after) for c in coarse] == [
        (c.pair, c.before, c.after) for c in fine
    ]
    assert {change.what for change in fine} & {"up", "down"}
    for one, other in zip(coarse, fine, strict=True):
        assert abs(one.at_ps - other.at_ps) <= PRECISION_PS
    for change in fine:
        if change.what == "up" and change.pair == 0:
            first = HELD, PLACES
            sights = [
                look(*first, at_ps=change.at_ps + offset).sights["new_york"]
                for offset in (-2 * PRECISION_PS, 0)
            ]
            seen = [{sight.satellite for sight in seen} for seen in sights]
            assert change.before[0] in seen[0] - seen[1]


def test_a_path_that_is_lost_and_found_is_told_at_its_moments() -> None:
    sparse = FREE.with_values({"ground.mask": "25 deg"})
    found = exact(sparse, 1200, 10 * SECOND)
    kinds = {change.what for change in found.handovers()}
    assert {"lost", "found"} <= kinds
    for change in found.changes:
        is_there = bool(change.route.satellites)
        assert (change.route.delay_ps is not None) == is_there == (not change.route.missing)
        assert (len(change.route.links_ps) == len(change.route.satellites) + 1) or not is_there


def test_changes_are_given_in_the_order_of_time_by_pair() -> None:
    found = exact(FREE, 900, 30 * SECOND)
    keys = [(change.pair, change.at_ps) for change in found.changes]
    assert keys == sorted(keys)
    assert {pair for pair, _ in keys} == {0, 1}


def test_without_a_precision_nothing_is_looked_for() -> None:
    found = series(FREE, PLACES, [(0, 1)], duration_ps=600 * SECOND)
    assert found.changes == ()
    assert found.handovers()


def test_a_precision_of_nothing_is_refused() -> None:
    spec = json.dumps(FREE.spec(PLACES, [(0, 1)]))
    with pytest.raises(ValueError, match="allowed is 1 ps"):
        orbit_series(spec, 0, SECOND, 3, 1, precision_ps=0)
