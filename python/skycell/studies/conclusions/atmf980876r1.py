"""Tests of the conclusions of ATM Forum 98-0876R1, numbered 12."""

from math import sqrt

from skycell.studies.conclusions.counting import Pair, above, between, count, mean, show, spread
from skycell.studies.findings import Finding, decides
from skycell.studies.model import Level
from skycell.studies.values import Values

_STUDY = "atmf980876r1"
_TCPS = ("vanilla", "reno", "newreno", "sack")
_POLICIES = ("epd", "sd")
_BUFFERS: tuple[Level, ...] = ("0.5", 1, 2)
_TABLES = {"wan": (4, 5, 6), "meo": (7, 8, 9), "geo": (10, 11, 12)}
# 8.1: 24 runs a latency, 6 degrees of freedom of the error, t[0.95; 6].
_RUNS, _T = 24, 1.943


def _value(values: Values, config: str, tcp: str, policy: str, buffer: Level) -> float:
    return _find(values, config, "efficiency", "", tcp=tcp, policy=policy, buffer=buffer)


def _fairness(values: Values, config: str, tcp: str, policy: str, buffer: Level) -> float:
    kind = ("max_min_fairness", "-fairness")
    return _find(values, config, *kind, tcp=tcp, policy=policy, buffer=buffer)


def _find(
    values: Values, config: str, metric: str, suffix: str, *, tcp: str, policy: str, buffer: Level
) -> float:
    (found,) = values.find(
        f"{_STUDY}-t{_TABLES[config][0]}{suffix}",
        metric,
        tcp=tcp,
        policy=policy,
        buffer_rtt_multiple=buffer,
    )
    return found.value


def _share(values: Values, config: str, metric: str, component: str) -> float:
    table = f"{_STUDY}-t{_TABLES[config][1]}"
    return values.get(table, f"{metric}_share", config=config, component=component)


def _effect(values: Values, config: str, metric: str, factor: str, level: str) -> float:
    table = f"{_STUDY}-t{_TABLES[config][2]}"
    return values.get(table, f"{metric}_effect", config=config, factor=factor, level=level)


def _half_interval(values: Values, config: str, levels: int) -> float:
    """Half the 90 % interval of an effect on efficiency of a factor with so many levels."""
    table = f"{_STUDY}-t{_TABLES[config][1]}"
    error = values.get(table, "efficiency_error", config=config)
    return _T * error * sqrt((levels - 1) / _RUNS)


def _tcp_effects(values: Values, config: str, metric: str = "efficiency") -> dict[str, float]:
    return {tcp: _effect(values, config, metric, "tcp", tcp) for tcp in _TCPS}


def _shares(values: Values, config: str, metric: str, *components: str) -> tuple[list[float], str]:
    found = [_share(values, config, metric, component) for component in components]
    names = [component.replace("_x_", " x ") for component in components]
    told = ", ".join(f"{name} {s:.1f} %" for name, s in zip(names, found, strict=True))
    return found, told


def _gains(values: Values, config: str, tcp: str, first: Level, last: Level) -> list[float]:
    return [
        _value(values, config, tcp, policy, last) - _value(values, config, tcp, policy, first)
        for policy in _POLICIES
    ]


def _cases(values: Values, config: str, better: str, worse: str) -> list[Pair]:
    """Efficiencies of two TCPs, by policy and buffer."""
    return [
        (_value(values, config, better, p, b), _value(values, config, worse, p, b))
        for p in _POLICIES
        for b in _BUFFERS
    ]


def _times_best(values: Values, config: str) -> int:
    """Cases in which SACK's efficiency is above that of the other three."""
    pairs = [_cases(values, config, "sack", other) for other in _TCPS[:3]]
    return sum(all(a > b for a, b in case) for case in zip(*pairs, strict=True))


@decides(_STUDY, "12.1")
def _wan_tcp_then_buffer(values: Values) -> Finding:
    found, told = _shares(values, "wan", "efficiency", "tcp", "buffer", "tcp_x_buffer")
    rest, _ = _shares(values, "wan", "efficiency", "policy", "tcp_x_policy", "buffer_x_policy")
    return Finding(found[0] > found[1] > found[2] > max(rest), told)


