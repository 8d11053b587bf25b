"""Routers that are the user's: what they are given, what they return, and their errors."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from skycell.input.faults import Fault, ScenarioFaults
from skycell.orbit import as_constellation, find_places, positions_km, routes
from skycell.orbit.fstate import ListedRoutes
from skycell.orbit.router import Step, routes_from_python
from tests.structure.tree import ROOT

SECOND = 10**12
TWO_WAYS = ROOT / "examples/routers/two_ways.py"
SKY = as_constellation("iridium-like").with_values({"ground.access": "any"})
PLACES = find_places(["london", "tokyo", "sydney"])
TIMES = (30 * SECOND, 5 * SECOND, 20)
HEAD = "import numpy as np\n\n\ndef hops(step):\n"


def routed(folder: Path, text: str, times: tuple[int, int, int] = TIMES) -> ListedRoutes:
    file = folder / "own.py"
    file.write_text(text, encoding="utf-8")
    return routes_from_python(file, "hops", SKY, PLACES, times)


def test_a_router_by_delay_has_the_delays_of_the_routes_that_are_computed() -> None:
    start_ps, step_ps, epochs = TIMES
    pairs = [(0, 1), (1, 2), (2, 0)]
    known = routes(
        SKY, PLACES, pairs, start_ps=start_ps, step_ps=step_ps, duration_ps=step_ps * (epochs - 1)
    )
    listed = routes_from_python(TWO_WAYS, "next_hops", SKY, PLACES, TIMES, {"avoid_above": 90})
    found = routes(SKY, PLACES, pairs, listed=listed)
    assert (found.by, found.start_ps, found.step_ps, found.epochs) == ("router", *TIMES)
    for pair in range(3):
        assert found.delays_ps(pair) == known.delays_ps(pair)
        assert None not in known.delays_ps(pair)


def test_a_router_that_avoids_high_links_takes_one_only_where_no_other_way_is_left() -> None:
    def highest(avoid_above: float) -> list[float]:
        options = {"avoid_above": avoid_above}
        listed = routes_from_python(TWO_WAYS, "next_hops", SKY, PLACES, TIMES, options)
        found = routes(SKY, PLACES, [(0, 1)], listed=listed)
        numbers = {name: number for number, name in enumerate(SKY.satellites)}
        result = []
        for span in found.spans:
            assert not span.missing
            own = [numbers[name] for name in span.nodes[1:-1]]
            for epoch in range(span.first_epoch, span.first_epoch + span.epochs):
                x, y, z = positions_km(SKY, [found.at_ps(epoch)])[0][own].T
                result.append(float(np.degrees(np.arctan2(abs(z), np.hypot(x, y))).max()))
        return result

    assert len(highest(90)) == TIMES[2]
    # The shortest way from London to Tokyo is over the north. Tokyo is at 36 and London at 52
    # degrees, so that some satellite of the path is above 45.
    assert min(highest(90)) > 65
    assert max(highest(65)) <= 65
    assert min(highest(10)) > 45


def test_a_step_has_the_links_names_options_and_what_was_returned_before(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "SEEN = []\n\n\ndef hops(step):\n"
        "    SEEN.append(step)\n"
        "    table = step.before.copy()\n"
        "    if step.time_s > 40:\n"
        "        station = step.stations['tokyo']\n"
        "        link = (step.links['to'] == station).argmax()\n"
        "        table[step.links['from'][link], 1] = station\n"
        "    step.options['seen'].extend([step])\n"
        "    return table\n",
        encoding="utf-8",
    )
    seen: list[Step] = []
    listed = routes_from_python(file, "hops", SKY, PLACES, TIMES, {"seen": seen})
    assert [step.time_s for step in seen] == [30 + 5 * number for number in range(20)]
    satellites = len(SKY.satellites)
    assert list(seen[0].satellites.items()) == list(zip(SKY.satellites, range(66), strict=True))
    assert dict(seen[0].stations) == {"london": 66, "tokyo": 67, "sydney": 68}
    assert (seen[2].before == -1).all()
    assert (seen[3].before >= 0).sum() == 0
    assert (seen[4].before == satellites + 1).sum() == 1
    assert listed.rows[0][0] == 3
    moment = routes(SKY, PLACES, [(0, 1)], start_ps=30 * SECOND)
    node, following = moment.spans[0].nodes[:2]
    names = (*SKY.satellites, "london", "tokyo", "sydney")
    is_first = (seen[0].links["from"] == names.index(node)) & (
        seen[0].links["to"] == names.index(following)
    )
    assert seen[0].links["delay_ps"][is_first].tolist() == [moment.first_links_ps[0][0]]
    expected = positions_km(SKY, [30 * SECOND])[0]
    assert (seen[0].positions_km == expected).all()
    assert not seen[0].before.flags.writeable
    assert not any(array.flags.writeable for array in seen[0].links.values())


def test_what_is_returned_for_a_stations_own_node_is_passed_over(tmp_path: Path) -> None:
    text = f"{HEAD}    table = step.before.copy()\n    table[66, 0] = 1\n    return table\n"
    assert routed(tmp_path, text).rows == ([], [], [], [])


def test_a_router_may_have_data_classes_and_annotations_to_come(tmp_path: Path) -> None:
    text = (
        "from __future__ import annotations\n\nfrom dataclasses import dataclass\n\n\n"
        "@dataclass\nclass Kept:\n    table: object\n\n\n"
        "def hops(step):\n    return Kept(step.before).table\n"
    )
    assert routed(tmp_path, text).rows == ([], [], [], [])


def faults_of(folder: Path, text: str) -> tuple[Fault, ...]:
    with pytest.raises(ScenarioFaults) as found:
        routed(folder, text)
    return found.value.faults


def test_a_next_hop_without_a_link_is_a_fault_with_node_destination_and_time(
    tmp_path: Path,
) -> None:
    text = (
        f"{HEAD}    table = step.before.copy()\n    if step.time_s == 35:\n"
        "        table[0, 1] = 68\n        table[2, 2] = 2\n    return table\n"
    )
    first, second = faults_of(tmp_path, text)
    names = SKY.satellites
    assert first.got == f"{names[0]} (node 0 to node 68) hands to sydney for tokyo"
    assert second.got == f"{names[2]} (node 2 to node 2) hands to {names[2]} for sydney"
    assert "35 s" in first.allowed


def test_an_error_of_the_users_code_is_a_fault_with_its_line(tmp_path: Path) -> None:
    helper = f"def half(number):\n    return number / 0\n\n\n{HEAD}    return half(step.time_s)\n"
    for text, line, word in (
        (helper, 2, "ZeroDivisionError"),
        (f"{HEAD}    return np.zeros(-1)\n", 5, "ValueError"),
        (f"{HEAD}    return step.link\n", 5, "AttributeError"),
        (f"{HEAD}    raise SystemExit('enough')\n", 5, "SystemExit"),
        ("x = 1\nimport nothing_of_this_name\n", 2, "ModuleNotFoundError"),
        ("def hops(step:\n    pass\n", 1, "closed"),
    ):
        (fault,) = faults_of(tmp_path, text)
        assert (fault.line, word in fault.got) == (line, True), fault
        assert fault.file == str(tmp_path / "own.py")


def test_what_is_no_table_of_next_hops_is_refused(tmp_path: Path) -> None:
    for text, word in (
        ("None", "NoneType"),
        ("np.zeros((69, 3))", "float64"),
        ("np.zeros((3, 69), int)", "[3, 69]"),
        ("[[1], [1, 2]]", "list"),
        ("step.before - 1", "-2"),
        ("step.before + 70", "69"),
        ("step.before > 0", "bool"),
    ):
        (fault,) = faults_of(tmp_path, f"{HEAD}    return {text}\n")
        assert word in fault.got, fault
    (fault,) = faults_of(tmp_path, "def hop(step):\n    pass\n")
    assert "did you mean hop?" in fault.allowed
    (fault,) = faults_of(tmp_path, "hops = 3\n")
    assert fault.got == '"hops"'


def test_the_example_is_a_file_that_runs_alone() -> None:
    assert callable(runpy.run_path(str(TWO_WAYS))["next_hops"])
