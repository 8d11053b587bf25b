"""`skycell new`: files to begin with, each of which can be run as it is."""

from pathlib import Path

import pytest

from skycell.experiment.file import load_plan
from skycell.scenario import load
from skycell.templates import templates, title_of
from tests.unit.cli.calling import refused, skycell


@pytest.mark.parametrize("name", templates())
def test_a_template_is_written_and_runs_as_it_is(name: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    done = skycell("new", name, "--out", file)
    assert (done.exit_code, done.stdout) == (0, f"Written to {file}.\n")
    assert skycell("new", name).stdout == file.read_text("utf-8")
    if name == "sweep":
        assert len(load_plan(str(file)).cells) > 1
        return
    checked = skycell("check", file)
    assert checked.exit_code == 0, checked.stderr
    short = load(file, {"run.duration": "1 s"})
    spec = short.resolve()
    assert spec.flows or spec.users
    done = skycell("run", file, "--set", "run.duration=2 s")
    assert done.exit_code == 0, done.stderr


def test_the_list_says_what_each_is_for() -> None:
    shown = skycell("new").stdout
    assert [line.split()[0] for line in shown.splitlines()] == list(templates())
    assert all(title_of(text) in shown for text in templates().values())


def test_a_file_is_not_replaced_without_leave(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("mine")
    assert "--force" in refused(skycell("new", "sweep", "--out", tmp_path / "x.toml"))
    assert (tmp_path / "x.toml").read_text() == "mine"
