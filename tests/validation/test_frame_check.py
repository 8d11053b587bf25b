"""Packets whose frames' checks cover a part of them: what is lost where, against closed forms."""

from typing import Any

import pytest

import skycell
from skycell.input.faults import ScenarioFaults
from skycell.metrics import throughputs_bps
from skycell.records import RunResult
from skycell.scenario import Scenario

BER = 1e-6


def download(behind: dict[str, Any] | None = None, **link: Any) -> Scenario:
    """Segments of 1460 octets over a link of packets with bit errors, and over another one."""
    errors = {"kind": "bit_errors", "ber": BER}
    first = {"rate": "10 Mbit/s", "framing": "ethernet", "delay": "20 ms", "loss": errors, **link}
    access = {"rate": "100 Mbit/s", "framing": "ethernet", "delay": "1 ms"}
    second = {"rate": "50 Mbit/s", "framing": "ip", "delay": "1 ms", **(behind or {})}
    return skycell.parse(
        {
            "topology": {
                "kind": "graph",
                "hosts": ["a", "b"],
                "routers": ["west", "middle", "east"],
                "link": [
                    {"from": "a", "to": "west", **access},
                    {"from": "west", "to": "middle", **first, "one_way": True},
                    {"from": "middle", "to": "west", **first, "one_way": True, "loss": 0}
                    | {"frame_check": "frame"},
                    {"from": "middle", "to": "east", **second},
                    {"from": "east", "to": "b", **access},
                ],
                "flow": [{"name": "download", "source": "a", "destination": "b"}],
            },
            "tcp": {"mss": "1460 B", "recovery": "sack", "receiver_window": "64 kB"},
            "run": {"duration": "150 s"},
        }
    )


def by_path(result: RunResult) -> dict[str, dict[str, Any]]:
    """VCs of the data by their first links."""
    ports = [link.name for link in result.spec.links]
    return {
        ports[vc.path[0]]: row
        for vc, row in zip(result.spec.vcs, result.records["vcs"], strict=True)
    }


@pytest.mark.parametrize("engine", ["reference", "fast"])
@pytest.mark.parametrize(("check", "covered"), [("header", 38 + 20), ("600 B", 600)])
def test_what_is_covered_is_lost_at_the_link_and_the_rest_at_the_end(
    engine: str, check: str, covered: int
) -> None:
    result = skycell.run(download(frame_check=check), engine=engine)
    vcs = by_path(result)
    first, second, last = vcs["west>middle"], vcs["middle>east"], vcs["east>b"]
    sent = first["frames_offered"]
    whole = 38 + 1500
    at_link = 1 - (1 - BER) ** (8 * covered)
    at_end = (1 - BER) ** (8 * covered) - (1 - BER) ** (8 * whole)
    for found, expected in (
        (first["cells_lost"]["check"], sent * at_link),
        (last["frames_crc"], sent * at_end),
    ):
        assert found == pytest.approx(expected, abs=4 * expected**0.5)
    assert last["frames_crc"] > 200
    assert last["frames_corrupt"] == last["frames_crc"]
    # In between they are packets as others.
    left = sent - first["cells_lost"]["check"] - second["frames_offered"]
    assert 0 <= left < 60  # at the port or on the link at the end
    assert "frames_crc" not in second
    [errors] = [port["errors"] for port in result.records["ports"] if "errors" in port]
    assert errors["payloads"] >= last["frames_crc"]


def test_tcp_sees_the_same_loss_whatever_the_check_covers() -> None:
    runs = [skycell.run(download(frame_check=check)) for check in ("frame", "header", "1000 B")]
    records = [run.records for run in runs]
    assert records[0]["engine_stats"]["stepped_ports"][0]["reason"] == "bit_errors"
    assert records[1]["engine_stats"]["stepped_ports"][0]["reason"] == "damaged_packets"
    # The same bits are wrong: the same segments go, whether at the link or at the end.
    rates = [throughputs_bps(one)[0] for one in records]
    assert rates[1:] == pytest.approx([rates[0]] * 2, rel=0.01)


def test_damage_goes_through_cells_and_fragments() -> None:
    cells = skycell.run(download({"framing": "none"}, frame_check="header"))
    vcs = by_path(cells)
    # The CRC of AAL5 is computed over the damage, and right.
    assert "frames_crc" not in vcs["middle>east"]
    assert vcs["east>b"]["frames_crc"] > 200
    cut = skycell.run(download({"mtu": "576 B", "fragmentation": True}, frame_check="header"))
    # A damaged packet is cut in three, of which none is any better.
    assert by_path(cut)["east>b"]["frames_crc"] > 500


@pytest.mark.parametrize(
    ("link", "allowed"),
    [
        ({"frame_check": "header", "framing": "none"}, "a link that carries packets"),
        ({"frame_check": "header", "loss": 0.01}, "a loss of bits"),
        ({"frame_check": "57 B"}, "from 58 B"),
        ({"frame_check": "0 B"}, '"frame" or "header"'),
        ({"frame_check": "half"}, '"frame" or "header"'),
    ],
)
def test_a_check_that_cannot_be_or_never_fails_is_refused(
    link: dict[str, Any], allowed: str
) -> None:
    with pytest.raises(ScenarioFaults) as found:
        download(**link)
    ours = [fault for fault in found.value.faults if fault.path.endswith("frame_check")]
    assert ours
    assert allowed in ours[0].allowed
