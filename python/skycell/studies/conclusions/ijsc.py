"""Tests of the conclusions of the IJSC paper on UBR, numbered 7."""

from skycell.studies.conclusions.counting import (
    above,
    apart,
    between,
    count,
    in_all,
    in_some_run,
    show,
)
from skycell.studies.findings import Finding, decides
from skycell.studies.values import Entry, Values

_POLICIES = ("epd", "sd")
_LEO = ("ijsc-t1", (12_000, 36_000))
_GEO = ("icccn97-t3", (200_000, 600_000))


def _entry(values: Values, table: str, tcp: str, policy: str, buffer_cells: int) -> Entry:
    (entry,) = values.find(table, "efficiency", tcp=tcp, policy=policy, buffer_cells=buffer_cells)
    return entry


def _one(values: Values, table: str, tcp: str, policy: str, buffer_cells: int) -> float:
    return _entry(values, table, tcp, policy, buffer_cells).value


def _sack_best_with_three_rtt(values: Values, orbit: tuple[str, tuple[int, int]]) -> Finding:
    table, (_, buffer) = orbit
    sack, reno, vanilla = (
        [_one(values, table, tcp, policy, buffer) for policy in _POLICIES]
        for tcp in ("sack", "reno", "vanilla")
    )
    evidence = f"SACK {between(sack)}, Reno {between(reno)}, vanilla {between(vanilla)}"
    best_other = max(*reno, *vanilla)
    return Finding(in_all([(value, best_other) for value in sack]), evidence)


@decides("ijsc", "7.1a")
def _geo_sack_best(values: Values) -> Finding:
    return _sack_best_with_three_rtt(values, _GEO)


@decides("ijsc", "7.1b")
def _leo_sack_best(values: Values) -> Finding:
    return _sack_best_with_three_rtt(values, _LEO)


@decides("ijsc", "7.2")
def _sack_below_vanilla_under_congestion(values: Values) -> Finding:
    table, (buffer, _) = _GEO
    sack, vanilla = (
        [_entry(values, table, tcp, policy, buffer) for policy in _POLICIES]
        for tcp in ("sack", "vanilla")
    )
    below = sum(in_some_run(a.runs, b.runs) for a, b in zip(sack, vanilla, strict=True))
    evidence = f"SACK {show(e.value for e in sack)} against {show(e.value for e in vanilla)}"
    return Finding(below > 0, f"{evidence}; below in {below} runs")


def _all(values: Values, orbit: tuple[str, tuple[int, int]], tcp: str) -> list[float]:
    table, buffers = orbit
    return [_one(values, table, tcp, policy, k) for k in buffers for policy in _POLICIES]


@decides("ijsc", "7.3a")
def _reno_gets_worse_with_delay(values: Values) -> Finding:
    leo, geo = _all(values, _LEO, "reno"), _all(values, _GEO, "reno")
    return Finding(in_all([(min(leo), max(geo))]), f"LEO {between(leo)}, GEO {between(geo)}")


@decides("ijsc", "7.3b")
def _reno_below_vanilla(values: Values) -> Finding:
    pairs = [
        pair
        for orbit in (_LEO, _GEO)
        for pair in zip(_all(values, orbit, "vanilla"), _all(values, orbit, "reno"), strict=True)
    ]
    return Finding(in_all(pairs), count(above(pairs), pairs))


@decides("ijsc", "7.4")
def _epd_and_sd_differ_little(values: Values) -> Finding:
    gaps = [
        abs(_one(values, table, tcp, "epd", k) - _one(values, table, tcp, "sd", k))
        for table, buffers in (_LEO, _GEO)
        for tcp in ("sack", "reno", "vanilla")
        for k in buffers
    ]
    (largest,) = apart([max(gaps)], limits=[0.15])
    return Finding(max(gaps) <= 0.15, f"largest gap {largest}")


@decides("ijsc", "7.5")
def _larger_buffer_hurts_over_leo(values: Values) -> Finding:
    table, (small, large) = _LEO
    pairs = [
        (_one(values, table, tcp, policy, small), _one(values, table, tcp, policy, large))
        for tcp in ("vanilla", "reno")
        for policy in _POLICIES
    ]
    texts = "; ".join(" to ".join(apart(pair)) for pair in pairs)
    return Finding(in_all(pairs), f"{count(above(pairs), pairs)}: {texts}")