@decides(_STUDY, "12.2")
def _wan_order(values: Values) -> Finding:
    effects = _tcp_effects(values, "wan")
    half = _half_interval(values, "wan", 4)
    apart = abs(effects["newreno"] - effects["sack"])
    top = min(effects["newreno"], effects["sack"])
    holds = top > effects["reno"] > effects["vanilla"] and apart <= 2 * half
    evidence = f"effects {show(effects.values(), 3)}; half an interval {half:.3f}"
    return Finding(holds, evidence)


@decides(_STUDY, "12.3")
def _wan_two_round_trips(values: Values) -> Finding:
    weak = [g for tcp in ("vanilla", "reno") for g in _gains(values, "wan", tcp, 1, 2)]
    strong = [g for tcp in ("newreno", "sack") for g in _gains(values, "wan", tcp, 1, 2)]
    evidence = f"gains {between(weak, 3)} against {between(strong, 3)}"
    return Finding(min(weak) >= 0.05 > max(strong), evidence)


@decides(_STUDY, "12.4")
def _wan_selective_drop(values: Values) -> Finding:
    def pairs(tcp: str) -> list[Pair]:
        return [
            (_value(values, "wan", tcp, "sd", b), _value(values, "wan", tcp, "epd", b))
            for b in _BUFFERS
        ]

    weak = pairs("vanilla") + pairs("reno")
    rest = mean(a - b for a, b in pairs("newreno") + pairs("sack"))
    evidence = f"{count(above(weak), weak)}; NewReno and SACK {rest:+.3f} on average"
    return Finding(above(weak) == len(weak) and abs(rest) <= 0.03, evidence)


@decides(_STUDY, "12.5")
def _wan_sack_above_newreno(values: Values) -> Finding:
    cases = _cases(values, "wan", "sack", "newreno")
    small, large = cases[::3], [c for i, c in enumerate(cases) if i % 3]
    lead = mean(a - b for a, b in small)
    evidence = (
        f"above in {count(above(large), large)}, with the small buffer {lead:+.3f} on average"
    )
    return Finding(above(large) == len(large) and lead < 0, evidence)


@decides(_STUDY, "12.6")
def _wan_fairness(values: Values) -> Finding:
    found, told = _shares(values, "wan", "fairness", "buffer", "tcp", "policy")
    steps = [_effect(values, "wan", "fairness", "buffer", f"{b}_rtt") for b in _BUFFERS]
    effects = _tcp_effects(values, "wan", "fairness")
    is_step = steps[1] - steps[0] > steps[2] - steps[1] and steps[1] > steps[0]
    by_effect = sorted(effects, key=effects.__getitem__)
    is_order = by_effect[0] == "sack" and by_effect[-1] == "newreno"
    evidence = f"{told}; buffers {show(steps, 3)}; TCPs {show(effects.values(), 3)}"
    return Finding(found[0] > found[1] > found[2] and is_step and is_order, evidence)


@decides(_STUDY, "12.7")
def _wan_fairness_selective_drop(values: Values) -> Finding:
    pairs = [
        tuple(_fairness(values, "wan", tcp, policy, "0.5") for policy in ("sd", "epd"))
        for tcp in _TCPS
    ]
    higher = sum(sd > epd for sd, epd in pairs)
    return Finding(higher >= 3, count(higher, pairs))


@decides(_STUDY, "12.8")
def _meo_order(values: Values) -> Finding:
    found, told = _shares(values, "meo", "efficiency", "tcp", "buffer", "tcp_x_buffer")
    effects = list(_tcp_effects(values, "meo").values())
    best = _times_best(values, "meo")
    is_order = effects == sorted(effects) and spread(effects) < 0.10
    evidence = f"{told}; effects {show(effects, 3)}; SACK best in {best} of 6"
    return Finding(found[0] > found[1] > found[2] and is_order and best == 6, evidence)


