from heapq import heappush
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skycell import _core
from skycell.scenario import ScenarioFaults, parse
from skycell.spec.declared.network import NetworkSpec


def link(source: str, target: str, delay: str = "1 ms", **more: Any) -> dict[str, Any]:
    ends = {"from": source, "to": target, "rate": "353207 cells/s", "delay": delay}
    return ends | more


def resolve(**topology: Any) -> NetworkSpec:
    graph = {"kind": "graph", "hosts": ["a", "b"], "switches": ["s", "t", "u"]}
    flow = {"name": "f", "source": "a", "destination": "b"}
    values = {
        "run": {"duration": "1 s"},
        "topology": {**graph, "flow": [flow], **topology},
    }
    spec = parse(values).resolve()
    _core.validate(spec.canonical_json())
    return spec


def route(spec: NetworkSpec, vcs: tuple[int, ...]) -> list[str]:
    return [spec.links[i].name for vc in vcs for i in spec.vcs[vc].path]


def test_a_flow_takes_the_way_with_the_least_delay() -> None:
    spec = resolve(
        link=[
            link("a", "s"),
            link("s", "u", "5 ms"),
            link("s", "t", "2 ms"),
            link("t", "u", "2 ms"),
            link("u", "b"),
        ]
    )
    assert route(spec, spec.flows[0].forward) == ["a>s", "s>t", "t>u", "u>b"]
    assert route(spec, spec.flows[0].reverse) == ["b>u", "u>t", "t>s", "s>a"]


def test_of_equal_delays_the_way_with_fewer_hops_wins() -> None:
    spec = resolve(
        link=[
            link("a", "s"),
            link("s", "t", "2 ms"),
            link("t", "u", "2 ms"),
            link("s", "u", "4 ms"),
            link("u", "b"),
        ]
    )
    assert route(spec, spec.flows[0].forward) == ["a>s", "s>u", "u>b"]


@pytest.mark.parametrize("order", [["s", "t"], ["t", "s"]])
def test_of_equal_ways_the_one_written_first_wins(order: list[str]) -> None:
    first, second = order
    ends = [link("a", "u"), link("u", first), link("u", second)]
    spec = resolve(link=[*ends, link(first, "b"), link(second, "b")], hosts=["a", "b"])
    assert route(spec, spec.flows[0].forward) == ["a>u", f"u>{first}", f"{first}>b"]


@pytest.mark.parametrize(
    ("last", "taken"),
    [
        # From s, which a search reaches 1 ms before t and one hop before it.
        ([link("t", "b", "1 ms"), link("s", "b", "3 ms")], "t>b"),  # 3 ms and 4 ms
        ([link("t", "b", "1 ms"), link("s", "b", "2 ms")], "s>b"),  # equal, with fewer hops
        ([link("t", "b", "1 ms"), link("u", "b", "1 ms")], "u>b"),  # equal, and s>u before s>t
    ],
)
def test_the_last_link_to_a_host_is_chosen_like_the_others(
    last: list[dict[str, Any]], taken: str
) -> None:
    spec = resolve(link=[link("a", "s"), link("s", "u"), link("s", "t"), *last])
    assert route(spec, spec.flows[0].forward)[-1] == taken


def test_of_equal_ways_to_a_host_that_with_fewer_hops_wins_though_it_is_found_later() -> None:
    ways = [link("a", "s"), link("s", "u"), link("u", "b", "2 ms")]
    spec = resolve(link=[*ways, link("a", "t", "3 ms"), link("t", "b")])
    assert route(spec, spec.flows[0].forward) == ["a>t", "t>b"]


def test_two_hosts_may_be_joined_by_a_link() -> None:
    spec = resolve(link=[link("a", "s"), link("s", "b"), link("a", "b")])
    assert route(spec, spec.flows[0].forward) == ["a>b"]


