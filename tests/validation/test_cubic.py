"""CUBIC beside its curve, beside ns-2's CUBIC, and its mean window beside two formulas."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from itertools import pairwise

import pytest

import skycell
from benches.peers.ns2 import simulator
from tests.validation.ns2.cases import MSS
from tests.validation.ns2.cubic import STAGES, WAN, Stage, windows_at
from tests.validation.ns2.record import run_cubic, stored_cubic
from tests.validation.random_losses import LOSS, RTT_S, mean_window

C = 0.4
BETA = 0.7
ALPHA = 9 / 17


@dataclass(frozen=True)
class Curve:
    """W_cubic(t) = C (t - K)^3 + W_max, RFC 9438 section 4.2, of a stage after a loss at `cwnd`."""

    cwnd: float
    w_max: float

    def growth(self, t: float) -> tuple[float, float, float, float]:
        """W_cubic and its three derivatives, in segments and seconds."""
        x = t - math.cbrt((self.w_max - BETA * self.cwnd) / C)
        return C * x**3 + self.w_max, 3 * C * x**2, 6 * C * x, 6 * C

    def followed(self, t: float, round_trip_s: float, pace: float) -> float:
        """The window that goes after the curve of a round trip ahead.

        The acknowledgements of a round trip close `pace` times the gap that there is: cwnd' = pace
        (W_cubic(t + RTT) - cwnd) / RTT. Once the beginning is forgotten that has one solution, the
        sum of (-RTT / pace)^n times the n-th derivative of W_cubic at t + RTT.
        """
        lag = -round_trip_s / pace
        return sum(lag**n * each for n, each in enumerate(self.growth(t + round_trip_s)))


Change = tuple[float, float, float]
"""Time in s, cwnd and ssthresh in segments."""


def changes_of_windows(stage: Stage, recovery: str = "sack") -> list[Change]:
    """Each change of ours."""
    scenario = skycell.parse(stage.scenario()).with_values({"tcp.recovery": recovery})
    trace = skycell.run(scenario).traces["cwnd"].select("time_ps", "cwnd", "ssthresh")
    return [(time / 1e12, cwnd / MSS, left / MSS) for time, cwnd, left in trace.iter_rows()]


def cwnd_when_quiet(stage: Stage, changes: list[Change]) -> list[float]:
    """cwnd at the stage's quiet times, segments."""
    return windows_at(stage.quiet_times(), [change[:2] for change in changes])


def cuts(changes: list[Change]) -> list[Change]:
    """The changes with another ssthresh: a loss has been found."""
    return [now for before, now in pairwise(changes) if now[2] != before[2]]


def begin_of_last_stage(changes: list[Change]) -> float:
    """When cwnd first grows after the last loss and its recovery, s."""
    time_s, _, ssthresh = cuts(changes)[-1]
    # NewReno inflates cwnd as it recovers, and comes back to ssthresh.
    left = max(k for k, each in enumerate(changes) if each[0] >= time_s and each[1] == ssthresh)
    return changes[left + 1][0]


def distances(
    stage: Stage, windows: list[float], cwnd_at_loss: float, begin_s: float, pace: float
) -> list[tuple[float, float]]:
    """At each quiet time of the last stage: how far the window is from the one that follows the
    curve, and what the curve gains in a round trip; segments.

    From a second and two round trips on: by then nothing is left of how the stage began, and Linux
    has measured the path, which it does not in a stage's first second.
    """
    round_trip_s = stage.round_trip_s()
    # Fast convergence, section 4.7: a loss before the window was back.
    is_less = len(stage.losses) > 1
    curve = Curve(cwnd_at_loss, cwnd_at_loss * (1 + BETA) / 2 if is_less else cwnd_at_loss)
    found = []
    for time_s, window in zip(stage.quiet_times(), windows, strict=True):
        t = time_s - begin_s
        if t > 1 + 2 * round_trip_s:
            apart = abs(window - curve.followed(t, round_trip_s, pace))
            found.append((apart, curve.growth(t)[1] * round_trip_s))
    assert len(found) > 20
    return found


@pytest.mark.parametrize("recovery", ["new_reno", "sack"])
@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_after_a_loss_cwnd_follows_the_curve_a_round_trip_ahead(
    stage: Stage, recovery: str
) -> None:
    changes = changes_of_windows(stage, recovery)
    cwnd_at_loss = changes[-1][2] / BETA
    windows = cwnd_when_quiet(stage, changes)
    # A window's acknowledgements come at the begin of a round trip, not spread over it: up to 0.15
    # of what the round trip brings.
    begin_s = begin_of_last_stage(changes)
    for apart, gain in distances(stage, windows, cwnd_at_loss, begin_s, pace=1):
        assert apart < 0.15 * gain + 0.1


