"""Runs leave what the conformance vectors had when a person checked them."""

import json
import shutil
from pathlib import Path
from typing import get_args

import pytest

import skycell
from skycell.cli.options import ENGINES
from skycell.spec.declared.network import PolicySpec
from tests.conformance import vectors
from tests.tcp_keys import RULES


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", vectors.names())
def test_a_run_leaves_what_was_checked(name: str, engine: str) -> None:
    assert vectors.run(name, engine) == vectors.stored(name), (
        f'if the change is meant: make generate WHAT="vectors {name}"'
    )


@pytest.mark.parametrize("name", vectors.names())
def test_every_vector_says_how_it_was_checked(name: str) -> None:
    assert vectors.UNCHECKED not in vectors.notes(name)
    assert vectors.notes(name).startswith("Checked by hand.")


def test_every_policy_and_every_rule_of_a_window_and_of_recovery_has_a_vector() -> None:
    files = [skycell.load(vectors.scenario(name)).resolve() for name in vectors.names()]
    policies = {link.port.policy.kind for spec in files for link in spec.links}
    assert policies == set(_policies_of_the_spec())
    for key in ("recovery", "congestion"):
        kinds = {getattr(flow.tcp, key).kind for spec in files for flow in spec.flows}
        assert kinds == set(RULES[key])


def _policies_of_the_spec() -> list[str]:
    kinds = get_args(PolicySpec)
    return [kind.kind for kind in kinds]


def test_every_folder_has_a_scenario() -> None:
    folders = sorted(path.name for path in vectors.VECTORS.iterdir() if path.is_dir())
    assert folders == vectors.names()


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The scenario of one vector in a folder of its own, with nothing else stored yet."""
    name = "tail-drop-joins-two-frames"
    (tmp_path / name).mkdir()
    shutil.copy(vectors.scenario(name), tmp_path / name)
    monkeypatch.setattr(vectors, "VECTORS", tmp_path)
    return vectors.scenario(name)


def test_a_vector_that_changed_loses_its_notes_and_one_that_did_not_keeps_them(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = elsewhere.parent.name
    assert vectors.main([name]) == 0
    assert vectors.notes(name) == f"{vectors.UNCHECKED}\n"
    assert "discards.csv" in vectors.stored(name)
    (elsewhere.parent / vectors.NOTES).write_text("Checked by hand. Twice.\n", encoding="utf-8")
    assert vectors.main(["--all"]) == 0
    assert vectors.notes(name) == "Checked by hand. Twice.\n"
    text = elsewhere.read_text(encoding="utf-8")
    elsewhere.write_text(text.replace('"22 cells"', '"23 cells"'), encoding="utf-8")
    assert vectors.main([name]) == 0
    assert vectors.notes(name) == f"{vectors.UNCHECKED}\n"
    stored = vectors.stored(name)
    assert json.loads(stored["counts.json"])["vcs"]["flow2.forward"] == {
        "cells_offered": 22,
        "frames_delivered": 1,
    }
    assert "discards.csv" not in stored
    assert capsys.readouterr().out.count("rewritten") == 2


def test_the_rewriting_command_refuses_names_that_do_not_exist(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert vectors.main(["tail-drip"]) == 2
    assert vectors.main([]) == 2
    assert elsewhere.parent.name in capsys.readouterr().err
    assert [path.name for path in elsewhere.parent.iterdir()] == [vectors.SCENARIO]
