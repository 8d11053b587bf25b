"""The measured part of a study's README: verdicts, and what single replications say of them."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from skycell.studies.findings import RunByRun
from tests.docs.scripts import load_script
from tests.unit.report.reproductions import CONCLUSIONS, reproduction

script = load_script("study_readme")


def test_a_study_tells_which_verdicts_single_replications_share() -> None:
    best, worst, _ = CONCLUSIONS
    conclusions = [
        replace(best, run_by_run=RunByRun(3, 5)),
        replace(best, id="3.4", run_by_run=RunByRun(5, 5)),
        replace(best, id="3.5"),
        replace(worst, run_by_run=RunByRun(2, 5)),
        replace(worst, id="3.6", run_by_run=RunByRun(0, 5)),
    ]
    lines = script._reproduced(reproduction(conclusions=conclusions))
    assert (
        "Of the conclusions that hold in print 3 of 5 hold in ours. Every single replication "
        "agrees on 1 of 2 that hold and on 1 of 2 that do not."
    ) in lines
    assert "* 3.2 Reno is worst. (published: a; ours: b; in 2 of 5 single replications)" in lines
    assert "* 3.6 Reno is worst. (published: a; ours: b; in 0 of 5 single replications)" in lines
    assert "Those that hold, but not in every single replication: 3.1 (3 of 5)." in lines


def test_what_is_told_of_the_choices_can_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "icccn97").mkdir()
    file = tmp_path / "icccn97" / "README.md"
    above = "# By hand\n\nOurs is too good.\n"
    kept = f"{script.CHOICES}\n\nNot tried: `tcp.handshake`.\n"
    file.write_text(f"{above}\n{script.MARKER}\n\n## What reproduces\n\nold\n\n{kept}")
    monkeypatch.setattr(script, "STUDIES", tmp_path)
    monkeypatch.setattr(script, "reproduce", lambda *_, **__: reproduction())
    arguments = ["icccn97", "--keep-choices", "--store", str(tmp_path / "runs.sqlite")]
    told = CliRunner().invoke(script.main, arguments)
    assert told.exit_code == 0, told.output
    text = file.read_text()
    assert text.startswith(f"{above}\n{script.MARKER}\n\n## What reproduces\n\n2 replications")
    assert text.endswith(f")\n\n{kept}")
    assert "\nold\n" not in text
    file.write_text(above)
    assert CliRunner().invoke(script.main, arguments).exit_code == 0
    assert file.read_text() == text.removesuffix(f"\n{kept}")


def test_a_study_whose_single_replications_all_agree_lists_none() -> None:
    lines = script._reproduced(
        reproduction(conclusions=[replace(CONCLUSIONS[0], run_by_run=RunByRun(5, 5))])
    )
    assert not any("not in every single replication" in line for line in lines)


def test_a_study_that_draws_nothing_tells_only_its_verdicts() -> None:
    lines = script._reproduced(reproduction(conclusions=CONCLUSIONS[:2]))
    assert "Of the conclusions that hold in print 1 of 2 hold in ours." in lines
    assert "* 3.2 Reno is worst. (published: a; ours: b)" in lines
