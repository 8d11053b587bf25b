"""Tests of the conclusions of ATM Forum 96-0518, numbered 1."""

from skycell.metrics import ceiling_bps
from skycell.studies.conclusions.counting import (
    apart,
    compared,
    count,
    in_some_run,
    mean,
    show,
    spread,
)
from skycell.studies.findings import Finding, decides
from skycell.studies.values import Entry, Values

_T1 = "atmf960518-t1"
_DESTINATIONS = ("d1", "d2", "d3", "d4", "d5")
_SET_1 = ((1, 4096, 600_000), (1, 8192, 600_000))
_SET_3 = tuple(
    (3, buffer, window) for window in (600_000, 1_800_000) for buffer in (12_000, 36_000)
)
_LOSSY = (*_SET_1, *_SET_3)
_SET_2 = ((2, 330_000, 65_536), (2, 12_000, 120_000), (2, 36_000, 360_000))

_CEILING_MBPS = ceiling_bps(512, 155.52e6) / 1e6
_PIPE_OCTETS = 583_200
"""Round trip times bandwidth: 30 ms at 155.52 Mbit/s."""


def _total_entry(values: Values, row: tuple[int, int, int]) -> Entry:
    number, buffer, window = row
    return values.entry(
        _T1, "total_throughput", set=number, buffer_cells=buffer, max_window_bytes=window
    )


def _total(values: Values, row: tuple[int, int, int]) -> float:
    return _total_entry(values, row).value


def _of(values: Values, row: tuple[int, int, int], destination: str) -> float:
    number, buffer, window = row
    return values.get(
        _T1,
        "flow_throughput",
        set=number,
        buffer_cells=buffer,
        max_window_bytes=window,
        destination=destination,
    )


def _discarded(values: Values, row: tuple[int, int, int]) -> float:
    number, buffer, window = row
    return values.get(
        _T1, "cells_discarded", set=number, buffer_cells=buffer, max_window_bytes=window
    )


@decides("atmf960518", "1.1")
def _larger_buffer_need_not_help(values: Values) -> Finding:
    small, large = (_total_entry(values, row) for row in _SET_1)
    worse = in_some_run(large.runs, small.runs)
    eight, four = apart([large.value, small.value], 1)
    evidence = f"8192 cells {eight}, 4096 cells {four} Mbit/s; "
    return Finding(worse > 0, f"{evidence}less in {count(worse, large.runs)} runs")


@decides("atmf960518", "1.2")
def _no_loss_with_the_sum_of_windows(values: Values) -> Finding:
    lost = [_discarded(values, row) for row in _SET_2]
    return Finding(not any(lost), f"cells discarded in Set 2: {show(lost, 0)}")


@decides("atmf960518", "1.3")
def _the_window_limits(values: Values) -> Finding:
    small, large = (_of(values, row, "d2") for row in _SET_2[:2])
    return Finding(small < large, f"destination 2: {compared(small, large)} Mbit/s")


@decides("atmf960518", "1.4")
def _equal_and_full_without_loss(values: Values) -> Finding:
    rates = [_of(values, _SET_2[1], destination) for destination in _DESTINATIONS]
    apart = spread(rates) / mean(rates)
    part = _total(values, _SET_2[1]) / _CEILING_MBPS
    evidence = f"spread {100 * apart:.1f} %, total {100 * part:.1f} % of the ceiling"
    return Finding(apart <= 0.05 and part >= 0.85, evidence)


@decides("atmf960518", "1.5")
def _half_is_lost(values: Values) -> Finding:
    lossless = _total(values, _SET_2[1])
    drops = [100 * (1 - _total(values, row) / lossless) for row in _SET_3]
    return Finding(min(drops) > 50, f"drops of {show(drops, 1)} %")


@decides("atmf960518", "1.6")
def _unequal_but_nobody_starved(values: Values) -> Finding:
    extremes = []
    for row in _LOSSY:
        rates = [_of(values, row, destination) for destination in _DESTINATIONS]
        shares = [100 * rate / sum(rates) for rate in rates]
        extremes.append((min(shares), max(shares)))
    lowest, highest = min(low for low, _ in extremes), max(high for _, high in extremes)
    unequal = all(high > low for low, high in extremes)
    evidence = f"shares from {lowest:.0f} to {highest:.0f} % of a row's total"
    return Finding(unequal and lowest >= 5 and highest <= 50, evidence)


@decides("atmf960518", "1.7")
def _zero_loss_rule(values: Values) -> Finding:
    kept = [_discarded(values, row) == 0 for row in _SET_2]
    lossy = [_discarded(values, row) > 0 for row in _LOSSY]
    evidence = (
        f"no loss in {count(sum(kept), kept)} cases with room for all windows, "
        f"loss in {count(sum(lossy), lossy)} without"
    )
    return Finding(all(kept) and all(lossy), evidence)


@decides("atmf960518", "1.8")
def _one_source_needs_the_whole_pipe(values: Values) -> Finding:
    found = values.find("atmf960518-one", "total_throughput")
    rates = {float(entry.factors["max_window_bytes"]): entry.value for entry in found}
    below = [window for window in rates if window < _PIPE_OCTETS]
    above = sorted(window for window in rates if window > _PIPE_OCTETS)
    # Start-up costs part of the 2 s: compared with one another, not with the ceiling.
    per_octet = [rates[window] / window for window in below]
    proportional = max(per_octet) / min(per_octet) <= 1.15
    saturated = rates[above[-1]] <= 1.05 * rates[above[0]]
    evidence = ", ".join(f"{int(window)} bytes {rate:.1f}" for window, rate in rates.items())
    return Finding(proportional and saturated, f"{evidence} Mbit/s")
