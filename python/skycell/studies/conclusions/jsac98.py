"""Tests of the conclusions on propagation delay, numbered 13 and 14."""

import math
from itertools import pairwise

from skycell.studies.conclusions.counting import between, show
from skycell.studies.findings import Finding, decides
from skycell.studies.values import Values

_SYSTEMS = ("geo", "leo_6x11", "leo_12x24")
_WITHIN_MS = 1.0
"""Delays are printed in whole milliseconds, and not always rounded."""
_SAME_MS = 1e-6
"""Delays of one path, added up in another order."""


@decides("jsac98", "13.1")
def _more_satellites_make_shorter_links(values: Values) -> Finding:
    by_count = {
        int(entry.factors["n_satellites"]): entry.value
        for entry in values.find("jsac98-t1", "isl_delay")
    }
    delays = [by_count[count] for count in sorted(by_count)]
    falls = all(later < earlier for earlier, later in pairwise(delays))
    ends = abs(delays[0] - 243) <= _WITHIN_MS and abs(delays[-1] - 73) <= _WITHIN_MS
    return Finding(falls and ends, f"{show(delays[:1], 1)} to {show(delays[-1:], 1)} ms")


def _span(values: Values, delays: str, counts: str, least: tuple[int, int, int, int]) -> Finding:
    delay = [entry.value for entry in values.find(delays, "path_delay")]
    count = [entry.value for entry in values.find(counts, "satellites_on_path")]
    close = abs(min(delay) - least[0]) <= _WITHIN_MS and abs(max(delay) - least[1]) <= _WITHIN_MS
    same = (min(count), max(count)) == least[2:]
    evidence = f"{between(delay, 1)} ms over {between(count, 0)} satellites"
    return Finding(close and same, evidence)


@decides("jsac98", "13.2a")
def _delays_over_66_satellites(values: Values) -> Finding:
    return _span(values, "jsac98-t4", "jsac98-t5", (6, 91, 1, 7))


@decides("jsac98", "13.2b")
def _delays_over_288_satellites(values: Values) -> Finding:
    return _span(values, "jsac98-t6", "jsac98-t7", (10, 115, 1, 19))


@decides("jsac98", "13.3")
def _greedy_is_shortest(values: Values) -> Finding:
    told, holds = [], True
    for constellation in ("6x11", "12x24"):
        lost = values.find("jsac98-greedy", "delay_lost", constellation=constellation)
        shortest = sum(entry.value <= _SAME_MS for entry in lost)
        worst = max(lost, key=lambda entry: entry.value)
        pair = f"{worst.factors['city_row']} to {worst.factors['city_column']}"
        holds = holds and shortest >= 0.9 * len(lost)
        told.append(
            f"{constellation}: {shortest} of {len(lost)} shortest, at worst {worst.value:.0f} ms "
            f"longer ({pair})"
        )
    return Finding(holds, "; ".join(told))


def _ends(values: Values) -> dict[str, tuple[float, float]]:
    return {
        system: (
            values.get("jsac98-t8", "least_delay", system=system, component="total"),
            values.get("jsac98-t8", "greatest_delay", system=system, component="total"),
        )
        for system in _SYSTEMS
    }


def _told(ends: dict[str, tuple[float, float]]) -> str:
    return "; ".join(f"{name} {low:.0f} to {high:.0f} ms" for name, (low, high) in ends.items())


@decides("jsac98", "14.1")
def _geo_has_the_largest_least_delay(values: Values) -> Finding:
    ends = _ends(values)
    largest = max(ends, key=lambda system: ends[system][0])
    return Finding(largest == "geo", _told(ends))


@decides("jsac98", "14.2")
def _full_buffers_make_leo_as_slow(values: Values) -> Finding:
    ends = _ends(values)
    geo = ends["geo"][1]
    comparable = all(ends[system][1] >= 0.75 * geo for system in _SYSTEMS)
    return Finding(comparable and ends["leo_12x24"][1] > geo, _told(ends))


@decides("jsac98", "14.3")
def _leo_varies_more(values: Values) -> Finding:
    ratios = {name: high / low if low else math.inf for name, (low, high) in _ends(values).items()}
    holds = min(ratios["leo_6x11"], ratios["leo_12x24"]) > ratios["geo"]
    return Finding(holds, ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items()))
