"""What the conclusions on UBR, its drop policies and guaranteed rates draw as bounds.

A conclusion of several clauses has to fall with each of them alone, and at the number it names.
"""

from functools import partial
from itertools import product

import pytest

from skycell.studies.model import Level
from skycell.studies.values import Entry, Values
from tests.unit.studies.bounds import (
    Bound,
    Change,
    Told,
    check_both_sides,
    holds,
    params,
    printed,
)

E, F = "efficiency", "fairness"
TCPS = ("sack", "reno", "vanilla")

# --- ATM Forum 96-0518 ---------------------------------------------------------------------------

RATE, TOTAL, LOST = "flow_throughput", "total_throughput", "cells_discarded"


def rates(*of_five: float, **row: float) -> list[Change]:
    """What the five destinations get."""
    return [(RATE, {**row, "destination": f"d{i}"}, rate) for i, rate in enumerate(of_five, 1)]


FULL: list[Change] = [*rates(22, 22, 22, 22, 22), (TOTAL, {}, 110)]
THIRD: list[Change] = [(TOTAL, {"set": 2}, 100), (TOTAL, {"set": 3}, 49.9)]
UNEQUAL = rates(10, 15, 20, 25, 30)
BY_ROOM: list[Change] = [(LOST, {}, 1), (LOST, {"set": 2}, 0)]

OF_960518 = [
    Bound("1.2", "no cell is lost", [(LOST, {}, 0)], [(LOST, {"buffer_cells": 36_000}, 1)]),
    Bound(
        "1.3",
        "the smaller window gets less",
        [(RATE, {}, 22), (RATE, {"max_window_bytes": 65_536}, 21.9)],
        [(RATE, {"max_window_bytes": 65_536}, 22)],
    ),
    # (23.1 - 22) / 22.22 is 4.95 %, (23.2 - 22) / 22.24 is 5.4 %.
    Bound("1.4", "the same within 5 %", [*FULL, *rates(23.1)], rates(23.2)),
    # 512 octets in 12 cells at 155.52 Mbit/s: 125.20, of which 85 % are 106.42.
    Bound("1.4", "85 % of the ceiling", [*FULL, (TOTAL, {}, 106.5)], [(TOTAL, {}, 106.3)]),
    Bound(
        "1.5",
        "more than half, in every row",
        THIRD,
        [(TOTAL, {"set": 3, "buffer_cells": 36_000, "max_window_bytes": 600_000}, 50)],
    ),
    Bound("1.6", "unequal", UNEQUAL, rates(20, 20, 20, 20, 20, set=3, buffer_cells=12_000)),
    Bound("1.6", "5 %", [*UNEQUAL, *rates(5, 20, 20, 25, 30)], rates(4.9, 20, 20, 25, 30.1)),
    Bound("1.6", "50 %", [*UNEQUAL, *rates(50, 10, 10, 15, 15)], rates(50.1, 9.9)),
    Bound("1.6", "in Set 1, too", UNEQUAL, rates(4, 21, set=1, buffer_cells=8192)),
    Bound("1.7", "none with room", BY_ROOM, [(LOST, {"set": 2, "buffer_cells": 12_000}, 1)]),
    Bound("1.7", "some without", BY_ROOM, [(LOST, {"set": 1, "buffer_cells": 8192}, 0)]),
]


@pytest.mark.parametrize("bound", params(OF_960518))
def test_a_bound_of_96_0518_is_where_it_is_said_to_be(bound: Bound) -> None:
    check_both_sides("atmf960518", bound, Told)


@pytest.mark.parametrize(
    ("rate_by_window", "expected"),
    [
        ({100_000: 20, 500_000: 114.9, 600_000: 120, 1_200_000: 125.9}, True),
        # 15.1 % more for each octet: 500 000 octets are less than the 583 200 of a round trip.
        ({100_000: 20, 500_000: 115.1, 600_000: 120, 1_200_000: 126}, False),
        ({100_000: 20, 500_000: 114.9, 600_000: 120, 1_200_000: 126.1}, False),  # 5.1 % more
    ],
)
def test_one_source_needs_a_window_of_a_round_trip(
    rate_by_window: dict[int, float], expected: bool
) -> None:
    told = [
        Entry("atmf960518-one", TOTAL, {"max_window_bytes": window}, rate)
        for window, rate in rate_by_window.items()
    ]
    assert holds("atmf960518", "1.8", Values(told)) is expected


