"""Links that move: what a scenario resolves to, and the faults of a series of delays."""

from pathlib import Path
from typing import Any

import pytest

from skycell.scenario import Scenario, ScenarioFaults, load, parse
from skycell.spec.declared.network import LinkSpec, ScheduleSpec
from tests.unit.scenario.wan import wan

MS = 10**9
SECOND = 10**12


def moving(folder: Path, series: str, **schedule: Any) -> Scenario:
    """A run of 2 s whose bottleneck moves as a CSV file says."""
    (folder / "delays.csv").write_text(series, encoding="utf-8")
    return parse(
        {
            "run": {"duration": "2 s"},
            "topology": {
                "kind": "dumbbell",
                "sources": 1,
                "bottleneck": {
                    "rate": "10 Mbit/s",
                    "framing": "none",
                    "buffer": "1 RTT",
                    "schedule": {"series": "delays.csv", **schedule},
                },
                "access": {"delay": "0 s"},
            },
        },
        folder=folder,
    )


def link(scenario: Scenario, name: str = "switch1>switch2") -> LinkSpec:
    return next(link for link in scenario.resolve().links if link.name == name)


def schedule_of(scenario: Scenario) -> ScheduleSpec:
    schedule = link(scenario).schedule
    assert schedule is not None
    return schedule


def fault_of(folder: Path, series: str, **schedule: Any) -> tuple[str, int | None, str, str]:
    """Path, line, what was got and what is allowed of the only fault."""
    with pytest.raises(ScenarioFaults) as found:
        moving(folder, series, **schedule)
    (fault,) = found.value.faults
    return fault.path, fault.line, fault.got, fault.allowed


