"""What a scenario comes to before it is run, against what runs and hand-worked numbers say."""

import re
from pathlib import Path
from typing import Any

import pytest

from skycell import Scenario, load, parse, run
from skycell.metrics import Network
from skycell.metrics.explained import Explained, explain
from skycell.scenario.origins import origin_of
from skycell.tables.explained import STEPPED_BECAUSE

EXAMPLES = Path(__file__).parents[3] / "examples"


def scenario(**links: Any) -> Scenario:
    topology = {"kind": "dumbbell", "sources": 1, **links}
    return parse({"run": {"duration": "2 s"}, "topology": topology, "start": "together"})


CELLS = {"rate": "10 Mbit/s", "framing": "none", "delay": "20 ms", "buffer": "900 cells"}
PACKETS = {"rate": "4 Mbit/s", "delay": "20 ms", "buffer": "30 packets"}


@pytest.mark.parametrize(
    "links",
    [
        {"bottleneck": CELLS, "access": {"delay": "1 ms"}},
        {
            "bottleneck": CELLS,
            "access": {"delay": "1 ms", "rate": "155.52 Mbit/s", "framing": "sts3c"},
        },
        {"bottleneck": CELLS, "access": {"delay": "1 ms"}, "edge": {"delay": "2 ms"}},
        {"bottleneck": {**PACKETS, "framing": "ethernet"}, "access": {"delay": "1 ms"}},
        {
            "bottleneck": {**PACKETS, "framing": "ip"},
            "access": {"delay": "1 ms", "rate": "100 Mbit/s", "framing": "ethernet"},
        },
    ],
    ids=["cells", "a slower switch", "edge routers", "packets", "mixed"],
)
def test_a_segment_through_empty_ports_takes_the_terms_of_its_hops(links: dict[str, Any]) -> None:
    if "edge" in links:
        links["tcps_per_vc"] = 1
    if "framing" in links["bottleneck"] and "framing" not in links["access"]:
        links["access"]["framing"] = "ip"
    one = scenario(**links)
    [path] = explain(one).paths
    [flow] = run(one).records["flows"]
    assert sum(hop.delay_ps + hop.sending_ps for hop in path.there) == flow["delay_min_ps"]


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_example_is_explained(file: Path) -> None:
    found = explain(load(file))
    assert [name for link in found.links for name in link.names]
    for link in found.links:
        assert not link.layers or sum(link.layers.values()) == pytest.approx(1)


def test_the_ceiling_of_the_slowest_link_is_the_networks() -> None:
    for name in ("satellite-buffer", "ubr-wan", "modem-and-voice"):
        one = load(EXAMPLES / f"{name}.toml")
        found = explain(one)
        paths = {path.bottleneck for path in found.paths}
        least = min(link.payload_bps or 0.0 for link in found.links if paths & set(link.names))
        assert least == pytest.approx(Network.of(one.resolve()).ceiling_bps), name


def test_the_ports_that_are_stepped_are_those_of_a_run() -> None:
    for name in ("video-call", "ubr-wan", "leo-on-board", "abr-edge-routers"):
        one = load(EXAMPLES / f"{name}.toml", {"run.duration": "50 ms"})
        assert explain(one).stepped_ports == run(one).stepped_ports, name


def test_every_reason_of_the_engine_has_words_and_stands_on_its_page() -> None:
    root = EXAMPLES.parent
    engine = (root / "crates" / "records" / "src" / "lib.rs").read_text()
    reasons = engine.split("pub enum SteppedReason {")[1].split("\n}")[0]
    names = re.findall(r"^    (\w+),$", reasons, re.M)
    known = {re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower() for name in names}
    page = (root / "docs" / "explanation" / "two-engines.md").read_text()
    table = page.split("| reason |")[1].split("\n\n")[0]
    reported = re.findall(r"`(\w+)`", " ".join(row.split("|")[1] for row in table.split("\n")[2:]))
    assert known == STEPPED_BECAUSE.keys() == set(reported)


BEAM: dict[str, Any] = {
    "run": {"duration": "1 s"},
    "topology": {
        "kind": "beam",
        "terminals": 4,
        "delay": "20 ms",
        "servers": {"delay": "10 ms"},
        "forward": {
            "rate": "20 Mbit/s",
            "framing": "ip",
            "buffer": "200 packets",
            "receivers": [{"terminals": 2, "rate": "5 Mbit/s"}],
        },
        "return": {"rate": "2 Mbit/s", "framing": "ip"},
    },
}


