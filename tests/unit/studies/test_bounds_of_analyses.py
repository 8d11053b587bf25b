"""What the conclusions of 98-0876R1, on single drops, on delays and on handovers draw as bounds."""

from functools import partial

import pytest

from skycell.studies.model import Level
from skycell.studies.values import Entry, Values
from tests.unit.studies.bounds import (
    Bound,
    Change,
    changed,
    check_both_sides,
    holds,
    params,
    printed,
)
from tests.unit.studies.own_worlds import WORLDS

E, F, SHARE, EFFECT = "efficiency", "max_min_fairness", "efficiency_share", "efficiency_effect"
FAIR_SHARE, FAIR_EFFECT = "fairness_share", "fairness_effect"

# --- ATM Forum 98-0876R1 -------------------------------------------------------------------------


def shares(metric: str, **parts: float) -> list[Change]:
    return [(metric, {"component": name}, part) for name, part in parts.items()]


def effects(metric: str, **of_level: float) -> list[Change]:
    return [(metric, {"level": level}, value) for level, value in of_level.items()]


def buffers(metric: str, half: float, one: float, two: float) -> list[Change]:
    return effects(metric, **{"0.5_rtt": half, "1_rtt": one, "2_rtt": two})


def case(value: float, buffer: Level | None = None, /, **more: Level) -> Change:
    where = {} if buffer is None else {"buffer_rtt_multiple": buffer}
    return (E, {**where, **more}, value)


