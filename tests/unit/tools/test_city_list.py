"""How the list of the most populous cities is made of its two sources."""

import json
from pathlib import Path

import pytest

from tests.docs.scripts import load_script


def municipality(
    name: str, people: int, latitude_deg: float, country: str = "FR"
) -> dict[str, object]:
    return {
        "geonameid": len(name),
        "name": name,
        "countrycode": country,
        "admin1code": "A1",
        "latitude": latitude_deg,
        "longitude": 0.0,
        "population": people,
    }


def urban(name: str, people: int, latitude_deg: float) -> dict[str, str]:
    position = {"lat": str(latitude_deg), "lng": "0.0"}
    return {"city_ascii": name, "iso2": "FR", "population": str(people), **position}


@pytest.fixture
def cities(tmp_path: Path) -> dict[str, int]:
    """People by name, the most populous first. A hundredth of a degree of latitude is 1.1 km."""
    municipalities = [
        municipality("Core", 300_000, 40.0),
        municipality("Greater suburb", 400_000, 40.08),
        municipality("Misprint", 110_000, 50.0),
        municipality("Alone", 200_000, 60.0),
        municipality("Prefecture", 250_000, -20.0, "CN"),
    ]
    areas = [
        urban("Core", 900_000, 40.01),
        urban("Misprint", 9_000_000, 50.0),
        urban("Foreign name", 5_000_000, -20.0),
    ]
    (tmp_path / "g.json").write_text(json.dumps(dict(enumerate(municipalities))), encoding="utf-8")
    (tmp_path / "s.json").write_text(json.dumps(areas), encoding="utf-8")
    found = load_script("city_list").read(tmp_path / "s.json", tmp_path / "g.json")
    return {city.name: city.population for city in found}


def test_the_number_of_people_is_the_median_of_three(cities: dict[str, int]) -> None:
    assert cities == {
        # 300 000, 700 000 with the suburb 9 km away, and 900 000 of the area of its name.
        "core": 700_000,
        # 400 000 twice, as no urban area has its name, and 700 000.
        "greater_suburb": 400_000,
        # 250 000 twice and 5 000 000; China's names are GeoNames'.
        "prefecture": 250_000,
        "alone": 200_000,
        # 110 000 twice and 9 000 000.
        "misprint": 110_000,
    }
    assert list(cities.values()) == sorted(cities.values(), reverse=True)


def test_a_place_near_a_more_populous_one_is_part_of_it_unless_it_is_asked_for() -> None:
    tool = load_script("city_list")
    made = [
        tool.City(name, country, "a1", latitude_deg, 0.0, people)
        for name, country, latitude_deg, people in (
            ("great", "FR", 40.0, 900),
            ("near", "FR", 40.1, 800),
            ("far", "FR", 41.0, 700),
            ("great", "ES", 10.0, 600),
            ("great", "ES", 20.0, 500),
        )
    ]
    assert [city.population for city in tool.chosen(made, [])] == [900, 700, 600, 500]
    asked = tool.chosen(made, [("near", "FR"), ("great", "FR")])
    assert [city.population for city in asked] == [900, 800, 700, 600, 500]
    names = [city.name for city in tool.named_apart(asked, {})]
    assert names == ["great", "near", "far", "great_es", "great_es_a1"]
    kept = [city.name for city in tool.named_apart(asked, {"great": "ES"})]
    assert kept == ["great_fr", "near", "far", "great", "great_es"]