# --- ICCCN'97 ------------------------------------------------------------------------------------


def four_cells(config: str, better: str, worse: str) -> list[Change]:
    """SACK better with one policy than with another, but for a tie in one of four cells."""
    small = {"lan": 1000, "wan": 12_000}[config]
    return [
        (E, {"config": config, "policy": better}, 0.9),
        (E, {"config": config, "policy": worse}, 0.8),
        (E, {"config": config, "policy": better, "n_sources": 5, "buffer_cells": small}, 0.8),
    ]


def a_second_tie(config: str, better: str) -> list[Change]:
    small = {"lan": 1000, "wan": 12_000}[config]
    return [(E, {"config": config, "policy": better, "n_sources": 15, "buffer_cells": small}, 0.8)]


def at_geo(**by_tcp: float) -> list[Change]:
    return [(E, {"tcp": tcp}, value) for tcp, value in by_tcp.items()]


ALIKE: list[Change] = [(E, {}, 0.5)]
LIMIT: list[Change] = [(F, {}, 0.95), (F, {"tcp": "sack"}, 0.9)]
OF_ICCCN97 = [
    *(
        Bound(
            number,
            "4 of 6",
            [*ALIKE, (E, {"tcp": other, "policy": "sd"}, 0.6)],
            [(E, {"tcp": other, "policy": "epd", "config": "lan"}, 0.6)],
        )
        for number, other in (("2.1a", "vanilla"), ("2.1b", "reno"))
    ),
    *(
        Bound(number, f"3 of 4 for {one}", [*more, *four_cells(config, one, other)], passed)
        for number, config, one, other, more, passed in (
            ("2.2a", "lan", "sd", "epd", [], a_second_tie("lan", "sd")),
            ("2.2b", "lan", "epd", "ubr", [], a_second_tie("lan", "epd")),
            (
                "2.7a",
                "lan",
                "epd",
                "ubr",
                four_cells("lan", "sd", "ubr"),
                a_second_tie("lan", "epd"),
            ),
            (
                "2.7a",
                "lan",
                "sd",
                "ubr",
                four_cells("lan", "epd", "ubr"),
                a_second_tie("lan", "sd"),
            ),
            ("2.7b", "wan", "sd", "ubr", [], a_second_tie("wan", "sd")),
            ("2.7c", "wan", "epd", "ubr", [], a_second_tie("wan", "epd")),
        )
    ),
    *(
        Bound(
            "2.3",
            f"0.05 above {other}",
            [(E, {"tcp": other, "policy": "ubr"}, 0.739)],  # SACK: 0.79
            [(E, {"tcp": other, "policy": "ubr"}, 0.742)],
        )
        for other in ("vanilla", "reno")
    ),
    *(
        Bound("2.8a", f"0.05 in the {config}", LIMIT, [(F, {"config": config, "tcp": tcp}, 0.951)])
        for config, tcp in (("lan", "reno"), ("wan", "vanilla"))
    ),
    *(
        Bound(
            "2.8b",
            f"less than {other}",
            [(F, {"policy": "ubr"}, 0.8), (F, {"policy": "ubr", "tcp": "sack"}, 0.79)],
            [(F, {"policy": "ubr", "tcp": other}, 0.79)],
        )
        for other in ("vanilla", "reno")
    ),
    Bound(
        "2.9",
        "smaller",
        [
            *ALIKE,
            (E, {"config": "wan", "policy": "sd"}, 0.59),
            (E, {"config": "lan", "policy": "sd"}, 0.6),
        ],
        [(E, {"config": "wan", "policy": "epd"}, 0.49)],
    ),
    Bound(
        "3.1b",
        "4 of 6",
        [*at_geo(sack=0.6, vanilla=0.5), (E, {"tcp": "vanilla", "policy": "sd"}, 0.6)],
        [(E, {"tcp": "vanilla", "policy": "epd", "buffer_cells": 200_000}, 0.6)],
    ),
    Bound(
        "3.2a",
        "5 of 6",
        [
            *at_geo(vanilla=0.6, reno=0.5),
            (E, {"tcp": "reno", "policy": "sd", "buffer_cells": 200_000}, 0.6),
        ],
        [(E, {"tcp": "reno", "policy": "sd"}, 0.6)],
    ),
    Bound(
        "3.3a",
        "0.15",
        [*ALIKE, (E, {"tcp": "reno", "policy": "sd"}, 0.649)],
        [(E, {"tcp": "reno", "policy": "sd", "buffer_cells": 600_000}, 0.651)],
    ),
    *(
        Bound(
            "3.3b",
            f"0.15 for {policy}",
            [*ALIKE, (E, {"policy": policy}, 0.351)],
            [(E, {"policy": policy, "tcp": "vanilla", "buffer_cells": 200_000}, 0.349)],
        )
        for policy in ("epd", "sd")
    ),
    Bound("3.4", "0.985", [(E, {}, 0.986)], [(E, {"tcp": "sack", "policy": "epd"}, 0.984)]),
    Bound("3.5", "all 9", [(F, {}, 0.986)], [(F, {"tcp": "reno", "policy": "sd"}, 0.984)]),
]


