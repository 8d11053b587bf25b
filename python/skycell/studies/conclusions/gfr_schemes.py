"""Tests of our conclusions on the schemes that keep a guaranteed rate."""

from skycell.studies.conclusions.counting import between, count, mean, show
from skycell.studies.findings import Finding, decides
from skycell.studies.model import Level
from skycell.studies.values import Values

_CELLS, _MEANS = "gfr-schemes-cells", "gfr-schemes-means"
_NEAR = ("lan", "wan")
_BLIND = ("tail_drop", "ppd", "epd", "red", "selective_drop", "fair_buffer_allocation", "fred")
_BLIND_TOO = ("virtual_queueing", "dynamic_epd")
"""Schemes that know nothing of MCRs; those that count by a server of their own apart."""
_BEST = ("dfba", "wfq")


def _shortfall(values: Values, scheme: str, latency: str, tcps: int) -> float:
    return values.get(
        _MEANS, "guarantee_shortfall", scheme=scheme, latency=latency, tcps_per_vc=tcps
    )


def _schemes(values: Values) -> list[str]:
    found = values.find(_MEANS, "guarantee_shortfall", latency="lan", tcps_per_vc=1)
    return [str(entry.factors["scheme"]) for entry in found]


def _mean_of_cells(values: Values, scheme: str, percent: int, tcps: int) -> float:
    wanted: dict[str, Level] = {
        "scheme": scheme,
        "mcr_allocation_percent": percent,
        "tcps_per_vc": tcps,
    }
    return mean(
        entry.value
        for latency in _NEAR
        for entry in values.find(_CELLS, "guarantee_shortfall", latency=latency, **wanted)
    )


@decides("gfr-schemes", "1")
def _dfba_and_wfq_keep_guarantees_of_many_tcps(values: Values) -> Finding:
    found = [_shortfall(values, scheme, path, 20) for scheme in _BEST for path in _NEAR]
    return Finding(max(found) < 0.01, f"shortfall {between(found, 3)}")


@decides("gfr-schemes", "2")
def _blind_schemes_do_not(values: Values) -> Finding:
    blind = (*_BLIND, *_BLIND_TOO)
    found = [_mean_of_cells(values, scheme, 85, 20) for scheme in blind]
    dfba = _mean_of_cells(values, "dfba", 85, 20)
    return Finding(
        min(found) > 10 * dfba and min(found) > 0.05,
        f"shortfall {between(found, 3)} against DFBA {dfba:.3f}",
    )


@decides("gfr-schemes", "3")
def _half_a_link_in_mcrs_needs_no_scheme(values: Values) -> Finding:
    small = [_mean_of_cells(values, scheme, 51, 20) for scheme in _schemes(values)]
    epd = _mean_of_cells(values, "epd", 51, 20)
    met = [value for value in small if value < 0.02]
    return Finding(
        2 * len(met) > len(small) and epd < 0.02,
        f"below 0.02 in {count(len(met), small)} schemes, EPD {epd:.3f}",
    )


@decides("gfr-schemes", "4")
def _guarantees_cost_no_efficiency(values: Values) -> Finding:
    lost = []
    for path in _NEAR:
        for tcps in (1, 20):
            found = values.find(_MEANS, "efficiency", latency=path, tcps_per_vc=tcps)
            most = max(entry.value for entry in found)
            lost += [most - e.value for e in found if e.factors["scheme"] in _BEST]
    return Finding(max(lost) < 0.02, f"at most {max(lost):.3f} below the most efficient scheme")


@decides("gfr-schemes", "5")
def _tags_and_thresholds_need_many_tcps(values: Values) -> Finding:
    parts = []
    for tcps in (1, 20):
        tagged = mean(_shortfall(values, "priority_drop", path, tcps) for path in _NEAR)
        plain = mean(_shortfall(values, "epd", path, tcps) for path in _NEAR)
        parts.append(tagged / plain)
    one, twenty = parts
    return Finding(
        twenty < 0.5 and one > 0.6,
        f"shortfall of LBO/HBO as a part of EPD's {one:.2f} with one TCP, {twenty:.2f} with twenty",
    )


@decides("gfr-schemes", "6")
def _one_tcp_over_geo_is_beyond_every_scheme(values: Values) -> Finding:
    one = [_shortfall(values, scheme, "geo", 1) for scheme in _schemes(values)]
    twenty = [_shortfall(values, scheme, "geo", 20) for scheme in _schemes(values)]
    return Finding(
        min(one) > 0.2 and max(twenty) < min(one) + 0.05,
        f"shortfall {between(one)} with one TCP, {between(twenty)} with twenty",
    )


@decides("gfr-schemes", "7")
def _larger_buffers_do_not_help_one_tcp(values: Values) -> Finding:
    found = [
        mean(
            entry.value
            for path in _NEAR
            for entry in values.find(
                _CELLS, "guarantee_shortfall", latency=path, tcps_per_vc=1, buffer_cells=cells
            )
        )
        for cells in (1000, 4000, 16000)
    ]
    return Finding(
        found[2] > 1.25 * found[0], f"mean of all schemes {show(found, 3)} from small to large"
    )


def _parts(values: Values, table: str) -> dict[str, float]:
    found = values.find(table, "guarantee_shortfall_share")
    return {str(entry.factors["component"]): entry.value for entry in found}


@decides("gfr-schemes", "8")
def _the_path_matters_more_than_the_scheme(values: Values) -> Finding:
    parts = _parts(values, "gfr-schemes-variation")
    path = parts["latency"] + parts["tcps_per_vc"] + parts["latency_x_tcps_per_vc"]
    return Finding(
        path > 5 * parts["scheme"],
        f"latency and number of TCPs {path:.0f} %, scheme {parts['scheme']:.0f} %",
    )


@decides("gfr-schemes", "9")
def _near_by_it_is_the_allocation_and_the_scheme(values: Values) -> Finding:
    parts = _parts(values, "gfr-schemes-variation-near")
    largest = sorted(parts, key=lambda name: -parts[name])[:2]
    return Finding(
        set(largest) == {"mcr_allocation_percent", "scheme"},
        ", ".join(f"{name.replace('_', ' ')} {parts[name]:.0f} %" for name in largest),
    )


@decides("gfr-schemes", "10")
def _the_excess_is_shared_best_where_mcrs_weigh(values: Values) -> Finding:
    orders = []
    for path in _NEAR:
        found = values.find(_MEANS, "excess_fairness", latency=path, tcps_per_vc=20)
        orders.append([str(e.factors["scheme"]) for e in sorted(found, key=lambda e: -e.value)])
    return Finding(
        all(set(order[:3]) == {*_BEST, "weighted_round_robin"} for order in orders),
        "; ".join(f"{path} {', '.join(o[:3])}" for path, o in zip(_NEAR, orders, strict=True)),
    )
