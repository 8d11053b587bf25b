"""98-0876R1: from the raw values of Tables 4, 7 and 10, every number of its analyses.

264 numbers are printed: sums of squares, percentages, standard errors, main effects and intervals.
"""

import csv
from collections.abc import Iterator
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from skycell.stats import Analysis, analyse, dominant_factor
from skycell.stats.findings import LevelEffect

PUBLISHED = Path(__file__).parent / "published"
RAW = {"wan": "t4-www-wan", "meo": "t7-www-meo", "geo": "t10-www-geo"}
FACTORS = {"tcp": "tcp", "buffer": "buffer_rtt_multiple", "policy": "policy"}
PRINTED_QUANTILE = 1.943
"""t[0.95; 6], with the digits that the publication uses."""
Number = tuple[str, str, str, str, str]
"""Configuration, metric, kind of number, what it belongs to, and the digits as printed."""


def rows(name: str) -> list[dict[str, str]]:
    with (PUBLISHED / f"atmf980876r1-{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def printed() -> Iterator[Number]:
    for table in ("t5", "t8", "t11"):
        (file,) = PUBLISHED.glob(f"atmf980876r1-{table}-allocation-*.csv")
        for row in rows(file.stem.removeprefix("atmf980876r1-")):
            place = (row["config"], row["metric"])
            yield (*place, "ss", row["component"], row["sum_of_squares"])
            if row["percent_of_variation"]:
                yield (*place, "percent", row["component"], row["percent_of_variation"])
    for table in ("t6", "t9", "t12"):
        (file,) = PUBLISHED.glob(f"atmf980876r1-{table}-main-effects-*.csv")
        for row in rows(file.stem.removeprefix("atmf980876r1-")):
            place = (row["config"], row["metric"])
            level = f"{row['factor']} {row['level']}"
            yield (*place, "main_effect", level, row["main_effect"])
            yield (*place, "ci_low", level, row["ci90_low"])
            yield (*place, "ci_high", level, row["ci90_high"])
    for row in rows("t5-t8-t11-standard-error"):
        yield row["config"], row["metric"], "se", "se", row["standard_error"]


@cache
def ours(config: str, metric: str) -> Analysis:
    frame = pl.read_csv(PUBLISHED / f"atmf980876r1-{RAW[config]}.csv")
    return analyse(frame, FACTORS.values(), metric, level=0.9)


def effect(found: Analysis, what: str) -> LevelEffect:
    factor, level = what.split()
    name = next(own for short, own in FACTORS.items() if own.startswith(factor) or short == factor)
    levels = {
        f"{own.level:g}" if isinstance(own.level, float) else str(own.level): own
        for own in found.factor(name).levels
    }
    return levels[level.removesuffix("_rtt")]


def computed(number: Number) -> float:
    config, metric, kind, what, _ = number
    found = ours(config, metric)
    whole = {
        "individual_values": found.values_sum,
        "overall_mean": found.values_sum - found.total,
        "total_variation": found.total,
    }
    if kind in {"ss", "percent"} and what in whole:
        return whole[what] if kind == "ss" else 100.0
    if kind in {"ss", "percent"}:
        row = found.term(*(FACTORS[part] for part in FACTORS if part in what))
        return row.sum_of_squares if kind == "ss" else 100 * row.share
    if kind == "se":
        assert found.error.standard_error is not None
        return found.error.standard_error
    own = effect(found, what).effect
    assert own.standard_error is not None
    if kind == "main_effect":
        return own.value
    # Section 7 takes 1.943 for the quantile: our own intervals, with 1.94318, are 0.009 % wider,
    # which moves three of the printed digits.
    half = PRINTED_QUANTILE * own.standard_error
    return own.value - half if kind == "ci_low" else own.value + half


def follows(value: float, digits: str) -> str:
    """How a printed number follows from ours: `rounded`, `truncated`, or `no`.

    Ours is known to some 13 digits: one more would decide what lies between two printed numbers.
    """
    known = Decimal(f"{value:.12g}")
    step = Decimal(1).scaleb(Decimal(digits).as_tuple().exponent)  # type: ignore[arg-type]
    for name, how in (("rounded", ROUND_HALF_UP), ("truncated", ROUND_DOWN)):
        if known.quantize(step, how) == Decimal(digits):
            return name
    return "no"


def test_all_264_printed_numbers_follow_and_the_17_that_are_cut_are_of_wan_fairness() -> None:
    reported = {number: follows(computed(number), number[4]) for number in printed()}
    assert len(reported) == 264
    assert [number for number, how in reported.items() if how == "no"] == []
    cut = [number for number, how in reported.items() if how == "truncated"]
    assert len(cut) == 17
    assert {number[:2] for number in cut} == {("wan", "fairness")}


def test_each_number_follows_as_the_earlier_check_by_hand_says() -> None:
    checked = [
        (row["config"], row["metric"], row["published"], row["follows"])
        for row in rows("anova-check")
    ]
    found = [(n[0], n[1], n[4], follows(computed(n), n[4])) for n in printed()]
    assert sorted(found) == sorted(checked)


def test_our_own_intervals_have_the_quantile_of_the_publication() -> None:
    for config in RAW:
        for factor in ours(config, "efficiency").factors:
            for level in factor.levels:
                own = level.effect
                assert own.low is not None
                assert own.high is not None
                assert own.standard_error is not None
                quantile = (own.high - own.low) / 2 / own.standard_error
                assert quantile == pytest.approx(1.94318, abs=5e-6)


def test_a_wrong_value_would_not_follow() -> None:
    assert follows(0.05004, "0.0500") == "rounded"
    assert follows(0.05009, "0.0500") == "truncated"
    assert follows(0.05011, "0.0500") == "no"
    assert follows(-0.00006, "-0.0001") == "rounded"


def test_the_error_is_that_of_the_higher_interactions_with_six_degrees() -> None:
    found = ours("wan", "efficiency")
    assert found.design == "balanced"
    assert (found.error.source, found.error.degrees) == ("higher interactions", 6)


@pytest.mark.parametrize(
    ("config", "shares"),
    [
        ("wan", {"tcp": 57.5, "buffer_rtt_multiple": 30.2}),
        ("meo", {"tcp": 56.8, "buffer_rtt_multiple": 21.7}),
        ("geo", {"tcp": 69.2, "buffer_rtt_multiple": 13.7}),
    ],
)
def test_conclusions_on_efficiency_name_these_shares(config: str, shares: dict[str, float]) -> None:
    found = ours(config, "efficiency")
    assert found.dominant == "tcp"
    reported = {name: 100 * share for name, share in found.shares().items() if name in shares}
    assert reported == pytest.approx(shares, abs=0.06)


# 97-0424 section 6: the drop policy dominates in the LAN, the guaranteed rate in the WAN, the TCP
# over GEO. The shares are what main effects explain of the printed efficiencies.
@pytest.mark.parametrize(
    ("files", "first", "shares"),
    [
        (
            ["t3-gr-lan-efficiency"],
            "policy",
            {"policy": 29, "buffer_cells": 23, "tcp": 15, "gr_fraction": 0.1},
        ),
        (["t4-gr-wan-efficiency"], "gr_fraction", {"gr_fraction": 48, "policy": 0.6}),
        (
            ["t7-gr-geo-sd", "t8-gr-geo-epd", "t9-gr-geo-ubr"],
            "tcp",
            {"tcp": 74, "gr_fraction": 2.7, "policy": 4.7},
        ),
    ],
)
def test_printed_values_of_97_0424_name_their_dominant_factor(
    files: list[str], first: str, shares: dict[str, float]
) -> None:
    frame = pl.concat([pl.read_csv(PUBLISHED / f"atmf970424-{name}.csv") for name in files])
    factors = ["n_sources", "buffer_cells", "tcp", "policy", "gr_fraction"]
    found = dominant_factor(frame, factors, "efficiency")
    assert next(iter(found)) == first
    reported = {name: 100 * found[name] for name in shares}
    assert reported == pytest.approx(shares, abs=0.5, rel=0.05)
