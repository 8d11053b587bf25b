"""Tests of the conclusions of ICCCN'97: sections 2 (LAN, WAN), 3 (GEO) and 4 (analysis)."""

from itertools import pairwise

from skycell.studies.conclusions.counting import (
    TOLD,
    Pair,
    above,
    apart,
    at_least,
    between,
    compared,
    count,
    in_all,
    show,
    spread,
    ties,
)
from skycell.studies.findings import Finding, decides
from skycell.studies.values import Values

_POLICIES = ("ubr", "epd", "sd")
_TCPS = ("sack", "reno", "vanilla")
_CELLS = {"lan": ((5, 1000), (5, 3000), (15, 1000), (15, 3000))}
_CELLS["wan"] = ((5, 12000), (5, 36000), (15, 12000), (15, 36000))


def _average(values: Values, config: str, tcp: str, policy: str) -> float:
    return values.get("icccn97-t1", "efficiency", config=config, tcp=tcp, policy=policy)


def _average_fairness(values: Values, config: str, tcp: str, policy: str) -> float:
    return values.get("icccn97-t2", "fairness", config=config, tcp=tcp, policy=policy)


def _sack(values: Values, config: str, n_sources: int, buffer_cells: int, policy: str) -> float:
    return values.get(
        "icccn97-t1",
        "efficiency",
        config=config,
        n_sources=n_sources,
        buffer_cells=buffer_cells,
        tcp="sack",
        policy=policy,
    )


def _sack_pairs(values: Values, config: str, better: str, worse: str) -> list[Pair]:
    return [
        (_sack(values, config, n, k, better), _sack(values, config, n, k, worse))
        for n, k in _CELLS[config]
    ]


def _average_pairs(values: Values, configs: tuple[str, ...], one: str, other: str) -> list[Pair]:
    return [
        (_average(values, config, one, policy), _average(values, config, other, policy))
        for config in configs
        for policy in _POLICIES
    ]


def _sack_at_least(values: Values, other: str) -> Finding:
    pairs = _average_pairs(values, ("lan", "wan"), "sack", other)
    found = at_least(pairs)
    below = [compared(a, b) for a, b in pairs if a < b]
    return Finding(found >= 4, "; ".join([count(found, pairs), *below]))


@decides("icccn97", "2.1a")
def _sack_at_least_vanilla(values: Values) -> Finding:
    return _sack_at_least(values, "vanilla")


@decides("icccn97", "2.1b")
def _sack_at_least_reno(values: Values) -> Finding:
    return _sack_at_least(values, "reno")


def _policy_order(values: Values, config: str, better: str, worse: str) -> Finding:
    pairs = _sack_pairs(values, config, better, worse)
    equal = ties(pairs)
    evidence = count(above(pairs), pairs)
    if equal:
        evidence += f" and {equal} tie" + ("s" if equal > 1 else "")
    return Finding(above(pairs) >= 3, evidence)


@decides("icccn97", "2.2a")
def _lan_sd_above_epd(values: Values) -> Finding:
    return _policy_order(values, "lan", "sd", "epd")


@decides("icccn97", "2.2b")
def _lan_epd_above_tail_drop(values: Values) -> Finding:
    return _policy_order(values, "lan", "epd", "ubr")


def _sack_against(sack: float, vanilla: float, reno: float) -> str:
    texts = apart([sack, vanilla, reno])
    return "{} against vanilla {}, Reno {}".format(*texts)


@decides("icccn97", "2.3")
def _lan_tail_drop_sack_far_above(values: Values) -> Finding:
    sack, reno, vanilla = (_average(values, "lan", tcp, "ubr") for tcp in _TCPS)
    holds = sack >= reno + 0.05 and sack >= vanilla + 0.05
    return Finding(holds, _sack_against(sack, vanilla, reno))


@decides("icccn97", "2.4")
def _lan_policies_level_tcps(values: Values) -> Finding:
    spreads = [
        spread(_average(values, "lan", tcp, policy) for tcp in _TCPS) for policy in _POLICIES
    ]
    return Finding(in_all(list(pairwise(spreads))), f"spread {show(spreads)}")


def _gain(values: Values, other: str) -> Finding:
    lan = [a - b for a, b in _average_pairs(values, ("lan",), "sack", other)]
    wan = [a - b for a, b in _average_pairs(values, ("wan",), "sack", other)]
    holds = in_all(list(zip(wan, lan, strict=True)))
    return Finding(holds, f"gain WAN {show(wan)}, LAN {show(lan)}")