# Parts in this order, and no other component above the third.
IN_ORDER = shares(SHARE, tcp=50, buffer=30, tcp_x_buffer=10, policy=9, tcp_x_policy=1)
# With an error of 0.02 half of an interval of an effect is 1.943 x 0.02 x sqrt(3 / 24) = 0.01374
# for a TCP, of which there are four, and 1.943 x 0.02 x sqrt(2 / 24) = 0.01122 for a buffer. Two
# intervals overlap up to twice that: 0.0275 and 0.0224.
ERROR: Change = ("efficiency_error", {}, 0.02)
WAN = [ERROR, *effects(EFFECT, vanilla=-0.1, reno=-0.02, newreno=0.05, sack=0.05)]
SURE = [
    ("efficiency_error", {}, 10.0),
    *effects(EFFECT, vanilla=-0.1, reno=0, newreno=0.1, sack=0.1),
]
LATE = [
    case(0.5),
    *(
        case(value, 2, tcp=tcp)
        for tcp, value in (("vanilla", 0.551), ("reno", 0.551), ("newreno", 0.549), ("sack", 0.549))
    ),
]
DROP = [case(0.5), case(0.6, tcp="vanilla", policy="sd"), case(0.6, tcp="reno", policy="sd")]
LEAD = [
    case(0.5),
    *(case(0.51, buffer, tcp="sack") for buffer in (1, 2)),
    case(0.3, "0.5", tcp="sack", policy="sd"),  # below by 0.05 in the mean
    case(0.6, "0.5", tcp="sack", policy="epd"),
]
FAIR = [
    *shares(FAIR_SHARE, buffer=50, tcp=30, policy=10),
    *buffers(FAIR_EFFECT, -0.07, 0.01, 0.06),
    *effects(FAIR_EFFECT, vanilla=0, reno=0, newreno=0.05, sack=-0.05),
]
MEO = [
    *shares(SHARE, tcp=50, buffer=30, tcp_x_buffer=10),
    *effects(EFFECT, vanilla=-0.049, reno=-0.02, newreno=0.02, sack=0.05),
    *(
        case(value, tcp=tcp)
        for tcp, value in (("vanilla", 0.8), ("reno", 0.83), ("newreno", 0.87), ("sack", 0.9))
    ),
]
GAINS = [
    case(0.5),
    *(
        case(value, 2, tcp=tcp)
        for tcp, value in (("vanilla", 0.541), ("reno", 0.529), ("newreno", 0.529), ("sack", 0.529))
    ),
]
# Half of an interval with an error of 0.02: 0.01374 for four TCPs, 0.01122 for three buffers,
# 0.00793 for two policies. One effect may lie outside.
ZERO = [
    (F, {}, 0.90),
    ("fairness_error", {}, 0.02),
    *effects(FAIR_EFFECT, vanilla=0.0137, reno=-0.0137, newreno=0, sack=0),
    *buffers(FAIR_EFFECT, 0.0112, 0, -0.0112),
    *effects(FAIR_EFFECT, epd=0.02, sd=0.0079),
]
GEO = [
    *shares(SHARE, tcp=50, buffer=30, tcp_x_buffer=10),
    ERROR,
    *effects(EFFECT, vanilla=-0.027, reno=-0.01, newreno=0.0, sack=0.1),
    case(0.8),
    case(0.9, tcp="sack"),
]
TWO = [
    ERROR,
    *buffers(EFFECT, -0.011, 0.011, 0.0121),
    *(case(value, buffer) for buffer, value in (("0.5", 0.5), (1, 0.55), (2, 0.61))),
]
OF_980876R1 = [
    *(
        Bound("12.1", f"above {rest}", IN_ORDER, shares(SHARE, **{rest: 10.1}))
        for rest in ("policy", "tcp_x_policy", "buffer_x_policy")
    ),
    Bound("12.1", "the buffer second", IN_ORDER, shares(SHARE, tcp_x_buffer=30.1)),
    Bound("12.1", "the TCP first", IN_ORDER, shares(SHARE, buffer=50.1)),
    Bound("12.2", "NewReno above Reno", SURE, effects(EFFECT, newreno=-0.01)),
    Bound("12.2", "SACK above Reno", SURE, effects(EFFECT, sack=-0.01)),
    Bound("12.2", "Reno above vanilla", SURE, effects(EFFECT, vanilla=0.01)),
    Bound("12.2", "overlap", [*WAN, *effects(EFFECT, sack=0.0774)], effects(EFFECT, sack=0.0776)),
    Bound(
        "12.2", "overlap", [*WAN, *effects(EFFECT, newreno=0.0774)], effects(EFFECT, newreno=0.0776)
    ),
    *(
        Bound("12.3", f"0.05 for {tcp}", LATE, [case(value, 2, tcp=tcp, policy="sd")])
        for tcp, value in (("vanilla", 0.549), ("reno", 0.549), ("newreno", 0.551), ("sack", 0.551))
    ),
    *(
        Bound("12.4", f"all six: {tcp}", DROP, [case(0.5, "0.5", tcp=tcp, policy="sd")])
        for tcp in ("vanilla", "reno")
    ),
    *(
        Bound(
            "12.4",
            "0.03 on average",
            [*DROP, case(0.5 + sign * 0.058, tcp="sack", policy="sd")],
            [case(0.5 + sign * 0.062, tcp="sack", policy="sd")],
        )
        for sign in (1, -1)
    ),
    *(
        Bound("12.5", f"above with {buffer}", LEAD, [case(0.5, buffer, tcp="sack", policy="sd")])
        for buffer in (1, 2)
    ),
    Bound("12.5", "below on average", LEAD, [case(0.41, "0.5", tcp="sack", policy="sd")]),
    Bound("12.6", "the buffer first", FAIR, shares(FAIR_SHARE, tcp=50.1)),
    Bound("12.6", "the TCP second", FAIR, shares(FAIR_SHARE, policy=30.1)),
    Bound("12.6", "the larger step", FAIR, buffers(FAIR_EFFECT, -0.02, 0.01, 0.06)),
    Bound("12.6", "a step up", FAIR, buffers(FAIR_EFFECT, 0.06, 0.01, -0.07)),
    Bound("12.6", "SACK lowest", FAIR, effects(FAIR_EFFECT, reno=-0.051)),
    Bound("12.6", "NewReno highest", FAIR, effects(FAIR_EFFECT, vanilla=0.051)),
    Bound(
        "12.7",
        "three of the four",
        [(F, {}, 0.9), (F, {"policy": "sd"}, 0.95), (F, {"policy": "sd", "tcp": "reno"}, 0.9)],
        [(F, {"policy": "sd", "tcp": "sack"}, 0.9)],
    ),
    Bound("12.8", "the TCP first", MEO, shares(SHARE, buffer=50.1)),
    Bound("12.8", "the buffer second", MEO, shares(SHARE, tcp_x_buffer=30.1)),
    Bound("12.8", "in this order", MEO, effects(EFFECT, reno=0.021)),
    Bound("12.8", "less than 0.10", MEO, effects(EFFECT, vanilla=-0.051)),
    *(
        Bound("12.8", f"best in all six: {tcp}", MEO, [case(0.9, 1, tcp=tcp, policy="sd")])
        for tcp in ("vanilla", "reno", "newreno")
    ),
    Bound("12.9", "0.04 or more", GAINS, [case(0.539, 2, tcp="vanilla", policy="epd")]),
    *(
        Bound("12.9", f"at most 0.03: {tcp}", GAINS, [case(0.531, 2, tcp=tcp, policy="epd")])
        for tcp in ("reno", "newreno", "sack")
    ),
    Bound("12.10", "0.90", ZERO, [(F, {"tcp": "reno", "policy": "sd"}, 0.899)]),
    *(
        Bound("12.10", f"8 of the 9: {level}", ZERO, effects(FAIR_EFFECT, **{level: value}))
        for level, value in (("reno", -0.0138), ("1_rtt", 0.0113), ("sd", -0.008))
    ),
    Bound("12.11", "the TCP first", GEO, shares(SHARE, buffer=50.1)),
    Bound("12.11", "the buffer second", GEO, shares(SHARE, tcp_x_buffer=30.1)),
    Bound("12.11", "best in all six", GEO, [case(0.9, 2, tcp="newreno", policy="epd")]),
    Bound("12.11", "overlap", GEO, effects(EFFECT, newreno=0.0006)),
    Bound(
        "12.12",
        "overlap",
        [*TWO, *buffers(EFFECT, 0.0, 0.0224, 0.03)],
        buffers(EFFECT, 0.0, 0.0226, 0.03),
    ),
    Bound(
        "12.12",
        "overlap",
        [*TWO, *buffers(EFFECT, 0.0224, 0, 0.03)],
        buffers(EFFECT, 0.0226, 0, 0.03),
    ),
    Bound("12.12", "two above one", TWO, buffers(EFFECT, -0.011, 0.011, 0.0109)),
    Bound("12.12", "two above a half", TWO, buffers(EFFECT, 0.011, -0.011, 0.0109)),
    *(
        Bound("12.12", f"gains more: {tcp}", TWO, [case(0.59, 2, tcp=tcp)])
        for tcp in ("vanilla", "reno")
    ),
    Bound("12.13", "0.90", [(F, {}, 0.90)], [(F, {"tcp": "sack", "policy": "sd"}, 0.899)]),
    Bound(
        "12.13",
        "within 0.07",
        [(F, {}, 0.929), (F, {"tcp": "sack"}, 0.998)],
        [(F, {"tcp": "reno", "policy": "sd"}, 0.927)],
    ),
    *(
        Bound(
            "12.14",
            f"from {low} to {high}",
            [
                (E, {}, 0.5),
                *(
                    (E, {"config": config, "tcp": "sack"}, value)
                    for config, value in (("wan", 0.51), ("meo", 0.52), ("geo", 0.53))
                ),
            ],
            [(E, {"config": high, "tcp": "sack"}, value)],
        )
        for low, high, value in (("wan", "meo", 0.505), ("meo", "geo", 0.515))
    ),
]


