"""Tests of the conclusions of 97-0424 and of IJSC section 4, numbered 5 and 6."""

from collections.abc import Sequence

from skycell.stats import dominant_factor
from skycell.studies.conclusions.counting import above, between, count, mean, show, spread
from skycell.studies.findings import Finding, decides
from skycell.studies.model import Level
from skycell.studies.values import Entry, Values

_STUDY = "atmf970424"
_WAN_BUFFERS = (12_000, 36_000)
_PERIODS = (50, 100, 300)
_POLICIES = ("ubr", "epd", "sd")
_GEO = ("atmf970424-t7", "atmf970424-t8", "atmf970424-t9")
_FACTORS = ("n_sources", "buffer_cells", "tcp", "policy", "gr_fraction")


def _one(values: Values, table: str, metric: str, **factors: Level) -> float:
    (entry,) = values.find(table, metric, **factors)
    return entry.value


def _of(values: Values, tables: Sequence[str], **factors: Level) -> list[Entry]:
    return [entry for table in tables for entry in values.find(table, "efficiency", **factors)]


def _by_level(entries: Sequence[Entry], factor: str) -> dict[Level, list[float]]:
    levels: dict[Level, list[float]] = {}
    for entry in entries:
        levels.setdefault(entry.factors[factor], []).append(entry.value)
    return levels


def _explained(entries: Sequence[Entry]) -> dict[str, float]:
    """Part of the variation that each factor's main effect explains."""
    rows = [{**entry.factors, "value": entry.value} for entry in entries]
    parts = dominant_factor(rows, _FACTORS, "value")
    return {factor: parts.get(factor, 0.0) for factor in _FACTORS}


def _dominant(entries: Sequence[Entry], factor: str) -> Finding:
    parts = _explained(entries)
    evidence = ", ".join(f"{name} {part:.0%}" for name, part in parts.items())
    return Finding(parts[factor] == max(parts.values()), evidence)


def _monotone(values: Values, config: str, buffers: tuple[int, int]) -> tuple[int, str]:
    rows = [
        [
            _one(
                values,
                "atmf970424-t1",
                "efficiency",
                config=config,
                policy=policy,
                buffer_cells=buffer,
                vbr_period_ms=period,
            )
            for period in _PERIODS
        ]
        for buffer in buffers
        for policy in _POLICIES
    ]
    falling = sum(a > b > c for a, b, c in rows)
    return falling, f"{count(falling, rows)}: " + "; ".join(show(row) for row in rows)


@decides(_STUDY, "5.1a")
def _longer_bursts_hurt_in_the_wan(values: Values) -> Finding:
    falling, evidence = _monotone(values, "wan", _WAN_BUFFERS)
    return Finding(falling >= 5, evidence)


@decides(_STUDY, "5.1b")
def _longer_bursts_hurt_in_the_lan(values: Values) -> Finding:
    falling, evidence = _monotone(values, "lan", (1_000, 3_000))
    return Finding(falling == 6, evidence)


def _wan(values: Values, **factors: Level) -> list[float]:
    return [e.value for e in values.find("atmf970424-t1", "efficiency", config="wan", **factors)]


@decides(_STUDY, "5.2")
def _bursts_of_the_timeout_are_poor(values: Values) -> Finding:
    found = _wan(values, vbr_period_ms=300)
    poor = sum(value <= 0.65 for value in found)
    return Finding(poor >= 5, f"{count(poor, found)}, {between(found)}")


@decides(_STUDY, "5.3")
def _short_bursts_are_good(values: Values) -> Finding:
    found = [v for ms in (50, 100) for v in _wan(values, vbr_period_ms=ms, buffer_cells=36_000)]
    return Finding(min(found) >= 0.90, between(found))


@decides(_STUDY, "5.4")
def _selective_drop_is_fair(values: Values) -> Finding:
    found = [
        entry.value
        for ms in (50, 100)
        for entry in values.find(
            "atmf970424-t2", "fairness", config="lan", policy="sd", vbr_period_ms=ms
        )
    ]
    return Finding(min(found) >= 0.90, between(found))


@decides(_STUDY, "5.5")
def _larger_buffers_help(values: Values) -> Finding:
    pairs = [
        (
            _wan(values, vbr_period_ms=ms, policy=policy, buffer_cells=36_000)[0],
            _wan(values, vbr_period_ms=ms, policy=policy, buffer_cells=12_000)[0],
        )
        for ms in _PERIODS
        for policy in ("epd", "sd")
    ]
    return Finding(above(pairs) == len(pairs), count(above(pairs), pairs))


@decides(_STUDY, "6.1a")
def _policy_dominates_in_the_lan(values: Values) -> Finding:
    return _dominant(_of(values, ["atmf970424-t3"]), "policy")


def _pairs(
    entries: Sequence[Entry], factor: str, better: Level, worse: Level
) -> list[tuple[float, float]]:
    """Values that differ in one factor only."""
    places: dict[tuple[Level, ...], dict[Level, float]] = {}
    for entry in entries:
        others = tuple(entry.factors[name] for name in _FACTORS if name != factor)
        places.setdefault(others, {})[entry.factors[factor]] = entry.value
    return [(levels[better], levels[worse]) for levels in places.values()]


