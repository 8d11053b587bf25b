"""Ceilings against those that the publications print, and others worked out as they are."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skycell.metrics import (
    ceiling_bps,
    cells_per_frame,
    efficiency,
    link_cell_bps,
    segment_frame_cells,
    tcp_share,
)
from skycell.metrics.ceiling import carried_bps
from skycell.spec.declared.network import FifoSpec, LinkSpec, PortSpec, ScheduleSpec


@pytest.mark.parametrize(
    ("mss", "at_155_52", "at_149_76", "at_149_7", "at_45"),
    [
        (512, 125.20, 120.56, 120.51, 36.23),
        (1024, 130.64, 125.80, 125.75, 37.80),
        (9180, 139.57, 134.40, 134.35, 40.39),
    ],
)
def test_ceilings_are_tcps_share_of_the_rate(
    mss: int, at_155_52: float, at_149_76: float, at_149_7: float, at_45: float
) -> None:
    rates = {155.52e6: at_155_52, 149.76e6: at_149_76, 149.7e6: at_149_7, 45e6: at_45}
    for rate, expected in rates.items():
        assert ceiling_bps(mss, rate) / 1e6 == pytest.approx(expected, abs=0.005)


def test_options_and_llc_can_cost_a_cell() -> None:
    # BON: MSS 512 gives 12 cells without and 13 with LLC, 12 octets of timestamps included.
    assert segment_frame_cells(512, llc_snap=False, timestamps=True) == 12
    assert segment_frame_cells(512, llc_snap=True, timestamps=True) == 13
    assert segment_frame_cells(9140, llc_snap=True, timestamps=True) == 192


def test_a_bare_acknowledgement_takes_two_cells() -> None:
    assert cells_per_frame(20 + 20 + 8) == 2


@given(st.integers(0, 65_535))
def test_a_frame_has_room_for_its_sdu_and_never_a_cell_too_many(sdu: int) -> None:
    cells = cells_per_frame(sdu)
    assert 48 * (cells - 1) < sdu + 8 <= 48 * cells


def test_the_cell_rate_follows_from_the_cell_time() -> None:
    # 155.52 Mbit/s: 424 bit last 2.7263 us; whole picoseconds are off by less than 2e-7.
    assert link_cell_bps(2_726_337) == pytest.approx(155.52e6, rel=2e-7)


@pytest.mark.parametrize(
    ("steps", "taken", "carried"),
    [
        # Ten milliseconds of the run, in parts of ten: 424 Mbit/s while a cell takes 1 us.
        ({}, 0.0, 424e6),
        ({"times_ps": (0, 4), "cell_times_ps": (1, 2)}, 0.0, 424e6 * (4 * 1 + 6 / 2) / 10),
        ({"times_ps": (0, 4), "cell_times_ps": (1, 2)}, 212e6, 424e6 * (4 / 2) / 10),
        ({"times_ps": (0, 4, 7), "delays_ps": (1, None, 1)}, 0.0, 424e6 * 7 / 10),
        ({"times_ps": (0, 4, 7), "delays_ps": (1, None, 1)}, 106e6, 424e6 * 0.75 * 7 / 10),
        # Of a handover only the time behind the interruption counts, of two that of the later.
        ({"times_ps": (0, 4), "paths": (0, 1)}, 0.0, 424e6 * 8 / 10),
        ({"times_ps": (0, 4, 5), "paths": (0, 1, 0)}, 0.0, 424e6 * 7 / 10),
        ({"times_ps": (0, 9), "paths": (0, 1)}, 0.0, 424e6 * 9 / 10),
        # What comes after the run does not count.
        ({"times_ps": (0, 12), "cell_times_ps": (2, 1)}, 0.0, 212e6),
        ({"times_ps": (0, 12), "delays_ps": (None, 1)}, 0.0, 0.0),
    ],
)
def test_a_link_that_varies_could_carry_the_mean_of_its_rate_while_it_has_a_path(
    steps: dict[str, Any], taken: float, carried: float
) -> None:
    part_ps = 10**9
    times = tuple(part_ps * time for time in steps.get("times_ps", (0,)))
    schedule = ScheduleSpec(
        times_ps=times,
        delays_ps=steps.get("delays_ps", (1,) * len(times)),
        paths=steps.get("paths", (0,) * len(times)),
        cell_times_ps=tuple(10**6 * us for us in steps.get("cell_times_ps", ())),
        interruption_ps=2 * part_ps,
        handover_loses_cells=False,
    )
    port = PortSpec(queues=(), scheduler=FifoSpec(), frame_gap_ps=0)
    link = LinkSpec(
        name="a>b", from_=0, to=1, cell_time_ps=10**6, delay_ps=1, schedule=schedule, port=port
    )
    assert carried_bps(link, 10 * part_ps, taken) == pytest.approx(carried)


def test_efficiency_is_the_sum_over_the_ceiling() -> None:
    assert efficiency([1.0, 2.0, 3.0], 8.0) == 0.75


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cells_per_frame(-1), "an SDU of -1 octets: must be 0 or more"),
        (lambda: tcp_share(0), "an MSS of 0 octets: must be above 0"),
        (lambda: link_cell_bps(0), "a cell time of 0 ps: must be above 0"),
        (lambda: ceiling_bps(512, 0), "a cell rate of 0 bit/s: must be above 0"),
        (lambda: efficiency([1.0], 0), "a ceiling of 0 bit/s: must be above 0"),
    ],
)
def test_nonsense_is_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=message):
        call()