@pytest.mark.parametrize("bound", params(OF_ICCCN97))
def test_a_bound_of_icccn97_is_where_it_is_said_to_be(bound: Bound) -> None:
    check_both_sides("icccn97", bound, partial(printed, "icccn97", bound.conclusion))


@pytest.mark.parametrize(
    ("conclusion", "timeouts", "fast_retransmits", "lost"),
    [("4.1", 0, 1, 12), ("4.3a", 0, 1, 8), ("4.3b", 0, 1, 1), ("4.3c", 1, 2, 3), ("4.4", 1, 0, 1)],
)
def test_recovery_is_told_by_timeouts_and_by_fast_retransmits(
    conclusion: str, timeouts: float, fast_retransmits: float, lost: int
) -> None:
    as_said: list[Change] = [
        ("timeouts", {}, timeouts),
        ("fast_retransmits", {}, fast_retransmits),
    ]
    assert holds("icccn97", conclusion, Told(as_said))
    where = {"segments_lost": lost}
    more: list[Change] = [("timeouts", where, timeouts + 1)]
    assert not holds("icccn97", conclusion, Told([*as_said, *more]))
    more = [("fast_retransmits", where, fast_retransmits + 1)]
    assert not holds("icccn97", conclusion, Told([*as_said, *more]))


# --- IJSC ----------------------------------------------------------------------------------------

BEST: list[Change] = [(E, {}, 0.8), (E, {"tcp": "sack"}, 0.9)]
OF_IJSC = [
    *(
        Bound(number, f"than {other}", BEST, [(E, {"tcp": other, "policy": "sd"}, 0.91)])
        for number, other in product(("7.1a", "7.1b"), ("reno", "vanilla"))
    ),
    Bound(
        "7.2",
        "in some run",
        [(E, {}, 0.8), (E, {"tcp": "sack", "policy": "sd", "buffer_cells": 200_000}, 0.79)],
        [(E, {"tcp": "sack", "buffer_cells": 200_000}, 0.8)],
    ),
    *(
        Bound(
            "7.3a",
            f"every one {where}",
            [
                (E, {"buffer_cells": cells, "tcp": "reno"}, value)
                for cells, value in ((12_000, 0.71), (36_000, 0.71), (200_000, 0.7), (600_000, 0.7))
            ],
            [(E, {"buffer_cells": cells, "policy": "sd", "tcp": "reno"}, value)],
        )
        for where, cells, value in (("over GEO", 600_000, 0.72), ("over LEO", 12_000, 0.69))
    ),
    *(
        Bound(
            "7.4",
            f"0.15 with {cells} cells",
            [(E, {}, 0.5), (E, {"policy": "sd"}, 0.649)],
            [(E, {"policy": "sd", "tcp": tcp, "buffer_cells": cells}, 0.651)],
        )
        for tcp, cells in (("reno", 12_000), ("vanilla", 600_000))
    ),
]


