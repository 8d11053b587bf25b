"""Routes by destination: as paths have them, as Hypatia has them, and read from Hypatia's files."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from skycell.input.faults import ScenarioFaults
from skycell.orbit import as_constellation, find_places, routes, series
from skycell.orbit.fstate import read_fstate
from skycell.orbit.routes import Routes

SECOND = 10**12

# Hypatia, satgenpy, tests/test_dynamic_state.py: four satellites of Starlink's in a row over
# Africa, and who is within 1 090 km of them: Lagos of the second, Luanda and Kinshasa of the third.
ANOMALIES = ("155.4545", "171.8182", "188.1818", "204.5455")
STATIONS = (
    "0,Luanda,-8.836820,13.234320,0.0,0,0,0\n"
    "1,Lagos,6.453060,3.395830,0.0,0,0,0\n"
    "2,Kinshasa,-4.327580,15.313570,0.0,0,0,0\n"
    "3,Riyadh,24.690466,46.709566,0.0,0,0,0\n"
)
# The next hops that the test expects, by node (satellites 0 to 3, then stations 4 to 7), for the
# stations 4 to 7 in turn.
NEXT = {
    0: (1, 1, 1, -1),
    1: (2, 5, 2, -1),
    2: (4, 1, 6, -1),
    3: (2, 2, 2, -1),
    4: (None, 2, 2, -1),
    5: (1, None, 1, -1),
    6: (2, 2, None, -1),
    7: (-1, -1, -1, None),
}


def hypatia(folder: Path) -> Path:
    """The folder of that test."""
    sets = []
    for number, anomaly in enumerate(ANOMALIES):
        first = f"1 {1308 + number:05}U 00000ABC 00001.00000000  .00000000  00000-0  00000+0 0    0"
        second = (
            f"2 {1308 + number:05}  53.0000 295.0000 0000001   0.0000 {anomaly} 15.19000000    0"
        )
        sets += [f"Starlink-550 {number}", first[:68], second[:68]]
    files = {
        "tles.txt": "\n".join(["1 4", *sets]),
        "isls.txt": "0 1\n1 2\n2 3",
        "ground_stations.txt": STATIONS,
        "description.txt": "max_gsl_length_m=1089686.4181956202\nmax_isl_length_m=5016591.233",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def write_fstate(folder: Path, files: Iterable[dict[tuple[int, int], int]]) -> Path:
    """Next hops as Hypatia writes them, a file a second; interfaces are not what is read."""
    folder.mkdir()
    for second, hops in enumerate(files):
        lines = [f"{node},{to},{hop},0,0" for (node, to), hop in hops.items()]
        text = "\n".join(lines)
        (folder / f"fstate_{second * 10**9}.txt").write_text(text, encoding="utf-8")
    return folder


def next_hops(found: Routes) -> dict[tuple[int, int], int]:
    """The next hops of the first moment, by numbers of nodes as Hypatia has them."""
    numbers = {name: number for number, name in enumerate(found.nodes)}
    return {
        (numbers[node], numbers[to]): -1 if hop is None else numbers[hop]
        for node, to, hop in found.next_table().iter_rows()
    }


EXPECTED = {
    (node, 4 + label): hop
    for node, hops in NEXT.items()
    for label, hop in enumerate(hops)
    if hop is not None
}


def test_next_hops_are_those_that_hypatias_own_test_expects(tmp_path: Path) -> None:
    sky = as_constellation(hypatia(tmp_path))
    assert next_hops(routes(sky, sky.own_places)) == EXPECTED


def test_routes_of_hypatias_files_are_read_back_and_followed(tmp_path: Path) -> None:
    sky = as_constellation(hypatia(tmp_path))
    # In the next second satellite 2 hands on what is for Lagos to 3, which hands it back: a loop.
    folder = write_fstate(tmp_path / "dynamic_state", [EXPECTED, {(2, 5): 3}, {(2, 5): 1}])
    listed = read_fstate(folder, 4, 4)
    assert (listed.start_ps, listed.step_ps, listed.epochs) == (0, SECOND, 3)
    found = routes(sky, sky.own_places, [(0, 1), (1, 0)], listed=listed)
    assert next_hops(found) == EXPECTED
    changes = found.change_table().rows()
    satellites = sky.satellites
    assert changes == [
        (SECOND, satellites[2], "Lagos", satellites[1], satellites[3]),
        (2 * SECOND, satellites[2], "Lagos", satellites[3], satellites[1]),
    ]
    there, loop, again, back = found.spans
    assert there.nodes == ("Luanda", satellites[2], satellites[1], "Lagos") == again.nodes
    assert (there.missing, back.epochs) == ("", 3)
    assert "loop" in loop.missing
    assert len(loop.nodes) == 65
    assert [delay is None for delay in found.delays_ps(0)] == [False, True, False]
    assert found.validity.accounts[-1].read == {"files": 3, "routes": 30}


def test_routes_that_are_written_and_read_are_the_same_columns(tmp_path: Path) -> None:
    sky = as_constellation("iridium-like").with_values({"ground.access": "any"})
    places = find_places(["london", "tokyo", "sydney"])
    found = routes(sky, places, duration_ps=90 * SECOND, step_ps=SECOND)
    assert found.changes > 0
    numbers = {name: number for number, name in enumerate(found.nodes)}
    files = [next_hops(found), *({} for _ in range(90))]
    for time_ps, node, to, _, after in found.change_table().iter_rows():
        hop = -1 if after is None else numbers[after]
        files[time_ps // SECOND][numbers[node], numbers[to]] = hop
    listed = read_fstate(write_fstate(tmp_path / "fstate", files), len(sky.satellites), 3)
    again = routes(sky, places, listed=listed)
    assert (again.digest, again.by) == (found.digest, "table")


@pytest.mark.parametrize("by", ["delay", "hops"])
def test_the_threads_do_not_show(by: str) -> None:
    sky = as_constellation("jsac98-6x11").with_values({"route": "shortest"})
    places = find_places(["new_york", "tokyo", "paris"])
    one, three = (
        routes(sky, places, duration_ps=200 * SECOND, step_ps=SECOND, by=by, jobs=jobs).digest
        for jobs in (1, 3)
    )
    assert one == three


@pytest.mark.parametrize("name", ["iridium-like", "kuiper-like", "jsac98-6x11"])
def test_paths_hop_by_hop_have_the_delays_of_the_series(name: str) -> None:
    values = {
        "route": "shortest",
        "links.satellite_delay": "7 us",
        "ground.frame_delay": "20 us",
        "ground.mask": "25 deg",
    }
    sky = as_constellation(name).with_values(values)
    places = find_places(["london", "sydney", "new_york"])
    pairs = [(0, 1), (1, 2), (2, 0)]
    found = routes(sky, places, pairs, duration_ps=100 * SECOND, step_ps=SECOND)
    known = series(sky, places, pairs, duration_ps=100 * SECOND, step_ps=SECOND)
    for pair in range(3):
        expected = [None if ps == 2**64 - 1 else ps for ps in known.delays_ps(pair).tolist()]
        assert found.delays_ps(pair) == expected
        # The first path link by link.
        if expected[0] is not None:
            assert sum(found.first_links_ps[pair]) == expected[0]


def test_a_file_of_columns_has_the_digest_that_is_shown() -> None:
    from hashlib import sha256

    sky, places = as_constellation("iridium-like"), find_places(["london", "sydney"])
    found = routes(sky, places, with_file=True)
    assert found.file is not None
    assert (sha256(found.file).hexdigest(), len(found.file)) == (found.digest, found.octets)


def test_every_second_plane_of_an_alternating_delta_is_half_a_place_ahead(tmp_path: Path) -> None:
    from skycell.orbit import positions_km

    pattern = {
        "kind": "delta",
        "planes": 4,
        "satellites_per_plane": 6,
        "altitude": "630 km",
        "inclination": "51.9 deg",
        "phasing": 2,
    }
    found = positions_km(as_constellation({"pattern": {**pattern, "alternating": True}}), [0])[0]
    spiral = positions_km(as_constellation({"pattern": pattern}), [0])[0]
    heights = [found[plane * 6][2] for plane in range(4)]
    # An odd plane's first satellite is 30 deg ahead of its node; Walker's are 0, 30, 60, 90.
    radius_km = 6378.137 + 630
    high_km = radius_km * 0.5 * 0.7869351  # sin 30 deg, sin 51.9 deg
    assert heights == pytest.approx([0, high_km, 0, high_km], abs=0.01)
    assert spiral[18][2] == pytest.approx(2 * high_km, abs=0.01)


def faults_of(
    folder: Path, *texts: str, names: tuple[str, ...] = ()
) -> list[tuple[str, int | None]]:
    """Got and line of the faults of a folder of files with these texts."""
    folder.mkdir()
    for second, text in enumerate(texts):
        name = names[second] if names else f"fstate_{second * 10**9}.txt"
        (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioFaults) as found:
        read_fstate(folder, 4, 4)
    return [(fault.got, fault.line) for fault in found.value.faults]


def test_each_line_that_is_no_route_is_a_fault(tmp_path: Path) -> None:
    text = "0,4,1,0,0\n0,4,1\nx,4,1,0,0\n9,4,1,0,0\n0,3,1,0,0\n0,5,-2,0,0\n0,4,1,0,0\n"
    found = faults_of(tmp_path / "lines", text)
    assert [line for _, line in found] == [2, 3, 4, 5, 6, 7]
    uneven = ("fstate_0.txt", "fstate_100.txt", "fstate_300.txt")
    ((got, _),) = faults_of(tmp_path / "times", "", "", "", names=uneven)
    assert "100 to 200" in got
    ((got, _),) = faults_of(tmp_path / "none", "", names=("other.txt",))
    assert got == "none"


def test_a_listed_route_without_a_link_is_a_fault_with_its_nodes(tmp_path: Path) -> None:
    sky = as_constellation(hypatia(tmp_path))
    never = write_fstate(tmp_path / "never", [EXPECTED, {(0, 5): 3}])
    # Satellite 3 has none of the stations in range, so that the two are never linked.
    with pytest.raises(ScenarioFaults, match="node 0 to node 3"):
        routes(sky, sky.own_places, listed=read_fstate(never, 4, 4))


def test_a_greedy_route_is_a_fault() -> None:
    sky = as_constellation("iridium-like").with_values(
        {"route": "greedy", "ground.access": "nearest"}
    )
    with pytest.raises(ScenarioFaults, match="greedy"):
        routes(sky, find_places(["london", "sydney"]))