@decides(_STUDY, "12.9")
def _meo_half_a_round_trip(values: Values) -> Finding:
    vanilla = _gains(values, "meo", "vanilla", "0.5", 2)
    others = [g for tcp in _TCPS[1:] for g in _gains(values, "meo", tcp, "0.5", 2)]
    holds = min(vanilla) >= 0.04 and max(others) <= 0.03
    return Finding(holds, f"vanilla {show(vanilla, 3)}, others {between(others, 3)}")


_FACTORS = {"tcp": _TCPS, "buffer": ("0.5_rtt", "1_rtt", "2_rtt"), "policy": _POLICIES}


def _around_zero(values: Values, config: str) -> tuple[int, int]:
    """Main effects on fairness whose 90 % interval holds zero, of how many."""
    table = f"{_STUDY}-t{_TABLES[config][1]}"
    error = values.get(table, "fairness_error", config=config)
    within = [
        abs(_effect(values, config, "fairness", factor, level))
        <= _T * error * sqrt((len(levels) - 1) / _RUNS)
        for factor, levels in _FACTORS.items()
        for level in levels
    ]
    return sum(within), len(within)


def _all_fairness(values: Values, config: str) -> list[float]:
    return [
        _fairness(values, config, tcp, policy, buffer)
        for tcp in _TCPS
        for policy in _POLICIES
        for buffer in _BUFFERS
    ]


@decides(_STUDY, "12.10")
def _meo_fairness(values: Values) -> Finding:
    found = _all_fairness(values, "meo")
    within, of = _around_zero(values, "meo")
    evidence = f"{between(found, 3)}; intervals with zero {within} of {of}"
    return Finding(min(found) >= 0.90 and within >= of - 1, evidence)


@decides(_STUDY, "12.11")
def _geo_sack_alone(values: Values) -> Finding:
    found, told = _shares(values, "geo", "efficiency", "tcp", "buffer", "tcp_x_buffer")
    effects = _tcp_effects(values, "geo")
    half = _half_interval(values, "geo", 4)
    best = _times_best(values, "geo")
    others = [effects[tcp] for tcp in _TCPS[:3]]
    holds = found[0] > found[1] > found[2] and best == 6 and spread(others) <= 2 * half
    evidence = (
        f"{told}; SACK best in {best} of 6; others {show(others, 3)}, half an interval {half:.3f}"
    )
    return Finding(holds, evidence)


@decides(_STUDY, "12.12")
def _geo_two_round_trips(values: Values) -> Finding:
    half_rtt, one, two = (
        _effect(values, "geo", "efficiency", "buffer", f"{buffer}_rtt") for buffer in _BUFFERS
    )
    half = _half_interval(values, "geo", 3)
    early = [mean(_gains(values, "geo", tcp, "0.5", 1)) for tcp in ("vanilla", "reno")]
    late = [mean(_gains(values, "geo", tcp, 1, 2)) for tcp in ("vanilla", "reno")]
    holds = abs(one - half_rtt) <= 2 * half and two > max(one, half_rtt)
    holds = holds and all(b > a for a, b in zip(early, late, strict=True))
    evidence = (
        f"effects {show((half_rtt, one, two), 3)}, half an interval {half:.3f}; "
        f"vanilla and Reno gain {show(early, 3)}, then {show(late, 3)}"
    )
    return Finding(holds, evidence)


@decides(_STUDY, "12.13")
def _geo_fairness(values: Values) -> Finding:
    found = _all_fairness(values, "geo")
    return Finding(min(found) >= 0.90 and spread(found) <= 0.07, between(found, 3))


@decides(_STUDY, "12.14")
def _lead_grows(values: Values) -> Finding:
    leads = [
        mean(a - b for a, b in _cases(values, config, "sack", "newreno"))
        for config in ("wan", "meo", "geo")
    ]
    return Finding(leads[0] < leads[1] < leads[2], f"mean lead {show(leads, 3)}")
