"""Max-min fair rates in networks of any shape."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skycell.metrics import max_min_rates, max_min_shares

INF = math.inf


@pytest.mark.parametrize(
    ("routes", "capacity", "rates"),
    [
        # One link: equal parts.
        ([["a"], ["a"], ["a"]], {"a": 12}, [4, 4, 4]),
        # Parking lot (Bertsekas and Gallager, 6.5): the long one gets half of every link, each
        # short one what it leaves.
        ([["a", "b", "c"], ["a"], ["b"], ["c"]], {"a": 1, "b": 1, "c": 1}, [0.5, 0.5, 0.5, 0.5]),
        # The long one is held to 1 by the crowded middle; the ends have 9 left for one each.
        (
            [["a", "b", "c"], ["a"], ["b"], ["b"], ["c"]],
            {"a": 10, "b": 3, "c": 10},
            [1, 9, 1, 1, 9],
        ),
        # Bertsekas and Gallager, example 6.4 (five sessions): 2/3 is left on the last link.
        (
            [["15"], ["15", "23"], ["23"], ["23", "35"], ["35"]],
            {"15": 1, "23": 1, "35": 1},
            [2 / 3, 1 / 3, 1 / 3, 1 / 3, 2 / 3],
        ),
        # A second bottleneck that shows only after the first one's connections stand still.
        (
            [["a"], ["a", "b"], ["b", "c"], ["c"]],
            {"a": 2, "b": 10, "c": 30},
            [1, 1, 9, 21],
        ),
        # A link that nobody crosses, one that is crossed twice, and one without limit.
        ([["a", "a", "free"]], {"a": 5, "free": INF, "idle": 1}, [5]),
        # A dead link gives nothing and takes nothing from others.
        ([["dead", "a"], ["a"]], {"dead": 0, "a": 6}, [0, 6]),
        ([], {"a": 1}, []),
    ],
)
def test_rates_are_those_worked_out_by_hand(
    routes: list[list[str]], capacity: dict[str, float], rates: list[float]
) -> None:
    assert max_min_rates(routes, capacity) == pytest.approx(rates)


def test_who_wants_less_leaves_the_rest_to_the_others() -> None:
    # 2 is met; 10 are left for two, of whom one wants 8.
    assert max_min_rates([["a"]] * 3, {"a": 12}, demand=[2, 8, 10]) == [2, 5, 5]
    # The long one wants 1 of its 2: the second link's other has 9.
    routes = [["a", "b"], ["a"], ["b"]]
    assert max_min_rates(routes, {"a": 4, "b": 10}, demand=[1, INF, INF]) == [1, 3, 9]
    assert max_min_rates([[]], {}, demand=[3.0]) == [3.0]


def test_weights_divide_a_link_and_what_one_leaves() -> None:
    assert max_min_rates([["a"], ["a"]], {"a": 12}, weight=[1, 2]) == [4, 8]
    # The heavy one wants 6 only, so the light ones have 6 together, in the ratio 1 to 2.
    rates = max_min_rates([["a"]] * 3, {"a": 12}, demand=[6, INF, INF], weight=[9, 1, 2])
    assert rates == pytest.approx([6, 2, 4])
    # 6 is 2 for each unit of weight, 4 is 8: the first is met before the link is full at 20 / 4.5,
    # and so is the second then, at 8 of 14 / 1.5.
    rates = max_min_rates([["a"]] * 3, {"a": 20}, demand=[6, 4, INF], weight=[3, 0.5, 1])
    assert rates == pytest.approx([6, 4, 10])


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=8), st.floats(0, 1e9))
def test_on_one_link_it_is_the_rule_of_one_link(demand: list[float], capacity: float) -> None:
    rates = max_min_rates([["a"]] * len(demand), {"a": capacity}, demand)
    assert rates == pytest.approx(max_min_shares(demand, capacity), rel=1e-9, abs=1e-6)


@st.composite
def networks(
    draw: st.DrawFn,
) -> tuple[list[list[int]], dict[int, float], list[float], list[float]]:
    links = draw(st.integers(1, 7))
    rate = st.one_of(st.floats(0.01, 1000), st.sampled_from([0.0, 1.0, 2.0, 10.0]))
    capacity = {link: draw(rate) for link in range(links)}
    count = draw(st.integers(1, 9))
    link_sets = st.lists(st.integers(0, links - 1), min_size=1, max_size=links, unique=True)
    routes = [draw(link_sets) for _ in range(count)]
    demand = [draw(st.one_of(st.just(INF), rate)) for _ in range(count)]
    weight = [draw(st.sampled_from([0.5, 1.0, 1.0, 3.0])) for _ in range(count)]
    return routes, capacity, demand, weight


@given(networks())
def test_nobody_can_gain_without_somebody_with_no_more_losing(
    network: tuple[list[list[int]], dict[int, float], list[float], list[float]],
) -> None:
    routes, capacity, demand, weight = network
    rates = max_min_rates(routes, capacity, demand, weight)
    used = {
        link: sum(rate for rate, route in zip(rates, routes, strict=True) if link in route)
        for link in capacity
    }
    levels = [rate / share for rate, share in zip(rates, weight, strict=True)]
    slack = 1e-9 * max(1.0, *capacity.values())
    for link, rate in used.items():
        assert rate <= capacity[link] + slack
    for place, route in enumerate(routes):
        assert 0 <= rates[place] <= demand[place]
        if rates[place] >= demand[place]:
            continue  # it wants no more
        # It crosses a full link on which nobody has a larger share: to give it more there means
        # to take it from somebody who has no more than it has.
        assert any(
            used[link] >= capacity[link] - slack
            and all(
                levels[other] <= levels[place] + slack
                for other, its in enumerate(routes)
                if link in its
            )
            for link in route
        )


@given(networks(), st.randoms(use_true_random=False))
def test_the_order_of_the_connections_means_nothing(
    network: tuple[list[list[int]], dict[int, float], list[float], list[float]],
    shuffled: random.Random,
) -> None:
    routes, capacity, demand, weight = network
    order = list(range(len(routes)))
    shuffled.shuffle(order)
    rates = max_min_rates(routes, capacity, demand, weight)
    turned = max_min_rates(
        [routes[i] for i in order],
        dict(reversed(capacity.items())),
        [demand[i] for i in order],
        [weight[i] for i in order],
    )
    assert turned == pytest.approx([rates[i] for i in order], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (([["a"]], {"a": 1}, [1, 2]), "1 routes, 2 demands and 1 weights"),
        (([["a"]], {"b": 1}), "no capacity is given for a"),
        (([["a"]], {"a": -1}), "capacities and demands must be numbers of at least 0"),
        (([["a"]], {"a": 1}, [math.nan]), "capacities and demands must be numbers of at least 0"),
        (([["a"]], {"a": 1}, [1], [0]), "weights must be above 0 and finite"),
        (([["a"]], {"a": INF}), "connection 0 is bounded by no link and no demand"),
    ],
)
def test_what_has_no_answer_is_refused(arguments: tuple[object, ...], reported: str) -> None:
    with pytest.raises(ValueError, match=reported):
        max_min_rates(*arguments)  # type: ignore[arg-type]
