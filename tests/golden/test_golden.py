"""Golden traces say what they said when a person checked them."""

from pathlib import Path
from typing import get_args

import pytest

import skycell
from skycell.cli.options import ENGINES
from skycell.spec.network import PolicySpec
from tests.golden import golden, rewrite
from tests.tcp_keys import RULES


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", golden.names())
def test_a_run_leaves_the_events_that_were_checked(name: str, engine: str) -> None:
    note, text = golden.stored(name)
    assert note, f'{name} has no stored trace: make generate WHAT="golden {name}"'
    assert golden.run(name, engine) == text, (
        f'if the change is meant: make generate WHAT="golden {name}"'
    )


@pytest.mark.parametrize("name", golden.names())
def test_every_golden_trace_says_how_it_was_checked(name: str) -> None:
    note, _ = golden.stored(name)
    assert golden.UNCHECKED not in note
    assert note.startswith("Checked by hand.")


def test_every_policy_and_every_rule_of_a_window_and_of_recovery_has_a_golden_trace() -> None:
    files = [skycell.load(golden.SCENARIOS / f"{name}.toml").resolve() for name in golden.names()]
    policies = {link.port.policy.kind for spec in files for link in spec.links}
    assert policies == set(_policies_of_the_spec())
    for key in ("recovery", "congestion"):
        kinds = {getattr(flow.tcp, key).kind for spec in files for flow in spec.flows}
        assert kinds == set(RULES[key])


def _policies_of_the_spec() -> list[str]:
    kinds = get_args(get_args(PolicySpec)[0])
    return [kind.model_fields["kind"].default for kind in kinds]


def test_every_stored_trace_has_its_scenario() -> None:
    assert sorted(path.stem for path in golden.TRACES.glob("*.txt")) == golden.names()


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of one golden scenario, with nothing stored yet."""
    name = "tail-drop-joins-two-frames.toml"
    monkeypatch.setattr(golden, "SCENARIOS", tmp_path)
    monkeypatch.setattr(golden, "TRACES", tmp_path)
    source = golden.HERE / "scenarios" / name
    (tmp_path / name).write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path / name


def test_a_trace_that_moved_loses_its_note_and_one_that_did_not_keeps_it(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = elsewhere.stem
    assert rewrite.main([name]) == 0
    assert golden.stored(name)[0] == golden.UNCHECKED
    golden.write(name, "Checked by hand. Twice.", golden.stored(name)[1])
    assert rewrite.main(["--all"]) == 0
    assert golden.stored(name)[0] == "Checked by hand. Twice."
    text = elsewhere.read_text(encoding="utf-8")
    elsewhere.write_text(text.replace('"22 cells"', '"23 cells"'), encoding="utf-8")
    assert rewrite.main([name]) == 0
    assert golden.stored(name)[0] == golden.UNCHECKED
    assert "flow2.forward: 22 cells offered, none discarded" in golden.stored(name)[1]
    assert capsys.readouterr().out.count("rewritten") == 2


def test_the_rewriting_command_refuses_names_that_do_not_exist(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rewrite.main(["tail-drip"]) == 2
    assert rewrite.main([]) == 2
    assert elsewhere.stem in capsys.readouterr().err
    assert list(elsewhere.parent.glob("*.txt")) == []
