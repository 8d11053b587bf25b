"""`skycell budget`: tables for people, and JSON."""

import csv
import json
from pathlib import Path

import pytest

from skycell.scenario.links.adaptive import AdaptiveCoding
from skycell.scenario.links.es_n0_series import read_es_n0
from tests.unit.cli.calling import refused, skycell

CARRIERS = "examples/dvb-s2.toml"


def test_a_carrier_is_shown_layer_by_layer_with_what_its_errors_cost() -> None:
    done = skycell("budget", CARRIERS)
    assert done.exit_code == 0
    for part in (
        "Carrier of hub>terminal: 30 Mbaud",
        "BBFRAME header",
        "30 Mbaud, which occupy 36 MHz.",
        "convolutional code 1/2",
        "What errors cost",
    ):
        assert part in done.stdout, part
    one = skycell("budget", CARRIERS, "terminal>hub").stdout
    assert "hub>terminal" not in one
    assert "Carrier of terminal>hub" in one
    assert r"\toprule" in skycell("budget", CARRIERS, "--latex").stdout


def test_it_is_also_had_as_json() -> None:
    found = json.loads(skycell("budget", CARRIERS, "hub>terminal", "--json").stdout)
    [link] = found["links"]
    assert (link["carrier_bps"], link["bandwidth_hz"]) == (90e6, 36e6)
    assert link["errors"]["kind"] == "dvb_s2"


def test_codes_are_drawn_of_one_link(tmp_path: Path) -> None:
    target = tmp_path / "codes.svg"
    done = skycell("budget", CARRIERS, "terminal>hub", "--plot", str(target))
    assert done.exit_code == 0, done.stderr
    assert "What errors cost" in done.stdout
    assert "Reed-Solomon over 1/2" in target.read_text()
    assert "--force" in refused(skycell("budget", CARRIERS, "hub>terminal", "--plot", str(target)))
    for link, file, named in (([], "all.svg", "LINK"), (["hub>terminal"], "codes.txt", ".txt")):
        done = skycell("budget", CARRIERS, *link, "--plot", str(tmp_path / file))
        assert done.exit_code == 2
        assert named in done.stderr
        assert not (tmp_path / file).exists()


KA = """
[carrier]
rate = "10 Mbaud"
availability = "99 %"
[down]
frequency = "20 GHz"
range = "38612 km"
rain_table = "rain.csv"
transmitter.eirp = "60 dBW"
receiver = { g_t = "17 dB/K" }
"""


@pytest.fixture
def ka(tmp_path: Path) -> str:
    """A carrier of a Ka-band downlink with a table of rain."""
    (tmp_path / "rain.csv").write_text("percent,attenuation_db\n0.01,24\n1,4\n10,1\n50,0\n")
    (tmp_path / "ka.toml").write_text(KA)
    return str(tmp_path / "ka.toml")


def test_a_carrier_file_is_a_link_budget_with_sources(ka: str) -> None:
    done = skycell("budget", ka)
    assert done.exit_code == 0, done.stderr
    for part in ("EIRP", "down.transmitter.eirp", "C/N0", "Es/N0", "MODCOD", "Mbit/s"):
        assert part in done.stdout, part
    assert r"$\pi$" in skycell("budget", ka, "--latex").stdout
    found = json.loads(skycell("budget", ka, "--json").stdout)["budget"]
    assert found["availability"] == 99
    assert found["ratio_db"] == pytest.approx(found["hops"][0]["c_n_db"])
    better = json.loads(skycell("budget", ka, "--json", "--availability", "90").stdout)["budget"]
    assert better["ratio_db"] == pytest.approx(found["ratio_db"] + 3)
    more = ("--set", "down.transmitter.eirp=62 dBW")
    more_power = json.loads(skycell("budget", ka, "--json", *more).stdout)["budget"]
    assert more_power["ratio_db"] == pytest.approx(found["ratio_db"] + 2)


def test_a_carrier_over_a_year_is_a_table_and_a_picture(ka: str, tmp_path: Path) -> None:
    target = tmp_path / "year.svg"
    done = skycell("budget", ka, "--availability", "90..99.99", "--plot", str(target))
    assert done.exit_code == 0, done.stderr
    assert "Mean over the year" in done.stdout
    assert "MODCOD" in target.read_text()
    year = json.loads(skycell("budget", ka, "--availability", "90..99.99", "--json").stdout)["year"]
    ratios = [point["ratio_db"] for point in year["points"]]
    assert ratios == sorted(ratios, reverse=True)
    assert len(ratios) > 5


def test_a_series_is_what_adaptive_coding_reads(ka: str, tmp_path: Path) -> None:
    file = tmp_path / "es.csv"
    call = ("budget", ka, "--series", str(file), "--duration", "20 s", "--step", "2 s")
    assert skycell(*call, "--seed", "4").exit_code == 0
    rows = list(csv.DictReader(file.read_text().splitlines()))
    coding = AdaptiveCoding.model_validate({"series": file.name})
    read = read_es_n0(tmp_path / "model.toml", coding, 2 * 10**12, 11)
    assert read == [float(row["es_n0_db"]) for row in rows]
    assert [float(row["time_s"]) for row in rows] == [2 * i for i in range(11)]
    assert "--force" in refused(skycell(*call))
    first = file.read_text()
    assert skycell(*call, "--seed", "4", "--force").exit_code == 0
    assert file.read_text() == first
    assert skycell(*call, "--seed", "5", "--force").exit_code == 0
    assert file.read_text() != first


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--availability", "100"], "--availability"),
        (["--availability", "99..90"], "--availability"),
        (["--availability", "high"], "--availability"),
        (["--step", "1 s"], "--series"),
        (["link"], "LINK"),
        (["--series", "es.csv", "--set", "carrier.rate=1 Mbit/s"], "symbol rate"),
        (["--series", "es.csv", "--step", "0 s"], "--step"),
        (["--series", "es.csv", "--step", "1 us"], "--step"),
        (["--availability", "10..99.99"], "--availability"),
    ],
)
def test_a_call_about_a_carrier_that_makes_no_sense_is_refused(
    ka: str, words: list[str], named: str
) -> None:
    assert named in refused(skycell("budget", ka, *words))


@pytest.mark.parametrize("words", [["--availability", "99"], ["--series", "es.csv"]])
def test_a_scenario_has_no_availability(words: list[str]) -> None:
    assert "[carrier]" in refused(skycell("budget", CARRIERS, *words))


def test_a_carrier_where_a_scenario_should_be_is_named(ka: str) -> None:
    for verb in ("check", "run", "explain"):
        said = skycell(verb, ka).stderr
        assert "got      a carrier" in said
        assert "skycell budget" in said
        assert "1 fault" in said
