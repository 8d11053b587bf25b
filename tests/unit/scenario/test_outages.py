"""Outages that are drawn, against renewal theory; and what their tables may not say."""

from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from skycell.input.faults import ScenarioFaults
from skycell.scenario import parse
from skycell.scenario.links.drawn import read_model
from skycell.scenario.links.outages import spans_off

SECOND = 10**12
LENGTHS = {
    "constant": '"4 s"',
    "exponential": '{ kind = "exponential", mean = "4 s" }',
    "lognormal": '{ kind = "lognormal", mean = "4 s", sigma = 1.0 }',
    "pareto": '{ kind = "pareto", mean = "4 s", shape = 3 }',
}


def outages_of(folder: Path, text: str) -> Any:
    file = folder / "link.toml"
    file.write_text(f'step = "1 s"\n[outages]\n{text}\n')
    return read_model(file).outages


@pytest.mark.parametrize("kind", LENGTHS)
def test_the_path_is_there_for_the_part_of_the_time_that_renewal_theory_says(
    tmp_path: Path, kind: str
) -> None:
    text = f'length = {LENGTHS[kind]}\ngap = {{ kind = "exponential", mean = "36 s" }}'
    outages = outages_of(tmp_path, text)
    until = 400_000 * SECOND
    spans = spans_off(outages, SECOND, "1", until)
    down = sum(min(end, until) - begin for begin, end in spans) / until
    # 10 000 outages: mean down / (mean up + mean down) = 4 / 40, within four standard errors.
    assert down == pytest.approx(0.1, abs=0.01)
    assert len(spans) == pytest.approx(10_000, abs=500)
    assert fmean(end - begin for begin, end in spans) == pytest.approx(4 * SECOND, rel=0.08)
    assert all(end < begin for (_, end), (begin, _) in pairwise(spans))


@pytest.mark.parametrize("kind", LENGTHS)
def test_a_run_is_as_available_at_its_beginning_as_later(tmp_path: Path, kind: str) -> None:
    gap = LENGTHS[kind].replace("4 s", "12 s")
    outages = outages_of(tmp_path, f"length = {LENGTHS[kind]}\ngap = {gap}")
    seeds = range(4000)
    off = dict.fromkeys((0, 2, 20), 0)
    first = []
    for seed in seeds:
        spans = spans_off(outages, SECOND, str(seed), 30 * SECOND)
        if spans and spans[0][0] == 0:
            first.append(spans[0][1] / SECOND)
        for at in off:
            off[at] += any(begin <= at * SECOND < end for begin, end in spans)
    # A quarter of the time, standard error 0.007, at every moment: the process is in equilibrium.
    for at, count in off.items():
        assert count / len(seeds) == pytest.approx(0.25, abs=0.03), at
    # Of an outage under way E[L^2] / (2 E[L]) is left in the mean: 2 for a constant of 4, 4 for an
    # exponential one, 4 e / 2 for the lognormal one, and (alpha - 1)^2 / (alpha (alpha - 2)) 4 / 2.
    left = {"constant": 2.0, "exponential": 4.0, "lognormal": 5.437, "pareto": 8 / 3}[kind]
    assert fmean(first) == pytest.approx(left, rel=0.2)


def test_an_availability_makes_the_mean_gap(tmp_path: Path) -> None:
    outages = outages_of(tmp_path, 'availability = 0.98\nlength = "2 s"')
    until = 200_000 * SECOND
    spans = spans_off(outages, SECOND, "1", until)
    # 2 s of each 100.
    assert len(spans) == pytest.approx(2000, abs=180)
    assert sum(end - begin for begin, end in spans) / until == pytest.approx(0.02, abs=0.002)


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        ('length = "2 s"', "outages.length", "one of length and lengths_s"),
        ("availability = 0.9", "outages.length", "one of length and lengths_s"),
        ('length = "2 s"\ngap = "9 s"\navailability = 0.9', "outages.availability", "one of gap"),
        ('length = "2 s"', "outages.gap", "one of gap, availability and gaps_s"),
        ('length = "2 s"\navailability = 1', "outages.availability", "above 0, below 1"),
        (
            'length = { kind = "pareto", mean = "2 s", shape = 1 }\navailability = 0.9',
            "outages.length.shape",
            "above 1, at most 100",
        ),
        ('length = "10 us"\navailability = 0.9', "outages.length", "1 ms"),
    ],
)
def test_a_faulty_table_is_refused_with_its_place(
    tmp_path: Path, text: str, path: str, allowed: str
) -> None:
    if text == 'length = "2 s"' and path == "outages.length":
        text += "\nlengths_s = [3]\navailability = 0.9"
        path = "outages.lengths_s"
    with pytest.raises(ScenarioFaults) as found:
        outages_of(tmp_path, text)
    assert path in [fault.path for fault in found.value.faults]
    [fault] = [fault for fault in found.value.faults if fault.path == path]
    assert allowed in fault.allowed


def test_each_replication_has_its_own_outages_and_no_handovers() -> None:
    file = Path(__file__).parents[3] / "examples" / "rain-outages.toml"
    scenario = parse(file.read_text(), folder=file.parent)
    schedules = {}
    for seed in range(1, 9):
        link = next(one for one in scenario.resolve(seed).links if one.name == "router1>router2")
        schedules[seed] = link.schedule
    assert len({str(one) for one in schedules.values()}) > 1
    for schedule in schedules.values():
        assert schedule is None or set(schedule.paths) == {0}


def test_more_outages_than_a_spec_can_hold_are_refused(tmp_path: Path) -> None:
    outages_of(tmp_path, 'availability = 0.5\nlength = "1 ms"')
    link = {"rate": "1 Mbit/s", "framing": "ip", "delay": "1 ms", "buffer": "1 BDP"}
    bottleneck = {**link, "schedule": {"model": "link.toml"}}
    topology = {
        "kind": "dumbbell",
        "sources": 1,
        "bottleneck": bottleneck,
        "access": {"delay": "1 ms"},
    }
    with pytest.raises(ScenarioFaults) as found:
        parse({"run": {"duration": "2000 s"}, "topology": topology}, folder=tmp_path)
    [fault] = found.value.faults
    assert fault.path == "outages"
    assert fault.allowed.split() == ["at", "most", "500", "000", "in", "the", "mean"]