@decides("icccn97", "2.5a")
def _gain_over_reno(values: Values) -> Finding:
    return _gain(values, "reno")


@decides("icccn97", "2.5b")
def _gain_over_vanilla(values: Values) -> Finding:
    return _gain(values, "vanilla")


@decides("icccn97", "2.6")
def _wan_reno_below_vanilla(values: Values) -> Finding:
    pairs = _average_pairs(values, ("wan",), "vanilla", "reno")
    return Finding(in_all(pairs), count(above(pairs), pairs))


@decides("icccn97", "2.7a")
def _lan_policies_above_tail_drop(values: Values) -> Finding:
    epd = _policy_order(values, "lan", "epd", "ubr")
    sd = _policy_order(values, "lan", "sd", "ubr")
    return Finding(epd.holds and sd.holds, f"EPD {epd.evidence}, SD {sd.evidence}")


@decides("icccn97", "2.7b")
def _wan_sd_above_tail_drop(values: Values) -> Finding:
    return _policy_order(values, "wan", "sd", "ubr")


@decides("icccn97", "2.7c")
def _wan_epd_above_tail_drop(values: Values) -> Finding:
    return _policy_order(values, "wan", "epd", "ubr")


@decides("icccn97", "2.8a")
def _sd_fairness_comparable(values: Values) -> Finding:
    lags, texts = [], []
    for config in _CELLS:
        sack, reno, vanilla = (_average_fairness(values, config, tcp, "sd") for tcp in _TCPS)
        lags.append(max(reno, vanilla) - sack)
        texts.append(f"{config.upper()} {_sack_against(sack, vanilla, reno)}")
    return Finding(max(lags) <= 0.05 + 1e-9, "; ".join(texts))


@decides("icccn97", "2.8b")
def _lan_tail_drop_fairness_lower(values: Values) -> Finding:
    sack, reno, vanilla = (_average_fairness(values, "lan", tcp, "ubr") for tcp in _TCPS)
    holds = sack < reno and sack < vanilla
    return Finding(holds, _sack_against(sack, vanilla, reno))


@decides("icccn97", "2.9")
def _policies_matter_less_in_the_wan(values: Values) -> Finding:
    lan, wan = (
        spread(_average(values, config, "sack", policy) for policy in _POLICIES)
        for config in ("lan", "wan")
    )
    near, far = apart([lan, wan])
    return Finding(wan < lan, f"spread LAN {near}, WAN {far}")


@decides("icccn97", "2.10")
def _larger_buffer_is_better(values: Values) -> Finding:
    pairs = [
        (
            _sack(values, config, n, cells[1][1], policy),
            _sack(values, config, n, cells[0][1], policy),
        )
        for config, cells in _CELLS.items()
        for n in (5, 15)
        for policy in _POLICIES
    ]
    furthest = min(a - b for a, b in pairs)
    return Finding(in_all(pairs), f"{count(above(pairs), pairs)}, smallest gain {furthest:+.3f}")


def _geo(values: Values, tcp: str, policy: str, buffer_cells: int) -> float:
    (entry,) = values.find(
        "icccn97-t3", "efficiency", tcp=tcp, policy=policy, buffer_cells=buffer_cells
    )
    return entry.value


_GEO_CELLS = [(buffer, policy) for buffer in (200_000, 600_000) for policy in _POLICIES]


def _geo_pairs(values: Values, one: str, other: str) -> list[Pair]:
    return [
        (_geo(values, one, policy, buffer), _geo(values, other, policy, buffer))
        for buffer, policy in _GEO_CELLS
    ]


@decides("icccn97", "3.1a")
def _geo_sack_above_reno(values: Values) -> Finding:
    pairs = _geo_pairs(values, "sack", "reno")
    return Finding(in_all(pairs), count(above(pairs), pairs))


@decides("icccn97", "3.1b")
def _geo_sack_above_vanilla(values: Values) -> Finding:
    pairs = _geo_pairs(values, "sack", "vanilla")
    below = [compared(a, b) for a, b in pairs if a < b]
    return Finding(above(pairs) >= 4, "; ".join([count(above(pairs), pairs), *below]))


