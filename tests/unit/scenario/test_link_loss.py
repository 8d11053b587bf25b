"""A constant loss of a link: it resolves to what a series of one delay and that loss does."""

from pathlib import Path
from typing import Any

import pytest

import skycell
from skycell.experiment.file import parse_plan
from skycell.experiment.plan import design_runs
from skycell.scenario import Scenario, ScenarioFaults, parse
from skycell.spec.declared.network import LinkSpec
from tests.unit.experiment.test_plan import specs_of
from tests.unit.parking_lot import PARKING_LOT
from tests.unit.scenario.wan import wan

MS = 10**9
KEY = "topology.bottleneck.loss"


def lossy_links(scenario: Scenario) -> dict[str, LinkSpec]:
    """The links of a scenario that lose frames, by name."""
    return {link.name: link for link in scenario.resolve().links if link.loss_ppb}


def with_schedule(folder: Path, schedule: dict[str, Any], **bottleneck: Any) -> Scenario:
    values = dict(wan().values)
    link = {key: value for key, value in values["topology"]["bottleneck"].items() if key != "delay"}
    topology = {**values["topology"], "bottleneck": {**link, "schedule": schedule, **bottleneck}}
    return parse({**values, "topology": topology}, folder=folder)


def refused(folder: Path, schedule: dict[str, Any], **bottleneck: Any) -> tuple[str, str, str]:
    """Path, what was got and what is allowed of the only fault."""
    with pytest.raises(ScenarioFaults) as found:
        with_schedule(folder, schedule, **bottleneck)
    (fault,) = found.value.faults
    return fault.path, fault.got, fault.allowed


@pytest.mark.parametrize("loss", [0.001, "0.1 %"])
def test_a_loss_is_a_series_of_two_rows_that_differ_in_their_time(
    tmp_path: Path, loss: float | str
) -> None:
    series = "time_s,delay_ms,loss\n0,5,0.001\n10,5,0.001\n"
    (tmp_path / "loss.csv").write_text(series, encoding="utf-8")
    driven = with_schedule(tmp_path, {"series": "loss.csv"})
    plain = wan(topology__bottleneck__loss=loss)
    assert plain.resolve().hash() == driven.resolve().hash() != wan().resolve().hash()


def test_no_loss_is_a_link_without_the_key() -> None:
    for loss in (0, 0.0, "0 %"):
        assert wan(topology__bottleneck__loss=loss).resolve().hash() == wan().resolve().hash()


def test_both_directions_lose_and_neither_has_a_schedule() -> None:
    links = lossy_links(wan(topology__bottleneck__loss=1e-9, run__duration="5 h"))
    assert set(links) == {"switch1>switch2", "switch2>switch1"}
    for link in links.values():
        assert (link.loss_ppb, link.delay_ps, link.schedule) == (1, 5 * MS, None)


def test_a_loss_is_rounded_to_1e_9() -> None:
    assert lossy_links(wan(topology__bottleneck__loss=1.6e-9))["switch1>switch2"].loss_ppb == 2
    assert lossy_links(wan(topology__bottleneck__loss=1))["switch2>switch1"].loss_ppb == 10**9


def test_each_congested_link_of_a_parking_lot_loses() -> None:
    links = lossy_links(parse(PARKING_LOT).with_values({KEY: 0.01}))
    assert sorted(links) == sorted(
        name
        for a, b in ((1, 2), (2, 3), (3, 4))
        for name in (f"switch{a}>switch{b}", f"switch{b}>switch{a}")
    )
    assert {link.loss_ppb for link in links.values()} == {10**7}


def test_a_link_of_a_graph_that_leads_one_way_has_a_loss_of_its_own() -> None:
    link = {"rate": "10 Mbit/s", "framing": "none", "delay": "5 ms", "one_way": True}
    there = {"from": "a", "to": "b", "loss": 0.01, **link}
    back = {"from": "b", "to": "a", **link}
    topology = {
        "kind": "graph",
        "hosts": ["a", "b"],
        "link": [there, back],
        "flow": [{"name": "f", "source": "a", "destination": "b"}],
    }
    links = lossy_links(parse({"run": {"duration": "1 s"}, "topology": topology}))
    assert {name: link.loss_ppb for name, link in links.items()} == {"a>b": 10**7}


PATH = {"constellation": "iridium-like", "from": "New York", "to": "tokyo"}


