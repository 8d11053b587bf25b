"""Budgets by hand: geometry, weather and noise, two hops, MODCOD and rate, and the year."""

import csv
import math
from itertools import pairwise
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any

import pytest

from skycell.coding import threshold_db
from skycell.input.quantities import PS_PER_SECOND
from skycell.link import (
    Carrier,
    as_carrier,
    availability_curve,
    budget_of,
    es_n0_series,
)
from skycell.metrics.budget import budgets
from skycell.orbit import as_constellation, find_places, sights
from skycell.orbit.checks import EQUATORIAL_RADIUS_KM
from skycell.scenario import parse
from tests.unit.link import carriers
from tests.unit.link.test_published import found_of, values_of

TWO_HOPS: dict[str, Any] = {
    "carrier": {"rate": "10 Mbaud"},
    "up": {
        "frequency": "14 GHz",
        "range": "38000 km",
        "rain": "10 dB",
        "transmitter": {"eirp": "60 dBW"},
        "receiver": {"g_t": "5 dB/K"},
    },
    "down": {
        "frequency": "12 GHz",
        "range": "38000 km",
        "rain": "4 dB",
        "transmitter": {"eirp": "45 dBW"},
        "receiver": {"g_t": "17 dB/K"},
    },
}

RAIN = [(0.01, 24.0), (0.1, 12.0), (1.0, 4.0), (10.0, 1.0), (50.0, 0.0)]
"""Per cent of a year, and dB that are exceeded in it."""


