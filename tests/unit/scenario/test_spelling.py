"""Which known name a misspelt one is taken for."""

import pytest

from skycell.input.forms import kind_of, models_of
from skycell.input.spelling import nearest
from skycell.scenario.declared.policies import Policy

POLICIES = [kind for model in models_of(Policy) if (kind := kind_of(model))]
VARIANTS = ["vanilla", "reno", "newreno", "sack"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("edp", "epd"),  # and not red, with which it shares as many letters
        ("rde", "red"),
        ("ppdd", "ppd"),
        ("EPD", "epd"),
        ("selectivedrop", "selective_drop"),
        ("Selective Drop", "selective_drop"),
        ("tail-drop", "tail_drop"),
        ("droptail", "tail_drop"),
        ("drop_tail", "tail_drop"),
        ("fba", "fair_buffer_allocation"),  # its name in the papers
        ("dfab", "dfba"),
        ("infinite", None),
        ("", None),
    ],
)
def test_a_misspelt_policy_is_taken_for_the_nearest(written: str, meant: str | None) -> None:
    assert nearest(written, POLICIES) == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [("sakc", "sack"), ("newrno", "newreno"), ("new_reno", "newreno"), ("Reno", "reno")],
)
def test_a_misspelt_variant_is_taken_for_the_nearest(written: str, meant: str) -> None:
    assert nearest(written, VARIANTS) == meant


def test_of_names_that_differ_in_case_alone_the_first_is_meant() -> None:
    assert nearest("hots1", ["Host1", "host1"]) == "Host1"
