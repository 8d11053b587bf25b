"""Frames over a handover to a shorter path: cells as they arrive, and as they entered."""

from typing import Any

import pytest

import skycell
from skycell.records import RunResult


def over_a_handover(**changed: Any) -> skycell.Scenario:
    """Frames of 20 cells, 20 000 cells a second, while the path to Tokyo turns 12 ms shorter."""
    path = {"constellation": "jsac98-6x11", "from": "new_york", "to": "tokyo", "start": "86 s"}
    link = {"rate": "20 Mbit/s", "framing": "none"}
    values = {
        "run": {"duration": "3 s"},
        "topology": {
            "kind": "dumbbell",
            "sources": 0,
            "bottleneck": {
                **link,
                "buffer": "1000 cells",
                "schedule": {**path, "onboard_switching": {}},
            },
            "access": {**link, "delay": "1 ms", "frame_jitter": "0 s"},
        },
        "source": [{"kind": "cbr", "name": "video", "rate": "20000 cells/s", "frame": 20}],
    }
    return skycell.parse(values).with_values(changed)


def with_resequencer(**keys: str) -> skycell.Scenario:
    return over_a_handover(resequencer=[{"vcs": ["video"], "hold": "50 ms", **keys}])


def video(result: RunResult) -> tuple[dict[str, Any], dict[str, Any]]:
    return dict(result.records["vcs"][0]), dict(result.records["cell_delays"][0])


def test_frames_spoilt_by_a_handover_come_whole_and_later() -> None:
    before, delay_before = video(skycell.run(over_a_handover()))
    after, delay = video(skycell.run(with_resequencer()))
    assert before["frames_corrupt"] > 20
    assert (after["frames_corrupt"], after["cells_corrupt"]) == (0, 0)
    assert after["frames_delivered"] > before["frames_delivered"] + 20
    found = after["resequencer"]
    assert (found["cells_given_up"], found["cells_late"], found["cells_waiting"]) == (0, 0, 0)
    # The first cell over the new path comes one interval behind the last over the old one, which is
    # longer by their difference: 64.296 and 52.394 ms by propagation, and one cell time a hop.
    assert found["wait_max_ps"] == pytest.approx((64.296 - 52.394) * 1e9, abs=0.1e9)
    # Those behind it wait 50 us less each.
    assert found["cells_held"] == pytest.approx(found["wait_max_ps"] / 50e6, abs=2)
    assert found["wait_mean_ps"] == pytest.approx(found["wait_max_ps"] / 2, rel=0.01)
    waited_ps = found["cells_held"] * found["wait_mean_ps"]
    mean_ps = delay["mean_ps"] - delay_before["mean_ps"]
    assert mean_ps * delay["cells"] == pytest.approx(waited_ps, rel=0.001)


def test_one_that_waits_less_than_the_paths_differ_lets_cells_be_late() -> None:
    record, _ = video(skycell.run(with_resequencer(hold="5 ms")))
    found = record["resequencer"]
    assert found["wait_max_ps"] == 5 * 10**9
    assert found["cells_late"] == found["cells_given_up"] > 0
    assert record["frames_corrupt"] > 0
    full, _ = video(skycell.run(with_resequencer(buffer="10 cells")))
    assert full["resequencer"]["cells_most"] == 10
    assert full["frames_corrupt"] > 0


def test_both_engines_leave_the_same() -> None:
    left = []
    for engine in ("fast", "reference"):
        records = dict(skycell.run(with_resequencer(hold="5 ms"), engine=engine).records)
        reasons = {port["reason"] for port in records.pop("engine_stats").get("stepped_ports", [])}
        assert reasons == ({"resequencer"} if engine == "fast" else set())
        assert records.pop("engine") == engine
        left.append(records)
    assert left[0] == left[1]


def test_what_a_link_loses_holds_up_those_behind_it_for_the_whole_time() -> None:
    link = {"rate": "20 Mbit/s", "framing": "none", "delay": "5 ms", "buffer": "100 cells"}
    changed = {"topology.bottleneck": {**link, "loss": 0.01}}
    record, _ = video(skycell.run(with_resequencer().with_values(changed)))
    found = record["resequencer"]
    assert found["cells_late"] == 0
    # Whole frames are lost: 20 cells each, but for those whose followers still wait at the end.
    assert found["cells_given_up"] % 20 == 0
    assert 0 <= record["cells_lost"]["drawn"] - found["cells_given_up"] <= 60
    assert found["wait_max_ps"] == 50 * 10**9