#: Linux closes twice the gap in a round trip, for delayed ACKs that do not come: its ratio of
#: segments to ACKs begins at 32/16 and sticks at 31/16, in whole sixteenths.
LINUX_PACE = 31 / 16


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_ns2s_cubic_follows_the_same_curve_at_its_own_pace(stage: Stage) -> None:
    windows = stored_cubic(stage)
    # The last window before a cut; in slow start, where it is found in a burst of acknowledgements
    # that add a segment each, one for each segment before the lost one.
    cut = max(k for k in range(1, len(windows)) if windows[k] < windows[k - 1])
    is_first = len(stage.losses) == 1
    cwnd_at_loss = stage.initial_cwnd + stage.losses[0] if is_first else windows[cut - 1]
    begin_s = begin_of_last_stage(changes_of_windows(stage))
    # 0.15 as above; and cwnd and W_max are whole segments there, K is in 1/1024 s, C is 410/1024.
    for apart, gain in distances(stage, windows, cwnd_at_loss, begin_s, LINUX_PACE):
        assert apart < 0.15 * gain + 1.5


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_a_loss_leaves_what_it_leaves_in_ns2(stage: Stage) -> None:
    theirs = stored_cubic(stage)
    ours = cwnd_when_quiet(stage, changes_of_windows(stage))
    cut = max(k for k in range(1, len(theirs)) if theirs[k] < theirs[k - 1])
    # 717/1024, in whole segments, and half a round trip's growth.
    assert ours[cut - 1] == pytest.approx(theirs[cut - 1], abs=2)
    assert ours[cut] == pytest.approx(theirs[cut], abs=2)


def test_ns2s_cubic_still_does_what_was_stored() -> None:
    program = simulator.program()
    if program is None:
        pytest.skip(simulator.MISSING)
    assert run_cubic(program, WAN) == stored_cubic(WAN)


def test_with_losses_at_equal_distances_the_mean_window_is_that_of_the_rfc() -> None:
    # Section 5, equation 5, of losses that find each window just back at its W_max. A window of
    # 450 segments takes 28 970 to come back, and 600 of its recovery go before. With 30 000 it
    # comes back each time (else fast convergence would cut deeper) and hardly grows: it stays up to
    # 2.6 % below the 462 whose mean the formula has, and the recovery costs 0.6 %.
    distance, cycles = 30_000, 8
    losses = tuple(250 + k * distance for k in range(cycles + 1))
    stage = Stage("losses at equal distances", WAN.delay_ms, WAN.initial_cwnd, losses, 62)
    found = cuts(changes_of_windows(stage))
    assert len(found) == cycles + 1
    mean_window = cycles * distance * stage.round_trip_s() / (found[-1][0] - found[0][0])
    ideal = (C * (3 + BETA) / (4 * (1 - BETA)) * (stage.round_trip_s() * distance) ** 3) ** 0.25
    assert 0.96 * ideal < mean_window < ideal


def ideal_mean_window(losses: int, seed: int) -> float:
    """Time average of a window in segments that goes by sections 4.2 to 4.7, in steps of a tenth of
    a round trip, each loss 1 / LOSS segments after the last in the mean and repaired in a round
    trip.
    """
    draws = random.Random(seed)
    step_s = RTT_S / 10
    cwnd, w_max, area, time_s = 100.0, 0.0, 0.0, 0.0
    for _ in range(losses):
        distance = draws.expovariate(LOSS)
        w_max = cwnd * (1 + BETA) / 2 if cwnd < w_max else cwnd
        prior, cwnd = cwnd, BETA * cwnd
        curve = Curve(prior, w_max)
        w_est, sent, t = cwnd, cwnd, 0.0
        area += cwnd * RTT_S
        time_s += RTT_S
        while sent < distance:
            w_est += (ALPHA if w_est < prior else 1.0) * step_s / RTT_S
            if curve.growth(t)[0] < w_est:
                cwnd = max(cwnd, w_est)
            else:
                target = min(max(curve.growth(t + RTT_S)[0], cwnd), 1.5 * cwnd)
                cwnd += (target - cwnd) * step_s / RTT_S
            t += step_s
            sent += cwnd * step_s / RTT_S
            area += cwnd * step_s
        time_s += t
    return area / time_s


@pytest.mark.parametrize("recovery", ["new_reno", "sack"])
def test_under_random_losses_the_mean_window_is_that_of_an_ideal_one(recovery: str) -> None:
    # 211 segments, where losses at equal distances give 187 (equation 5) and Reno has 131. Runs of
    # 3000 s have some 615 losses each and differ by 2.3 % (standard deviation), their mean by
    # 1.2 %, the ideal one by 1 %.
    ours = mean_window({"recovery": recovery, "congestion": "cubic"})
    assert ours == pytest.approx(ideal_mean_window(losses=3000, seed=1), rel=0.04)
