"""What is measured over all pairs of some stations, and on runs over a constellation."""

from itertools import pairwise
from pathlib import Path

import pytest

from skycell.experiment.run import run_spec
from skycell.orbit import Constellation, as_constellation, find_places, series
from skycell.orbit.places import Place
from skycell.orbit.routes import PathSpan, routes
from skycell.records.sky import sky_seconds
from skycell.scenario import ScenarioFaults, parse
from skycell.studies import load_study, pair_measures, reproduce
from skycell.studies.library import study_folder
from skycell.studies.network_measures import NETWORK_MEASURES, Network
from skycell.studies.pair_measures import PAIR_MEASURES, _PairOverTime
from skycell.studies.path_measures import Computed, HashedConstellation
from tests.docs.scripts import load_script

FOLDER = Path(str(study_folder("hypatia-network")))
CITIES = ("paris", "london", "tokyo", "nairobi")
SECOND_PS = 10**12


def test_the_elements_of_telesat_are_those_that_the_tool_writes() -> None:
    written = (FOLDER / "telesat-1015.tle").read_text(encoding="utf-8")
    assert written == load_script("hypatia_elements").text()


def test_every_second_plane_of_telesat_is_half_a_place_ahead() -> None:
    lines = (FOLDER / "telesat-1015.tle").read_text(encoding="utf-8").splitlines()[1:]
    seconds = lines[2::3]
    nodes = [float(line[17:25]) for line in seconds]
    anomalies = [float(line[43:51]) for line in seconds]
    assert len(seconds) == 27 * 13
    assert nodes[13] - nodes[0] == pytest.approx(360 / 27, abs=1e-4)
    assert [anomalies[13 * plane] for plane in range(3)] == pytest.approx(
        [0, 180 / 13, 0], abs=1e-4
    )


def pair(*spans: tuple[int, int, str]) -> _PairOverTime:
    """A pair with paths by first epoch, epochs and nodes; nothing stands for no path."""
    found = tuple(
        PathSpan(0, first, epochs, tuple(nodes), "" if nodes else "no route")
        for first, epochs, nodes in spans
    )
    return _PairOverTime(1000.0, 10.0, 20.0, found)


def test_changes_to_and_from_no_path_are_changes_and_have_no_hops() -> None:
    own = pair((0, 5, "axyb"), (5, 2, ""), (7, 3, "axb"))
    assert own.changes == 2
    assert own.links == [3, 2]


def test_a_look_at_every_second_epoch_misses_what_lasts_for_one_between() -> None:
    # Epochs 0 to 9; looks at 0, 2, 4, 6, 8 do not see the path of epoch 5.
    own = pair((0, 5, "axb"), (5, 1, "ayb"), (6, 4, "azb"))
    assert (own.changes, own.changes_seen(1), own.changes_seen(2)) == (2, 2, 1)
    # Back on the same path, both changes are missed.
    back = pair((0, 5, "axb"), (5, 1, "ayb"), (6, 4, "axb"))
    assert (back.changes, back.changes_seen(2)) == (2, 0)


@pytest.fixture
def kuiper(monkeypatch: pytest.MonkeyPatch) -> Constellation:
    """The shell, and a list of stations that has four cities."""
    places = tuple(find_places(CITIES))
    monkeypatch.setattr(pair_measures, "named_places", lambda _: places)
    pair_measures._over_time.cache_clear()
    return as_constellation(FOLDER / "kuiper.toml")


def measured(constellation: Constellation, name: str, quantile: float, **more: str) -> float:
    factors = {
        "stations": "four",
        "nearest": "500 km",
        "duration": "20 s",
        "step": "1 s",
        "hops": "links",
        "quantile": str(quantile),
        **more,
    }
    found = PAIR_MEASURES[name].measure(Computed(constellation, factors))
    assert found is not None
    return found


def test_quantiles_are_over_pairs_that_are_not_near_one_another(kuiper: Constellation) -> None:
    # Each pair alone, as `orbit series` has it. Paris and London are 340 km apart.
    greatest = []
    for source, target in ((0, 2), (0, 3), (1, 2), (1, 3), (2, 3)):
        places = find_places([CITIES[source], CITIES[target]])
        one = series(kuiper, places, [(0, 1)], duration_ps=19 * SECOND_PS, step_ps=SECOND_PS)
        greatest.append(max(2 * int(delay) / 1e9 for delay in one.delays_ps(0)))
    greatest.sort()
    for quantile, expected in ((20, greatest[0]), (50, greatest[2]), (100, greatest[4])):
        assert measured(kuiper, "pairs_greatest_round_trip", quantile) == pytest.approx(expected)
    near = measured(kuiper, "pairs_greatest_round_trip", 1, nearest="0 km")
    assert near < greatest[0] / 2


