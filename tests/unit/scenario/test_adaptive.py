"""Adaptive coding: fades against their laws, and the choice of MODCODs by hand."""

from itertools import pairwise
from math import exp, log, log10, pi
from pathlib import Path
from statistics import fmean, median, pstdev
from typing import Any

import pytest

from skycell.coding.dvb_s2 import MODCODS
from skycell.input.faults import ScenarioFaults
from skycell.scenario import load
from skycell.scenario.declared.framings import Gse
from skycell.scenario.links.adaptive import AdaptiveCoding, Modcod, adapted, es_n0_db, modcods_up_to

EXAMPLES = Path(__file__).parents[3] / "examples"
RAIN = {"kind": "maseng_bakken", "median": "3 dB", "sigma": 0.8, "time_constant": "20 s"}


def coding(fade: dict[str, Any] = RAIN, **values: Any) -> AdaptiveCoding:
    return AdaptiveCoding.model_validate({"es_n0": "14 dB", "fade": fade, **values})


def test_rain_is_lognormal_and_forgets_with_its_time_constant() -> None:
    fades = [14 - ratio for ratio in es_n0_db(coding(), 1.0, "1", 100_000)]
    # 100 000 s are 2500 independent samples, 40 s apart.
    assert median(fades) == pytest.approx(3, rel=0.08)
    logs = [log(fade) for fade in fades]
    assert pstdev(logs) == pytest.approx(0.8, rel=0.06)
    middle = fmean(logs)
    for lag in (5, 20):
        pairs = zip(logs, logs[lag:], strict=False)
        shared = fmean((a - middle) * (b - middle) for a, b in pairs)
        assert shared / pstdev(logs) ** 2 == pytest.approx(exp(-lag / 20), abs=0.06)


def test_scintillation_is_normal_about_clear_sky() -> None:
    fade = {"kind": "gauss_markov", "deviation": "0.7 dB", "time_constant": "2 s"}
    ratios = list(es_n0_db(coding(fade), 1.0, "1", 50_000))
    assert fmean(ratios) == pytest.approx(14, abs=0.03)
    assert pstdev(ratios) == pytest.approx(0.7, rel=0.05)


def test_only_modcods_that_none_betters_are_used() -> None:
    own = Gse.model_validate({"kind": "gse", "modcod": "8PSK 3/4"})
    found = modcods_up_to(own, MODCODS)
    assert (found[0].name, found[-1].name) == ("QPSK 1/4", "8PSK 3/4")
    # 8PSK 3/5 carries as much as QPSK 9/10 and needs 0.9 dB less, if 0.5 % less of the bits.
    names = [one.name for one in found]
    assert "8PSK 3/5" in names
    assert "QPSK 8/9" not in names
    for before, after in pairwise(found):
        assert before.threshold_db < after.threshold_db
        assert before.carried < after.carried


def test_a_margin_and_a_hysteresis_delay_what_is_taken_up_again() -> None:
    ladder = [Modcod("low", 1.0, 1), Modcod("middle", 4.0, 2), Modcod("high", 8.0, 3)]  # type: ignore[arg-type]
    one = coding(margin="0.5 dB", hysteresis="1 dB")
    ratios = [8.6, 8.4, 9.4, 9.5, 8.5, 4.4, 1.2, 0.9, 1.2, 5.4, 5.5]
    found = [step.name if step else None for step in adapted(one, ladder, ratios)]
    # High from 8.5 on when falling and from 9.5 on when rising; low down to its threshold of 1.
    assert found == [
        "high", "middle", "middle", "high", "high", "low", "low", None, "low", "low", "middle",
    ]  # fmt: skip


def test_a_link_has_the_rates_of_modcods_and_each_seed_its_own() -> None:
    scenario = load(EXAMPLES / "adaptive-coding.toml")
    found = set()
    for seed in range(1, 9):
        link = next(one for one in scenario.resolve(seed).links if one.name == "router1>router2")
        assert link.framing is not None
        if link.schedule is not None:  # else no rain that the highest cannot do with
            found.add(link.schedule.rates_millibps)
            assert max(link.schedule.rates_millibps) <= link.framing.rate_millibps
    assert len(found) >= 4


