"""Tests of the conclusions of the IJSC paper on UBR: section 7 of the parameter sheet."""

from skycell.studies.conclusions.counting import above, between, count, show
from skycell.studies.findings import Finding, decides
from skycell.studies.values import Values

_POLICIES = ("epd", "sd")
_LEO = ("ijsc-t1", (12_000, 36_000))
_GEO = ("icccn97-t3", (200_000, 600_000))


def _one(values: Values, table: str, tcp: str, policy: str, buffer_cells: int) -> float:
    (entry,) = values.find(table, "efficiency", tcp=tcp, policy=policy, buffer_cells=buffer_cells)
    return entry.value


def _sack_best_with_three_rtt(values: Values, orbit: tuple[str, tuple[int, int]]) -> Finding:
    table, (_, buffer) = orbit
    sack, reno, vanilla = (
        [_one(values, table, tcp, policy, buffer) for policy in _POLICIES]
        for tcp in ("sack", "reno", "vanilla")
    )
    evidence = f"SACK {between(sack)}, Reno {between(reno)}, vanilla {between(vanilla)}"
    return Finding(min(sack) > max(*reno, *vanilla), evidence)


@decides("ijsc", "7.1a")
def _geo_sack_best(values: Values) -> Finding:
    return _sack_best_with_three_rtt(values, _GEO)


@decides("ijsc", "7.1b")
def _leo_sack_best(values: Values) -> Finding:
    return _sack_best_with_three_rtt(values, _LEO)


@decides("ijsc", "7.2")
def _sack_below_vanilla_under_congestion(values: Values) -> Finding:
    table, (buffer, _) = _GEO
    pairs = [
        (
            _one(values, table, "vanilla", policy, buffer),
            _one(values, table, "sack", policy, buffer),
        )
        for policy in _POLICIES
    ]
    sack = show(one for _, one in pairs)
    return Finding(above(pairs) >= 1, f"SACK {sack} against {show(one for one, _ in pairs)}")


def _all(values: Values, orbit: tuple[str, tuple[int, int]], tcp: str) -> list[float]:
    table, buffers = orbit
    return [_one(values, table, tcp, policy, k) for k in buffers for policy in _POLICIES]


@decides("ijsc", "7.3a")
def _reno_gets_worse_with_delay(values: Values) -> Finding:
    leo, geo = _all(values, _LEO, "reno"), _all(values, _GEO, "reno")
    return Finding(max(geo) < min(leo), f"LEO {between(leo)}, GEO {between(geo)}")


@decides("ijsc", "7.3b")
def _reno_below_vanilla(values: Values) -> Finding:
    pairs = [
        pair
        for orbit in (_LEO, _GEO)
        for pair in zip(_all(values, orbit, "vanilla"), _all(values, orbit, "reno"), strict=True)
    ]
    return Finding(above(pairs) == len(pairs), count(above(pairs), pairs))


@decides("ijsc", "7.4")
def _epd_and_sd_differ_little(values: Values) -> Finding:
    gaps = [
        abs(_one(values, table, tcp, "epd", k) - _one(values, table, tcp, "sd", k))
        for table, buffers in (_LEO, _GEO)
        for tcp in ("sack", "reno", "vanilla")
        for k in buffers
    ]
    small = sum(gap <= 0.05 + 1e-9 for gap in gaps)
    return Finding(small >= 11, f"{count(small, gaps)} within 0.05, largest {max(gaps):.2f}")


@decides("ijsc", "7.5")
def _larger_buffer_hurts_over_leo(values: Values) -> Finding:
    table, (small, large) = _LEO
    pairs = [
        (_one(values, table, tcp, policy, small), _one(values, table, tcp, policy, large))
        for tcp in ("vanilla", "reno")
        for policy in _POLICIES
    ]
    texts = "; ".join(f"{a:.2f} to {b:.2f}" for a, b in pairs)
    return Finding(above(pairs) == len(pairs), f"{count(above(pairs), pairs)}: {texts}")
