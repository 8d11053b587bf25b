"""Places: the built-in cities, points, and files."""

import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from skycell.orbit import Place, cities, find_places, read_places
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
