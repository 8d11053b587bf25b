"""Where queues stand: at links slower than a source, at a sender, of acknowledgements."""

from typing import Any

import pytest

import skycell
from skycell import ScenarioFaults
from skycell.scenario.notes import notes_on
from skycell.spec.declared.network import ScheduleSpec

IP = {"framing": "ip", "delay": "1 ms"}


def overload(
    source: dict[str, Any], *, host: str = "1 Gbit/s", link: str = "10 Mbit/s", **port: Any
) -> dict[str, Any]:
    """A source over the link of its host and a router's port."""
    port = {"buffer": "50 packets", "policy": "tail_drop"} | port
    return {
        "run": {"duration": "30 s"},
        "topology": {
            "kind": "graph",
            "hosts": ["a", "b"],
            "routers": ["r"],
            "link": [
                IP | {"from": "a", "to": "r", "rate": host},
                IP | {"from": "r", "to": "b", "rate": link} | port,
            ],
        },
        "source": [{"name": "udp", "source": "a", "destination": "b", **source}],
    }


CBR = {"kind": "cbr", "rate": "20 Mbit/s", "packet_size": "1500 B"}
VBR = {"kind": "vbr", "peak_rate": "20 Mbit/s", "packet_size": "1500 B"} | {
    "on": "10 ms",
    "off": "40 ms",
}


def notes(scenario: dict[str, Any]) -> tuple[str, ...]:
    return notes_on(skycell.parse(scenario).resolve())


def test_a_source_faster_than_a_link_runs_with_a_note_of_what_is_dropped_there() -> None:
    (note,) = notes(overload(CBR))
    assert note.startswith("source udp sends 20 Mbit/s: r>b carries 10 Mbit/s, and 50.0% are drop")
    assert notes(overload(CBR | {"rate": "10 Mbit/s"})) == ()


def test_behind_a_slow_link_what_it_lets_through_counts() -> None:
    (note,) = notes(overload(CBR, host="16 Mbit/s", link="12 Mbit/s"))
    # 4 of 20 Mbit/s wait, for 30 s: 10 000 packets of 1500 octets; of 16 are 4 dropped.
    assert "a>r carries 16 Mbit/s, and 20.0% wait there without a limit, 10 000 packets" in note
    assert "r>b carries 12 Mbit/s, and 25.0% are dropped" in note
    assert "r>b" not in notes(overload(CBR, host="12 Mbit/s", link="12 Mbit/s"))[0]


def test_of_bursts_faster_than_a_link_the_peak_is_told() -> None:
    (note,) = notes(overload(VBR))
    assert note.startswith("source udp sends 20 Mbit/s while it is on: r>b carries 10 Mbit/s")


def test_sources_alike_are_one_note() -> None:
    (note,) = notes(overload(CBR | {"count": 3}))
    assert note.startswith("sources udp1, udp2, udp3 each sends 20 Mbit/s")


def cells(source: dict[str, Any], **tables: Any) -> dict[str, Any]:
    """A source of cells at 5000 cells/s over a link of 4000, for 10 s."""
    return {
        "run": {"duration": "10 s"},
        "topology": {
            "kind": "dumbbell",
            "sources": 0,
            "bottleneck": {
                "rate": "4000 cells/s",
                "framing": "none",
                "delay": "1 ms",
                "buffer": "100 cells",
            },
            "access": {"rate": "9000 cells/s", "framing": "none", "delay": "1 ms"},
        },
        "source": [{"kind": "cbr", "name": "v", "rate": "5000 cells/s", **source}],
        **tables,
    }


def test_one_source_of_cells_runs_and_several_of_class_cbr_are_promised_their_rates() -> None:
    (note,) = notes(cells({"class": "ubr"}))
    assert note.startswith("source v sends 5 000 cells/s: switch1>switch2 carries 4 000 cells/s")
    assert "20.0% are dropped" in note
    assert notes(cells({})) == (note,)  # alone it is promised nothing
    with pytest.raises(ScenarioFaults) as refused:
        skycell.parse(cells({"count": 2}))
    (fault,) = refused.value.faults
    assert "overbooking" in fault.allowed
    several = cells({"count": 2}, admission={"overbooking": "allow"})
    assert notes(several)[0].startswith("sources v1, v2 each sends 5 000 cells/s")


