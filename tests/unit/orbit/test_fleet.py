"""Files of satellites as they come: some are chosen, some cannot be used, some are linked."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from skycell.cli.main import main
from skycell.input.faults import ScenarioFaults
from skycell.orbit import Constellation, as_constellation, find_places, look, positions_km
from skycell.orbit.validity import validity

STATIONS = (Path(__file__).parents[2] / "validation" / "orbits" / "stations.tle").read_text("utf-8")
NAMES = [line.strip() for line in STATIONS.splitlines()[::3]]
HOUR_PS = 3600 * 10**12
DAY = "2006-06-26T00:00:00Z"


def fleet(folder: Path, text: str, links: dict[str, Any] | None = None, **keys: Any) -> Any:
    (folder / "fleet.tle").write_text(text, encoding="utf-8")
    return as_constellation(
        {
            "pattern": {"kind": "elements", "file": str(folder / "fleet.tle"), **keys},
            "links": links or {},
            "earth": {"epoch": DAY},
        }
    )


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, NAMES),
        ({"select": ["navstar*", 6251]}, ["DELTA 1 DEB", "NAVSTAR 53"]),
        ({"select": ["6000-28100"]}, ["DELTA 1 DEB", "ITALSAT 2", "CBERS 2"]),
        ({"exclude": ["ITALSAT ?", "28057"]}, [n for n in NAMES if n not in NAMES[1:3]]),
        ({"select": ["6000-28100"], "exclude": ["CBERS 2"]}, ["DELTA 1 DEB", "ITALSAT 2"]),
    ],
)
def test_satellites_are_chosen_by_name_number_and_range(
    keys: dict[str, Any], expected: list[str], tmp_path: Path
) -> None:
    assert list(fleet(tmp_path, STATIONS, **keys).satellites) == expected


@pytest.mark.parametrize("keys", [{"select": ["STARLINK-*"]}, {"select": ["9-1"]}])
def test_a_choice_that_means_no_satellite_is_a_fault(keys: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ScenarioFaults) as caught:
        fleet(tmp_path, STATIONS, **keys)
    assert "pattern.select" in caught.value.faults[0].path


def broken_fleet() -> str:
    """The first with a wrong checksum, the second of a type for another propagator."""
    lines = STATIONS.splitlines()
    lines[2] = lines[2].replace("58.0579", "58.0578")
    # The checksum is the sum of the digits: 4 more in the type, 4 more in it.
    lines[4] = lines[4][:62] + "4" + lines[4][63:68] + str((int(lines[4][68]) + 4) % 10)
    return "\n".join(lines)


def test_one_bad_set_stops_a_file_that_refuses_and_is_left_out_by_one_that_leaves_out(
    tmp_path: Path,
) -> None:
    with pytest.raises(ScenarioFaults) as caught:
        fleet(tmp_path, broken_fleet())
    assert len(caught.value.faults) == 2
    found = fleet(tmp_path, broken_fleet(), faulty="leave_out")
    assert list(found.satellites) == NAMES[2:]
    report = validity(found, 0, HOUR_PS).as_dict()
    assert report["faulty_count"] == 2
    reported = [(e["satellite"], e["catalogue_number"], e["entry"]) for e in report["faulty"]]
    assert sorted(reported) == [
        ("DELTA 1 DEB", "06251", "line 3"),
        ("ITALSAT 2", "24208", "line 5"),
    ]
    reasons = {entry["satellite"]: entry["reason"] for entry in report["faulty"]}
    assert "checksum" in reasons["DELTA 1 DEB"]
    assert "SGP4-XP" in reasons["ITALSAT 2"]
    # The others are where they are without it.
    assert (positions_km(found, [0]) == positions_km(fleet(tmp_path, STATIONS), [0])[:, 2:]).all()


def test_a_faulty_set_that_is_not_chosen_is_no_fault(tmp_path: Path) -> None:
    found = fleet(tmp_path, broken_fleet(), exclude=["DELTA*", 24208])
    assert list(found.satellites) == NAMES[2:]


def test_a_set_too_far_from_its_epoch_is_left_out_with_its_reason(tmp_path: Path) -> None:
    # At 06-26 00:00 the epochs are from 06-24 on; that of DELTA 1 DEB is 4.2 h back.
    found = fleet(tmp_path, STATIONS, faulty="leave_out", farthest="12 h")
    report = validity(found, 0, HOUR_PS)
    far = {entry.satellite for entry in report.left_out}
    assert "NAVSTAR 53" in far
    assert "DELTA 1 DEB" not in far
    sights = look(found, places_all_around()).sights.values()
    assert "DELTA 1 DEB" in {sight.satellite for seen in sights for sight in seen}


def places_all_around() -> list[Any]:
    from skycell.orbit import Place

    return [
        Place(f"{latitude} {longitude}", latitude, longitude, mask_deg=-90.0)
        for latitude in range(-90, 91, 10)
        for longitude in range(0, 360, 10)
    ]


def test_a_hundred_faults_are_a_screenful_and_a_count(tmp_path: Path) -> None:
    lines = STATIONS.splitlines()
    bad = [lines[0], lines[1], lines[2].replace("58.0579", "58.0578")]
    text = "\n".join(bad * 100 + lines)
    with pytest.raises(ScenarioFaults) as caught:
        fleet(tmp_path, text)
    assert len(str(caught.value).splitlines()) < 120
    assert "100 faults" in str(caught.value)
    notes = validity(fleet(tmp_path, text, faulty="leave_out"), 0, 0).shortcomings
    assert len(notes) == 21
    assert notes[-1] == "80 more satellites that cannot be used left out."


def test_what_is_left_out_is_told_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "fleet.tle").write_text(broken_fleet(), encoding="utf-8")
    file = tmp_path / "sky.toml"
    file.write_text(
        '[pattern]\nkind = "elements"\nfile = "fleet.tle"\nfaulty = "leave_out"\n'
        f'[earth]\nepoch = "{DAY}"\n[ground]\nmask = "-90 deg"\n',
        encoding="utf-8",
    )
    reported = CliRunner().invoke(main, ["orbit", "table", str(file), "paris", "tokyo"])
    assert reported.exit_code == 0, reported.output
    assert reported.stderr.count("is left out:") == 2
    reported = CliRunner().invoke(main, ["orbit", "table", str(file), "paris", "tokyo", "--json"])
    assert json.loads(reported.stdout)["faulty_count"] == 2


def walker(planes: int, each: int) -> str:
    """Two-line elements of a delta pattern, plane after plane, as Hypatia writes them."""
    text = [f"{planes} {each}"]
    for number in range(planes * each):
        plane, place = divmod(number, each)
        node, anomaly = 360 * plane / planes, 360 * place / each
        first = f"1 {number + 1:05}U 00000ABC 06177.00000000  .00000000  00000-0  00000+0 0    0"
        second = f"2 {number + 1:05}  53.0000 {node:8.4f} 0000001   0.0000 {anomaly:8.4f} "
        second += " 3.0000000000000"  # so high that links between neighbours clear the earth
        text += [f"Walker {number}", first[:68], second[:68]]
    return "\n".join(text)


def expected_grid(planes: int, each: int, closed: bool) -> set[frozenset[int]]:
    number = {(p, s): p * each + s for p in range(planes) for s in range(each)}
    around = {frozenset((n, number[p, (s + 1) % each])) for (p, s), n in number.items()}
    across = {
        frozenset((n, number[(p + 1) % planes, s]))
        for (p, s), n in number.items()
        if closed or p + 1 < planes
    }
    return around | across


@pytest.mark.parametrize("seam", ["none", "closed"])
@pytest.mark.parametrize("keys", [{}, {"planes": 5}, {"node_gap": "20 deg"}])
def test_a_grid_links_planes_that_are_counted_or_found(
    seam: str, keys: dict[str, Any], tmp_path: Path
) -> None:
    found = fleet(tmp_path, walker(5, 6), {"kind": "grid", "seam": seam}, **keys)
    assert linked(found) == expected_grid(5, 6, seam == "closed")


def linked(found: Constellation) -> set[frozenset[int]]:
    numbers = {name: number for number, name in enumerate(found.satellites)}
    return {frozenset((numbers[a], numbers[b])) for a, b in look(found, []).links}


def test_a_grid_without_planes_is_a_fault(tmp_path: Path) -> None:
    text = walker(5, 6).partition("\n")[2]
    for keys in ({}, {"planes": 5, "node_gap": "9 deg"}):
        with pytest.raises(ScenarioFaults) as caught:
            fleet(tmp_path, text, {"kind": "grid"}, **keys)
        assert any("planes" in f.path + f.allowed for f in caught.value.faults)


def test_links_of_a_list_are_those_of_places_in_the_file_whoever_is_left_out(
    tmp_path: Path,
) -> None:
    (tmp_path / "isls.txt").write_text("0 1\n1 2\n0 7\n", encoding="utf-8")
    links = {"file": str(tmp_path / "isls.txt")}
    whole = fleet(tmp_path, walker(2, 6), links)
    assert linked(whole) == {frozenset(pair) for pair in [(0, 1), (1, 2), (0, 7)]}
    # Without the third, the eighth of the file is the seventh of the fleet.
    part = fleet(tmp_path, walker(2, 6), links, exclude=["Walker 2"])
    assert linked(part) == {frozenset(pair) for pair in [(0, 1), (0, 6)]}
    for wrong in ("0 12\n", "3 3\n", "0\n", "a b\n"):
        (tmp_path / "isls.txt").write_text(f"0 1\n{wrong}", encoding="utf-8")
        with pytest.raises(ScenarioFaults) as caught:
            fleet(tmp_path, walker(2, 6), links)
        assert caught.value.faults[0].line == 2
    with pytest.raises(ScenarioFaults) as caught:
        fleet(tmp_path, walker(2, 6), {"file": "none.txt"})
    assert "links.file" in caught.value.faults[0].path


def test_a_folder_of_hypatia_is_a_constellation_with_its_places(tmp_path: Path) -> None:
    (tmp_path / "tles.txt").write_text(walker(4, 5), encoding="utf-8")
    (tmp_path / "isls.txt").write_text("0 1\n5 6\n", encoding="utf-8")
    (tmp_path / "ground_stations.txt").write_text(
        "0,Tokyo,35.6895,139.69171,0.0,-3954843.6,3354936.0,3700264.8\n"
        "1,Rio,-22.902780,-43.207500,12,0,0,0\n",
        encoding="utf-8",
    )
    (tmp_path / "description.txt").write_text(
        "max_gsl_length_m=1260000.0000000000\nmax_isl_length_m=5442958.2030362869\n",
        encoding="utf-8",
    )
    found = as_constellation(tmp_path)
    assert linked(found) <= {frozenset((0, 1)), frozenset((5, 6))}
    assert [(p.name, p.latitude_deg, p.height_km) for p in found.own_places] == [
        ("Tokyo", 35.6895, 0.0),
        ("Rio", -22.90278, 0.012),
    ]
    spec = found.spec(found.own_places)
    assert spec["limits"]["max_length_km"] == pytest.approx(5442.958203036)
    assert [station["longest_km"] for station in spec["stations"]] == [1260.0, 1260.0]
    assert spec["rotation"]["start_unix_ns"] == 1_151_280_000 * 10**9  # day 177 of 2006


STARRYNET = {
    "Name": "Starlink",
    "Altitude (km)": 550,
    "Cycle": 5731,
    "Inclination": 53,
    "Phase shift": 1,
    "# of orbit": 20,
    "# of satellites": 20,
    "antenna_inclination_angle": 25,
}


def test_a_configuration_of_starrynet_is_a_delta_with_its_grid(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(STARRYNET), encoding="utf-8")
    found = as_constellation(file)
    assert linked(found) == expected_grid(20, 20, closed=True)
    assert float(found.file.ground.mask.amount) == 25
    for key in ("Inclination", "# of orbit"):
        broken = {own: value for own, value in STARRYNET.items() if own != key}
        file.write_text(json.dumps(broken), encoding="utf-8")
        with pytest.raises(ScenarioFaults) as caught:
            as_constellation(file)
        assert len(caught.value.faults) == 1


def test_places_of_the_constellation_are_found_by_name(tmp_path: Path) -> None:
    (tmp_path / "places.csv").write_text(
        "name,latitude_deg,longitude_deg,max_range_km,horizon\nhut,46,8,900,90:40 180:10\n",
        encoding="utf-8",
    )
    found = as_constellation(
        {"preset": "kuiper-like", "ground": {"places": str(tmp_path / "places.csv")}}
    )
    (hut,) = find_places(["hut"], found.own_places)
    assert hut.horizon_deg == ((90.0, 40.0), (180.0, 10.0))
    sights = look(found, [hut]).sights["hut"]
    assert all(sight.slant_range_km <= 900 for sight in sights)
