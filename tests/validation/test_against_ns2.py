"""Our senders against those of ns-2, segment by segment and in the steady state.

What ns-2 did is stored; where ns-2 is installed it is also asked again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from statistics import fmean

import pytest

import skycell
from benches.peers.ns2 import simulator
from benches.peers.ns2.simulator import Sent
from benches.peers.outcome import Outcome, Skycell
from tests.validation.ns2.cases import CASES, DURATION_S, LOSSES, MSS, RTT_S, TICK_S, Case
from tests.validation.ns2.exchange import (
    Reported,
    Tolerance,
    Windows,
    first_difference,
    from_text,
    of_skycell,
    quiet_times,
    recovering,
    to_text,
)
from tests.validation.ns2.known import EXCHANGES
from tests.validation.ns2.record import run_exchange, run_steady, stored_exchange, stored_steady
from tests.validation.ns2.steady import STEADY, Steady

TOLERANCE = Tolerance(loss_found_s=2e-6 + TICK_S)


def ids(case: Case | Steady) -> str:
    """How pytest names a case."""
    return f"{case.rules}: {case.losses}" if isinstance(case, Case) else case.name


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_an_exchange_goes_as_in_ns2_or_differs_as_we_know(case: Case) -> None:
    quiet = quiet_times(DURATION_S, RTT_S)
    result = skycell.run(case.scenario())
    ours = of_skycell(result, MSS, quiet)
    found = first_difference(ours, stored_exchange(case), recovering(result, MSS, quiet), TOLERANCE)
    known = EXCHANGES.get(case)
    if known is None:
        assert found is None
    else:
        assert found is not None, f"known.py is out of date: {case} agrees"
        assert found[0] == pytest.approx(known.from_s, abs=1e-3)
        assert found[1] == known.what


def test_every_exchange_that_differs_is_one_of_the_cases() -> None:
    assert set(EXCHANGES) <= set(CASES)


EFFICIENCY: Mapping[str, float] = {"vanilla": 0.08, "sack": 0.03, "reno": 0.15, "new_reno": 0.06}
"""Largest difference of mean efficiency with five connections over links of one rate.

Frames of five sources reach the shared port cell by cell among each other, packets one after the
other, so other segments meet the full buffer. SACK hardly cares. With the others it decides how
often a burst of losses halves the window before the timeout and what is sent again after it: over
three sets of starting times the stored runs of ns-2 alone span 0.10 (vanilla, WAN), 0.17 (Reno,
WAN) and 0.05 (NewReno, WAN)."""

FAST_EFFICIENCY: Mapping[str, float] = {
    "vanilla": 0.03,
    "sack": 0.002,
    "reno": 0.15,
    "new_reno": 0.015,
}
"""The same where frames arrive at once, as packets do, and the same segments are lost.

