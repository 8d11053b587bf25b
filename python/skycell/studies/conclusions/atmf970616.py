"""Tests of the conclusions on buffer requirements, numbered 8."""

from itertools import pairwise

from skycell.studies.conclusions.counting import TOLD, Pair, in_all, mean, show
from skycell.studies.findings import Finding, decides
from skycell.studies.values import Values

_TABLE = "atmf970616-s4"
# Cells of one round trip as the papers give them, and the numbers of sources.
_ONE_RTT = {"leo": 12_000, "multi_leo": 50_000, "geo": 200_000}
_SOURCES = {"leo": (15, 50, 100), "multi_leo": (5, 15, 50), "geo": (5, 15, 50)}
_VERY_SMALL = 0.0625
_HALF = 0.5
# 780 and 1560 cells are 50000/64 and 50000/32 cut to tens.
_SLACK = 1.001

_Curve = dict[float, float]


def _curve(values: Values, config: str, n_sources: int, metric: str = "efficiency") -> _Curve:
    """Values of one latency and N by buffer in round trips, smallest buffer first."""
    found = values.find(_TABLE, metric, config=config, n_sources=n_sources)
    points = {float(e.factors["buffer_cells"]) / _ONE_RTT[config]: e.value for e in found}
    return dict(sorted(points.items()))


def _curves(values: Values) -> dict[tuple[str, int], _Curve]:
    return {(config, n): _curve(values, config, n) for config, ns in _SOURCES.items() for n in ns}


def _small(curve: _Curve) -> list[float]:
    return [value for rtt, value in curve.items() if rtt <= _VERY_SMALL * _SLACK]


def _steps(curve: _Curve) -> list[tuple[float, float]]:
    """Change of value up to each buffer from the one before: (buffer in round trips, change)."""
    points = list(curve.items())
    return [(b[0], b[1] - a[1]) for a, b in pairwise(points)]


@decides("atmf970616", "8.1")
def _tiny_buffers_are_poor(values: Values) -> Finding:
    curves = _curves(values)
    average = mean(value for curve in curves.values() for value in _small(curve))
    lowest = min(min(_small(curves[config, ns[-1]])) for config, ns in _SOURCES.items())
    evidence = f"mean {average:.2f}, lowest with the most sources {lowest:.2f}"
    return Finding(average < 0.5 and lowest < 0.2, evidence)


@decides("atmf970616", "8.2")
def _throughput_grows_with_the_buffer(values: Values) -> Finding:
    lowest, flattens = [], []
    for curve in _curves(values).values():
        steps = [(rtt, step) for rtt, step in _steps(curve) if _VERY_SMALL * _SLACK < rtt <= _SLACK]
        # What one round trip or more can cost is another conclusion.
        below = [step for rtt, step in steps if rtt < 1 / _SLACK]
        lowest.append(min(below))
        flattens.append(steps[-1][1] < max(below))
    evidence = f"lowest step {min(lowest):+.3f}, flatter at the end in {sum(flattens)} of 9"
    return Finding(min(lowest) >= -TOLD and all(flattens), evidence)


@decides("atmf970616", "8.3")
def _half_a_round_trip_suffices(values: Values) -> Finding:
    curves = _curves(values)
    worst = {
        f"{config} N={n}": min(value for rtt, value in curve.items() if rtt >= _HALF)
        for (config, n), curve in curves.items()
    }
    lowest = min(worst, key=lambda key: worst[key])
    by_number = {
        number: mean(
            value
            for (_, n), curve in curves.items()
            for rtt, value in curve.items()
            if n == number and rtt > _HALF * _SLACK
        )
        for number in sorted({n for _, n in curves})
    }
    holds = worst[lowest] >= 0.95 - TOLD and min(by_number.values()) >= 0.98 - TOLD
    averages = ", ".join(f"N={n} {value:.3f}" for n, value in by_number.items())
    return Finding(holds, f"lowest {worst[lowest]:.3f} ({lowest}); average above half {averages}")


@decides("atmf970616", "8.4")
def _more_sources_need_more_of_a_small_buffer(values: Values) -> Finding:
    curves = _curves(values)
    falls: list[Pair] = []
    texts = []
    for config, ns in _SOURCES.items():
        averages = [mean(_small(curves[config, n])) for n in ns]
        falls += pairwise(averages)
        texts.append(f"{config} {show(averages)}")
    return Finding(in_all(falls), "; ".join(texts))


@decides("atmf970616", "8.5")
def _the_knee_is_sharper_for_more_sources(values: Values) -> Finding:
    curves = _curves(values)
    sharper: list[Pair] = []
    texts = []
    for config, ns in _SOURCES.items():
        largest = [max(step for _, step in _steps(curves[config, n])) for n in ns]
        sharper += ((largest[-1], fewer) for fewer in largest[:-1])
        texts.append(f"{config} {show(largest)}")
    return Finding(in_all(sharper), "; ".join(texts))


@decides("atmf970616", "8.6")
def _a_large_buffer_can_hurt_few_sources(values: Values) -> Finding:
    def loss(config: str, n: int) -> float:
        curve = _curve(values, config, n)
        best_below = max(value for rtt, value in curve.items() if rtt < 1)
        return best_below - min(value for rtt, value in curve.items() if rtt >= 1)

    geo, leo = loss("geo", 5), loss("leo", 15)
    evidence = f"loss GEO N=5 {geo:+.3f}, LEO N=15 {leo:+.3f}"
    return Finding(geo > 0 and leo <= 0.005, evidence)


@decides("atmf970616", "8.7")
def _many_sources_share_fairly(values: Values) -> Finding:
    lowest = {
        config: min(
            value for rtt, value in _curve(values, config, ns[-1], "fairness").items() if rtt >= 0.5
        )
        for config, ns in _SOURCES.items()
    }
    texts = ", ".join(f"{config} {value:.3f}" for config, value in lowest.items())
    return Finding(min(lowest.values()) >= 0.9 - TOLD, f"lowest {texts}")
