"""What a carrier's file may not say, each reported where it stands."""

import sys
from pathlib import Path
from typing import Any

import pytest

from skycell.input.faults import Fault, ScenarioFaults
from skycell.link import as_carrier, availability_curve, budget_of
from tests.unit.link import carriers

SLOT = {"satellite": {"longitude": "13 deg"}}


def faults_of(carrier: dict[str, Any], values: dict[str, Any] | None = None) -> list[Fault]:
    with pytest.raises(ScenarioFaults) as raised:
        budget_of(as_carrier(carrier, values))
    return list(raised.value.faults)


def over_london(**down: Any) -> dict[str, Any]:
    known = carriers.of_place("london", "19.7 GHz", "30 deg")
    hop = {key: value for key, value in known["down"].items() if key not in ("elevation", "range")}
    return {**known, **SLOT, "down": {**hop, **down}}


@pytest.mark.parametrize(
    ("values", "path", "got", "allowed"),
    [
        (
            {"down.transmitter": {"power": "-4 W", "gain": "40 dBi"}},
            "down.transmitter.power",
            "-4 W",
            "above 0",
        ),
        ({"down.transmitter": {"eirp": "-4 W"}}, "down.transmitter.eirp", "-4 W", "dBW"),
        (
            {"down.transmitter": {"eirp": "9 dBW", "power": "1 W"}},
            "down.transmitter.power",
            "eirp and power",
            "one of",
        ),
        (
            {"down.transmitter": {"eirp": "9 dBW", "gain": "40 dBi"}},
            "down.transmitter.gain",
            "40 dBi",
            "eirp",
        ),
        ({"down.transmitter": {"power": "9 W"}}, "down.transmitter.gain", "nothing", "diameter"),
        (
            {"down.transmitter": {"eirp": "9 dBW", "back_off": "1 dB"}},
            "down.transmitter.back_off",
            "1 dB",
            "power",
        ),
        (
            {"down.receiver": {"gain": "40 dBi"}},
            "down.receiver.system_temperature",
            "nothing",
            "150 K",
        ),
        (
            {"down.receiver": {"system_temperature": "150 K"}},
            "down.receiver.g_t",
            "nothing",
            "dB/K",
        ),
        (
            {"down.receiver": {"gain": "40 dBi", "sky_temperature": "50 K"}},
            "down.receiver.receiver_temperature",
            "nothing",
            "sky_temperature",
        ),
        (
            {
                "down.receiver": {
                    "gain": "40 dBi",
                    "sky_temperature": "50 K",
                    "system_temperature": "9 K",
                }
            },
            "down.receiver.sky_temperature",
            "50 K",
            "system_temperature",
        ),
        ({"down.elevation": "-5 deg"}, "down.elevation", "-5 deg", "from 0 deg"),
        (
            {"down.elevation": "30 deg", "down.rain_table": "a.csv"},
            "down.rain_table",
            "rain and rain_table",
            "one of",
        ),
        ({"down.range": "2000 km"}, "down.range", "2000 km", "altitude"),
        (
            {"satellite.longitude": "13 deg"},
            "satellite.altitude",
            "longitude and altitude",
            "one of",
        ),
        (
            {"carrier.framing": {"kind": "gse", "modcod": "QPSK 1/2"}},
            "carrier.framing",
            "a table",
            "Mbaud",
        ),
        ({"carrier.rate": "1 Mbaud"}, "carrier.required", "11.6 dB", "MODCOD"),
        ({"carrier.availability": "99 %"}, "carrier.availability", "99 %", "rain_table"),
        ({"carrier.availability": "100 %"}, "carrier.availability", "100 %", "99.999 %"),
        ({"carrier.faded": "up"}, "carrier.faded", "up", "a hop"),
        ({"down.frequency": "465"}, "down.frequency", "465", "unit is missing"),
        ({"down.frequency": "465 m"}, "down.frequency", "465 m", "metre"),
        ({"down.transmitter.eirp": "26 dBm"}, "down.transmitter.eirp", "26 dBm", "dBW"),
    ],
)
def test_a_budget_without_a_place_is_refused_where_it_contradicts_itself(
    values: dict[str, Any], path: str, got: str, allowed: str
) -> None:
    [fault] = faults_of(carriers.LEO_DOWN, values)
    assert fault.path == path
    assert got in fault.got
    assert allowed in fault.allowed
    assert fault.meaning


def test_all_faults_are_reported_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(
        "[carrier]\nrate = '1 Mbaud'\nrequired = '3 dB'\n"
        "[up]\nfrequency = '14 GHz'\nrain = '0 dB'\n"
        "transmitter = {}\nreceiver = { g_t = '1 dB/K' }\n"
    )
    with pytest.raises(ScenarioFaults) as raised:
        as_carrier(file)
    found = {fault.path: fault.line for fault in raised.value.faults}
    assert found == {"carrier.required": 3, "up.transmitter.eirp": 7}


