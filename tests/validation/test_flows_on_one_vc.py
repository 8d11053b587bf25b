"""Two connections of different round trips behind a router, on one VC over ATM.

The sources of 1996-1999 say it in words (NASA/CR-1999-209158, I.A section 6 and II.C section 8): a
policy that counts VCs cannot be fair to connections inside one, and a router that counts flows can.
"""

from typing import Any

import pytest

import skycell
from skycell.metrics import fairness_index

SEEDS = (1, 2, 3)


def shares_mbps(policy: str, *, by_flow: bool, **tables: Any) -> list[list[float]]:
    """What round trips of 14 and 212 ms get of 10 Mbit/s of cells, seed by seed."""
    own = {"drop_threshold": 0.5} if policy == "fair_buffer_allocation" else {}
    port: dict[str, Any] = {"buffer": "2000 cells", "by_flow": by_flow, "one_way": True}
    port["policy"] = {"kind": policy, **own}
    slow: dict[str, Any] = {"rate": "10 Mbit/s", "framing": "none", "delay": "5 ms"}
    lan = {"rate": "100 Mbit/s", "framing": "ethernet"}
    trunk = {"rate": "155.52 Mbit/s", "framing": "sts3c", "delay": "5 ms"}
    values: dict[str, Any] = {
        "run": {"duration": "60 s"},
        "topology": {
            "kind": "graph",
            "hosts": ["near", "far", "server"],
            "routers": ["ingress", "egress"],
            "switches": ["switch"],
            "link": [
                {"from": "near", "to": "ingress", **lan, "delay": "1 ms"},
                {"from": "far", "to": "ingress", **lan, "delay": "100 ms"},
                {"from": "ingress", "to": "switch", **slow, **port},
                {"from": "switch", "to": "ingress", **slow, "one_way": True},
                {"from": "switch", "to": "egress", **trunk},
                {"from": "egress", "to": "server", **lan, "delay": "1 ms"},
            ],
            "vc": [
                {"name": "trunk", "path": ["ingress", "switch", "egress"]},
                {"name": "near_in", "path": ["near", "ingress"]},
                {"name": "far_in", "path": ["far", "ingress"]},
                {"name": "out", "path": ["egress", "server"]},
            ],
            "flow": [
                {
                    "name": name,
                    "source": name,
                    "destination": "server",
                    "forward": [f"{name}_in", "trunk", "out"],
                }
                for name in ("near", "far")
            ],
        },
        "tcp": {"mss": "1460 B", "receiver_window": "512 kB", "window_scaling": True},
        **tables,
    }
    runs = (skycell.run({**values, "run": {"duration": "60 s", "seed": seed}}) for seed in SEEDS)
    return [[flow["octets_delivered"] * 8 / 60e6 for flow in run.records["flows"]] for run in runs]


@pytest.mark.parametrize("policy", ["fair_buffer_allocation", "fred"])
def test_a_router_that_counts_flows_is_fair_where_one_that_counts_vcs_is_not(policy: str) -> None:
    by_vc = [fairness_index(shares) for shares in shares_mbps(policy, by_flow=False)]
    by_flow = [fairness_index(shares) for shares in shares_mbps(policy, by_flow=True)]
    assert max(by_vc) < 0.75
    assert min(by_flow) > 0.9


def test_so_it_is_where_the_vc_is_an_abr_vc_and_the_router_sends_at_its_rate() -> None:
    # Half of the link; one cell in 32 is an RM cell, and a segment of 1460 octets has 32.
    abr = [{"vcs": ["trunk"], "pcr": "11792 cells/s"}]
    most = 11792 * 31 / 32 / 32 * 1460 * 8 / 1e6
    by_vc, by_flow = (
        shares_mbps("fair_buffer_allocation", by_flow=of_flows, abr=abr)
        for of_flows in (False, True)
    )
    assert max(map(fairness_index, by_vc)) < min(map(fairness_index, by_flow))
    assert min(map(fairness_index, by_flow)) > 0.9
    for rates in (*by_vc, *by_flow):
        assert 0.9 * most < sum(rates) <= most