def test_a_search_for_a_way_looks_at_no_other_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are: each flow between two of its own would look at all of them."""
    looked_at: list[str] = []

    def counted(heap: list[Any], item: Any) -> None:
        looked_at.append(item[-2])
        heappush(heap, item)

    monkeypatch.setattr("skycell.scenario.plan.shortest_paths.heapq.heappush", counted)
    hosts = [f"{end}{i}" for end in "ab" for i in range(20)]
    links = [link(host, "s" if host < "b" else "t") for host in hosts]
    flows = [{"name": f"f{i}", "source": f"a{i}", "destination": f"b{i}"} for i in range(20)]
    resolve(hosts=hosts, link=[link("s", "t"), *links], flow=flows)
    assert set(looked_at) == {"s", "t"}


def test_no_way_leads_through_a_host() -> None:
    links = [link("a", "s"), link("s", "c"), link("c", "t"), link("t", "b")]
    with pytest.raises(ScenarioFaults, match="no path from a to b"):
        resolve(hosts=["a", "b", "c"], link=links)


def test_routers_cut_a_way_into_vcs() -> None:
    spec = resolve(
        hosts=["a", "b"],
        routers=["r"],
        link=[link("a", "s"), link("s", "r"), link("r", "t"), link("t", "b")],
    )
    names = [vc.name for vc in spec.vcs]
    assert names == ["f.forward1", "f.forward2", "f.reverse1", "f.reverse2"]
    assert route(spec, spec.flows[0].forward) == ["a>s", "s>r", "r>t", "t>b"]


def test_given_vcs_are_taken_and_may_be_shared() -> None:
    spec = resolve(
        link=[link("a", "s"), link("s", "t"), link("t", "b")],
        vc=[
            {"name": "out", "path": ["a", "s", "t", "b"]},
            {"name": "f.reverse", "path": ["b", "t", "s", "a"]},
        ],
        flow=[
            {"name": "f", "source": "a", "destination": "b", "forward": ["out"]},
            {"name": "g", "source": "a", "destination": "b", "forward": ["out"]},
        ],
    )
    assert spec.flows[0].forward == spec.flows[1].forward == (0,)
    assert [vc.name for vc in spec.vcs][2:] == ["f.reverse'", "g.reverse"]


def test_a_one_way_link_has_no_other_direction() -> None:
    spec = resolve(
        link=[
            link("a", "s"),
            link("s", "b", one_way=True),
            link("b", "t", one_way=True),
            link("t", "s"),
        ]
    )
    assert "b>s" not in [each.name for each in spec.links]
    assert route(spec, spec.flows[0].reverse) == ["b>t", "t>s", "s>a"]


def test_a_links_buffer_is_the_switchs_not_the_hosts() -> None:
    spec = resolve(link=[link("a", "s", buffer="10 cells", policy="ppd"), link("s", "b")])
    ports = {each.name: each.port for each in spec.links}
    assert (ports["s>a"].capacity_cells, ports["s>a"].policy.kind) == (10, "ppd")
    assert (ports["a>s"].capacity_cells, ports["a>s"].policy.kind) == (None, "tail_drop")


SWITCHES = [f"s{i}" for i in range(5)]


@given(
    st.lists(
        st.tuples(st.sampled_from(SWITCHES), st.sampled_from(SWITCHES), st.integers(0, 3)),
        max_size=12,
    )
)
def test_a_shortest_way_is_as_short_as_any(edges: list[tuple[str, str, int]]) -> None:
    joined = {frozenset((a, b)): (a, b, d) for a, b, d in edges if a != b}
    links = [link("a", "s0"), link("s4", "b")]
    links += [link(a, b, f"{d} ms") for a, b, d in joined.values()]
    # Floyd and Warshall on (delay, hops), as a second opinion.
    far = (10**6, 0)
    best = {(a, b): (0, 0) if a == b else far for a in SWITCHES for b in SWITCHES}
    for a, b, d in joined.values():
        best[a, b] = best[b, a] = (d, 1)
    for k in SWITCHES:
        for a in SWITCHES:
            for b in SWITCHES:
                via = (best[a, k][0] + best[k, b][0], best[a, k][1] + best[k, b][1])
                best[a, b] = min(best[a, b], via)
    values = {"hosts": ["a", "b"], "switches": SWITCHES, "link": links}
    if best["s0", "s4"] >= far:
        with pytest.raises(ScenarioFaults, match="no path"):
            resolve(**values)
        return
    spec = resolve(**values)
    inner = spec.vcs[spec.flows[0].forward[0]].path[1:-1]
    delay = sum(spec.links[i].delay_ps for i in inner) // 10**9
    assert (delay, len(inner)) == best["s0", "s4"]