@pytest.mark.parametrize("bound", params(OF_IJSC))
def test_a_bound_of_ijsc_is_where_it_is_said_to_be(bound: Bound) -> None:
    check_both_sides("ijsc", bound, partial(printed, "ijsc", bound.conclusion))


# --- 97-0424 and IJSC section 4 ------------------------------------------------------------------


def by_period(config: str) -> list[Change]:
    where = {"config": config}
    by_ms = {50: 0.9, 100: 0.8, 300: 0.65}
    return [(E, {**where, "vbr_period_ms": ms}, value) for ms, value in by_ms.items()]


def gained(policy: str, over: str) -> list[Change]:
    """One policy above another in 36 cases but for ties with Reno, of which there are 12."""
    return [
        (E, {"policy": over}, 0.8),
        (E, {"policy": policy}, 0.9),
        (E, {"policy": policy, "tcp": "reno"}, 0.8),
    ]


def rate_gained(fraction: str) -> list[Change]:
    """A guaranteed rate better than none in 36 cases but for ties in three, one per policy."""
    tcp: dict[str, Level] = {"tcp": "reno", "n_sources": 5, "buffer_cells": 12_000}
    ties = {**tcp, "gr_fraction": fraction}
    return [(E, {"gr_fraction": "0.0"}, 0.8), (E, {"gr_fraction": fraction}, 0.9), (E, ties, 0.8)]


LEVELS = {
    "tcp": TCPS,
    "policy": ("ubr", "epd", "sd"),
    "gr_fraction": ("0.0", "0.1", "0.5"),
}


def stepped(**step: float) -> list[Change]:
    """Efficiencies that rise by equal steps from level to level of some factors of three levels.

    The variation that a factor explains goes with the square of its step.
    """
    levels = [list(enumerate(LEVELS[name])) for name in step]
    return [
        (
            E,
            {name: level for name, (_, level) in zip(step, chosen, strict=True)},
            sum(size * place for size, (place, _) in zip(step.values(), chosen, strict=True)),
        )
        for chosen in product(*levels)
    ]


