"""What codes leave of the bits, against counts over the trellis and the standards' own points."""

from collections import Counter

import pytest

from skycell.coding import (
    RATES,
    OutOfRange,
    after_dvb_s2,
    after_reed_solomon,
    after_viterbi,
    convolutional,
    threshold_db,
    uncoded,
)

#: EN 300 421 table 2: which bits of X and of Y are sent.
PUNCTURING = {
    "1/2": ("1", "1"),
    "2/3": ("10", "11"),
    "3/4": ("101", "110"),
    "5/6": ("10101", "11010"),
    "7/8": ("1000101", "1111010"),
}
#: Table 3: Eb/N0 for 2e-4 behind the Viterbi decoder, with 0.8 dB for the modem.
POINTS = {"1/2": 4.5, "2/3": 5.0, "3/4": 5.5, "5/6": 6.0, "7/8": 6.4}
GENERATORS = 0o171, 0o133


def counted(rate: str, most: int) -> dict[int, tuple[int, int, int]]:
    """Error events, their wrong bits and lengths up to a distance: each path over the trellis."""
    sent = PUNCTURING[rate]
    period = len(sent[0])
    events: Counter[int] = Counter()
    wrong: Counter[int] = Counter()
    lengths: Counter[int] = Counter()

    def step(state: int, bit: int, phase: int) -> tuple[int, int]:
        register = bit << 6 | state
        weight = sum(
            (register & generator).bit_count() % 2 * int(of[phase % period])
            for generator, of in zip(GENERATORS, sent, strict=True)
        )
        return register >> 1, weight

    for phase in range(period):
        state, weight = step(0, 1, phase)
        # By state and distance so far: how many paths, and the wrong bits of all of them.
        under_way = {(state, weight): (1, 1)}
        time = 1
        while under_way:
            following: dict[tuple[int, int], tuple[int, int]] = {}
            for (state, distance), (paths, bits) in under_way.items():
                for bit in (0, 1):
                    after, weight = step(state, bit, phase + time)
                    total = distance + weight
                    if total > most:
                        continue
                    if after == 0:
                        events[total] += paths
                        wrong[total] += bits
                        lengths[total] += paths * (time + 1 - 6)
                    else:
                        before = following.get((after, total), (0, 0))
                        new = (before[0] + paths, before[1] + bits + bit * paths)
                        following[after, total] = new
            under_way = following
            time += 1
    return {d: (events[d], wrong[d], lengths[d]) for d in sorted(events)}


@pytest.mark.parametrize("rate", RATES)
def test_the_spectrum_is_that_of_the_trellis(rate: str) -> None:
    _, period, spectrum = convolutional._SPECTRA[rate]
    assert period == len(PUNCTURING[rate][0])
    assert counted(rate, max(spectrum)) == spectrum


@pytest.mark.parametrize("rate", RATES)
def test_the_standard_s_points_are_met(rate: str) -> None:
    # Without the modem's 0.8 dB; the inner code's bits have 188/204 of the user's energy. Union
    # bounds and simulations differ by some tenth of a dB, a third of the ratio here.
    user_db = POINTS[rate] - 0.8
    assert 1e-4 < after_viterbi(user_db - 0.355, rate).ber < 3e-4
    # Quasi-error-free: 1e-10 to 1e-11 behind the outer code.
    assert after_reed_solomon(user_db, rate).ber < 1e-11


def test_each_code_leaves_less_at_the_same_ratio() -> None:
    for db in (3.0, 3.3, 4.0):
        plain, inner, outer = uncoded(db), after_viterbi(db), after_reed_solomon(db)
        assert plain.ber > 10 * inner.ber > 100 * outer.ber
    # Cells lost by their headers: 2380 b^2 where errors are apart, else each burst that meets one.
    inner = after_viterbi(4.0)
    by_bursts = inner.bursts_per_bit * (inner.burst_bits + 39)
    assert by_bursts > 100 * 2380 * inner.ber**2
    words = after_reed_solomon(4.0)
    assert words.part / (188 * 8) * (188 * 8 + 39) < by_bursts / 1e6


def test_uncoded_is_the_tail_of_the_normal_distribution() -> None:
    # Q(sqrt(2)) = 0.0786, Q(sqrt(20)) = 3.87e-6.
    assert uncoded(0).ber == pytest.approx(0.0786, rel=1e-3)
    assert uncoded(10).ber == pytest.approx(3.87e-6, rel=1e-2)


def test_words_of_dvb_s2_fail_whole_from_their_threshold_on() -> None:
    errors = after_dvb_s2(7.91, "8PSK 3/4")
    assert errors.burst_bits == 48_600
    assert errors.bursts_per_bit * errors.burst_bits == pytest.approx(1e-7)
    assert threshold_db("8PSK 3/4", "short") == pytest.approx(8.21)


@pytest.mark.parametrize(
    ("call", "allowed"),
    [
        (lambda: uncoded(16), "to 15 dB"),
        (lambda: after_viterbi(2.0), "from 2.2 dB"),
        (lambda: after_viterbi(2.5, "7/8"), "from 4"),
        (lambda: after_reed_solomon(2.4), "from 2.2 dB"),
        (lambda: after_reed_solomon(9.0), "no word ever fails"),
        (lambda: after_dvb_s2(7.9, "8PSK 3/4"), "from 7.91 dB"),
    ],
)
def test_what_no_formula_says_is_refused(call: object, allowed: str) -> None:
    with pytest.raises(OutOfRange) as found:
        call()  # type: ignore[operator]
    assert allowed in found.value.allowed
