"""What a network is noted for: parts of packets that go on where the rest was dropped."""

from typing import Any

import pytest

import skycell
from skycell.scenario.notes import notes_on

LINK = {"rate": "10 Mbit/s", "framing": "none", "delay": "1 ms"}


def network(
    kind: str = "switches", port: dict[str, Any] | None = None, **keys: Any
) -> tuple[str, ...]:
    """Notes on two hosts with a node of a kind between them, and what its port to b is like."""
    slow = {"rate": "1 Mbit/s", "buffer": "100 cells", "one_way": True} | (port or {})
    scenario: dict[str, Any] = {
        "run": {"duration": "1 s"},
        "topology": {
            "kind": "graph",
            "hosts": ["a", "b"],
            kind: ["node"],
            "link": [
                LINK | {"from": "a", "to": "node"},
                LINK | {"from": "node", "to": "b"} | slow,
                LINK | {"from": "b", "to": "node", "one_way": True},
            ],
            "flow": [{"name": "f", "source": "a", "destination": "b", "class": "gfr"}],
        },
        "tcp": {"mss": "1460 B"},
    } | keys
    return notes_on(skycell.parse(scenario).resolve())


def test_tail_drop_of_cells_at_a_switch_is_noted_with_the_threshold_that_mends_it() -> None:
    (note,) = network()
    assert note.startswith("tail_drop at switch port node>b drops cells, not packets: ")
    # 1460 octets and 48 of headers, LLC/SNAP and trailer fill 32 cells; 100 less 32.
    assert "of a TCP packet of 32 cells" in note
    assert note.endswith("the buffer less one frame (68 cells).")


@pytest.mark.parametrize(
    ("kind", "port"),
    [
        ("routers", {}),
        ("switches", {"buffer": "unlimited"}),
        ("switches", {"policy": {"kind": "epd", "drop_threshold": "68 cells"}}),
        ("switches", {"class": [{"name": "gfr", "buffer": "50 cells", "policy": "epd"}]}),
    ],
)
def test_what_drops_no_part_of_a_tcp_packet_is_not_noted(kind: str, port: dict[str, Any]) -> None:
    assert network(kind, port) == ()


def test_the_queue_of_the_class_that_tcp_is_in_counts() -> None:
    own = {"name": "gfr", "buffer": "50 cells"}
    (note,) = network(port={"policy": "epd", "class": [own]})
    assert note.endswith("(18 cells).")


def test_a_small_buffer_on_the_way_of_acknowledgements_counts_too() -> None:
    scenario: dict[str, Any] = {
        "run": {"duration": "1 s"},
        "topology": {
            "kind": "graph",
            "hosts": ["a", "b"],
            "switches": ["node"],
            "link": [
                LINK | {"from": "node", "to": "a", "buffer": "40 cells", "one_way": True},
                LINK | {"from": "a", "to": "node", "one_way": True},
                LINK | {"from": "b", "to": "node"},
            ],
            "flow": [{"name": "f", "source": "a", "destination": "b"}],
        },
    }
    (note,) = notes_on(skycell.parse(scenario).resolve())
    assert "port node>a" in note
    assert "packet of 2 cells" in note
    # 40 octets of headers and the trailer of AAL5 fill one cell.
    assert notes_on(skycell.parse(scenario | {"tcp": {"llc_snap": False}}).resolve()) == ()


def test_a_policer_that_discards_cells_of_tcp_is_noted_and_one_that_counts_is_not() -> None:
    policer = {"vcs": ["f.forward"], "pcr": "1000 cells/s", "cdvt": "8 ms"}
    port = {"buffer": "unlimited"}
    (note,) = network(port=port, policer=[policer])
    assert note.startswith("the policer of VC f.forward discards cells, not packets: ")
    assert network(port=port, policer=[policer | {"pcr_action": "count"}]) == ()
    contract = {"vcs": ["f.forward"], "mcr": "1000 cells/s", "excess": "discard"}
    assert network(port=port, gfr=[contract]) == ()


def test_reno_with_hystart_is_noted_and_linuxs_own_is_not() -> None:
    linux = {"preset": "linux", "llc_snap": False, "congestion": "reno"}
    (note,) = (
        note for note in network(tcp={**linux, "slow_start": "hystart"}) if "HyStart" in note
    )
    assert note.startswith("flow f: Reno with HyStart is no TCP of Linux")
    for tcp in (linux, {"preset": "linux"}, {"congestion": "reno"}):
        assert [note for note in network(tcp=tcp) if "HyStart" in note] == []