@pytest.mark.parametrize(
    ("change", "path", "allowed"),
    [
        ({"framing": "ip", "rate": "9 Mbit/s"}, "adaptive_coding", "a link with a symbol rate"),
        ({"es_n0": "-3 dB"}, "adaptive_coding.es_n0", "from -1.85 dB, which QPSK 1/4 needs"),
        ({"rate_mbps": "[rate_mbps]\nslots = [9]"}, "rate_mbps", "nothing with adaptive_coding"),
        ({"median": "-1 dB"}, "adaptive_coding.fade.median", "from 0 dB to 20 dB"),
    ],
)
def test_what_cannot_adapt_is_refused(
    tmp_path: Path, change: dict[str, str], path: str, allowed: str
) -> None:
    model = (EXAMPLES / "models" / "rain-fade.toml").read_text()
    model = model.replace('"14 dB"', f'"{change.get("es_n0", "14 dB")}"')
    model = model.replace('"3 dB"', f'"{change.get("median", "3 dB")}"')
    (tmp_path / "fade.toml").write_text(model + change.get("rate_mbps", ""))
    values: dict[str, Any] = {"topology.bottleneck.schedule.model": str(tmp_path / "fade.toml")}
    for key in ("framing", "rate"):
        if key in change:
            values[f"topology.bottleneck.{key}"] = change[key]
    with pytest.raises(ScenarioFaults) as found:
        load(EXAMPLES / "adaptive-coding.toml", values)
    [fault] = found.value.faults
    assert fault.path == path
    assert allowed in fault.allowed


def beacon(folder: Path, series: str, model: str = "", **more: str) -> dict[str, Any]:
    """Settings of the example for a model of this text with a series of this text."""
    (folder / "beacon.csv").write_text(series)
    text = 'step = "1 s"\n[adaptive_coding]\nseries = "beacon.csv"\n' + model
    (folder / "model.toml").write_text(text)
    changed: dict[str, Any] = {"topology.bottleneck.schedule.model": str(folder / "model.toml")}
    return {**changed, "run.duration": "5 s", **more}