def test_hops_are_links_or_the_satellites_between_them(kuiper: Constellation) -> None:
    pairs = [
        own
        for own in pair_measures._over_time(HashedConstellation(kuiper), "four", "20 s", "1 s")
        if own.apart_km > 500
    ]
    by_links = max(max(own.links) / min(own.links) for own in pairs)
    by_satellites = max((max(own.links) - 1) / (min(own.links) - 1) for own in pairs)
    assert by_satellites > by_links > 1
    assert measured(kuiper, "pairs_hop_ratio", 100) == pytest.approx(by_links)
    found = measured(kuiper, "pairs_hop_ratio", 100, hops="satellites")
    assert found == pytest.approx(by_satellites)


def network(pairs: list[list[str]], **more: object) -> dict[str, object]:
    port = {"rate": "2 Mbit/s", "framing": "ip", "buffer": "20 packets"}
    return {
        "run": {"duration": "4 s", "measure_from": "1 s"},
        "topology": {
            "kind": "constellation",
            "constellation": "kuiper.toml",
            "stations": list(CITIES),
            "inter_satellite": port,
            "ground": port,
            **more,
        },
        "traffic": [{"pairs": pairs}],
    }


def number(values: dict[str, object], measure: str, pair: str, links: str = "all") -> float:
    of = Network(values, FOLDER, {"pair": pair, "links": links})
    found = NETWORK_MEASURES[measure].measure(of)
    assert found is not None
    return found


def test_what_is_left_is_what_the_fullest_link_of_the_path_in_force_leaves() -> None:
    values = network([["paris", "tokyo"], ["nairobi", "tokyo"]])
    spec = parse(values, name="x", folder=FOLDER).resolve()
    rows = sky_seconds(spec, run_spec(spec).traces)
    loads = dict(zip(rows.select("link", "second").iter_rows(), rows["load"], strict=True))
    places: list[Place] = list(find_places(CITIES))
    (span, *others) = routes(
        as_constellation(FOLDER / "kuiper.toml"), places, [(0, 2)], duration_ps=4 * SECOND_PS
    ).spans
    assert not others
    path = list(pairwise(span.nodes))

    def load(link: tuple[str, str], second: int) -> float:
        kind = {path[0]: "up", path[-1]: "down"}.get(link)
        named = (f"{link[0]}>{link[1]}", f"{link[0]}>{kind}")
        return next((loads[name, second] for name in named if (name, second) in loads), 0.0)

    left = [1 - max(load(link, second) for link in path) for second in (1, 2, 3)]
    assert len({round(part, 3) for part in left}) > 1
    expected = 100 * sum(left) / 3
    assert number(values, "mean_left_capacity", "paris>tokyo") == pytest.approx(expected)
    between = [1 - max(load(link, second) for link in path[1:-1]) for second in (1, 2, 3)]
    found = number(values, "mean_left_capacity", "paris>tokyo", links="between_satellites")
    assert found == pytest.approx(100 * sum(between) / 3)
    thirds = 100 * sum(part > 1 / 3 for part in left) / 3
    assert number(values, "third_left_time", "paris>tokyo") == pytest.approx(thirds)


def test_each_is_the_mean_over_the_pairs() -> None:
    values = network([["paris", "tokyo"], ["nairobi", "london"]])
    pairs = ("paris>tokyo", "nairobi>london")
    for measure in ("mean_left_capacity", "deviation_of_left_capacity", "pair_goodput"):
        own = [number(values, measure, pair) for pair in pairs]
        assert own[0] != pytest.approx(own[1])
        assert number(values, measure, "each") == pytest.approx(sum(own) / 2)


def test_a_choice_that_does_not_fit_is_refused_before_a_run() -> None:
    with pytest.raises(ScenarioFaults, match=r"inter_satellite\.rate"):
        reproduce(["hypatia-network-left"], overrides={"link.rate": "fast"}, version="test")
    with pytest.raises(ScenarioFaults, match=r"altitude"):
        reproduce(["hypatia-network-hops"], overrides={"starlink.altitude": "0 km"}, version="test")


def test_the_pairs_are_those_of_a_reciprocal_permutation() -> None:
    study = load_study("hypatia-network")
    (traffic,) = study.experiments["traffic"].scenario["traffic"]
    pairs = [tuple(pair) for pair in traffic["pairs"]]
    assert len(pairs) == len(set(pairs)) == 88
    assert {(target, source) for source, target in pairs} == set(pairs)
    assert len({source for source, _ in pairs}) == 88