@decides("icccn97", "3.2a")
def _geo_reno_below_vanilla(values: Values) -> Finding:
    pairs = _geo_pairs(values, "vanilla", "reno")
    below = [compared(a, b) for a, b in pairs if a < b]
    return Finding(above(pairs) >= 5, "; ".join([count(above(pairs), pairs), *below]))


@decides("icccn97", "3.2b")
def _geo_full_order(values: Values) -> Finding:
    rows = [
        [_geo(values, tcp, policy, 600_000) for tcp in ("sack", "vanilla", "reno")]
        for policy in _POLICIES
    ]
    ordered = sum(a > b > c for a, b, c in rows)
    pairs = [pair for a, b, c in rows for pair in ((a, b), (b, c))]
    return Finding(in_all(pairs), f"{count(ordered, rows)} at 600000 cells")


@decides("icccn97", "3.3a")
def _geo_epd_close_to_sd(values: Values) -> Finding:
    gaps = [
        abs(_geo(values, tcp, "epd", buffer) - _geo(values, tcp, "sd", buffer))
        for tcp in _TCPS
        for buffer in (200_000, 600_000)
    ]
    (largest,) = apart([max(gaps)], limits=[0.15])
    return Finding(max(gaps) <= 0.15, f"largest gap {largest}")


@decides("icccn97", "3.3b")
def _geo_policies_close_to_tail_drop(values: Values) -> Finding:
    gaps = {
        f"{tcp} {buffer} {policy}": abs(
            _geo(values, tcp, policy, buffer) - _geo(values, tcp, "ubr", buffer)
        )
        for tcp in _TCPS
        for buffer in (200_000, 600_000)
        for policy in ("epd", "sd")
    }
    largest = max(gaps, key=lambda cell: gaps[cell])
    (gap,) = apart([gaps[largest]], limits=[0.15])
    return Finding(gaps[largest] <= 0.15, f"largest gap {gap} ({largest})")


@decides("icccn97", "3.4")
def _geo_sack_full_with_three_rtt(values: Values) -> Finding:
    reached = [_geo(values, "sack", policy, 600_000) for policy in _POLICIES]
    return Finding(min(reached) >= 0.99 - TOLD, between(reached))


@decides("icccn97", "3.5")
def _geo_fair_with_three_rtt(values: Values) -> Finding:
    found = [e.value for e in values.find("icccn97-t4", "fairness", buffer_cells=600_000)]
    fair = sum(value >= 0.99 - TOLD for value in found)
    return Finding(fair == 9, f"{count(fair, found)}, lowest {min(found):.2f}")


_LOST = (1, 3, 8, 12)  # of a window of 32: up to three eighths


def _events(values: Values, measure: str, tcp: str, lost: int) -> float:
    return values.get("icccn97-s4", measure, tcp=tcp, segments_lost=lost)


def _recoveries(values: Values, tcp: str, timeouts: float, fast: float) -> Finding:
    found = [
        (_events(values, "timeouts", tcp, lost), _events(values, "fast_retransmits", tcp, lost))
        for lost in _LOST
    ]
    texts = [
        f"{lost} lost: {late:g} timeouts, {quick:g} fast retransmits"
        for lost, (late, quick) in zip(_LOST, found, strict=True)
    ]
    return Finding(all(pair == (timeouts, fast) for pair in found), "; ".join(texts))


@decides("icccn97", "4.1")
def _sack_recovers_at_once(values: Values) -> Finding:
    return _recoveries(values, "sack", timeouts=0, fast=1)


@decides("icccn97", "4.3a")
def _newreno_recovers_at_once(values: Values) -> Finding:
    return _recoveries(values, "newreno", timeouts=0, fast=1)


def _reno(values: Values, lost: int, timeouts: float, fast: float) -> Finding:
    late = _events(values, "timeouts", "reno", lost)
    quick = _events(values, "fast_retransmits", "reno", lost)
    evidence = f"{late:g} timeouts, {quick:g} fast retransmits"
    return Finding((late, quick) == (timeouts, fast), evidence)


@decides("icccn97", "4.3b")
def _reno_recovers_from_one(values: Values) -> Finding:
    return _reno(values, 1, timeouts=0, fast=1)


@decides("icccn97", "4.3c")
def _reno_times_out_after_three(values: Values) -> Finding:
    return _reno(values, 3, timeouts=1, fast=2)


@decides("icccn97", "4.4")
def _vanilla_always_times_out(values: Values) -> Finding:
    return _recoveries(values, "vanilla", timeouts=1, fast=0)