@pytest.mark.parametrize("bound", params(OF_980876R1))
def test_a_bound_of_98_0876r1_is_where_it_is_said_to_be(bound: Bound) -> None:
    check_both_sides("atmf980876r1", bound, partial(printed, "atmf980876r1", bound.conclusion))


# --- Single drops (Computer Communications 1999) -------------------------------------------------

TOTAL, CALCULATED, GROUP = "total_throughput", "calculated_throughput", "group_throughput"
RATIO = "ratio_to_expected"
DOUBLED = [(TOTAL, {"case": name}, rate) for name, rate in (("a", 25.0), ("b", 50.0), ("c", 100.0))]


def drops(name: str, rate: float) -> list[Change]:
    return [(TOTAL, {"case": name}, rate)]


def ratio(value: float, number: int, group: str) -> list[Change]:
    return [(RATIO, {"experiment": number, "tcp_group": group}, value)]


OF_COMPCOM99 = [
    *(
        Bound(
            "9.1",
            f"5 % {side}",
            [(TOTAL, {}, 100.0), (CALCULATED, {}, 100.0), *drops("d", kept)],
            drops("d", passed),
        )
        for side, kept, passed in (("above", 104.9, 105.1), ("below", 95.1, 94.9))
    ),
    Bound("9.2", "from a to b", [*DOUBLED, *drops("a", 23.9)], drops("a", 23.8)),  # 2.092, 2.101
    Bound("9.2", "from b to c", [*DOUBLED, *drops("c", 104.9)], drops("c", 105.1)),  # 2.098, 2.102
    Bound("9.2", "not less", [*DOUBLED, *drops("c", 95.1)], drops("c", 94.9)),
    *(
        Bound(
            "10.1",
            f"{within} for 19",
            [(RATIO, {}, within), *ratio(2.0, 1, "1-3")],
            ratio(beyond, 4, "13-15"),
        )
        for within, beyond in ((1.10, 1.11), (0.90, 0.89))
    ),
    Bound(
        "10.2",
        "15 %",
        [(GROUP, {}, 10.0), (GROUP, {"experiment": 4, "tcp_group": "7-9"}, 11.49)],
        [(GROUP, {"experiment": 4, "tcp_group": "7-9"}, 11.51)],
    ),
    Bound("10.3", "120", [(TOTAL, {}, 120.0)], [(TOTAL, {"experiment": 3}, 119.9)]),
]


