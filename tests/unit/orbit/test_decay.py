"""Satellites that decay: against the official program's own errors, in every verb and in runs."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sgp4.api import Satrec

import skycell
from skycell.cli.main import main
from skycell.orbit import as_constellation, find_places, look, positions_km, series
from skycell.orbit.over_time import NO_PATH_PS
from skycell.orbit.validity import MOST_REPORTED, validity
from skycell.plots.globe import globe_figure
from skycell.records.files import write_result
from skycell.records.reading import read_result
from skycell.scenario import ScenarioFaults

#: Two days before the re-entry of catalogue number 55897 (space-track.org, February 2025).
RE_ENTERING = (
    "1 55897U 22151AAV 25058.12407234  .09435527  24934+0  44853-1 0  9999",
    "2 55897  98.5849 110.9278 0014449 269.2407  90.7207 15.92146194 26688",
)
#: Vanguard 1, whose perigee of 650 km keeps it up for centuries, with an epoch of the same day.
STAYING = (
    "1 00005U 58002B   25058.12407234  .00000023  00000-0  28098-4 0  4753",
    "2 00005  34.2682  60.0000 1859667 331.7664 132.0000 10.82419157413667",
)
#: Where the re-entering satellite comes down, 12 km above the ellipsoid a minute before its end.
#: The other one is above it for ten minutes, by its node and mean anomaly.
PLACE = "-45.3,94.3"
MINUTE_PS = 60 * 10**12
SECOND_PS = 10**12
#: Time 0 is the epoch of the elements to the second; the part of the second before it.
EPOCH = "2025-02-27T02:58:39Z"
DECAY_PS = 1384.7663505799803 * MINUTE_PS + 0.849859 * SECOND_PS


def summed(line: str) -> str:
    """A line with the checksum that belongs to it."""
    digits = sum(int(sign) if sign.isdigit() else sign == "-" for sign in line[:68])
    return f"{line[:68]}{digits % 10}"


def numbered(number: int) -> list[str]:
    return [summed(f"{line[:2]}{number:05d}{line[7:]}") for line in RE_ENTERING]


def constellation(folder: Path, *lines: str, **ground: str) -> Any:
    (folder / "x.tle").write_text("\n".join([*lines, ""]), "utf-8")
    (folder / "x.toml").write_text(
        f"""
[pattern]
kind = "elements"
file = "x.tle"
[earth]
epoch = "{EPOCH}"
[ground]
mask = "{ground.get("mask", "-90 deg")}"
access = "{ground.get("access", "any")}"
""",
        "utf-8",
    )
    return as_constellation(folder / "x.toml")


def test_a_satellite_is_left_out_from_the_first_error_of_the_official_program_on(
    tmp_path: Path,
) -> None:
    sky = constellation(tmp_path, *RE_ENTERING, *map(summed, STAYING))
    program = Satrec.twoline2rv(*RE_ENTERING)
    minutes = [0, 700, 1380, 1384, 1385, 2000, 4464, 4558, 10_000]
    ours = positions_km(sky, [minute * MINUTE_PS for minute in minutes])
    is_lost = False
    for minute, (first, second) in zip(minutes, ours, strict=True):
        # Time 0 is 0.85 s before the epoch.
        error, at, _ = program.sgp4_tsince(minute - 0.849859 / 60)
        is_lost |= error != 0
        assert np.isnan(first).all() == is_lost, minute
        assert is_lost or np.linalg.norm(first) == pytest.approx(math.hypot(*at), abs=1e-5)
        assert np.linalg.norm(second) > 6378.137 + 500
    assert is_lost
    # By then the program alone has it out of the earth again, at 47 times its radius.
    assert program.sgp4_tsince(4558)[0] == 0
    (lost,) = validity(sky, 0, 10_000 * MINUTE_PS).left_out
    assert abs(lost.at_ps - DECAY_PS) < 10 * SECOND_PS / 1000
    assert (lost.satellite, lost.catalogue_number, lost.entry) == ("55897", 55897, "x.tle line 1")
    assert lost.limit.startswith("SGP4 error 6: decayed")


@pytest.mark.parametrize("access", ["any", "nearest", "longest"])
def test_a_series_loses_what_decays_at_that_moment_and_the_others_go_on(
    tmp_path: Path, access: str
) -> None:
    def found(*lines: str) -> Any:
        return series(
            constellation(tmp_path, *lines, access=access),
            find_places([PLACE]),
            [(0, 0)],
            start_ps=1384 * MINUTE_PS,
            duration_ps=6 * MINUTE_PS,
            step_ps=SECOND_PS,
            precision_ps=1000,
        )

    alone = found(*RE_ENTERING)
    (lost,) = alone.handovers()
    assert (lost.what, lost.before) == ("lost", ("55897",))
    assert abs(lost.at_ps - DECAY_PS) < 10 * SECOND_PS / 1000
    beside = found(*RE_ENTERING, *map(summed, STAYING))
    assert (beside.delays_ps(0) != NO_PATH_PS).all()
    assert beside.intervals[-1].satellites == ("5",)
    for known in (alone, beside):
        assert [entry.satellite for entry in known.validity.left_out] == ["55897"]


def test_a_fleet_without_a_satellite_is_a_fault_wherever_one_is_needed(tmp_path: Path) -> None:
    sky = constellation(tmp_path, *RE_ENTERING, *numbered(7))
    at_ps = 1390 * MINUTE_PS
    places = find_places([PLACE])
    for ask in (
        lambda: look(sky, places, [(0, 0)], at_ps),
        lambda: positions_km(sky, [at_ps]),
        lambda: series(sky, places, [(0, 0)], start_ps=at_ps, duration_ps=SECOND_PS),
    ):
        with pytest.raises(ScenarioFaults) as caught:
            ask()
        (fault,) = caught.value.faults
        assert (fault.path, fault.line) == ("pattern.file", 4)
        assert '"55897" (catalogue number 55897, x.tle line 1)' in fault.got
        assert "SGP4 error 6" in fault.got
        assert fault.got.endswith("and 1 other satellite")


def test_every_verb_says_what_is_left_out_a_screenful_at_most(tmp_path: Path) -> None:
    many = [line for number in range(100, 125) for line in numbered(number)]
    constellation(tmp_path, *many, *map(summed, STAYING))
    file, csv = str(tmp_path / "x.toml"), tmp_path / "rows.csv"
    at = ["--at", "1390 min"]
    verbs = {
        "path": ["path", file, PLACE, PLACE, *at, "--json"],
        "table": ["table", file, PLACE, *at, "--json"],
        "series": ["series", file, "--pair", PLACE, PLACE, "--start", "1390 min"],
        "globe": ["globe", file, *at, "--csv", str(csv)],
    }
    verbs["series"] += ["--duration", "1 s", "--json"]
    for name, verb in verbs.items():
        done = CliRunner().invoke(main, ["orbit", *verb])
        assert done.exit_code == 0, done.output
        account, *reported = done.stderr.splitlines()
        assert "26 satellites" in account
        assert len(reported) == MOST_REPORTED + 1, name
        assert reported[0].startswith(
            '"100" (catalogue number 100, x.tle line 1) is left out from 2025'
        )
        assert reported[-1] == "5 more satellites left out at some of the moments."
        if name != "globe":
            inputs = json.loads(done.stdout)
            assert inputs["left_out_count"] == 25
            assert inputs["left_out"][19]["entry"] == "x.tle line 39"
    assert [line.split(",")[1] for line in csv.read_text("utf-8").splitlines()[1:]] == ["5"]
    picture = globe_figure(as_constellation(file), times_ps=[1390 * MINUTE_PS])
    points = [row for rows in picture.datasets.values() for row in rows if "used" in row]
    assert [row["name"] for row in points] == ["5"]


def scenario(folder: Path, start: str) -> str:
    return f"""
