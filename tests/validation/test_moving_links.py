"""Runs over links that move, against runs over links that stand still."""

from pathlib import Path
from typing import Any

import pytest

import skycell
from skycell.records import RunResult

NAMES = ("engine", "engine_stats")
"""What of the records is not of the network."""


def scenario(folder: Path, link: dict[str, Any], **run: Any) -> skycell.Scenario:
    """Three SACK connections over one congested link."""
    return skycell.parse(
        {
            "run": {"duration": "5 s", **run},
            "topology": {
                "kind": "n_source",
                "sources": 3,
                "bottleneck": {
                    "rate": "20 Mbit/s",
                    "framing": "none",
                    "buffer": "400 cells",
                    **link,
                },
                "access": {"delay": "1 ms"},
            },
            "tcp": {
                "variant": "sack",
                "mss": "1460 B",
                "receiver_window": "400000 B",
                "window_scaling": True,
            },
            "records": {"traces": ["cwnd", "queue"]},
        },
        folder=folder,
    )


def left(result: RunResult) -> tuple[object, ...]:
    """Everything that a run left, but for the spec and the engine that it names."""
    records = {key: value for key, value in result.records.items() if key not in NAMES}
    return (records, *(result.traces[name].rows() for name in ("cwnd", "queue")))


@pytest.mark.parametrize("engine", ["reference", "fast"])
def test_a_delay_that_stays_the_same_over_handovers_is_a_constant_one(
    tmp_path: Path, engine: str
) -> None:
    text = "time_s,delay_ms,path\n" + "".join(f"{n / 10},30,{n // 7}\n" for n in range(60))
    (tmp_path / "still.csv").write_text(text, encoding="utf-8")
    moving = scenario(tmp_path, {"motion": {"series": "still.csv"}})
    still = scenario(tmp_path, {"delay": "30 ms"})
    motions = [link.motion for link in moving.resolve().links if link.motion]
    assert [len(motion.times_ps) for motion in motions] == [8, 8]
    assert left(skycell.run(moving, engine=engine)) == left(skycell.run(still, engine=engine))