def rates_of(settings: dict[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Times in seconds and rates in kbit/s of the example's link; 0 in an outage."""
    scenario = load(EXAMPLES / "beacon.toml", settings)
    link = next(one for one in scenario.resolve(1).links if one.name == "router1>router2")
    assert link.schedule is not None
    steps = link.schedule
    pairs = zip(steps.delays_ps, steps.rates_millibps, strict=True)
    rates = tuple(0 if delay is None else rate // 10**6 for delay, rate in pairs)
    return tuple(time // 10**12 for time in steps.times_ps), rates


def test_a_series_says_es_n0_or_what_it_loses_of_clear_sky(tmp_path: Path) -> None:
    # 16APSK 3/4 needs 10.21 dB, 8PSK 3/4 7.91, QPSK 1/4 -2.35; the hysteresis is 0.5 dB. The row
    # at 1.5 s is that of the sample at 2 s; one that is replaced before a sample is not seen.
    own = "time_s,es_n0_db\n0,10.3\n0.5,-9\n0.9,10.3\n1.5,8\n3,-3\n4,10.6\n4.5,0\n"
    times, rates = rates_of(beacon(tmp_path, own))
    assert times == (0, 2, 3, 4)
    assert rates[2] == 0  # below the lowest
    high, lower = rates[0], rates[1]
    assert rates[3] < high  # 10.6 dB is 0.39 dB above: one below is taken
    assert lower / high == pytest.approx(9 / 12, rel=0.02)  # bits of 8PSK 3/4 for 16APSK 3/4
    lost = "sun,time_ms,attenuation_db\n1,0,3.7\n1,500,23\n1,900,3.7\n1,1500,6\n1,3000,17\n"
    lost += "1,4000,3.4\n"
    assert rates_of(beacon(tmp_path, lost, 'es_n0 = "14 dB"\n')) == (times, rates)


@pytest.mark.parametrize(
    ("series", "model", "path", "got", "allowed"),
    [
        ("time_s,es_n0_db\n0,9\n2,9\n2,9\n", "", "time", "2 s after 2 s", "ascending times"),
        ("time_s,es_n0_db\n0,9\n3,9\n", "", "time", "a last row at 3 s", "a row at 4 s or later"),
        ("time_s,es_n0_db\n1,9\n9,9\n", "", "time", "a first row at 1 s", "a first row at 0 s"),
        ("time_s,es_n0_db\n0,rain\n9,9\n", "", "es_n0_db", "rain", "from -100 to 100"),
        ("time_s,es_n0_db\n0,nan\n9,9\n", "", "es_n0_db", "nan", "from -100 to 100"),
        ("time_s,es_n0_db\n0\n", "", "", "1 values", "2, as in the header"),
        ("time_s,es_n0_db\n", "", "", "no row", "at least one"),
        ("time_s,level_db\n0,9\n", "", "", "time_s, level_db", "one of es_n0_db and"),
        (
            "time_s,es_n0_db\n0,9\n9,9\n",
            'es_n0 = "14 dB"',
            "adaptive_coding.es_n0",
            "14 dB, beside es_n0_db",
            "nothing: the series has",
        ),
        (
            "time_s,attenuation_db\n0,9\n9,9\n",
            "",
            "adaptive_coding.es_n0",
            "nothing",
            "of clear sky, beside attenuation_db",
        ),
        (
            "",
            'fade = { kind = "gauss_markov", deviation = "1 dB", time_constant = "1 s" }',
            "adaptive_coding.series",
            "fade and series",
            "one of fade, series and budget",
        ),
    ],
)
def test_a_series_that_says_nothing_of_the_run_is_refused(
    tmp_path: Path, series: str, model: str, path: str, got: str, allowed: str
) -> None:
    with pytest.raises(ScenarioFaults) as found:
        load(EXAMPLES / "beacon.toml", beacon(tmp_path, series, model))
    [fault] = found.value.faults
    assert fault.path == path
    assert got in fault.got
    assert allowed in fault.allowed


def test_a_series_that_is_not_there_and_a_fade_without_clear_sky_are_refused(
    tmp_path: Path,
) -> None:
    settings = beacon(tmp_path, "")
    (tmp_path / "beacon.csv").unlink()
    with pytest.raises(ScenarioFaults) as found:
        load(EXAMPLES / "beacon.toml", settings)
    [fault] = found.value.faults
    assert (fault.path, fault.got) == ("adaptive_coding.series", '"beacon.csv"')
    text = (EXAMPLES / "models" / "rain-fade.toml").read_text().replace('es_n0 = "14 dB"', "")
    (tmp_path / "model.toml").write_text(text)
    with pytest.raises(ScenarioFaults) as found:
        load(EXAMPLES / "beacon.toml", settings)
    [fault] = found.value.faults
    assert (fault.path, fault.got) == ("adaptive_coding.es_n0", "nothing")


def test_errors_at_one_es_n0_beside_an_adaptive_link_are_refused() -> None:
    loss = {"kind": "dvb_s2", "es_n0": "12 dB"}
    with pytest.raises(ScenarioFaults) as found:
        load(EXAMPLES / "beacon.toml", {"topology.bottleneck.loss": loss})
    [fault] = found.value.faults
    assert fault.path == "topology.bottleneck.loss"
    assert "dvb_s2, beside a model with adaptive_coding" in fault.got
    load(EXAMPLES / "beacon.toml", {"topology.bottleneck.loss": 0.001})


CARRIER = """
[carrier]
rate = "10 Mbaud"
[down]
frequency = "20 GHz"
range = "38000 km"
transmitter.eirp = "{eirp:.4f} dBW"
receiver.g_t = "20 dB/K"
{rain}
"""


def with_budget(folder: Path, rain: str, **more: str) -> dict[str, Any]:
    """Settings of the example for a model with a carrier that has 11 dB of Es/N0 in clear sky."""
    loss_db = 20 * log10(4 * pi * 38e6 * 20e9 / 299_792_458)
    eirp = 11 + loss_db - 20 - 228.599 + 70  # of 10 Mbaud
    (folder / "ka.toml").write_text(CARRIER.format(eirp=eirp, rain=rain))
    (folder / "rain.csv").write_text("percent,attenuation_db\n0.1,12\n1,8\n10,4\n50,1\n")
    return beacon(folder, "", **more) | {"run.duration": "100 s"}


def model_with_budget(folder: Path, more: str = "") -> None:
    text = f'step = "1 s"\n[adaptive_coding]\nbudget = "ka.toml"\n{more}'
    (folder / "model.toml").write_text(text)


def test_a_budget_of_fixed_weather_gives_the_modcod_that_it_allows(tmp_path: Path) -> None:
    for rain, modcod in ((0.0, "16APSK 3/4"), (1.0, "16APSK 2/3"), (3.0, "8PSK 3/4")):
        settings = with_budget(tmp_path, f'rain = "{rain} dB"')
        model_with_budget(tmp_path)
        link = load(EXAMPLES / "beacon.toml", settings).resolve(1).links
        [carrier] = [one for one in link if one.name == "router1>router2"]
        assert carrier.framing is not None
        own = Gse.model_validate({"kind": "gse", "modcod": "16APSK 3/4"})
        allowed = {one.name: one for one in modcods_up_to(own, MODCODS)}[modcod]
        rate = 10**7 * allowed.carried * 1000
        steps = carrier.schedule.rates_millibps if carrier.schedule else ()
        assert set(steps or (carrier.framing.rate_millibps,)) == {round(rate)}


def test_a_budget_with_weather_gives_each_seed_a_course_of_its_own(tmp_path: Path) -> None:
    settings = with_budget(tmp_path, 'rain_table = "rain.csv"\n')
    text = (
        (tmp_path / "ka.toml").read_text().replace("[down]", "fade_time_constant = '5 s'\n[down]")
    )
    (tmp_path / "ka.toml").write_text(text)
    model_with_budget(tmp_path)
    scenario = load(EXAMPLES / "beacon.toml", settings)
    found = set()
    for seed in (1, 2, 1):
        links = scenario.resolve(seed).links
        [carrier] = [one for one in links if one.name == "router1>router2"]
        assert carrier.schedule is not None
        assert len(set(carrier.schedule.rates_millibps)) > 3
        found.add(carrier.schedule.rates_millibps)
    assert len(found) == 2


@pytest.mark.parametrize(
    ("carrier", "model", "path", "got"),
    [
        ({"10 Mbaud": "20 Mbaud"}, "", "adaptive_coding.budget", "20 Mbaud"),
        ({"10 Mbaud": "10 Mbit/s"}, "", "adaptive_coding.budget", "10 Mbit/s"),
        ({"20 GHz": "20 dB"}, "", "down.frequency", '"20 dB"'),
        ({}, 'es_n0 = "14 dB"\n', "adaptive_coding.es_n0", "14 dB"),
        ({}, 'series = "beacon.csv"\n', "adaptive_coding.budget", "series and budget"),
    ],
)
def test_a_budget_that_is_not_of_the_link_is_refused(
    tmp_path: Path, carrier: dict[str, str], model: str, path: str, got: str
) -> None:
    settings = with_budget(tmp_path, 'rain = "0 dB"')
    model_with_budget(tmp_path, model)
    text = (tmp_path / "ka.toml").read_text()
    for old, new in carrier.items():
        text = text.replace(old, new)
    (tmp_path / "ka.toml").write_text(text)
    with pytest.raises(ScenarioFaults) as found:
        load(EXAMPLES / "beacon.toml", settings)
    [fault] = found.value.faults
    assert fault.path == path
    assert got in fault.got


def test_a_budget_that_is_not_there_is_refused(tmp_path: Path) -> None:
    settings = with_budget(tmp_path, 'rain = "0 dB"')
    model_with_budget(tmp_path)
    (tmp_path / "ka.toml").unlink()
    with pytest.raises(ScenarioFaults) as found:
        load(EXAMPLES / "beacon.toml", settings)
    [fault] = found.value.faults
    assert (fault.path, fault.got) == ("adaptive_coding.budget", '"ka.toml"')
