"""Which VCs cross which links."""

from dataclasses import replace

import pytest

from skycell.scenario.links.keys import AnyLink
from skycell.scenario.plan.plan import Plan, PlannedLink, Rerouting
from tests.unit.scenario.wan import wan


def plan_of(*links: str) -> Plan:
    """A plan with these links, `from>to`, and nothing over them."""
    plan = Plan()
    for name in links:
        source, target = name.split(">")
        keys = AnyLink.model_validate({"rate": "1 Mbit/s", "delay": "1 ms"})
        plan.add_link(PlannedLink(source, target, keys, keys, (), ()))
    return plan


def test_vcs_across_a_link_stand_in_the_order_of_their_flows_and_each_once() -> None:
    plan = plan_of("a>s", "s>t", "t>b")
    for name in ("first", "second", "unused"):
        plan.add_vc(name, "ast")
    plan.add_vc("back", "tb")
    plan.add_flow("f", ["second"], ["back"])
    plan.add_flow("g", ["first"], ["back"])
    plan.add_flow("h", ["second"], ["first"])
    crossing = {"a>s": ["second", "first"], "s>t": ["second", "first"], "t>b": ["back"]}
    assert plan.vcs_by_link() == crossing


def test_a_link_that_no_flow_uses_is_crossed_by_no_vc() -> None:
    plan = plan_of("a>s", "s>a")
    plan.add_vc("there", "as")
    plan.add_flow("f", ["there"], ["there"])
    assert plan.vcs_by_link() == {"a>s": ["there"], "s>a": []}


def test_a_vc_crosses_the_links_of_its_later_ways_too() -> None:
    plan = plan_of("a>s", "a>t", "s>b", "t>b")
    plan.add_vc("vc", "asb")
    later = Rerouting(((5, ("a>t", "t>b")), (9, ("a>s", "s>b"))), loses_cells=False)
    plan.vcs["vc"] = replace(plan.vcs["vc"], rerouting=later)
    plan.add_flow("f", ["vc"], ["vc"])
    assert plan.vcs_by_link() == {link: ["vc"] for link in ("a>s", "a>t", "s>b", "t>b")}


def test_without_flows_the_vcs_of_cell_sources_count() -> None:
    plan = plan_of("a>s", "s>b")
    plan.add_vc("vc", "asb")
    plan.sources["cbr"] = "vc"
    assert plan.vcs_by_link() == {"a>s": ["vc"], "s>b": ["vc"]}


def test_a_scenario_looks_once_for_what_its_vcs_cross(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many ports have a limited buffer: a look at all VCs for each is quadratic."""
    looks: list[int] = []
    vcs_by_link = Plan.vcs_by_link

    def counted(plan: Plan) -> dict[str, list[str]]:
        looks.append(len(plan.vcs))
        return vcs_by_link(plan)

    scenario = wan(
        topology__sources=12,
        topology__tcps_per_vc=2,
        topology__edge={"delay": "1 ms", "buffer": "1000 cells"},
    )
    monkeypatch.setattr(Plan, "vcs_by_link", counted)
    spec = scenario.with_values({"run.duration": "9 s"}).resolve()
    assert len(spec.records.vc_sampled_ports) == 7  # of six routers and the first switch
    assert looks == [len(spec.vcs)]