def one_sender(access: dict[str, Any], sources: int = 1, **bottleneck: Any) -> dict[str, Any]:
    return {
        "run": {"duration": "1 s"},
        "topology": {
            "kind": "dumbbell",
            "sources": sources,
            "bottleneck": IP | {"rate": "10 Mbit/s", "buffer": "1 BDP"} | bottleneck,
            "access": {"delay": "1 ms"} | access,
        },
        "tcp": {"preset": "linux"},
    }


def test_a_sender_no_faster_than_the_bottleneck_keeps_the_queue_and_a_note_says_so() -> None:
    (note,) = notes(one_sender({}))
    assert note.startswith("no queue can build at router1>router2: source1>router1 is in front")
    assert "topology.access.rate" in note
    (note,) = notes(one_sender({"rate": "5 Mbit/s"}, sources=2))
    assert "source1>router1 and 1 more are in front of it and together no faster" in note


@pytest.mark.parametrize(
    "scenario",
    [
        one_sender({"rate": "11 Mbit/s"}),
        one_sender({}, sources=2),
        one_sender({}, buffer="unlimited"),
    ],
)
def test_where_a_queue_can_build_there_is_no_note(scenario: dict[str, Any]) -> None:
    assert notes(scenario) == ()


def test_a_bottleneck_that_is_slower_at_times_keeps_its_queue() -> None:
    spec = skycell.parse(one_sender({})).resolve()
    slower = ScheduleSpec(
        times_ps=(0, 10**11),
        delays_ps=(10**9, 10**9),
        paths=(0, 0),
        rates_millibps=(10**10, 10**9),
        losses_ppb=(),
        interruption_ps=0,
        handover_loses_cells=True,
    )
    links = [
        link.model_copy(update={"schedule": slower}) if link.name == "router1>router2" else link
        for link in spec.links
    ]
    assert notes_on(spec.model_copy(update={"links": tuple(links)})) == ()


def asymmetric(rate: str, framing: str = "ip", **tcp: Any) -> tuple[str, ...]:
    """10 Mbit/s for packets of 1000 octets, and the other direction for acknowledgements of 40."""
    reverse = {"rate": rate, "framing": framing}
    bottleneck = {"rate": "10 Mbit/s", "buffer": "100 kB", "reverse": reverse} | IP
    access = {"rate": "1 Gbit/s", "framing": "ip", "delay": "1 ms"}
    topology = {"kind": "dumbbell", "sources": 5, "bottleneck": bottleneck, "access": access}
    return notes({"run": {"duration": "1 s"}, "topology": topology, "tcp": {"mss": "960 B"} | tcp})


def test_acknowledgements_that_fill_their_link_before_the_data_are_noted_for_all_flows_once() -> (
    None
):
    # RFC 3449, section 1.2: 10 Mbit/s and 50 kbit/s, 1000 and 40 octets, k = 200 / 25.
    (note,) = asymmetric("50 kbit/s")
    assert note.startswith("flows flow1, flow2, flow3 and 2 more: ")
    assert "router2>router1 8.0 full segments leave at router1>router2" in note


@pytest.mark.parametrize(
    ("rate", "framing", "tcp", "is_noted"),
    [
        ("400 kbit/s", "ip", {}, False),  # k = 1
        ("399 kbit/s", "ip", {}, True),
        ("200 kbit/s", "ip", {"delayed_ack": "on"}, False),  # one for two segments
        ("199 kbit/s", "ip", {"delayed_ack": "on"}, True),
        ("400 kbit/s", "ethernet", {}, True),  # of 84 octets on the line
    ],
)
def test_a_link_for_all_acknowledgements_is_not_noted(
    rate: str, framing: str, tcp: dict[str, Any], is_noted: bool
) -> None:
    assert bool(asymmetric(rate, framing, **tcp)) == is_noted
