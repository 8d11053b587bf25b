"""A faulty file ends as a fault, whatever the fault: no mutant of a sound file leaves otherwise."""

import io
import json
import math
import random
import zipfile
from pathlib import Path

import pytest

from skycell.experiment.file import parse_plan
from skycell.experiment.plan import design_runs
from skycell.experiment.result import NotASweepError, read_sweep
from skycell.experiment.run import run_spec
from skycell.exports.bundle import NotABundle, bundle_of, read_bundle
from skycell.input.faults import ScenarioFaults
from skycell.link import budget_of, parse_carrier
from skycell.records.files import write_result
from skycell.records.reading import NotAResult, read_result
from skycell.scenario import parse
from skycell.scenario.notes import notes_on, notes_on_carriers
from skycell.scenario.sky_paths import notes_on_series, sky_paths
from tests.unit.cli.calling import skycell
from tests.unit.mutants.mutating import (
    MUTANTS,
    SEED,
    in_time,
    mutant,
    mutant_of_data,
    mutant_of_octets,
)

EXAMPLES = Path(__file__).parents[3] / "examples"
SCENARIO = """run.duration = "50 ms"
tcp.preset = "linux"
[topology]
kind = "dumbbell"
sources = 1
bottleneck = { rate = "10 Mbit/s", framing = "ip", delay = "5 ms", buffer = "1 BDP" }
access = { rate = "1 Gbit/s", framing = "ip", delay = "1 ms" }
"""


def draws(kind: str) -> list[random.Random]:
    """A source of random numbers for each mutant of a kind."""
    return [random.Random(f"{kind}/{SEED}/{number}") for number in range(MUTANTS)]


def test_no_mutant_of_a_scenario_leaves_but_as_a_fault() -> None:
    files = sorted(EXAMPLES.glob("*.toml"))
    texts = [file.read_text(encoding="utf-8") for file in files]
    faulty, reported = 0, []
    for number, draw in enumerate(draws("scenario")):
        text = mutant(draw.choice(texts), draw)
        try:
            with in_time():
                scenario = parse(text, "mutant", EXAMPLES)
                spec = scenario.resolve()
                notes_on(spec, sky_paths(scenario))
                notes_on_carriers(scenario.file.topology)
                notes_on_series(scenario)
        except ScenarioFaults as faults:
            faulty += 1
            reported.append(str(faults))
        except Exception as error:
            raise AssertionError(f"mutant {number}:\n{text}") from error
    assert faulty > MUTANTS / 3
    assert all(text.replace("\n", "").isprintable() for text in reported)


