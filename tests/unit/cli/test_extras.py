"""What an extra brings is asked for by name where it is not installed."""

import sys

import pytest

from skycell.cli.main import EXTRAS, NEEDED_BY, VERBS
from tests.unit.cli.calling import refused, skycell


@pytest.mark.parametrize("verb", NEEDED_BY)
def test_a_verb_whose_extra_is_missing_says_so_before_anything_is_done(
    verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert verb in VERBS
    module = EXTRAS[NEEDED_BY[verb][0]][0]
    monkeypatch.setitem(sys.modules, module, None)
    line = refused(skycell(verb, "whatever"))
    assert (
        line == f"Error: skycell {verb} needs {module}: pip install 'skycell[{NEEDED_BY[verb][0]}]'"
    )


def test_a_verb_that_comes_to_what_is_missing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    result = skycell("orbit", "globe", "jsac98-6x11", "--out", "x.svg")
    assert "skycell[plots]" in result.stderr
    assert result.exit_code == 2