run.duration = "5 s"
tcp = {{ recovery = "sack", mss = "1460 B", receiver_window = "65535 B" }}
[topology]
kind = "dumbbell"
sources = 1
access = {{ rate = "10 Mbit/s", framing = "none", delay = "1 us" }}
[topology.bottleneck]
rate = "1 Mbit/s"
framing = "none"
buffer = "1000 cells"
[topology.bottleneck.schedule]
constellation = "{folder / "x.toml"}"
from = "{PLACE}"
to = "-45.4,94.2"
start = "{start}"
"""


def test_a_run_ends_with_an_outage_where_its_satellite_decays_and_says_so(tmp_path: Path) -> None:
    constellation(tmp_path, *RE_ENTERING)
    decay_s = DECAY_PS / SECOND_PS
    whole, cut = (
        skycell.run(skycell.parse(scenario(tmp_path, f"{decay_s - before:.3f} s")))
        for before in (60, 2)
    )
    of_cells, account, note = cut.notes
    assert whole.notes == (of_cells, account)
    assert note.startswith(
        '"55897" (catalogue number 55897, x.tle line 1) is left out from 2025-02'
    )
    write_result(cut, tmp_path / "out")
    assert read_result(tmp_path / "out").notes == cut.notes
    (tmp_path / "run.toml").write_text(scenario(tmp_path, f"{decay_s - 2:.3f} s"), "utf-8")
    checked = CliRunner().invoke(main, ["check", str(tmp_path / "run.toml"), "--json"])
    assert json.loads(checked.stdout)["files"][0]["notes"] == list(cut.notes)
    octets = [result.records["flows"][0]["octets_delivered"] for result in (whole, cut)]
    assert 0 < octets[1] < octets[0] / 2


def test_a_run_over_a_decayed_satellite_is_a_fault(tmp_path: Path) -> None:
    constellation(tmp_path, *RE_ENTERING)
    with pytest.raises(ScenarioFaults) as caught:
        skycell.run(skycell.parse(scenario(tmp_path, "268400 s")))
    assert "SGP4 error 6" in caught.value.faults[0].got


def test_elements_used_far_from_their_epoch_are_told(tmp_path: Path) -> None:
    sky = constellation(tmp_path, *map(summed, STAYING)).with_values({"pattern.farthest": "9999 h"})
    day_ps = 24 * 60 * MINUTE_PS
    assert look(sky, [], at_ps=13 * day_ps).validity.shortcomings == ()
    (note,) = look(sky, [], at_ps=40 * day_ps).validity.shortcomings
    assert note.startswith(
        "1 of 1 element set used more than two weeks from the epoch, that of 5 40.0 days:"
    )
