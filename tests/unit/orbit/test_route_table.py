"""Routes of a table of the user's: read by name and number, put into epochs, refused by line."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from skycell.input.faults import Fault, ScenarioFaults
from skycell.orbit import as_constellation, find_places, routes
from skycell.orbit.fstate import ListedRoutes
from skycell.orbit.places import Place
from skycell.orbit.route_table import routes_from_file

SECOND = 10**12
SATELLITES = ("a", "b", "7")
PLACES = (Place("rome", 0, 0), Place("oslo", 0, 9))


def read(folder: Path, text: str, **times: int) -> ListedRoutes:
    file = folder / "routes.csv"
    file.write_text(text, encoding="utf-8")
    return routes_from_file(file, SATELLITES, PLACES, **times)


def rows_of(listed: ListedRoutes) -> list[tuple[int, ...]]:
    return list(zip(*listed.rows, strict=True))


def test_a_node_is_a_name_or_a_number_and_a_name_comes_first(tmp_path: Path) -> None:
    text = "time,node,destination,next\n0,a,rome,3\n0,1,4,-1\n0,7,oslo,\n0,4,3,2\n0,rome,oslo,b\n"
    assert rows_of(read(tmp_path, text)) == [
        (0, 0, 0, 3),
        (0, 1, 1, -1),
        (0, 2, 1, -1),
        (0, 4, 0, 2),
        (0, 3, 1, 1),
    ]


def test_times_are_epochs_of_their_greatest_common_step(tmp_path: Path) -> None:
    text = "time,node,destination,next\n1.3,a,rome,b\n1,a,rome,7\n2.3,a,rome,\n"
    listed = read(tmp_path, text)
    assert (listed.start_ps, listed.step_ps, listed.epochs) == (SECOND, SECOND // 10, 14)
    assert rows_of(listed) == [(0, 0, 0, 2), (3, 0, 0, 1), (13, 0, 0, -1)]
    alone = read(tmp_path, "time_ps,node,destination,next\n5,a,rome,b\n")
    assert (alone.start_ps, alone.step_ps, alone.epochs) == (5, SECOND, 1)


def test_a_row_is_in_force_from_the_first_epoch_that_is_not_before_it(tmp_path: Path) -> None:
    text = "time,node,destination,next\n" + "".join(
        f"{time},a,rome,{following}\n"
        for time, following in (("0", "b"), ("0.9", "7"), ("1", "b"), ("1.1", "7"), ("9", "b"))
    )
    times = {"start_ps": SECOND // 2, "duration_ps": 2 * SECOND, "step_ps": SECOND}
    listed = read(tmp_path, text, **times)
    # Epochs at 0.5, 1.5 and 2.5 s: that of 1.1 s replaces those of 0.9 and 1 s.
    assert (listed.start_ps, listed.step_ps, listed.epochs) == (SECOND // 2, SECOND, 3)
    assert rows_of(listed) == [(0, 0, 0, 1), (1, 0, 0, 2)]
    assert "1 row" in listed.account.left_aside[0].sentence


def faults_of(folder: Path, text: str) -> Sequence[Fault]:
    with pytest.raises(ScenarioFaults) as found:
        read(folder, text)
    return found.value.faults


def test_each_row_that_is_no_route_is_a_fault_with_its_line(tmp_path: Path) -> None:
    text = "\n".join(
        (
            "time,node,destination,next",
            "0,a,rome,b",
            "x,a,oslo,b",
            "-1,a,oslo,b",
            "nan,a,oslo,b",
            "1e-13,a,oslo,b",
            "0,c,oslo,b",
            "0,,oslo,b",
            "0,b,a,b",
            "0,b,5,b",
            "0,b,oslo,-2",
            "0,b,oslo,osloo",
            "0,0,3,7",
            "1e30,b,oslo,a",
        )
    )
    faults = faults_of(tmp_path, text)
    assert [(fault.line, fault.path) for fault in faults] == [
        (3, "time"),
        (4, "time"),
        (5, "time"),
        (6, "time"),
        (7, "node"),
        (8, "node"),
        (9, "destination"),
        (10, "destination"),
        (11, "next"),
        (12, "next"),
        (13, ""),
        (14, "time"),
    ]
    assert "did you mean oslo?" in faults[9].allowed
    assert "line 2" in faults[10].allowed


def test_a_table_without_a_column_or_a_row_is_refused(tmp_path: Path) -> None:
    for text in ("", "time,node,next\n", "time,time_ps,node,destination,next\n0,0,a,rome,b\n"):
        ((fault),) = faults_of(tmp_path, text)
        assert (fault.line, "destination" in fault.allowed) == (1, True)
    ((fault),) = faults_of(tmp_path, "time,node,destination,next\n")
    assert fault.got == "no row"


def test_times_that_need_too_many_epochs_ask_for_a_step(tmp_path: Path) -> None:
    text = "time,node,destination,next\n0,a,rome,b\n0.000001,a,rome,7\n2,a,rome,b\n"
    ((fault),) = faults_of(tmp_path, text)
    assert "1 us" in fault.got
    assert read(tmp_path, text, step_ps=SECOND).epochs == 3


def test_a_table_of_the_next_hops_that_were_computed_gives_the_same_columns(
    tmp_path: Path,
) -> None:
    sky = as_constellation("iridium-like").with_values({"ground.access": "any"})
    places = find_places(["london", "tokyo", "sydney"])
    found = routes(sky, places, duration_ps=90 * SECOND, step_ps=SECOND)
    assert found.changes > 0
    first = found.next_table().select(
        pl.lit(0, pl.UInt64).alias("time_ps"), "node", pl.col("to").alias("destination"), "next"
    )
    later = found.change_table().select(
        "time_ps", "node", pl.col("to").alias("destination"), pl.col("after").alias("next")
    )
    table = pl.concat([first, later])
    table.write_csv(tmp_path / "routes.csv")
    table.write_parquet(tmp_path / "routes.parquet")
    for name in ("routes.csv", "routes.parquet"):
        listed = routes_from_file(
            tmp_path / name, sky.satellites, places, duration_ps=90 * SECOND, step_ps=SECOND
        )
        again = routes(sky, places, listed=listed)
        assert (again.digest, again.by) == (found.digest, "table")


def test_a_row_of_a_parquet_that_is_no_route_has_the_line_of_its_csv(tmp_path: Path) -> None:
    file = tmp_path / "routes.parquet"
    table = {"time": [0.5, None], "node": [0, 1], "destination": [3, 4], "next": [None, 9]}
    pl.DataFrame(table).write_parquet(file)
    with pytest.raises(ScenarioFaults) as found:
        routes_from_file(file, SATELLITES, PLACES)
    assert [(fault.line, fault.path) for fault in found.value.faults] == [(3, "next"), (3, "time")]
    file.write_bytes(b"PAR1 and no more")
    with pytest.raises(ScenarioFaults):
        routes_from_file(file, SATELLITES, PLACES)
