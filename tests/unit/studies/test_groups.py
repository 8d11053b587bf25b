"""Flows behind one edge router, VCs with an MCR, and what is measured of them."""

import tomllib

from skycell.scenario import NetworkSpec, parse
from skycell.studies.guaranteed_vcs import flows_by_edge, guaranteed_vcs
from tests.unit.studies.test_measures import facts, flow, measured, value

BEHIND_ROUTERS = """
[run]
duration = "1 s"
[topology]
kind = "dumbbell"
sources = 4
tcps_per_vc = 2
bottleneck = { rate = "40000 cells/s", delay = "5 ms", buffer = "400 cells" }
edge = { delay = "1 ms" }
access = { delay = "0 s", rate = "40000 cells/s" }
"""


def network(text: str) -> NetworkSpec:
    return parse(tomllib.loads(text)).resolve(1)


def test_flows_that_share_a_router_are_a_group_and_an_abr_vc_may_have_an_mcr() -> None:
    abr = '[[abr]]\nvcs = ["trunk1.forward"]\nmcr = "5000 cells/s"\n'
    spec = network(BEHIND_ROUTERS + abr)
    assert flows_by_edge(spec) == ((0, 1), (2, 3))
    (congested,) = [link for link in spec.links if link.name == "switch1>switch2"]
    (promised,) = guaranteed_vcs(spec, congested)
    assert (promised.mcr_cells_per_s, promised.flows) == (5000.0, (0, 1))


def test_flows_without_routers_are_groups_of_their_own() -> None:
    text = BEHIND_ROUTERS.replace("tcps_per_vc = 2\n", "").replace(
        'edge = { delay = "1 ms" }\n', ""
    )
    assert flows_by_edge(network(text)) == ((0,), (1,), (2,), (3,))


def test_edges_with_equal_sums_are_fair_however_their_flows_share() -> None:
    run = measured([1.0, 3.0, 4.0], network=facts(flows_by_edge=((0, 1), (2,))))
    assert value("edge_fairness", run) == 1.0
    assert (
        value("edge_fairness", measured([1.0, 3.0], network=facts(flows_by_edge=((0,), (1,))))) < 1
    )


def test_a_part_is_discarded_of_what_came_to_the_rows_node() -> None:
    run = measured([1.0], node="in")
    ports = [
        {"name": "in1>board", "arrived": 90, "discarded": {"overflow": 8}},
        {"name": "in2>board", "arrived": 10, "discarded": {"overflow": 2}},
        {"name": "board>station", "arrived": 50, "discarded": {"overflow": 50}},
    ]
    run.summary["ports"][:] = ports
    assert value("discarded_percent", run) == 10.0


def test_what_a_full_buffer_refuses_is_told_from_what_a_policy_does() -> None:
    run = measured([1.0])
    discarded = {"overflow": 5, "above_threshold": 20}
    run.summary["ports"][:] = [{"name": "port", "arrived": 50, "discarded": discarded}]
    assert (value("overflow_percent", run), value("discarded_percent", run)) == (10.0, 50.0)


def test_a_recovery_takes_as_long_as_its_transfer_ends_later() -> None:
    run = measured([1.0, 1.0])
    lossy, whole = flow(1.0) | {"transfers": 1}, flow(1.0) | {"transfers": 1}
    lossy["connected_ps"] += 60 * 10**9
    run.summary["flows"][:] = [lossy, whole]
    assert round(value("recovery_round_trips", run), 9) == 2.0
