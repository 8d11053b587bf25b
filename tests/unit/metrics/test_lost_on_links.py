"""What links lost, told of each by itself."""

import itertools
from typing import Any

import skycell
from skycell.metrics.run_rows import lost_on_links


def run(nodes: str, *losses: str) -> skycell.RunResult:
    """A flow from a over two nodes to b, whose data cross three links with these losses."""
    places = ["a", "m", "n", "b"]
    rate = {"rate": "8 Mbit/s", "delay": "1 ms", "one_way": True}
    rate |= {"framing": "ip" if nodes == "routers" else "none"}
    links: list[dict[str, Any]] = [
        rate | {"from": start, "to": end, "loss": loss}
        for start, end, loss in zip(places, places[1:], losses, strict=False)
    ]
    links += [rate | {"from": end, "to": start} for start, end in itertools.pairwise(places)]
    scenario = {
        "run": {"duration": "5 s"},
        "topology": {
            "kind": "graph",
            "hosts": ["a", "b"],
            nodes: ["m", "n"],
            "link": links,
            "flow": [{"name": "f", "source": "a", "destination": "b"}],
        },
        "tcp": {"mss": "1000 B"},
    }
    return skycell.run_spec(skycell.parse(scenario).resolve())


def reported(result: skycell.RunResult) -> list[str]:
    return lost_on_links(result.spec, result.records)


def test_the_lossy_link_has_its_own_part_and_not_that_of_all_links() -> None:
    result = run("routers", "0 %", "10 %", "0 %")
    (line,) = reported(result)
    port = next(port for port in result.records["ports"] if port["name"] == "m>n")
    lost = sum(sum(vc["cells_lost"].values()) for vc in result.records["vcs"])
    assert line.startswith(f"Link m>n lost {lost} of {port['departed']} packets (")
    assert 0.05 < lost / port["departed"] < 0.15
    assert line.endswith(f": {lost} at random")


def test_links_of_packets_are_told_one_by_one_the_worst_first() -> None:
    first, second = reported(run("routers", "1 %", "10 %", "0 %"))
    assert (first[:8], second[:8]) == ("Link m>n", "Link a>m")


def test_what_cells_lose_over_several_lossy_links_is_told_of_these_together() -> None:
    result = run("switches", "1 %", "5 %", "0 %")
    (line,) = reported(result)
    offered = result.records["vcs"][0]["cells_offered"]
    assert line.startswith("Links a>m, m>n together lost ")
    assert f" of {offered:,} cells (".replace(",", " ") in line


def test_links_that_lose_nothing_are_not_told() -> None:
    assert reported(run("switches", "0 %", "0 %", "0 %")) == []
