"""The meaning that a fault has: that of the last declared key on its path."""

import pytest

from skycell.input.faults import Path
from skycell.input.forms import meaning_at
from skycell.input.parameters import meaning_of
from skycell.scenario import parse
from skycell.scenario.declared.policies import Epd
from skycell.scenario.declared.tcp import Tcp
from skycell.scenario.file.scenario_file import FlowOverride, ScenarioFile
from skycell.scenario.file.topology import EdgeLink

FILE = parse(
    {
        "preset": "icccn97-wan",
        "topology": {"bottleneck": {"policy": {"kind": "epd", "drop_threshold": 0.8}}},
        "flow": [{"names": ["flow1"], "tcp": {"mss": "1024 B"}}],
    }
).file


@pytest.mark.parametrize(
    ("path", "model", "key"),
    [
        (("tcp", "mss"), Tcp, "mss"),
        (("flow", 0, "tcp", "mss"), Tcp, "mss"),
        (("flow", 0, "names", 3), FlowOverride, "names"),
        (("flow", 5), ScenarioFile, "flow"),
        (("topology", "bottleneck", "policy", "drop_threshold"), Epd, "drop_threshold"),
        (("topology", "edge", "framing"), EdgeLink, "framing"),
        (("tcp", "mss", "below"), Tcp, "mss"),
    ],
)
def test_it_is_found_by_the_path(path: Path, model: type, key: str) -> None:
    assert meaning_at(FILE, path) == meaning_of(model.model_fields[key])  # type: ignore[attr-defined]


def test_there_is_none_of_a_key_that_is_not_declared() -> None:
    assert meaning_at(FILE, ("turbo", "mss")) == meaning_at(FILE, ()) == ""