def with_table(
    folder: Path,
    rain: list[tuple[float, float]] = RAIN,
    values: dict[str, Any] | None = None,
) -> Carrier:
    """A downlink with 16 dB of Es/N0 in clear sky, and the rain of a table."""
    with (folder / "rain.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("percent", "attenuation_db"), *rain])
    file_of_carrier = folder / "carrier.toml"
    file_of_carrier.write_text(
        "[carrier]\nrate = '10 Mbaud'\n[down]\nfrequency = '20 GHz'\nrange = '38000 km'\n"
        "rain_table = 'rain.csv'\nreceiver.g_t = '20 dB/K'\ntransmitter.eirp = '0 dBW'\n"
    )
    clear = budget_of(as_carrier(file_of_carrier), 50.0).ratio_db
    eirp = {"down.transmitter.eirp": f"{16 - clear:.6f} dBW"}
    return as_carrier(file_of_carrier, {**eirp, **(values or {})})


def test_a_slot_and_a_place_give_range_and_elevation() -> None:
    # The closed form of a sphere: cos g = cos(latitude) cos(difference of longitudes).
    latitude, longitude, slot, orbit = 30.0, 20.0, 50.0, 42_164.0
    angle = math.acos(math.cos(math.radians(latitude)) * math.cos(math.radians(slot - longitude)))
    far = math.sqrt(
        orbit**2 + EQUATORIAL_RADIUS_KM**2 - 2 * orbit * EQUATORIAL_RADIUS_KM * math.cos(angle)
    )
    elevation = math.degrees(math.acos(orbit * math.sin(angle) / far))
    carrier: dict[str, Any] = {**carriers.KU_DOWN, "satellite": {"longitude": "50 deg"}}
    hop = {key: value for key, value in carriers.KU_DOWN["down"].items() if key != "range"}
    found = found_of({**carrier, "down": {**hop, "place": "30,20"}})
    # At 30 degrees WGS84 lies 5.3 km below that sphere, and its horizon is tilted by 0.17 degrees.
    assert found["d"] == pytest.approx(far, abs=10)
    assert found["el"] == pytest.approx(elevation, abs=0.2)


def test_a_constellation_and_a_place_give_the_highest_satellite_or_one_by_name() -> None:
    hop = {key: value for key, value in carriers.LEO_DOWN["down"].items() if key != "elevation"}
    carrier = {
        **carriers.LEO_DOWN,
        "satellite": {"constellation": "iridium-like", "at": "5 min"},
        "down": {**hop, "place": "london"},
    }
    made = as_carrier(carrier)
    sky = as_constellation("iridium-like")
    [angles] = sights(sky, find_places(["london"]), sky.satellites, [300 * PS_PER_SECOND]).angles
    best = int(angles[0, :, 1].argmax())
    found = values_of(budget_of(made))
    assert (found["el"], found["d"]) == pytest.approx(tuple(angles[0, best, 1:]))
    named = found_of(carrier, {"satellite.name": sky.satellites[best]})
    assert named == found


def test_an_aperture_and_its_gain_say_the_same() -> None:
    losses = {"feeder_loss": "1 dB", "back_off": "2 dB"}
    antenna = {"diameter": "1.2 m", "efficiency": 0.6}
    by_diameter = {"transmitter": {"power": "2 W", **antenna, **losses}}
    hop = {**carriers.KU_UP["up"], **by_diameter}
    found = found_of({**carriers.KU_UP, "up": hop})
    wave = 299_792_458 / 14e9
    gain = 10 * math.log10(0.6 * (math.pi * 1.2 / wave) ** 2)
    assert found["EIRP"] == pytest.approx(10 * math.log10(2) - 1 - 2 + gain)


@pytest.mark.parametrize(
    ("receiver", "noise"),
    [
        # 6 dB of rain let a quarter through; the medium has 275 K.
        ({"gain": "40 dBi", "system_temperature": "200 K"}, 200 + 275 * (1 - 10**-0.6)),
        (
            {"gain": "40 dBi", "sky_temperature": "50 K", "receiver_temperature": "150 K"},
            150 + 50 * 10**-0.6 + 275 * (1 - 10**-0.6),
        ),
        ({"gain": "40 dBi", "system_temperature": "200 K", "weather_noise": False}, 200),
    ],
)
def test_weather_adds_noise_to_the_temperature(receiver: dict[str, Any], noise: float) -> None:
    hop = {**carriers.KU_DOWN["down"], "rain": "6 dB", "clouds": "0 dB", "receiver": receiver}
    found = found_of({**carriers.KU_DOWN, "down": hop})
    assert found["T0"] + found["ΔT"] == pytest.approx(noise)
    assert found["G/T"] == pytest.approx(40 - 10 * math.log10(noise))


def test_weather_adds_noise_to_a_satellite_only_if_asked() -> None:
    receiver = {"gain": "32.9 dBi", "system_temperature": "400 K"}
    hop = {**carriers.KU_UP["up"], "receiver": receiver}
    assert found_of({**carriers.KU_UP, "up": hop})["ΔT"] == 0
    asked = {**hop, "receiver": {**receiver, "weather_noise": True}}
    assert found_of({**carriers.KU_UP, "up": asked})["ΔT"] > 100


def test_a_stated_merit_falls_with_the_noise_where_the_temperature_is_known() -> None:
    hop = {**carriers.KU_DOWN["down"], "rain": "6 dB", "clouds": "0 dB"}
    merit = {"g_t": "17 dB/K"}
    assert found_of({**carriers.KU_DOWN, "down": {**hop, "receiver": merit}})["G/T"] == 17
    known = {**merit, "system_temperature": "200 K"}
    found = found_of({**carriers.KU_DOWN, "down": {**hop, "receiver": known}})
    rise = 1 + 275 * (1 - 10**-0.6) / 200
    assert found["G/T"] == pytest.approx(17 - 10 * math.log10(rise))


def test_clouds_add_to_rain_and_scintillation_does_so_in_squares() -> None:
    parts = {"gases": "1 dB", "clouds": "1 dB", "rain": "2 dB", "scintillation": "4 dB"}
    found = found_of({**carriers.KU_DOWN, "down": {**carriers.KU_DOWN["down"], **parts}})
    # ITU-R P.618-13 2.5: 1 + sqrt((2 + 1)^2 + 4^2).
    assert found["A"] == pytest.approx(6)


def test_of_two_hops_the_one_which_leaves_less_has_the_weather() -> None:
    ratios = {}
    for faded in ("up", "down", "both", "worse"):
        ratios[faded] = budget_of(as_carrier(TWO_HOPS, {"carrier.faded": faded})).ratio_db
    assert ratios["both"] < ratios["worse"] == min(ratios["up"], ratios["down"])
    assert ratios["up"] != ratios["down"]
    hops = budget_of(as_carrier(TWO_HOPS, {"carrier.faded": "both"})).hops
    shares = sum(10 ** (-hop.c_n_i_db / 10) for hop in hops)
    assert ratios["both"] == pytest.approx(-10 * math.log10(shares))


def test_the_highest_modcod_with_the_margin_gives_the_rate_of_ip(tmp_path: Path) -> None:
    carrier = with_table(tmp_path, values={"carrier.margin": "0.5 dB"})
    # 16 dB less 4 dB of rain: 12.0 dB, of which 11.5 are to be used.
    found = budget_of(carrier, 99.0)
    assert found.ratio_db == pytest.approx(12.0, abs=1e-5)
    assert found.modcod == "16APSK 4/5"  # 11.03 dB; 16APSK 5/6 needs 11.61
    assert found.margin_db == pytest.approx(12.0 - threshold_db("16APSK 4/5"), abs=1e-5)
    # 10 Mbaud, 4 bits, rate 4/5, of which pilots, headers of BBFRAMEs and of GSE take some.
    assert found.ip_bps == pytest.approx(32e6, rel=0.06)
    assert found.ip_bps is not None
    assert found.ip_bps < 32e6
    lower = {"carrier.framing": {"kind": "gse", "modcod": "8PSK 2/3"}}
    assert budget_of(carrier.with_values(lower), 99.0).modcod == "8PSK 2/3"
    lost = budget_of(carrier.with_values({"carrier.implementation_loss": "1 dB"}), 99.0)
    assert lost.ratio_db == pytest.approx(11.0, abs=1e-5)
    outage = budget_of(carrier, 99.99)  # -8 dB
    assert (outage.modcod, outage.ip_bps, outage.margin_db) == (None, 0, None)


def test_the_rate_of_ip_is_that_of_the_budget_of_bits(tmp_path: Path) -> None:
    found = budget_of(with_table(tmp_path), 99.0)
    assert found.modcod is not None
    framing = {"kind": "gse", "modcod": found.modcod}
    bottleneck = {"rate": "10 Mbaud", "framing": framing, "delay": "1 ms", "buffer": "1 BDP"}
    scenario = parse(
        {
            "preset": "rfc-modern",
            "run": {"duration": "1 s"},
            "tcp": {"mss": "1448 B"},  # and timestamps: packets of 1500 octets
            "topology": {
                "kind": "dumbbell",
                "sources": 1,
                "access": {"delay": "1 ms", "rate": "1 Gbit/s", "framing": "ethernet"},
                "bottleneck": bottleneck,
            },
        }
    )
    [link] = [one for one in budgets(scenario) if one.symbol_rate == 10e6]
    ip = sum(layer.bps for layer in link.layers if layer.name in ("IP", "TCP", "TCP payload"))
    assert found.ip_bps == pytest.approx(ip, rel=1e-6)


def test_a_table_is_a_line_over_the_logarithm_of_the_percentage(tmp_path: Path) -> None:
    # Half way between 0.1 % (12 dB) and 1 % (4 dB).
    found = values_of(budget_of(with_table(tmp_path), 100 - 10**-0.5))
    assert found["A_R"] == pytest.approx(8.0)


def test_availability_and_the_mean_of_the_year(tmp_path: Path) -> None:
    # No rain for 90 % of a year, 6 dB for nearly all of the rest, and an outage for 1 %.
    steps = [(1.0, 40.0), (1.000001, 6.0), (9.999999, 6.0), (10.0, 0.0), (50.0, 0.0)]
    carrier = with_table(tmp_path, steps)
    curve = availability_curve(carrier, 50.0, 98.9)
    rates = {point.availability: point.ip_bps for point in curve.points}
    high, low = rates[50.0], rates[98.0]
    assert high is not None
    assert low is not None
    assert curve.mean_ip_bps == pytest.approx(0.90 * high + 0.09 * low, rel=1e-3)
    found = [point.ratio_db for point in curve.drawn]
    assert all(later <= before for before, later in pairwise(found))
    assert [point.availability for point in curve.points] == [50, 80, 90, 95, 98, 98.9]


def test_a_series_has_the_distribution_of_the_budget(tmp_path: Path) -> None:
    carrier = with_table(tmp_path)
    # Samples 20 time constants apart do not know of each other.
    series = list(es_n0_series(carrier, "1", 100_000 * PS_PER_SECOND, 40_000))
    cuts = quantiles(series, n=1000)
    for availability, tenths in ((90.0, 100), (99.0, 10), (99.9, 1)):
        # The spread of a quantile, in per cent of a year: sqrt(p (1 - p) / 40 000), three times.
        p = 1 - availability / 100
        three = 3 * 100 * math.sqrt(p * (1 - p) / 40_000)
        low, high = (budget_of(carrier, availability + shift).ratio_db for shift in (three, -three))
        assert low <= cuts[tenths - 1] <= high


def test_a_series_forgets_with_its_time_constant(tmp_path: Path) -> None:
    # Half of a year it does not rain. Two normal scores of correlation r are both beyond their
    # medians with 1/4 + asin(r) / (2 pi) (Sheppard).
    clear = budget_of(with_table(tmp_path), 50.0).ratio_db
    ratios = es_n0_series(with_table(tmp_path), "1", 1000 * PS_PER_SECOND, 400_000)
    rains = [ratio < clear - 1e-4 for ratio in ratios]
    for lag in (2, 5):
        both = fmean(a and b for a, b in zip(rains, rains[lag:], strict=False))
        r = math.exp(-lag / 5)  # 5 000 s, samples each 1 000 s
        # 80 000 time constants, of which 40 000 do not know of each other: the spread of such a
        # part is 0.0023, and three times that is allowed.
        assert both == pytest.approx(0.25 + math.asin(r) / (2 * math.pi), abs=0.007)


def test_each_seed_and_each_hop_has_draws_of_its_own(tmp_path: Path) -> None:
    carrier = with_table(tmp_path)
    first, again, other = (
        list(es_n0_series(carrier, seed, PS_PER_SECOND, 50)) for seed in ("2", "2", "3")
    )
    assert first == again != other


def test_rain_above_five_per_cent_of_a_year_is_none_by_the_recommendation() -> None:
    pytest.importorskip("itur", reason="itur is not installed")
    carrier = as_carrier(carriers.of_place("london", "19.7 GHz", "30 deg"))
    found = {level: values_of(budget_of(carrier, level)) for level in (94.0, 96.0)}
    assert found[94.0]["A_R"] == 0 < found[96.0]["A_R"]
    assert found[94.0]["A_G"] > 0


def test_the_curve_of_a_place_is_the_recommendations_own() -> None:
    pytest.importorskip("itur", reason="itur is not installed")
    fade = as_carrier(carriers.of_place("singapore", "29 GHz", "30 deg")).ways["down"].fade
    for percent in (0.0013, 0.047, 0.7, 4.0, 33.0):
        assert fade.curve.at(percent) == pytest.approx(fade.at(percent).total, abs=0.02)


def test_the_height_of_a_place_is_its_own_or_that_of_the_map() -> None:
    pytest.importorskip("itur", reason="itur is not installed")
    # Mexico City lies 2.24 km high, and the built-in city has no height.
    rain = {}
    for place in ("19.43,-99.13,2.24", "19.43,-99.13,0.1", "mexico_city"):
        carrier = as_carrier(carriers.of_place(place, "19.7 GHz", "40 deg"))
        rain[place] = values_of(budget_of(carrier))["A_R"]
    own, low, city = rain.values()
    assert own < 0.8 * low
    assert city == pytest.approx(own, rel=0.05)