def test_a_path_over_a_constellation_loses_at_every_step(tmp_path: Path) -> None:
    (lossless, lossy) = (with_schedule(tmp_path, PATH, loss=loss).resolve() for loss in (0, 0.01))
    links = lossy_links(with_schedule(tmp_path, PATH, loss=0.01))
    assert {link.loss_ppb for link in links.values()} == {10**7}
    schedule = links["switch1>switch2"].schedule
    assert schedule is not None
    assert len(schedule.times_ps) > 100
    assert schedule.losses_ppb == ()
    assert [link.schedule for link in lossy.links] == [link.schedule for link in lossless.links]


def test_a_series_loses_by_itself_or_with_the_link(tmp_path: Path) -> None:
    (tmp_path / "lossy.csv").write_text("time_s,delay_ms,loss\n0,5,0\n1,5,0.1\n10,5,0\n")
    found = refused(tmp_path, {"series": "lossy.csv"}, loss=0.001)
    allowed = "only one of them: a series without losses may have any loss of the link"
    assert found == (KEY, "0.001 together with losses of schedule.series", allowed)
    (tmp_path / "still.csv").write_text("time_s,delay_ms\n0,5\n10,5\n", encoding="utf-8")
    # None is no loss, also where a preset has one.
    assert (
        with_schedule(tmp_path, {"series": "still.csv"}, loss=0).resolve().hash()
        == wan().resolve().hash()
    )
    still = with_schedule(tmp_path, {"series": "still.csv"}, loss=0.001).resolve()
    assert still.hash() == wan(topology__bottleneck__loss=0.001).resolve().hash()


@pytest.mark.parametrize(
    "loss",
    [
        "2 %",
        {"kind": "gilbert_elliott", "good_to_bad": 0.01, "bad_to_good": 0.2},
        {"kind": "loss_bursts", "length": "5 ms", "gap": "200 ms"},
        {"kind": "bit_errors", "ber": 1e-5},
    ],
)
def test_a_link_with_a_series_loses_alike_in_both_engines(tmp_path: Path, loss: Any) -> None:
    rows = "".join(f"{n / 4},{5 + n % 3},{n // 2},{100 + n}\n" for n in range(50))
    (tmp_path / "jumps.csv").write_text("time_s,delay_ms,path,rate_mbit_s\n" + rows)
    moving = with_schedule(tmp_path, {"series": "jumps.csv"}, loss=loss)
    moving = moving.with_values({"run.duration": "4 s"})
    reference, fast = (skycell.run(moving, engine=name).records for name in ("reference", "fast"))
    own = ("engine", "engine_stats")
    assert {k: v for k, v in fast.items() if k not in own} == {
        k: v for k, v in reference.items() if k not in own
    }
    vcs = fast["vcs"]
    assert sum(sum(vc["cells_lost"].values()) + vc.get("frames_crc", 0) for vc in vcs) > 0


def test_on_a_path_of_many_links_the_ground_stations_links_lose(tmp_path: Path) -> None:
    lossy = lossy_links(with_schedule(tmp_path, {**PATH, "onboard_switching": {}}, loss="1 %"))
    assert len(lossy) == 2  # one of each ground station
    assert not any(name.startswith("sat-") for name in lossy)
    assert {link.loss_ppb for link in lossy.values()} == {10_000_000}


@pytest.mark.parametrize("loss", [-0.1, 1.1, "101 %", 1e-10, True, "0.001", "5 ms", "none"])
def test_what_is_no_probability_is_refused(loss: object) -> None:
    with pytest.raises(ScenarioFaults) as found:
        wan(topology__bottleneck__loss=loss)
    (fault,) = found.value.faults
    assert fault.path == KEY
    assert fault.allowed.startswith('0, or from 1e-9 to 1 or 100 %, such as "0.1 %"')


def test_a_loss_may_be_a_factor_of_a_sweep() -> None:
    plan = {
        "title": "losses",
        "scenario": dict(wan().values),
        "factors": {"loss": {"key": KEY, "levels": [0, 0.0001, "0.1 %"]}},
    }
    specs = specs_of(design_runs(parse_plan(plan)))
    losses = [
        link.loss_ppb
        for spec in specs.values()
        for link in spec.links
        if link.name == "switch1>switch2"
    ]
    assert losses == [0, 100_000, 1_000_000]