@pytest.mark.parametrize("bound", params(OF_COMPCOM99))
def test_a_bound_on_single_drops_is_where_it_is_said_to_be(bound: Bound) -> None:
    check_both_sides("compcom99", bound, partial(printed, "compcom99", bound.conclusion))


# --- Propagation delays (JSAC 1998) --------------------------------------------------------------

ISL, LEAST, MOST = "isl_delay", "least_delay", "greatest_delay"
OF_JSAC98 = [
    Bound(
        "13.1",
        "with every satellite",
        [],
        [(ISL, {"n_satellites": 11}, 73.5), (ISL, {"n_satellites": 12}, 73.5)],
    ),
    Bound(
        "13.1", "from 243", [(ISL, {"n_satellites": 3}, 243.9)], [(ISL, {"n_satellites": 3}, 244.1)]
    ),
    Bound(
        "13.1",
        "not less than 243",
        [(ISL, {"n_satellites": 3}, 242.1)],
        [(ISL, {"n_satellites": 3}, 241.9)],
    ),
    Bound(
        "13.1", "to 73", [(ISL, {"n_satellites": 12}, 72.1)], [(ISL, {"n_satellites": 12}, 71.9)]
    ),
    Bound(
        "14.1",
        "largest",
        [(LEAST, {"system": "leo_12x24"}, 249)],
        [(LEAST, {"system": "leo_12x24"}, 251)],
    ),
    Bound(
        "14.2", "0.75", [(MOST, {"system": "leo_6x11"}, 376)], [(MOST, {"system": "leo_6x11"}, 374)]
    ),
    Bound(
        "14.2",
        "slower",
        [(MOST, {"system": "leo_12x24"}, 501)],
        [(MOST, {"system": "leo_12x24"}, 499)],
    ),
    # 500 / 250 over GEO; 60 and 77 ms are the least delays of the others.
    Bound(
        "14.3", "6x11", [(MOST, {"system": "leo_6x11"}, 121)], [(MOST, {"system": "leo_6x11"}, 119)]
    ),
    Bound(
        "14.3",
        "12x24",
        [(MOST, {"system": "leo_12x24"}, 155)],
        [(MOST, {"system": "leo_12x24"}, 153)],
    ),
]


@pytest.mark.parametrize("bound", params(OF_JSAC98))
def test_a_bound_on_delays_is_where_it_is_said_to_be(bound: Bound) -> None:
    check_both_sides("jsac98", bound, partial(printed, "jsac98", bound.conclusion))


