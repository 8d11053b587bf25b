"""Every fault message of the file of a sweep, as the exact text that a faulty file gives.

As for scenarios: `sweeps/NAME.toml` is faulty, `sweeps/NAME.txt` is what is said about it, and
`python tests/messages/test_sweep_messages.py` writes the texts anew, for review.
"""

from pathlib import Path

import pytest

from skycell.experiment.file import load_plan, parse_plan
from skycell.experiment.plan import design_runs
from skycell.scenario import ScenarioFaults

CASES = Path(__file__).parent / "sweeps"


def told(case: Path) -> str:
    """What is said about a faulty file."""
    with pytest.raises(ScenarioFaults) as faults:
        design_runs(parse_plan(case.read_text(encoding="utf-8"), case.name))
    return f"{faults.value}\n"


@pytest.mark.parametrize("case", sorted(CASES.glob("*.toml")), ids=lambda case: case.stem)
def test_a_faulty_sweep_is_told_its_faults(case: Path) -> None:
    assert told(case) == case.with_suffix(".txt").read_text(encoding="utf-8")


def test_no_text_is_left_of_a_sweep_that_is_gone() -> None:
    cases = {case.stem for case in CASES.glob("*.toml")}
    assert {text.stem for text in CASES.glob("*.txt")} == cases


def test_faults_of_a_scenario_in_a_file_of_its_own_stand_there(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('preset = "icccn97-lan"\nrun.duration = "1 hour"\n')
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(
        'scenario = "base.toml"\nfactors.tcp = { key = "tcp.variant", levels = ["reno", "sack"] }\n'
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
        'scenario = "base.toml"\nfactors.tcp = { key = "tcp.variant", levels = ["reno", "sack"] }\n'
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


if __name__ == "__main__":
    for faulty in CASES.glob("*.toml"):
        faulty.with_suffix(".txt").write_text(told(faulty), encoding="utf-8")