@decides(_STUDY, "6.1b")
def _selective_drop_above_epd_in_the_lan(values: Values) -> Finding:
    pairs = _pairs(_of(values, ["atmf970424-t3"]), "policy", "sd", "epd")
    return Finding(above(pairs) >= 24, count(above(pairs), pairs))


@decides(_STUDY, "6.1c")
def _selective_drop_above_tail_drop_in_the_lan(values: Values) -> Finding:
    pairs = _pairs(_of(values, ["atmf970424-t3"]), "policy", "sd", "ubr")
    return Finding(above(pairs) >= 24, count(above(pairs), pairs))


@decides(_STUDY, "6.2a")
def _guaranteed_rate_dominates_in_the_wan(values: Values) -> Finding:
    return _dominant(_of(values, ["atmf970424-t4"]), "gr_fraction")


@decides(_STUDY, "6.2b")
def _a_tenth_is_better_than_nothing(values: Values) -> Finding:
    pairs = _pairs(_of(values, ["atmf970424-t4"]), "gr_fraction", "0.1", "0.0")
    return Finding(above(pairs) >= 33, count(above(pairs), pairs))


@decides(_STUDY, "6.2c")
def _a_half_is_better_than_nothing(values: Values) -> Finding:
    pairs = _pairs(_of(values, ["atmf970424-t4"]), "gr_fraction", "0.5", "0.0")
    return Finding(above(pairs) >= 33, count(above(pairs), pairs))


def _means(entries: Sequence[Entry], factor: str) -> dict[Level, float]:
    return {level: mean(group) for level, group in _by_level(entries, factor).items()}


def _told(means: dict[Level, float]) -> str:
    return ", ".join(f"{level} {value:.2f}" for level, value in means.items())


@decides(_STUDY, "6.3")
def _policies_matter_less_in_the_wan(values: Values) -> Finding:
    lan = _means(_of(values, ["atmf970424-t3"]), "policy")
    wan = _means(_of(values, ["atmf970424-t4"]), "policy")
    evidence = f"LAN {_told(lan)}; WAN {_told(wan)}"
    return Finding(spread(wan.values()) < spread(lan.values()), evidence)


@decides(_STUDY, "6.4a")
def _tcp_dominates_over_geo(values: Values) -> Finding:
    return _dominant(_of(values, _GEO), "tcp")


@decides(_STUDY, "6.4b")
def _sack_best_and_reno_worst_over_geo(values: Values) -> Finding:
    means = _means(_of(values, _GEO), "tcp")
    return Finding(means["sack"] > means["vanilla"] > means["reno"], _told(means))


@decides(_STUDY, "6.5")
def _neither_rate_nor_policy_over_geo(values: Values) -> Finding:
    parts = _explained(_of(values, _GEO))
    rate, policy = parts["gr_fraction"], parts["policy"]
    return Finding(max(rate, policy) <= 0.10, f"guaranteed rate {rate:.1%}, policy {policy:.1%}")


def _gain(entries: Sequence[Entry]) -> float:
    means = _means(entries, "gr_fraction")
    return means["0.1"] - means["0.0"]


@decides(_STUDY, "6.6")
def _a_tenth_raises_every_tcp(values: Values) -> Finding:
    gains = {tcp: _gain(_of(values, ["ijsc-t6"], tcp=tcp)) for tcp in ("vanilla", "reno", "sack")}
    evidence = ", ".join(f"{tcp} {gain:+.2f}" for tcp, gain in gains.items())
    return Finding(min(gains.values()) >= 0.10, evidence)


@decides(_STUDY, "6.7")
def _tcp_is_inconsequential_over_leo(values: Values) -> Finding:
    means = _means(_of(values, ["ijsc-t6"]), "tcp")
    return Finding(spread(means.values()) <= 0.05, _told(means))


@decides(_STUDY, "6.8")
def _a_tenth_raises_either_buffer(values: Values) -> Finding:
    gains = [_gain(_of(values, ["ijsc-t6"], buffer_cells=cells)) for cells in _WAN_BUFFERS]
    larger = _means(_of(values, ["ijsc-t6"], buffer_cells=36_000), "gr_fraction")["0.1"]
    return Finding(
        min(gains) >= 0.15 and larger >= 0.90, f"gains {show(gains)}; with 36000 cells {larger:.2f}"
    )


@decides(_STUDY, "6.9")
def _tcp_matters_most_over_geo(values: Values) -> Finding:
    entries = _of(values, ["ijsc-t7"])
    spreads = {
        factor: spread(_means(entries, factor).values())
        for factor in ("tcp", "gr_fraction", "buffer_cells")
    }
    evidence = ", ".join(f"{factor} {value:.2f}" for factor, value in spreads.items())
    return Finding(spreads["tcp"] == max(spreads.values()), evidence)


@decides(_STUDY, "6.10")
def _sack_near_the_best_over_geo(values: Values) -> Finding:
    found = [e.value for e in _of(values, ["ijsc-t7"], tcp="sack", buffer_cells=600_000)]
    return Finding(min(found) >= 0.95, between(found))