def test_a_series_becomes_steps_in_whole_picoseconds(tmp_path: Path) -> None:
    scenario = moving(tmp_path, "time_s,delay_ms\n0,12.5\n0.5,13\n1,\n1.25,12.0000000006\n2,9\n")
    assert schedule_of(scenario).times_ps == (0, SECOND // 2, SECOND, 5 * SECOND // 4)
    assert schedule_of(scenario).delays_ps == (12_500 * MS // 1000, 13 * MS, None, 12 * MS + 1)
    assert schedule_of(scenario).paths == (0, 0, 0, 0)
    assert link(scenario).delay_ps == 12 * MS + 1


def test_both_directions_move_alike_and_access_links_do_not(tmp_path: Path) -> None:
    scenario = moving(tmp_path, "time_s,delay_ms\n0,12\n1,13\n2,9\n")
    assert link(scenario, "switch2>switch1").schedule == schedule_of(scenario)
    assert link(scenario, "source1>switch1").schedule is None


def test_an_rtt_is_that_of_the_greatest_delay_of_the_run(tmp_path: Path) -> None:
    # 2 x 20 ms at 10 Mbit/s are 400 000 bits, 943 cells of 424; the 90 ms come after the end.
    scenario = moving(tmp_path, "time_s,delay_ms\n0,12\n1,20\n2,90\n")
    assert link(scenario).port.capacity_cells == 943


def test_values_may_carry_their_unit_themselves(tmp_path: Path) -> None:
    scenario = moving(tmp_path, "time, delay\n0 s, 12 ms\n500 ms, 13000 us\n2 s, 1 ms\n")
    assert schedule_of(scenario).times_ps == (0, SECOND // 2)
    assert schedule_of(scenario).delays_ps == (12 * MS, 13 * MS)


def test_a_new_path_is_a_handover_even_where_the_delay_stays(tmp_path: Path) -> None:
    series = (
        "time_s,satellites,delay_ms,path\n0,4,12,east\n0.5,4,12,east\n1,5,12,west\n2,4,1,east\n"
    )
    scenario = moving(tmp_path, series, interruption="50 ms", handover_loses_cells=True)
    schedule = schedule_of(scenario)
    assert (schedule.times_ps, schedule.paths) == ((0, SECOND), (0, 1))
    assert (schedule.interruption_ps, schedule.handover_loses_cells) == (50 * MS, True)


def test_a_path_that_comes_back_is_a_handover_too(tmp_path: Path) -> None:
    scenario = moving(tmp_path, "time_s,delay_ms,path\n0,12,a\n0.5,,\n1,12,a\n2,12,a\n")
    assert schedule_of(scenario).paths == (0, 1, 2)


def test_a_run_begins_within_a_series(tmp_path: Path) -> None:
    scenario = moving(tmp_path, "time_s,delay_ms\n0,12\n10,13\n11,14\n13,15\n", start="10.5 s")
    assert schedule_of(scenario).times_ps == (0, SECOND // 2)
    assert schedule_of(scenario).delays_ps == (13 * MS, 14 * MS)


def test_a_file_is_looked_for_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "delays.csv").write_text("time_s,delay_ms\n0,12\n60,13\n", encoding="utf-8")
    file = tmp_path / "moving.toml"
    file.write_text(
        '[run]\nduration = "1 s"\n[topology]\nkind = "graph"\nhosts = ["a", "b"]\n'
        '[[topology.link]]\nfrom = "a"\nto = "b"\nrate = "1 Mbit/s"\nframing = "none"\n'
        'schedule.series = "delays.csv"\n'
        '[[topology.flow]]\nname = "f"\nsource = "a"\ndestination = "b"\n',
        encoding="utf-8",
    )
    scenario = load(file).with_values({"run.seed": 2})
    assert [link.delay_ps for link in scenario.resolve().links] == [12 * MS, 12 * MS]


HEADER = "time_s,delay_ms\n"
ALL = "time_s,delay_ms,rate_mbit_s,availability,loss\n"


def test_rates_and_losses_hold_from_row_to_row(tmp_path: Path) -> None:
    series = (
        "time_s,delay_ms,rate_mbit_s,availability,loss_percent\n"
        "0,12,10,1,0\n"
        "0.5,12,2.12,1,0.5\n"
        "0.75,12,2.12,1,0.5\n"
        "1,12,0,1,\n"
        "1.25,12,4.24,1,0\n"
        "1.5,12,4.24,0,0\n"
        "1.75,12,,1,0\n"
        "2,12,10,1,0\n"
    )
    schedule = schedule_of(moving(tmp_path, series))
    assert schedule.times_ps == (0, SECOND // 2, SECOND, 5 * SECOND // 4, 3 * SECOND // 2)
    assert schedule.delays_ps == (12 * MS, 12 * MS, None, 12 * MS, None)
    # 424 bits at 10, 2.12 and 4.24 Mbit/s; without a path nothing is sent.
    times = (42_400_000, 200_000_000, 200_000_000, 100_000_000, 100_000_000)
    assert schedule.cell_times_ps == times
    assert schedule.losses_ppb == (0, 5_000_000, 5_000_000, 0, 0)


def test_rates_may_be_of_cells_and_carry_their_unit(tmp_path: Path) -> None:
    series = (
        "time_s,delay_ms,rate,loss\n0,12,5000 cells/s,10 %\n1,12,9 Mbit/s,0.25\n2,12,0 bit/s,0\n"
    )
    schedule = schedule_of(moving(tmp_path, series))
    assert schedule.cell_times_ps == (200_000_000, 47_111_111)
    assert schedule.losses_ppb == (100_000_000, 250_000_000)


def test_a_framing_of_one_rate_goes_with_rates_of_cells_only(tmp_path: Path) -> None:
    def framed(series: str) -> Scenario:
        values = dict(moving(tmp_path, "time_s,delay_ms\n0,12\n2,12\n").values)
        (tmp_path / "delays.csv").write_text(series, encoding="utf-8")
        bottleneck = {**values["topology"]["bottleneck"], "rate": "155.52 Mbit/s"}
        topology = {**values["topology"], "bottleneck": {**bottleneck, "framing": "sts3c"}}
        return parse({**values, "topology": topology}, folder=tmp_path)

    scenario = framed("time_s,delay_ms,rate_cells_s\n0,12,353207\n1,12,1000\n2,12,1\n")
    assert schedule_of(scenario).cell_times_ps == (2_831_201, 10**9)
    with pytest.raises(ScenarioFaults) as found:
        framed("time_s,delay_ms,rate_mbit_s\n0,12,100\n2,12,1\n")
    assert [fault.line for fault in found.value.faults] == [2, 3]
    assert found.value.faults[0].allowed == ('cells/s: framing "sts3c" exists at one bit rate only')


def test_rates_and_losses_that_change_nothing_are_left_out(tmp_path: Path) -> None:
    with_all = moving(tmp_path, ALL + "0,12,10,1,0\n1,12,10,1,0\n2,12,3,0,1\n").resolve()
    without = moving(tmp_path, HEADER + "0,12\n2,12\n").resolve()
    assert with_all.hash() == without.hash()
    # A loss that never changes is the link's.
    lossy = link(moving(tmp_path, ALL + "0,12,10,1,0.5\n2,12,10,1,0.5\n"))
    assert (lossy.loss_ppb, lossy.schedule) == (500_000_000, None)


@pytest.mark.parametrize(
    ("series", "path", "line", "got", "allowed"),
    [
        ("", "", 1, "nothing", "time and delay missing"),
        (
            "time_s,delays\n0,1\n",
            "",
            1,
            "time_s, delays",
            "delay missing",
        ),
        ("time_s,time_ms,delay_s\n", "time", 1, "time_ms for a second time", "one column"),
        (
            "time_s,delay_ms,rate_mb_s\n0,1,0\n",
            "rate",
            1,
            "rate_mb_s",
            "rate_bit_s, rate_kbit_s, rate_mbit_s, rate_gbit_s, rate_cells_s, or rate",
        ),
        ("time_s,delay_ms,loss_db\n", "loss", 1, "loss_db", "loss_percent, or loss"),
        ("time_s,delay_ms,availability_s\n", "availability", 1, "availability_s", "availability"),
        (ALL + "0,1,,2,0\n", "availability", 2, '"2"', "a number from 0 or 1"),
        (ALL + "0,1,3,0.5,0\n", "availability", 2, '"0.5"', "a number from 0 or 1"),
        (ALL + "0,1,3,1,1.5\n", "loss", 2, '"1.5"', "a number from 0 to 1"),
        (ALL + "0,1,3,1,\n", "loss", 2, '""', "a number from 0 to 1"),
        (ALL + "0,1,-3,1,0\n", "rate", 2, '"-3"', "a number from 0, in Mbit/s, as in the header"),
        (
            ALL + "0,1,3,1,0\n1,1,10.1,1,0\n",
            "rate",
            3,
            '"10.1"',
            "0, or from 1 cell/s to the rate of the link, 10 Mbit/s",
        ),
        (
            "time_s,delay_ms,rate\n0,1,9 Mb/s\n",
            "rate",
            2,
            '"9 Mb/s"',
            'with its unit (bit/s, kbit/s, Mbit/s, Gbit/s, cells/s), as "2 Mbit/s"',
        ),
        (HEADER, "", 1, "no row after the header", "at least one"),
        (HEADER + "0,1\n2\n", "", 3, "1 values", "2, as in the header"),
        (HEADER + "0,1\nx,1\n", "time", 3, '"x"', "a number from 0, in s, as in the header"),
        (HEADER + "-1,1\n", "time", 2, '"-1"', "a number from 0, in s, as in the header"),
        (
            HEADER + "0,90000000\n",
            "delay",
            2,
            '"90000000"',
            "a number from 0, up to 24 h, in ms, as in the header",
        ),
        (HEADER + "0,1 s\n", "delay", 2, '"1 s"', "a number from 0, up to 24 h, in ms"),
        ("time,delay_ms\n7,1\n", "time", 2, '"7"', "with its unit (ps, ns, us, ms, s, min, h)"),
        (HEADER + "0,1\n1,1\n1,2\n", "time", 4, "1 s after 1 s", "ascending times"),
    ],
)
def test_a_fault_of_a_series_is_told_with_its_line(
    tmp_path: Path, series: str, path: str, line: int, got: str, allowed: str
) -> None:
    found = fault_of(tmp_path, series)
    assert found[:3] == (path, line, got)
    assert allowed in found[3]


def test_faults_of_a_series_name_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(ScenarioFaults) as found:
        moving(tmp_path, HEADER + "0,x\n1,y\n2,1\n")
    lines = [text for text in str(found.value).splitlines() if "delays.csv" in text]
    file = tmp_path / "delays.csv"
    assert lines == [f"{file}:2: delay", f"{file}:3: delay"]


def test_what_a_series_holds_is_told_without_its_control_characters(tmp_path: Path) -> None:
    fault = fault_of(tmp_path, "time_s,delay_ms\n0,\x1b[2J\n2,9\n")
    assert "[2J" in fault[2]
    assert "\x1b" not in fault[2]


def test_a_row_that_is_wrong_twice_is_told_twice(tmp_path: Path) -> None:
    with pytest.raises(ScenarioFaults) as found:
        moving(tmp_path, HEADER + "1,5\n0.5,-3\n")
    reported = [(fault.line, fault.path) for fault in found.value.faults]
    assert reported == [(3, "delay"), (3, "time")]


def test_a_file_that_is_wrong_throughout_is_told_by_its_first_faults(tmp_path: Path) -> None:
    with pytest.raises(ScenarioFaults) as found:
        moving(tmp_path, HEADER + "x,1\n" * 50)
    assert len(found.value.faults) == 20


def test_a_file_that_is_no_text_is_refused_by_its_octet(tmp_path: Path) -> None:
    scenario = moving(tmp_path, HEADER + "0,1\n2,1\n")
    (tmp_path / "delays.csv").write_bytes(b"time_\xb5s,delay_ms\n")
    with pytest.raises(ScenarioFaults, match="the octet 0xb5"):
        scenario.with_values({"run.seed": 2})


def test_more_rows_than_a_spec_holds_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skycell.scenario.links.delay_series.MOST_STEPS", 2)
    found = fault_of(tmp_path, HEADER + "0,1\n1,1\n2,1\n")
    assert found == ("", 4, "more than 2 rows", "up to 2")


KEY = "topology.bottleneck.schedule.series"


def test_a_series_reaches_from_the_beginning_of_the_run_to_its_end(tmp_path: Path) -> None:
    early = fault_of(tmp_path, HEADER + "0,1\n1.5,2\n")
    assert early[0] == KEY
    assert early[2] == '"delays.csv", whose last row is at 1.5 s'
    assert early[3] == "a row at 2 s or later, the end of the run"
    late = fault_of(tmp_path, HEADER + "0.5,1\n3,2\n")
    assert late[2] == '"delays.csv", whose first row is at 500 ms'
    assert late[3] == "a row at 0 s or before, the beginning of the run"


def test_the_end_of_a_run_within_a_series_is_counted_from_its_start(tmp_path: Path) -> None:
    found = fault_of(tmp_path, HEADER + "0,1\n11,2\n", start="10 s")
    assert (
        found[3] == "a row at 12 s or later, the end of the run, which begins at 10 s in the series"
    )


def test_a_link_has_a_delay_at_some_moment_of_the_run(tmp_path: Path) -> None:
    found = fault_of(tmp_path, HEADER + "0,\n1,\n2,7\n")
    assert found[0] == KEY
    assert found[2] == '"delays.csv", whose rows from 0 s to 2 s are without delay'
    assert found[3] == "at least one delay within the run"


def over(constellation: str, source: str, target: str, **schedule: Any) -> Scenario:
    """The WAN scenario over a constellation instead of its delay."""
    values = dict(wan().values)
    topology = dict(values["topology"])
    bottleneck = {key: value for key, value in topology["bottleneck"].items() if key != "delay"}
    path = {"constellation": constellation, "from": source, "to": target, **schedule}
    topology["bottleneck"] = {**bottleneck, "schedule": path}
    return parse({**values, "topology": topology})


def test_a_path_over_a_constellation_is_its_series_of_the_run(tmp_path: Path) -> None:
    from skycell.orbit import as_constellation, find_places, series

    scenario = over("iridium-like", "New York", "tokyo", start="0 s", step="500 ms")
    schedule = schedule_of(scenario)
    found = series(
        as_constellation("iridium-like"),
        find_places(["new_york", "tokyo"]),
        [(0, 1)],
        start_ps=0,
        duration_ps=9_500 * MS,
        step_ps=500 * MS,
        precision_ps=1000,
    )
    (handover,) = found.handovers()
    assert handover.delay_after_ps is not None
    # At every step, and at the handover itself.
    expected = dict(zip(found.times_ps.tolist(), found.delays_ps(0).tolist(), strict=True))
    expected[handover.at_ps] = handover.delay_after_ps
    assert schedule.times_ps == tuple(sorted(expected))
    assert schedule.delays_ps == tuple(expected[time] for time in sorted(expected))
    first = schedule.times_ps.index(handover.at_ps)
    assert first == 1
    assert schedule.paths == (0,) + (1,) * 20


def test_a_handover_between_the_last_step_and_the_end_of_the_run_is_found() -> None:
    # It comes 34.425 s after the beginning of the constellation.
    schedule = schedule_of(over("jsac98-6x11", "new_york", "tokyo", start="25 s", step="3 s"))
    assert schedule.times_ps[:4] == (0, 3 * SECOND, 6 * SECOND, 9 * SECOND)
    assert len(schedule.times_ps) == 5
    assert abs(schedule.times_ps[4] - 9_424_915_831_000) < 10_000
    assert schedule.paths == (0, 0, 0, 0, 1)


def test_a_delay_every_100_ms_is_the_default() -> None:
    schedule = schedule_of(over("iridium-like", "new_york", "tokyo"))
    assert schedule == schedule_of(over("iridium-like", "new_york", "tokyo", step="100 ms"))
    steps = set(range(0, 10 * SECOND, 100 * MS))
    assert steps < set(schedule.times_ps)
    assert len(schedule.times_ps) == 101


def test_the_constellation_may_be_a_file_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "sky.toml").write_text('preset = "iridium-like"\n', encoding="utf-8")
    own = over("iridium-like", "new_york", "tokyo")
    beside = parse(
        {**own.values, "topology": {**own.values["topology"]}}, "scenario", tmp_path
    ).with_values({"topology.bottleneck.schedule.constellation": "sky.toml"})
    assert schedule_of(beside) == schedule_of(own)


def test_a_delay_that_never_changes_is_a_constant_one(tmp_path: Path) -> None:
    scenario = moving(tmp_path, "time_s,delay_ms,path\n0,12,a\n1,12,a\n2,12,a\n")
    values = dict(scenario.values)
    topology = {**values["topology"], "bottleneck": dict(values["topology"]["bottleneck"])}
    del topology["bottleneck"]["schedule"]
    topology["bottleneck"]["delay"] = "12 ms"
    assert scenario.resolve().hash() == parse({**values, "topology": topology}).resolve().hash()


def refused(folder: Path, text: str, source: str, target: str) -> tuple[str, str, str, str]:
    """File, path, what was got and what is allowed of the fault of a constellation."""
    (folder / "sky.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioFaults) as found:
        parse({**over("geo-ring", "paris", "rome").values}, "scenario", folder).with_values(
            {
                "topology.bottleneck.schedule.constellation": "sky.toml",
                "topology.bottleneck.schedule.from": source,
                "topology.bottleneck.schedule.to": target,
            }
        )
    (fault,) = found.value.faults
    return fault.file, fault.path, fault.got, fault.allowed


def test_places_without_a_path_in_the_run_are_refused(tmp_path: Path) -> None:
    slots = '[pattern]\nkind = "slots"\nlongitudes = ["-74 deg", "140 deg"]\n'
    found = refused(tmp_path, slots, "new_york", "tokyo")
    assert found[1] == "topology.bottleneck.schedule.to"
    assert found[2] == (
        "no path at any of 100 steps from 0 s to 9.9 s: "
        "the satellites at both ends are not connected"
    )
    assert found[3] == "places with a path for a part of the run"


def test_faults_of_a_constellation_file_are_told_as_its_own(tmp_path: Path) -> None:
    found = refused(tmp_path, '[pattern]\nkind = "slots"\ncount = 0\n', "new_york", "tokyo")
    assert found[0] == str(tmp_path / "sky.toml")
    assert found[1] == "pattern.count"
