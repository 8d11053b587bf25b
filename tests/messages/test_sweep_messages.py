"""Every fault message of the file of a sweep, as the exact text that a faulty file gives.

As for scenarios: `sweep.txt` has the faulty files and what is said about them, and
`make generate` writes the texts anew, for review.
"""

from pathlib import Path

import pytest

from skycell.experiment.file import load_plan, parse_plan
from skycell.experiment.plan import design_runs
from skycell.scenario import ScenarioFaults
from tests.messages.cases import Case, by_name, reported

TABLES = [Path(__file__).parent / "sweep.txt"]


def design(text: str, name: str) -> object:
    """The runs of a sweep's file."""
    return design_runs(parse_plan(text, name))


@pytest.mark.parametrize("case", by_name(TABLES))
def test_a_faulty_sweep_is_told_its_faults(case: Case) -> None:
    assert reported(design, case) == case.reported


def test_faults_of_a_scenario_in_a_file_of_its_own_stand_there(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('preset = "icccn97-lan"\nrun.duration = "1 hour"\n')
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(
        'scenario = "base.toml"\n'
        'factors.tcp = { key = "tcp.recovery", levels = ["reno", "sack"] }\n'
    )
    with pytest.raises(ScenarioFaults) as faults:
        design_runs(load_plan(sweep))
    (fault,) = faults.value.faults
    assert (fault.file, fault.path, fault.line) == (str(tmp_path / "base.toml"), "run.duration", 2)
    for text, line in (("preset = \n", 1), (sweep.read_text(), None)):
        (tmp_path / "base.toml").write_text(text)
        with pytest.raises(ScenarioFaults) as faults:
            load_plan(sweep)
        (fault,) = faults.value.faults
        assert (fault.file, fault.line) == (str(tmp_path / "base.toml"), line)


def test_a_scenario_in_a_file_of_its_own_is_read_as_any_other(tmp_path: Path) -> None:
    base, sweep = tmp_path / "base.toml", tmp_path / "sweep.toml"
    sweep.write_text(
        'scenario = "base.toml"\n'
        'factors.tcp = { key = "tcp.recovery", levels = ["reno", "sack"] }\n'
    )
    base.write_bytes(b"\xef\xbb\xbfpreset = 'icccn97-lan'\r\n")
    load_plan(sweep)
    base.write_bytes(b"# \xb5\n")
    with pytest.raises(ScenarioFaults) as faults:
        load_plan(sweep)
    assert str(faults.value).splitlines() == [
        f"{base}",
        "  got      the octet 0xb5",
        "  allowed  UTF-8 text",
        "1 fault; nothing was run.",
    ]


def test_what_is_not_text_is_refused_by_its_octet(tmp_path: Path) -> None:
    file = tmp_path / "latin1.toml"
    file.write_bytes('title = "5 µs"\n'.encode("latin-1"))
    with pytest.raises(ScenarioFaults) as faults:
        load_plan(file)
    assert str(faults.value).splitlines()[1:3] == [
        "  got      the octet 0xb5",
        "  allowed  UTF-8 text",
    ]
