"""What bit errors cost, in closed forms that were worked out apart, and by counting over bits."""

import random

import pytest

from skycell.coding.remaining import FixedBursts, Law, TwoStates

LAWS: list[Law] = [
    TwoStates(0.0, 1.0, 5e-3, 0.0),
    TwoStates(1e-4, 1 / 30, 0.0, 0.5),
    FixedBursts(2e-3, 20, 0.5),
    FixedBursts(5e-3, 700, 0.6),
]


def independent(ber: float) -> TwoStates:
    return TwoStates(0.0, 1.0, ber, 0.0)


def test_independent_errors_cost_what_their_closed_forms_say() -> None:
    ber = 1e-6
    none, one = (1 - ber) ** 40, 40 * ber * (1 - ber) ** 39
    by_headers = none * (1 - none - one) + (1 - none) ** 2
    errors = independent(ber)
    assert errors.cell_loss() == pytest.approx(by_headers, rel=1e-4)
    assert errors.cell_loss() == pytest.approx(2380 * ber**2, rel=1e-3)
    assert errors.frame_loss(32) == pytest.approx(1 - (1 - ber) ** (384 * 32), rel=1e-5)
    assert errors.packet_loss(12_000) == pytest.approx(1 - (1 - ber) ** 12_000, rel=1e-9)


def test_bursts_of_equal_ratio_cost_cells_a_thousand_times_as_often() -> None:
    ber, length = 1e-7, 20
    bursts = FixedBursts(ber, length, 0.5)
    # (b / (0.5 L)) (L + 39) bursts meet a header; one in ten of them wrongs a bit alone, or none.
    most = ber / (0.5 * length) * (length + 39)
    assert 0.85 * most < bursts.cell_loss() < most
    assert bursts.cell_loss() > 1000 * independent(ber).cell_loss()
    assert bursts.frame_loss(32) < independent(ber).frame_loss(32) / 5


def test_a_burst_of_one_bit_is_an_independent_error() -> None:
    alone = FixedBursts(1e-7, 1, 1.0)
    assert alone.frame_loss(32) == pytest.approx(independent(1e-7).frame_loss(32), rel=1e-4)
    assert alone.packet_loss(12_000) == pytest.approx(independent(1e-7).packet_loss(12_000))


def test_long_bursts_are_summed_up_as_short_ones_are() -> None:
    # Beyond some lengths the sums are shortened: each bit adds as much as the one before.
    for function in (FixedBursts.cell_loss, lambda law: law.frame_loss(12)):
        of_length = [function(FixedBursts(1e-9 * bits, bits, 0.5)) for bits in (679, 680, 681)]
        assert of_length[2] - of_length[1] == pytest.approx(of_length[1] - of_length[0], rel=0.05)
    lost = [FixedBursts(1e-9 * bits, bits, 0.5).cell_loss() for bits in (4240, 4664, 5088)]
    assert lost[2] - lost[1] == pytest.approx(lost[1] - lost[0], rel=1e-6)
    whole = [FixedBursts(1e-9 * bits, bits, 0.5).packet_loss(400) for bits in (300, 301, 302)]
    assert whole[2] - whole[1] == pytest.approx(whole[1] - whole[0], rel=1e-6)


def wrong_bits(law: Law, count: int, seed: int) -> list[bool]:
    """Which of so many bits are wrong, drawn one by one."""
    draws = random.Random(seed)
    found = []
    if isinstance(law, TwoStates):
        is_bad = False
        for _ in range(count):
            found.append(draws.random() < (law.in_bad if is_bad else law.in_good))
            is_bad = draws.random() < (1 - law.to_good if is_bad else law.to_bad)
        return found
    begins = law.ber / (law.density * law.bits)
    left = 0
    for _ in range(count):
        if left == 0 and draws.random() < begins:
            left = law.bits
        found.append(left > 0 and draws.random() < law.density)
        left = max(0, left - 1)
    return found


@pytest.mark.parametrize("law", LAWS)
def test_losses_are_those_of_bits_that_are_drawn_one_by_one(law: Law) -> None:
    frames, cells = 2000, 3
    lost_cells = lost_frames = lost_packets = 0
    bits = wrong_bits(law, frames * cells * 424, seed=1)
    corrects = True
    for frame in range(frames):
        is_lost = False
        for cell in range(cells):
            first = (frame * cells + cell) * 424
            wrong = sum(bits[first : first + 40])
            loses = wrong > 1 or (wrong == 1 and not corrects)
            corrects = wrong == 0
            lost_cells += loses
            is_lost |= loses or any(bits[first + 40 : first + 424])
        lost_frames += is_lost
        packet = frame * cells * 424
        lost_packets += any(bits[packet : packet + 1000])
    # What is lost comes in clumps: the deviation of a count n is up to the root of 3 n.
    for lost, expected in (
        (lost_cells, law.cell_loss() * frames * cells),
        (lost_frames, law.frame_loss(cells) * frames),
        (lost_packets, law.packet_loss(1000) * frames),
    ):
        assert lost == pytest.approx(expected, abs=3 * (3 * expected) ** 0.5)