def test_a_segment_takes_the_time_that_its_receiver_needs() -> None:
    found = explain(parse(BEAM))
    bits = 8 * (512 + 40)
    sending = [path.there[1].sending_ps / 10**12 for path in found.paths]
    assert sending == [pytest.approx(bits / rate) for rate in (5e6, 20e6)]
    assert found.stepped_ports == {"gateway>satellite": "receivers"}


def test_receivers_share_the_time_of_a_carrier() -> None:
    # Four flows get x each: x/5 + x/5 + x/20 + x/20 = 1, in Mbit/s of packets.
    fair = Network.of(parse(BEAM).resolve()).fair_bps()
    assert fair == [pytest.approx(2e6 * 512 / 552)] * 4


def sizes_of(found: Explained) -> dict[str, Any]:
    return {size.key: size for size in found.sizes}


def test_buffers_and_thresholds_are_in_every_unit() -> None:
    policy = {"kind": "epd", "drop_threshold": 0.5}
    cells = {**CELLS, "rate": "4.24 Mbit/s", "policy": policy}
    one = scenario(bottleneck=cells, access={"delay": "5 ms"}).with_values({"tcp.mss": "512 B"})
    found = explain(one)
    buffer, threshold = sizes_of(found)["buffer"], sizes_of(found)["policy.drop_threshold"]
    # 10 000 cells/s, segments of 12 cells (NASA/CR-1999-209158), an RTT of 2 (20 + 2 * 5) ms.
    assert (buffer.cells, buffer.octets, buffer.packets) == (900, 900 * 53, 75)
    assert buffer.time_ps == pytest.approx(90e9)
    assert buffer.rtts == pytest.approx(90 / 60)
    assert (threshold.cells, threshold.held) == (450, "450 cells")
    packets = {**PACKETS, "framing": "ethernet", "buffer": "30 kB", "policy": policy}
    one = scenario(bottleneck=packets, access={"delay": "5 ms", "framing": "ip"})
    found = explain(one.with_values({"tcp.mss": "1460 B"}))
    buffer, threshold = sizes_of(found)["buffer"], sizes_of(found)["policy.drop_threshold"]
    assert (buffer.cells, buffer.octets, buffer.packets) == (None, 30_000, 20)
    # 1538 octets of Ethernet at 4 Mbit/s are 3.076 ms.
    assert buffer.time_ps == pytest.approx(20 * 3.076e9)
    assert threshold.held == "15 000 B"


def test_each_setting_says_where_it_comes_from() -> None:
    one = parse(
        {
            "preset": "icccn97-wan",
            "topology": {"bottleneck": {"policy": {"kind": "epd", "partial_discard": False}}},
            "tcp": {"preset": "rfc-modern", "mss": "536 B"},
        }
    )
    settings = {setting.key: setting for setting in explain(one).settings}
    policy = "topology.bottleneck.policy"
    assert settings["topology.bottleneck.buffer"].origin == "preset icccn97-wan"
    assert (settings[policy].value, settings[policy].origin) == ("epd", "file")
    assert settings[f"{policy}.partial_discard"].origin == "file"
    threshold = settings[f"{policy}.drop_threshold"]
    assert (threshold.value, threshold.origin) == ("0.9", "default")
    assert "Ka Band" in threshold.source
    assert origin_of(one, ("tcp", "mss")) == "file"
    assert origin_of(one, ("tcp", "receiver_window")) == "preset rfc-modern"


def test_doubts_name_windows_intervals_and_buffers_that_fall_short() -> None:
    packets = {**PACKETS, "delay": "300 ms", "framing": "ip", "policy": "codel"}
    one = scenario(bottleneck=packets, access={"delay": "5 ms", "framing": "ip"})
    window, interval, buffer = explain(one.with_values({"tcp.receiver_window": "64 kB"})).warnings
    assert "receiver_window of flow1 is 64000 B" in window
    assert "codel at router1>router2 has an interval of 100 ms and flows of" in interval
    assert buffer.startswith("the buffer of router1>router2 is 0.")
    wide: dict[str, Any] = {
        "topology.bottleneck.buffer": "2 RTT",
        "topology.bottleneck.policy": {"kind": "codel", "interval": "700 ms"},
        "tcp.receiver_window": "1 MB",
        "tcp.window_scaling": True,
    }
    assert explain(one.with_values(wide)).warnings == ()