def test_a_budget_needs_a_hop_and_a_range() -> None:
    [fault] = faults_of({"carrier": {"rate": "1 Mbaud"}})
    assert (fault.path, fault.got) == ("down", "nothing")
    bare = {key: value for key, value in carriers.LEO_DOWN.items() if key != "satellite"}
    [fault] = faults_of(bare)
    assert (fault.path, fault.got) == ("down.range", "nothing")


@pytest.mark.parametrize(
    ("down", "path", "got"),
    [
        ({"place": "londn"}, "down.place", "londn"),
        ({"place": "sydney"}, "down.place", "sydney, where the satellite stands at -"),
        ({"elevation": "30 deg"}, "down.elevation", "30 deg"),
        ({"frequency": "60 GHz"}, "down.frequency", "60 GHz"),
        ({"place": "70,70"}, "down.elevation", "2.07 deg"),
        ({"place": "51,0,100"}, "down.place", "51,0,100"),
        ({"rain_table": "none.csv", "rain": None}, "down.rain_table", "none.csv"),
    ],
)
def test_a_place_has_to_be_known_to_see_the_satellite_and_to_be_within_the_laws(
    down: dict[str, Any], path: str, got: str
) -> None:
    pytest.importorskip("itur", reason="itur is not installed")
    known = over_london(**down)
    known["down"] = {key: value for key, value in known["down"].items() if value is not None}
    [fault] = faults_of(known)
    assert fault.path == path
    assert got in fault.got


def test_scintillation_asks_for_the_antenna() -> None:
    pytest.importorskip("itur", reason="itur is not installed")
    [fault] = faults_of(over_london(receiver={"g_t": "20 dB/K"}))
    assert fault.path == "down.receiver.diameter"


def test_a_place_without_the_extra_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "itur", None)
    [fault] = faults_of(over_london())
    assert fault.path == "down.rain"
    assert "pip install 'skycell[rain]'" in fault.allowed
    # A loss that is given needs no package.
    stated = {"down.rain": "4.2 dB", "carrier": {"rate": "10 Mbaud"}}
    assert budget_of(as_carrier(over_london(), stated)).ratio_db > 0


def test_weather_that_varies_needs_an_availability_within_what_is_known(tmp_path: Path) -> None:
    (tmp_path / "rain.csv").write_text("percent,attenuation_db\n0.1,9\n1,3\n10,1\n")
    file = tmp_path / "table.toml"
    file.write_text(
        "[carrier]\nrate = '1 Mbaud'\n[down]\nfrequency = '20 GHz'\nrange = '38000 km'\n"
        "rain_table = 'rain.csv'\ntransmitter.eirp = '60 dBW'\nreceiver.g_t = '20 dB/K'\n"
    )
    carrier = as_carrier(file)
    for availability, got in ((None, "nothing"), (99.95, "99.95 %"), (80.0, "80 %")):
        with pytest.raises(ScenarioFaults) as raised:
            budget_of(carrier, availability)
        [fault] = raised.value.faults
        assert (fault.path, fault.got) == ("carrier.availability", got)
    with pytest.raises(ScenarioFaults) as raised:
        availability_curve(carrier, 80, 99)
    assert raised.value.faults[0].got == "80 % to 99 %"
    with pytest.raises(ScenarioFaults):
        availability_curve(as_carrier(carriers.LEO_DOWN), 90, 99)


@pytest.mark.parametrize(
    ("text", "line", "got"),
    [
        ("percent,db\n1,2\n", 1, '"percent", "db"'),
        ("percent,attenuation_db\n1,2\n", 1, "1 rows"),
        ("percent,attenuation_db\n1,2\n2,3\n", 3, "2 %, 3 dB after 1 %, 2 dB"),
        ("percent,attenuation_db\n1,2\n0.5,1\n", 3, "0.5 %, 1 dB after 1 %, 2 dB"),
        ("percent,attenuation_db\n0,9\n1,2\n2,1\n", 2, '"0"'),
        ("percent,attenuation_db\n1,2\n2,much\n", 3, '"much"'),
        ("percent,attenuation_db\n1,2\n2\n", 3, "1 values"),
    ],
)
def test_a_table_of_rain_is_refused_by_its_line(
    tmp_path: Path, text: str, line: int, got: str
) -> None:
    (tmp_path / "rain.csv").write_text(text)
    file = tmp_path / "table.toml"
    file.write_text(
        "[carrier]\nrate = '1 Mbaud'\navailability = '99 %'\n[down]\nfrequency = '20 GHz'\n"
        "range = '38000 km'\nrain_table = 'rain.csv'\ntransmitter.eirp = '60 dBW'\n"
        "receiver.g_t = '20 dB/K'\n"
    )
    with pytest.raises(ScenarioFaults) as raised:
        as_carrier(file)
    fault = raised.value.faults[0]
    assert fault.file.endswith("rain.csv")
    assert (fault.line, fault.got) == (line, got)