def test_no_mutant_of_a_sweep_leaves_but_as_a_fault() -> None:
    files = sorted((EXAMPLES / "sweeps").glob("*.toml"))
    texts = [file.read_text(encoding="utf-8") for file in files]
    for number, draw in enumerate(draws("sweep")[: MUTANTS // 10]):
        text = mutant(draw.choice(texts), draw)
        try:
            with in_time():
                design_runs(parse_plan(text, "mutant", EXAMPLES / "sweeps"))
        except ScenarioFaults:
            pass
        except Exception as error:
            raise AssertionError(f"mutant {number}:\n{text}") from error


def test_no_mutant_of_a_carrier_leaves_but_as_a_fault() -> None:
    folder = EXAMPLES / "carriers"
    texts = [file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.toml"))]
    faulty = 0
    for number, draw in enumerate(draws("carrier")):
        text = mutant(draw.choice(texts), draw)
        try:
            with in_time():
                found = budget_of(parse_carrier(text, "mutant", folder))
                assert math.isfinite(found.ratio_db)
        except ScenarioFaults:
            faulty += 1
        except Exception as error:
            raise AssertionError(f"mutant {number}:\n{text}") from error
    assert faulty > MUTANTS / 3


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a run."""
    folder = tmp_path_factory.mktemp("result")
    write_result(run_spec(parse(SCENARIO).resolve()), folder)
    return folder


def test_no_mutant_of_a_result_leaves_but_as_a_fault(result: Path, tmp_path: Path) -> None:
    texts = {name: (result / name).read_text() for name in ("records.json", "spec.json")}
    for number, draw in enumerate(draws("result")):
        changed = draw.choice(("records.json", "records.json", "spec.json"))
        for name, text in texts.items():
            (tmp_path / name).write_text(text)
        if draw.randrange(3):
            text = json.dumps(mutant_of_data(json.loads(texts[changed]), draw))
        else:
            text = mutant(texts[changed], draw)
        (tmp_path / changed).write_text(text, encoding="utf-8")
        try:
            with in_time():
                found = read_result(tmp_path)
        except NotAResult:
            continue
        except Exception as error:
            raise AssertionError(f"mutant {number} of {changed}") from error
        if number % 10 == 0:  # drawing takes a while
            done = skycell("export", tmp_path, "--as", "csv", "--out", tmp_path / f"x{number}")
            assert isinstance(done.exception, SystemExit | None), (number, done.exception)
        # The tables of a command are made of these.
        assert found.flows.height == 1
        assert found.ports.height == len(found.spec.links)


def test_half_a_sign_is_no_result(result: Path, tmp_path: Path) -> None:
    for name in ("records.json", "spec.json"):
        (tmp_path / name).write_bytes((result / name).read_bytes())
    records = (result / "records.json").read_text()
    (tmp_path / "records.json").write_text(records.replace('"discarded"', r'"\ud800"'))
    with pytest.raises(NotAResult, match="no records"):
        read_result(tmp_path)


def test_no_mutant_of_a_bundle_leaves_but_as_a_fault(result: Path) -> None:
    files = {f"result/{file.name}": file.read_bytes() for file in result.iterdir()}
    files["input/a.toml"] = SCENARIO.encode()
    content = bundle_of(["run", "input/a.toml"], files, "1").to_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        manifest = json.loads(archive.read("bundle.json"))
        others = {name: archive.read(name) for name in archive.namelist()[1:]}
    reported = []
    for number, draw in enumerate(draws("bundle")):
        octets = mutant_of_octets(content, draw)
        if number % 3 == 0:
            data = mutant_of_data(json.loads(json.dumps(manifest)), draw)
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w") as archive:
                archive.writestr("bundle.json", json.dumps(data))
                for name, other in others.items():
                    archive.writestr(name, other)
            octets = packed.getvalue()
        try:
            with in_time():
                read_bundle(octets)
        except NotABundle as reason:
            reported.append(str(reason))
        except Exception as error:
            raise AssertionError(f"mutant {number}") from error
    assert reported
    assert all(reason.isprintable() for reason in reported)


def test_no_mutant_of_a_sweeps_result_leaves_but_as_a_fault(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    text = SCENARIO.replace("[topology]", "[scenario.topology]")
    factors = '[factors.n]\nkey = "topology.sources"\nlevels = [1, 2]\n'
    file.write_text(f"[scenario]\n{text}{factors}")
    store, out = tmp_path / "runs.sqlite", tmp_path / "out"
    done = skycell("sweep", file, "--jobs", 1, "--store", store, "--out", out, "--no-report")
    assert done.exit_code == 0, done.output
    sound = (out / "sweep.json").read_text(encoding="utf-8")
    endless = json.loads(sound)
    endless["runs"][0]["levels"]["n"] = 10**400
    for data in ({**endless, "runs": []}, endless):
        (out / "sweep.json").write_text(json.dumps(data))
        assert skycell("analyse", out).exit_code == 2
    for number, draw in enumerate(draws("sweep result")):
        if draw.randrange(3):
            text = json.dumps(mutant_of_data(json.loads(sound), draw))
        else:
            text = mutant(sound, draw)
        (out / "sweep.json").write_text(text, encoding="utf-8")
        try:
            with in_time():
                read_sweep(out)
        except NotASweepError:
            continue
        except Exception as error:
            raise AssertionError(f"mutant {number}") from error
        if number % 10 == 0:
            done = skycell("analyse", out)
            assert isinstance(done.exception, SystemExit | None), (number, done.exception)
    octets = store.read_bytes()
    for number, draw in enumerate(draws("store")):
        (tmp_path / "mutant.sqlite").write_bytes(mutant_of_octets(octets, draw))
        with in_time():
            done = skycell("store", "verify", tmp_path / "mutant.sqlite")
        assert isinstance(done.exception, SystemExit | None), (number, done.exception)
