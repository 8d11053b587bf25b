"""Places: the built-in cities, points, and files."""

import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from skycell.orbit import (
    Place,
    as_constellation,
    cities,
    find_places,
    named_places,
    read_places,
)
from skycell.orbit.elements import read_elements
from skycell.scenario import ScenarioFaults
from skycell.scenario.links.link_rate import LinkRate
from skycell.scenario.links.schedule import Schedule
from skycell.scenario.links.series import read_series


def test_a_place_is_a_city_a_point_or_ones_own() -> None:
    own = read_places_of("name,latitude_deg,longitude_deg,mask_deg\nhut,46.5,8.0,30\n")
    hut, city, point = find_places(["hut", "new_york", "-33.9, 18.4, 1.2"], own)
    assert (hut.mask_deg, city.latitude_deg) == (30.0, 40.71)
    assert (point.latitude_deg, point.longitude_deg, point.height_km) == (-33.9, 18.4, 1.2)


def read_places_of(text: str) -> list[Place]:
    with tempfile.TemporaryDirectory() as made:
        file = Path(made) / "places.csv"
        file.write_text(text, encoding="utf-8")
        return read_places(file)


def test_an_unknown_place_is_answered_with_its_neighbour() -> None:
    with pytest.raises(ScenarioFaults) as caught:
        find_places(["New Yrok", "atlantis", "95,0"])
    reported = [fault.allowed for fault in caught.value.faults]
    assert any("did you mean new_york?" in allowed for allowed in reported)
    assert len(reported) == 3


def test_every_fault_of_a_file_is_told_with_its_line() -> None:
    text = "name,latitude_deg,longitude_deg\na,1,2\na,3,4\n,91,x\n"
    with pytest.raises(ScenarioFaults) as caught:
        read_places_of(text)
    reported = {(fault.line, fault.path) for fault in caught.value.faults}
    assert reported == {(3, "name"), (4, "name"), (4, "latitude_deg"), (4, "longitude_deg")}


def test_a_file_without_the_columns_is_refused() -> None:
    with pytest.raises(ScenarioFaults, match="longitude_deg missing"):
        read_places_of("name,latitude_deg\na,1\n")


def test_what_a_header_holds_is_told_escaped(tmp_path: Path) -> None:
    file = tmp_path / "places.csv"
    file.write_text('name,"a\nb",\x1b[31m\nhome,1,2\n', encoding="utf-8")
    with pytest.raises(ScenarioFaults) as reported:
        read_places(file)
    assert reported.value.faults[0].got == '"name", "a\\nb", "\\u001b[31m"'


@pytest.mark.parametrize(
    ("read", "header"),
    [
        (read_places, "name,latitude_deg,longitude_deg"),
        (read_elements, "OBJECT_NAME,MEAN_MOTION,EPOCH"),
        (
            lambda file: read_series(
                file.parent, Schedule(series=file.name), LinkRate(Fraction(10**6), None, ""), None
            ),
            "time,delay,path",
        ),
    ],
)
def test_a_field_of_a_table_that_is_too_long_is_told(
    read: Callable[[Path], object], header: str, tmp_path: Path
) -> None:
    file = tmp_path / "table.csv"
    file.write_text(f"{header}\n0 s,1 ms,{'x' * 200_000}\n", encoding="utf-8")
    with pytest.raises(ScenarioFaults) as reported:
        read(file)
    assert str(reported.value) == (
        f"{file}\n  got      field larger than field limit (131072)\n  allowed  a table as CSV\n"
        "1 fault; nothing was run."
    )


def test_cities_are_different_places_on_the_earth() -> None:
    points = {(place.latitude_deg, place.longitude_deg) for place in cities().values()}
    assert len(points) == len(cities()) > 70


def test_a_city_may_be_named_as_people_write_it() -> None:
    assert find_places(["New York", " Tokyo"]) == find_places(["new_york", "tokyo"])


@pytest.mark.parametrize(("name", "count"), [("cities-100", 100), ("cities-1000", 1000)])
def test_a_built_in_list_has_each_city_once_and_a_station_for_each(name: str, count: int) -> None:
    places = named_places(name)
    assert len({place.name for place in places}) == len(places) == count
    assert all(place.population for place in places)
    # Half a degree is 56 km: a name stands for the same city as among the built-in cities.
    assert all(
        abs(place.latitude_deg - cities()[place.name].latitude_deg) < 0.5
        and abs(place.longitude_deg - cities()[place.name].longitude_deg) < 0.5
        for place in places
        if place.name in cities()
    )
    assert read_places(name) == find_places([name], with_lists=True) == list(places)


def test_the_thousand_are_in_the_order_of_their_people_and_have_the_hundred() -> None:
    people = [place.population or 0 for place in named_places("cities-1000")]
    assert people == sorted(people, reverse=True)
    assert set(named_places("cities-100")) < set(named_places("cities-1000"))


def test_the_hundred_are_in_the_order_of_hypatias_list() -> None:
    # Lines 1, 21, 58, 74 and 100 of ground_stations_cities_sorted_by_estimated_2025_pop_top_100.
    places = named_places("cities-100")
    expected = {
        0: ("tokyo", 35.6895, 139.69171),
        20: ("los_angeles", 34.031656, -118.241716),
        57: ("miami", 25.789097, -80.204044),
        73: ("saint_petersburg", 59.929858, 30.326228),
        99: ("kunming", 25.03889, 102.71833),
    }
    for number, (name, latitude_deg, longitude_deg) in expected.items():
        assert places[number].name == name
        assert places[number].latitude_deg == pytest.approx(latitude_deg, abs=0.1)
        assert places[number].longitude_deg == pytest.approx(longitude_deg, abs=0.1)


def test_a_constellation_names_a_list_as_its_places() -> None:
    sky = as_constellation("kuiper-like").with_values({"ground.places": "cities-100"})
    assert sky.own_places == named_places("cities-100")
    assert sky.accounts[-1].read == {"places": 100}


def test_a_list_that_does_not_exist_is_answered_with_those_that_do() -> None:
    sky = as_constellation("kuiper-like")
    for read in (
        lambda: named_places("cities-10"),
        lambda: read_places("cities-10"),
        lambda: find_places(["cities-10"], with_lists=True),
        lambda: sky.with_values({"ground.places": "cities-10"}),
    ):
        with pytest.raises(ScenarioFaults) as caught:
            read()
        assert "cities-100" in caught.value.faults[0].allowed


def test_a_population_is_a_whole_number_or_nothing() -> None:
    header = "name,latitude_deg,longitude_deg,population\n"
    places = read_places_of(f"{header}a,1,2,30\nb,1,3,\n")
    assert [place.population for place in places] == [30, None]
    for wrong in ("0", "-3", "1.5", "1e6", "many"):
        with pytest.raises(ScenarioFaults) as caught:
            read_places_of(f"{header}a,1,2,{wrong}\n")
        assert [(fault.path, fault.line) for fault in caught.value.faults] == [("population", 2)]


def test_a_list_is_no_place_where_each_name_is_one() -> None:
    with pytest.raises(ScenarioFaults) as caught:
        find_places(["paris", "cities-100"])
    assert [fault.got for fault in caught.value.faults] == ['"cities-100"']
