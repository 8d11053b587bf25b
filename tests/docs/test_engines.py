"""What the page on the two engines says is stepped is, and what is like it is not."""

from typing import Any

import pytest

import skycell
from tests.structure.tree import ROOT

_LINK = {"rate": "10 Mbit/s", "framing": "none", "delay": "1 ms"}


def stepped_ports(
    classes: list[dict[str, Any]], source: dict[str, Any], records: dict[str, Any], **more: Any
) -> dict[str, str]:
    """What is stepped where a TCP connection and a cell source share the link in the middle."""
    voice: dict[str, Any] = {"kind": "cbr", "name": "voice", "rate": 0.1}
    if "beside" not in source:
        voice |= {"source": "s", "destination": "t"}
    ends = [("a", "x"), ("s", "x"), ("y", "b"), ("y", "t")]
    shared = {"from": "x", "to": "y", "buffer": "100 cells", "class": classes, **_LINK}
    scenario = {
        "run": {"duration": "20 ms"},
        "topology": {
            "kind": "graph",
            "hosts": ["a", "b", "s", "t"],
            "switches": ["x", "y"],
            "link": [*({"from": one, "to": other, **_LINK} for one, other in ends), shared],
            "flow": [{"name": "data", "source": "a", "destination": "b"}],
        },
        "source": [{**voice, **source}],
        "records": records,
        **more,
    }
    return skycell.run(scenario).stepped_ports


@pytest.mark.parametrize(
    ("classes", "source", "records"),
    [
        ([], {}, {}),
        ([], {"frame": 5, "beside": "data"}, {}),
        ([{"name": "cbr"}], {}, {}),
        ([{"name": "cbr", "buffer": "9 cells", "policy": "ppd"}], {}, {}),
        # TCP in the queue of a class.
        ([{"name": "ubr"}], {}, {}),
        # Cells of the source as frames of one cell, in a queue beside that of TCP.
        ([{"name": "cbr", "buffer": "9 cells", "policy": "epd"}], {}, {}),
        ([{"name": "cbr"}], {"destination": "b"}, {}),
        ([{"name": "cbr"}], {}, {"ports": ["y>t"]}),
    ],
)
def test_tcp_and_cell_sources_in_any_queues_have_closed_forms(
    classes: list[dict[str, Any]], source: dict[str, Any], records: dict[str, Any]
) -> None:
    assert stepped_ports(classes, source, records) == {}


_OF_DATA = {"a>x", "x>y", "y>b"}


@pytest.mark.parametrize(
    ("classes", "source", "records", "ports", "reason"),
    [
        ([], {"frame": 5}, {"delay_vcs": []}, {"s>x"}, "source_frames"),
        (
            [{"name": "cbr", "buffer": "9 cells", "policy": "epd"}],
            {"frame": 5},
            {"delay_vcs": []},
            {"s>x"},
            "source_frames",
        ),
        ([{"name": "cbr"}], {"frame": 5}, {"delay_vcs": []}, {"s>x"}, "source_frames"),
        ([], {}, {"delay_vcs": ["data.forward"]}, _OF_DATA, "unit_delays"),
    ],
)
def test_what_the_page_lists_is_stepped_and_no_more(
    classes: list[dict[str, Any]],
    source: dict[str, Any],
    records: dict[str, Any],
    ports: set[str],
    reason: str,
) -> None:
    assert stepped_ports(classes, source, records) == dict.fromkeys(ports, reason)


def test_a_policer_of_frames_is_behind_a_stepped_port_and_one_of_cells_is_not() -> None:
    def policed(vc: str, classes: list[dict[str, Any]]) -> dict[str, str]:
        policer = {"vcs": [vc], "pcr": "20000 cells/s", "cdvt": "1 ms", "pcr_action": "tag"}
        return stepped_ports(classes, {}, {}, policer=[policer])

    assert policed("data.forward", []) == {"a>x": "policer"}
    assert policed("voice", [{"name": "cbr"}]) == {}


@pytest.mark.parametrize("example", ["leo-path", "two-classes", "guaranteed-ubr"])
def test_examples_of_paths_that_move_and_of_classes_have_closed_forms(example: str) -> None:
    scenario = skycell.load(ROOT / "examples" / f"{example}.toml")
    assert skycell.run(scenario.with_values({"run.duration": "1 s"})).stepped_ports == {}
