"""Tests of the conclusions on single drops, numbered 9 and 10."""

from itertools import pairwise

from skycell.studies.conclusions.counting import between, count, in_all, show, spread
from skycell.studies.findings import Finding, decides
from skycell.studies.values import Values

_GROUPS = ("1-3", "4-6", "7-9", "10-12", "13-15")
_EXPERIMENTS = (1, 2, 3, 4)


_CASES = ("a", "b", "c", "d")


def _simulated(values: Values) -> dict[str, float]:
    return {case: values.get("compcom99-f3", "total_throughput", case=case) for case in _CASES}


@decides("compcom99", "9.1")
def _throughput_follows_the_window(values: Values) -> Finding:
    ratios = {
        case: rate / values.get("compcom99-f3", "calculated_throughput", case=case)
        for case, rate in _simulated(values).items()
    }
    holds = all(abs(ratio - 1) <= 0.05 for ratio in ratios.values())
    return Finding(holds, f"simulated to calculated {show(ratios.values(), 3)}")


@decides("compcom99", "9.2")
def _throughput_follows_the_threshold(values: Values) -> Finding:
    rates = _simulated(values)
    factors = [rates["b"] / rates["a"], rates["c"] / rates["b"]]
    holds = all(abs(factor - 2) <= 0.1 for factor in factors)
    return Finding(holds, f"doubling the threshold multiplies by {show(factors)}")


def _ratio(values: Values, experiment: int, group: str) -> float:
    return values.get("compcom99-t3", "ratio_to_expected", experiment=experiment, tcp_group=group)


@decides("compcom99", "10.1")
def _rate_follows_the_share_of_the_thresholds(values: Values) -> Finding:
    ratios = [_ratio(values, number, group) for number in _EXPERIMENTS for group in _GROUPS]
    close = sum(abs(ratio - 1) <= 0.10 + 1e-9 for ratio in ratios)
    evidence = f"{count(close, ratios)} within 10 %, ratios {between(ratios)}"
    return Finding(close >= 19, evidence)


@decides("compcom99", "10.2")
def _relative_thresholds_count(values: Values) -> Finding:
    variations = {}
    for group in _GROUPS:
        rates = [
            values.get("compcom99-t2", "group_throughput", experiment=number, tcp_group=group)
            for number in _EXPERIMENTS
        ]
        variations[group] = 100 * spread(rates) / min(rates)
    evidence = ", ".join(f"{group} {part:.0f} %" for group, part in variations.items())
    return Finding(max(variations.values()) <= 15, f"spread by group: {evidence}")


@decides("compcom99", "10.3")
def _the_link_is_nearly_full(values: Values) -> Finding:
    totals = [
        values.get("compcom99-t2", "total_throughput", experiment=number) for number in _EXPERIMENTS
    ]
    return Finding(min(totals) >= 120, f"{between(totals)} Mbit/s")


@decides("compcom99", "10.4")
def _variation_grows(values: Values) -> Finding:
    spreads = [
        spread(_ratio(values, number, group) for group in _GROUPS) for number in _EXPERIMENTS
    ]
    grows = [(larger, smaller) for smaller, larger in pairwise(spreads)]
    return Finding(in_all(grows), f"spread of ratios {show(spreads)}")
