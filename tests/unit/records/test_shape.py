"""Records that are read back are those of their network, key by key."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from skycell.experiment.run import run_spec
from skycell.records.files import write_result
from skycell.records.reading import NotAResult, read_result
from skycell.records.shape import faults_of_shape
from skycell.scenario import load, parse
from tests.unit.cli.calling import refused, skycell

EXAMPLES = Path(__file__).parents[3] / "examples"
SCENARIO = """run.duration = "200 ms"
tcp.preset = "linux"
records.traces = ["queue", "cwnd"]
[topology]
kind = "dumbbell"
sources = 2
bottleneck = { rate = "10 Mbit/s", framing = "ip", delay = "5 ms", buffer = "1 BDP" }
access = { rate = "1 Gbit/s", framing = "ip", delay = "1 ms" }
"""


@pytest.mark.parametrize(
    "name",
    ["abr-over-a-satellite", "calls", "dama-web-users", "pep", "two-classes", "classifier"],
)
def test_what_a_run_leaves_has_the_shape_of_its_network(name: str) -> None:
    scenario = load(EXAMPLES / f"{name}.toml", {"run.duration": "1 s", "run.measure_from": "0 s"})
    spec = scenario.resolve()
    records = json.loads(run_spec(spec).to_json())
    assert list(faults_of_shape(records, spec)) == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run")
    write_result(run_spec(parse(SCENARIO).resolve()), out)
    return out


@pytest.mark.parametrize(
    ("path", "value", "reported"),
    [
        (("flows", 0, "timeouts"), None, "flows[0].timeouts is not there"),
        (("flows", 1, "timeouts"), "x", "flows[1].timeouts is no number"),
        (("flows", 1, "timeouts"), float("inf"), "flows[1].timeouts is no number"),
        (("flows", 1, "timeouts"), 1.5, "flows[1].timeouts is no whole number"),
        (("ports", 0, "queue", "max"), None, "ports[0].queue.max is not there"),
        (("ledger", "accounts"), 3, "ledger.accounts is no list"),
        (("vcs",), [], "vcs has 0 entries"),
    ],
)
def test_a_report_names_the_file_and_the_key(
    path: tuple[Any, ...], value: Any, reported: str, folder: Path, tmp_path: Path
) -> None:
    records = json.loads((folder / "records.json").read_text())
    changed = copy.deepcopy(records)
    here = changed
    for step in path[:-1]:
        here = here[step]
    if value is None:
        del here[path[-1]]
    else:
        here[path[-1]] = value
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "records.json").write_text(json.dumps(changed))
    line = refused(skycell("report", tmp_path, "--out", tmp_path / "r.html"))
    assert f"{tmp_path / 'records.json'}: {reported}" in line
    with pytest.raises(NotAResult):
        read_result(tmp_path)
