"""Curves of codes: those of the budget at the link's own ratio, and thresholds by hand."""

from itertools import groupby, pairwise
from math import log10
from pathlib import Path

import pytest

from skycell import load
from skycell.input.faults import ScenarioFaults
from skycell.metrics.budget import budgets
from skycell.metrics.coding_curves import coding_curves
from skycell.plots.coding import coding_figure

CARRIERS = Path(__file__).parents[3] / "examples" / "dvb-s2.toml"


def test_curves_fall_and_pass_the_link_itself() -> None:
    scenario = load(CARRIERS)
    found = coding_curves(scenario, "terminal>hub")
    assert (found.octets, found.on_line) == (1512, 32 * 53)
    by_code = {code: list(of) for code, of in groupby(found.points, lambda point: point.code)}
    assert list(by_code) == [
        "uncoded QPSK", "convolutional 1/2", "convolutional 3/4",
        "Reed-Solomon over 1/2", "Reed-Solomon over 3/4",
    ]  # fmt: skip
    for points in by_code.values():
        for before, after in pairwise(points):
            assert after.eb_n0_db > before.eb_n0_db
            assert after.ber < before.ber
            assert after.frame_loss <= before.frame_loss + 1e-12
    [carrier] = budgets(scenario, "terminal>hub")
    assert carrier.errors is not None
    assert found.own is not None
    assert found.own.frame_loss == pytest.approx(carrier.errors.frame_loss)
    [on_curve] = [one for one in by_code["convolutional 1/2"] if one.eb_n0_db == 5.5]
    assert on_curve == found.own


def test_what_is_left_without_a_code_spoils_segments_as_independent_errors_do() -> None:
    found = coding_curves(load(CARRIERS), "hub>terminal")
    [point] = [one for one in found.points if one.code == "uncoded QPSK" and one.eb_n0_db == 10]
    assert point.ber == pytest.approx(3.87e-6, rel=0.01)  # Q(sqrt(20))
    assert point.frame_loss == pytest.approx(1 - (1 - point.ber) ** (8 * 1522), rel=1e-9)


def test_thresholds_are_those_of_a_users_bit() -> None:
    found = coding_curves(load(CARRIERS), "hub>terminal")
    # 8PSK 3/4: 48 408 bits, without a header of 10 octets and as many of a split packet.
    bits = (48_408 - 160) / 22_194
    assert found.thresholds["8PSK 3/4"] == pytest.approx(7.91 - 10 * log10(bits), abs=0.01)
    assert found.own is not None
    assert found.own.eb_n0_db == pytest.approx(9.5 - 10 * log10(bits), abs=0.01)
    assert found.own.code == "8PSK 3/4"
    near = {"topology.link.1.framing.modcod": "8PSK 5/6", "topology.link.1.loss": 0}
    found = coding_curves(load(CARRIERS, near), "hub>terminal")
    assert found.own is None
    # 8PSK 5/6 is 0.1 dB from 16APSK 3/4, which is left out.
    assert list(found.thresholds) == ["8PSK 5/6", "QPSK 1/2", "QPSK 3/4", "8PSK 3/4", "32APSK 3/4"]


def test_one_link_is_drawn_and_several_that_differ_are_refused() -> None:
    scenario = load(CARRIERS)
    with pytest.raises(ScenarioFaults, match="2 links that differ"):
        coding_curves(scenario)
    alone = load(CARRIERS, {"topology.link.2.loss": 0})
    assert coding_curves(alone).link == "hub>terminal"
    with pytest.raises(ScenarioFaults, match="nobody"):
        coding_curves(scenario, "nobody")


def test_the_figure_says_what_is_drawn() -> None:
    figure = coding_figure(coding_curves(load(CARRIERS), "hub>terminal"))
    text = figure.caption_text()
    assert "the link itself, 8PSK 3/4 at 6.13 dB" in text
    assert "Reed-Solomon over 1/2 from" in figure.description
    spec = str(figure.bare_spec())
    for part in ("Wrong bits behind the decoder", "Full segments lost", "Eb/N0 (dB)", "QPSK 1/2"):
        assert part in spec, part