Vanilla's timers run to a tick of 100 ms here and to the instant there, ten times within the run:
that costs 0.016 to 0.027, over fifteen sets of clock phases. Of Reno's five connections over GEO
one gets, among the segments repeated after its timeout, three duplicate ACKs here and two there,
which halves its window or does not."""


SEEDS = range(1, 6)
"""They draw the phases of our hosts' clocks, of which ns-2 has none. Over GEO SACK
has 0.884 to 0.905, as a clock ticks just before a late acknowledgement or after it."""


@pytest.mark.parametrize("steady", STEADY, ids=ids)
def test_a_steady_state_carries_what_it_carries_in_ns2(steady: Steady) -> None:
    theirs = stored_steady(steady)
    ours = [Skycell(seed=seed).run(each) for each in steady.dumbbells() for seed in SEEDS]
    apart = abs(
        fmean(each.efficiency for each in ours) - fmean(row["efficiency"] for row in theirs)
    )
    if steady.sources == 1:
        assert {each.resent for each in ours} == {row["resent"] for row in theirs} == {0}
        # Nothing is lost. A switch sends a cell on at once, ns-2 a packet once it is there: 193
        # cell times at each of two nodes, of a round trip of 550 ms, 0.2 %, in every round trip
        # of the slow start and of the growth after it.
        assert apart < 0.003
    elif steady.net.name.endswith("fast"):
        assert apart < FAST_EFFICIENCY[steady.variant]
    else:
        assert apart < EFFICIENCY[steady.variant]


@pytest.mark.parametrize(
    "steady",
    [each for each in STEADY if each.net.name.endswith("fast") and each.variant == "sack"],
    ids=ids,
)
def test_where_frames_arrive_like_packets_sack_loses_the_same_segments(steady: Steady) -> None:
    for dumbbell, row in zip(steady.dumbbells(), stored_steady(steady), strict=True):
        ours: Outcome = Skycell().run(dumbbell)
        # A frame under transmission takes a part of our buffer and none of ns-2's.
        assert abs(ours.resent - row["resent"]) <= 5
        assert ours.timeouts == row["timeouts"] == 0
        assert ours.fairness == pytest.approx(row["fairness"], abs=0.01)


@pytest.fixture(scope="module")
def program() -> str:
    """Path of ns-2."""
    path = simulator.program()
    if path is None:
        pytest.skip(simulator.MISSING)
    return path


@pytest.mark.parametrize("case", CASES[:: len(LOSSES) - 2], ids=ids)
def test_ns2_still_does_what_was_stored(program: str, case: Case) -> None:
    assert to_text(run_exchange(program, case)) == to_text(stored_exchange(case))


def test_ns2_still_reaches_the_stored_steady_state(program: str) -> None:
    steady = next(each for each in STEADY if each.sources == 5 and each.variant == "sack")
    assert run_steady(steady) == stored_steady(steady)


REPORTED = Reported(
    sent=(
        Sent(0.0, 0, False),
        Sent(0.1, 1, False),
        Sent(0.100033, 2, False),
        Sent(0.2, 1, True),
        Sent(0.3, 3, False),
    ),
    windows=(Windows(0.05, 1.0, 4.0), Windows(0.15, 2.0, 4.0), Windows(0.25, 1.0, 2.0)),
)
QUIET = [False, False, True]


def changed(**parts: object) -> Reported:
    """REPORTED with another part."""
    values = {"sent": REPORTED.sent, "windows": REPORTED.windows} | parts
    return Reported(**values)  # type: ignore[arg-type]


def test_an_exchange_is_read_back_from_its_text() -> None:
    assert from_text(to_text(REPORTED)) == REPORTED


@pytest.mark.parametrize(
    ("theirs", "found"),
    [
        (REPORTED, None),
        (changed(sent=(*REPORTED.sent[:3], Sent(0.2, 2, True))), (0.2, "order")),
        (changed(sent=(*REPORTED.sent[:3], Sent(0.20003, 1, True))), (0.2, "time")),
        (changed(sent=(*REPORTED.sent[:1], Sent(0.10003, 1, False))), (0.1, "time")),
        (changed(sent=(*REPORTED.sent, Sent(0.31, 4, False))), None),
        (changed(sent=REPORTED.sent[:1]), (0.15, "lead")),
        (changed(sent=REPORTED.sent[:3]), None),
        (changed(windows=(*REPORTED.windows[:2], Windows(0.25, 9.0, 2.9))), None),
        (changed(windows=(*REPORTED.windows[:2], Windows(0.25, 1.0, 3.0))), (0.25, "ssthresh")),
        (changed(windows=(Windows(0.05, 2.0, 4.0), *REPORTED.windows[1:])), (0.05, "cwnd")),
    ],
)
def test_each_kind_of_difference_is_found(
    theirs: Reported, found: tuple[float, str] | None
) -> None:
    assert first_difference(REPORTED, theirs, QUIET, TOLERANCE) == found


def test_stored_losses_are_those_of_the_case() -> None:
    with pytest.raises(KeyError, match=re.escape("no such losses")):
        stored_exchange(Case("reno", "no such losses"))