RAISED: list[Change] = [(E, {}, 0.70), (E, {"gr_fraction": "0.1"}, 0.92)]
OF_970424 = [
    Bound(
        "5.1a",
        "5 of 6",
        [
            *by_period("wan"),
            (E, {"vbr_period_ms": 100, "policy": "sd", "buffer_cells": 12_000}, 0.9),
        ],
        [(E, {"vbr_period_ms": 100, "policy": "sd", "buffer_cells": 36_000}, 0.65)],
    ),
    Bound(
        "5.1b",
        "all 6",
        by_period("lan"),
        [(E, {"vbr_period_ms": 100, "policy": "sd", "buffer_cells": 3000}, 0.65)],
    ),
    Bound(
        "5.2",
        "0.65 in 5 of 6",
        [
            *by_period("wan"),
            (E, {"vbr_period_ms": 300, "policy": "sd", "buffer_cells": 12_000}, 0.66),
        ],
        [(E, {"vbr_period_ms": 300, "policy": "sd"}, 0.66)],
    ),
    *(
        Bound(
            "5.3",
            f"0.90 with {ms} ms",
            [(E, {}, 0.90)],
            [(E, {"vbr_period_ms": ms, "policy": "ubr", "buffer_cells": 36_000}, 0.899)],
        )
        for ms in (50, 100)
    ),
    *(
        Bound(
            "5.4",
            f"0.90 with {ms} ms",
            [(F, {}, 0.90)],
            [
                (
                    F,
                    {"vbr_period_ms": ms, "policy": "sd", "buffer_cells": 3000, "config": "lan"},
                    0.899,
                )
            ],
        )
        for ms in (50, 100)
    ),
    Bound(
        "5.5",
        "in all pairs",
        [(E, {"buffer_cells": 12_000}, 0.5), (E, {"buffer_cells": 36_000}, 0.51)],
        [(E, {"buffer_cells": 36_000, "policy": "epd", "vbr_period_ms": 300}, 0.5)],
    ),
    Bound(
        "6.1a",
        "more than the rate",
        stepped(policy=2, gr_fraction=1.9),
        stepped(policy=2, gr_fraction=2.1),
    ),
    Bound("6.1a", "more than the TCP", stepped(policy=2, tcp=1.9), stepped(policy=2, tcp=2.1)),
    *(
        Bound(
            number,
            "24 of 36",
            gained("sd", over),
            [
                (
                    E,
                    {
                        "policy": "sd",
                        "tcp": "sack",
                        "n_sources": 5,
                        "buffer_cells": 1000,
                        "gr_fraction": "0.1",
                    },
                    0.8,
                )
            ],
        )
        for number, over in (("6.1b", "epd"), ("6.1c", "ubr"))
    ),
    Bound(
        "6.2a",
        "more than the policy",
        stepped(gr_fraction=2, policy=1.9),
        stepped(gr_fraction=2, policy=2.1),
    ),
    *(
        Bound(
            number,
            "33 of 36",
            rate_gained(fraction),
            [
                (
                    E,
                    {
                        "gr_fraction": fraction,
                        "tcp": "sack",
                        "n_sources": 5,
                        "buffer_cells": 12_000,
                        "policy": "sd",
                    },
                    0.8,
                )
            ],
        )
        for number, fraction in (("6.2b", "0.1"), ("6.2c", "0.5"))
    ),
    Bound(
        "6.4a",
        "more than the rate",
        stepped(tcp=2, gr_fraction=1.9),
        stepped(tcp=2, gr_fraction=2.1),
    ),
    Bound("6.4b", "SACK first", at_geo(sack=0.9, vanilla=0.8, reno=0.7), at_geo(sack=0.79)),
    Bound("6.4b", "Reno last", at_geo(sack=0.9, vanilla=0.8, reno=0.7), at_geo(reno=0.81)),
    # Of steps of 3 and 1 the second explains a tenth.
    Bound(
        "6.5",
        "10 % for the rate",
        stepped(tcp=3, gr_fraction=0.99),
        stepped(tcp=3, gr_fraction=1.01),
    ),
    Bound("6.5", "10 % for the policy", stepped(tcp=3, policy=0.99), stepped(tcp=3, policy=1.01)),
    *(
        Bound(
            "6.6",
            f"0.10 for {tcp}",
            [(E, {"gr_fraction": "0.0"}, 0.8), (E, {"gr_fraction": "0.1"}, 0.901)],
            [(E, {"gr_fraction": "0.1", "tcp": tcp}, 0.899)],
        )
        for tcp in TCPS
    ),
    Bound("6.7", "0.05", at_geo(sack=0.9, vanilla=0.9, reno=0.851), at_geo(reno=0.849)),
    *(
        Bound(
            "6.8",
            f"0.15 with {cells} cells",
            [*RAISED, (E, {"gr_fraction": "0.0", "buffer_cells": cells}, 0.769)],
            [(E, {"gr_fraction": "0.0", "buffer_cells": cells}, 0.771)],
        )
        for cells in (12_000, 36_000)
    ),
    Bound(
        "6.8",
        "0.90 with the larger",
        [*RAISED, (E, {"gr_fraction": "0.1", "buffer_cells": 36_000}, 0.901)],
        [(E, {"gr_fraction": "0.1", "buffer_cells": 36_000}, 0.899)],
    ),
    Bound(
        "6.9",
        "than between rates",
        [*ALIKE, *at_geo(sack=0.7)],
        [(E, {"gr_fraction": "0.5"}, 0.95)],
    ),
    Bound(
        "6.9",
        "than between buffers",
        [*ALIKE, *at_geo(sack=0.7)],
        [(E, {"buffer_cells": 600_000}, 0.95)],
    ),
    Bound(
        "6.10",
        "0.95 in all 6 cases",
        [(E, {"tcp": "sack"}, 0.95)],
        [
            (
                E,
                {"tcp": "sack", "buffer_cells": 600_000, "policy": "epd", "gr_fraction": "0.0"},
                0.949,
            )
        ],
    ),
]


@pytest.mark.parametrize("bound", params(OF_970424))
def test_a_bound_of_97_0424_is_where_it_is_said_to_be(bound: Bound) -> None:
    check_both_sides("atmf970424", bound, partial(printed, "atmf970424", bound.conclusion))
