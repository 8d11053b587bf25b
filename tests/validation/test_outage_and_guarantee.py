"""A rate that is guaranteed to UBR helps beside video, and not in an outage (IJSC, section 4)."""

from pathlib import Path

import polars as pl
import pytest

from skycell import RunResult, run
from skycell.scenario import parse

BEGIN_S, END_S = 12.0, 15.0
"""The outage: 3 s, over five round trips of a geostationary path."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("outage")
    rows = f"0,1\n{BEGIN_S},0\n{END_S},1\n40,1\n"
    (made / "link.csv").write_text(f"time_s,availability\n{rows}")
    return made


def result_of(folder: Path, guaranteed: bool) -> RunResult:
    """Five TCPs over GEO beside video that takes the whole link half of the time."""
    scheduler = (
        {"kind": "guaranteed_rate", "rates": {"ubr": 0.1}} if guaranteed else "strict_priority"
    )
    video = {"kind": "vbr", "name": "video", "peak_rate": 1.0, "on": "300 ms", "off": "300 ms"}
    values = {
        "preset": "icccn97-geo",
        "run": {"duration": "30 s"},
        "topology": {
            "sources": 5,
            "bottleneck": {
                "buffer": "200000 cells",
                "policy": "selective_drop",
                "scheduler": scheduler,
                "class": [{"name": "nrt_vbr"}],
                "schedule": {"series": "link.csv"},
            },
        },
        "source": [video],
        "records": {"traces": ["sequence"]},
    }
    return run(parse(values, folder=folder))


def acknowledged(result: RunResult, begin_s: float, end_s: float) -> int:
    """ACKs that came to the senders within a time."""
    time = pl.col("time_ps") / 1e12
    trace = result.traces["sequence"].filter(pl.col("event") == 2)
    return len(trace.filter(time.is_between(begin_s, end_s)))


def test_a_guaranteed_rate_does_not_help_in_an_outage_of_three_seconds_over_geo(
    folder: Path,
) -> None:
    for guaranteed in (False, True):
        result = result_of(folder, guaranteed)
        assert acknowledged(result, BEGIN_S - 3, BEGIN_S) > 0
        # What was under way when it began has come after a round trip; then there is nothing.
        assert acknowledged(result, BEGIN_S + 0.6, END_S) == 0
        assert acknowledged(result, END_S, END_S + 6) > 0
        assert all(flow["timeouts"] > 0 for flow in result.records["flows"])