@pytest.mark.parametrize(
    ("conclusion", "tables", "delays", "satellites"),
    [("13.2a", (4, 5), (6.0, 91.0), (1, 7)), ("13.2b", (6, 7), (10.0, 115.0), (1, 19))],
)
def test_cities_are_as_far_apart_as_is_said(
    conclusion: str,
    tables: tuple[int, int],
    delays: tuple[float, float],
    satellites: tuple[int, int],
) -> None:
    def told(nearest: float, farthest: float, fewest: int, most: int) -> Values:
        delay, count = (f"jsac98-t{number}" for number in tables)
        return Values(
            [
                *(Entry(delay, "path_delay", {}, ms) for ms in (50.0, nearest, farthest)),
                *(Entry(count, "satellites_on_path", {}, n) for n in (5, fewest, most)),
            ]
        )

    (near, far), (few, many) = delays, satellites
    assert holds("jsac98", conclusion, told(near + 1, far - 1, few, many))
    for changed_end in (
        (near + 1.1, far, few, many),
        (near - 1.1, far, few, many),
        (near, far - 1.1, few, many),
        (near, far + 1.1, few, many),
        (near, far, few + 1, many),
        (near, far, few, many - 1),
    ):
        assert not holds("jsac98", conclusion, told(*changed_end))


def test_greedy_routes_are_the_shortest_for_nine_of_ten_pairs_in_each_constellation() -> None:
    def told(longer: dict[str, int]) -> Values:
        """Ten pairs a constellation, of which some take 1 ms more than they need."""
        return Values(
            Entry(
                "jsac98-greedy",
                "delay_lost",
                {"constellation": name, "city_row": "a", "city_column": str(pair)},
                1.0 if pair < number else 0.0,
            )
            for name, number in longer.items()
            for pair in range(10)
        )

    assert holds("jsac98", "13.3", told({"6x11": 1, "12x24": 1}))
    assert not holds("jsac98", "13.3", told({"6x11": 2, "12x24": 0}))
    assert not holds("jsac98", "13.3", told({"6x11": 0, "12x24": 2}))


# --- Handovers -----------------------------------------------------------------------------------


def got(value: float, satellites: str, tcp: str, under_way: str = "are_lost") -> Change:
    return (E, {"satellites": satellites, "tcp": tcp, "under_way": under_way}, value)


OF_HANDOVERS = [
    *(
        Bound(
            "1",
            f"over {path}",
            [got(0.961, path, "sack", "arrive")],
            [got(0.96, path, "sack", "arrive")],
        )
        for path in ("6x11", "12x24", "shell")
    ),
    *(
        Bound(
            "3",
            f"{tcp} over {path}",
            [*(got(0.95, "shell", name) for name in ("reno", "newreno")), got(0.959, path, tcp)],
            [got(0.96, path, tcp)],
        )
        for path in ("12x24", "shell")
        for tcp in ("reno", "newreno")
    ),
    Bound(
        "5",
        "no timeout",
        [],
        [("timeouts_without_loss", {"tcp": "reno", "satellites": "shell"}, 1)],
    ),
    Bound("5", "where others are", [], [("timeouts", {}, 0)]),
    *(
        Bound(
            "6",
            f"never: {tcp}",
            [],
            [("timeouts", {"tcp": tcp, "satellites": "6x11", "under_way": "arrive"}, 0.2)],
        )
        for tcp in ("newreno", "sack")
    ),
    *(
        Bound("6", f"does: {tcp}", [], [("timeouts", {"tcp": tcp, "under_way": "arrive"}, 0)])
        for tcp in ("vanilla", "reno")
    ),
    Bound(
        "7",
        "0.25 %",
        [("needless_part", {"tcp": "reno", "satellites": "shell"}, 0.249)],
        [("needless_part", {"tcp": "reno", "satellites": "shell"}, 0.251)],
    ),
]


@pytest.mark.parametrize("bound", params(OF_HANDOVERS))
def test_a_bound_on_handovers_is_where_it_is_said_to_be(bound: Bound) -> None:
    check_both_sides("leo-handover", bound, partial(changed, WORLDS["leo-handover"]()))
