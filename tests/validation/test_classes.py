"""Service classes against what can be worked out: shares, starvation, conformance, delays."""

from pathlib import Path
from typing import Any

import pytest

import skycell
from skycell.metrics import cell_delay, cell_loss_ratio, link_shares

RATE = "100000 cells/s"  # 10 us a cell


def run(
    sources: list[dict[str, Any]], link: dict[str, Any], engine: str = "fast", **more: Any
) -> skycell.RunResult:
    """Sources beside a TCP connection that takes what is left, over one switch for 100 ms."""
    return skycell.run(
        {
            "run": {"duration": "100 ms"},
            "tcp": {"preset": "jain-tcp", "mss": "512 B", "initial_cwnd": "60000 B"},
            "start": "together",
            "topology": {
                "kind": "dumbbell",
                "sources": 1,
                "access": {"delay": "0 s", "frame_jitter": "0 s"},
                "bottleneck": {"rate": RATE, "delay": "0 s", "buffer": "1000 cells", **link},
            },
            "source": sources,
            "admission": {"overbooking": "allow"},
            **more,
        },
        engine=engine,
    )


def cbr(name: str, service: str, rate: float) -> dict[str, Any]:
    return {"kind": "cbr", "name": name, "class": service, "rate": rate}


def port(result: skycell.RunResult) -> dict[str, Any]:
    (found,) = [p for p in result.records["ports"] if p["name"] == "switch1>switch2"]
    return dict(found)


def test_a_source_at_the_links_rate_starves_the_rest_under_strict_priority() -> None:
    result = run([cbr("all", "cbr", 1.0)], {"class": [{"name": "cbr"}]})
    # 10 000 cell times; the first source cell has to come over its own link first.
    assert link_shares(port(result))[None] < 0.001
    assert result.records["flows"][0]["octets_delivered"] == 0


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_a_guaranteed_class_gets_its_share_beside_a_source_at_the_links_rate(share: float) -> None:
    two = [cbr("all", "cbr", 1.0), cbr("steady", "nrt_vbr", 0.8)]
    scheduler = {"kind": "guaranteed_rate", "rates": {"nrt_vbr": share}}
    classes = [{"name": "cbr"}, {"name": "nrt_vbr"}]
    shares = link_shares(port(run(two, {"class": classes, "scheduler": scheduler})))
    assert shares["nrt_vbr"] == pytest.approx(share, abs=0.001)
    assert shares["cbr"] == pytest.approx(1 - share, abs=0.001)


def test_what_a_class_does_not_use_goes_to_the_others() -> None:
    two = [cbr("all", "cbr", 1.0), cbr("steady", "nrt_vbr", 0.2)]
    scheduler = {"kind": "guaranteed_rate", "rates": {"nrt_vbr": 0.5}}
    classes = [{"name": "cbr"}, {"name": "nrt_vbr"}]
    shares = link_shares(port(run(two, {"class": classes, "scheduler": scheduler})))
    assert shares["nrt_vbr"] == pytest.approx(0.2, abs=0.001)
    assert shares["cbr"] == pytest.approx(0.8, abs=0.001)


def test_weights_share_the_link_between_classes_that_have_cells() -> None:
    two = [cbr("a", "cbr", 1.0), cbr("b", "nrt_vbr", 1.0)]
    scheduler = {"kind": "weighted_round_robin", "weights": {"cbr": 3, "ubr": 1}}
    classes = [{"name": "cbr"}, {"name": "nrt_vbr"}]
    shares = link_shares(port(run(two, {"class": classes, "scheduler": scheduler})))
    # The connection sends its first window of 118 segments of 12 cells and waits.
    busy = 1 - (shares[None] or 0)
    assert shares["cbr"] / busy == pytest.approx(0.75, abs=0.01)


def test_a_policer_lets_the_contracted_rate_through() -> None:
    policer = {"vcs": ["a"], "pcr": "20000 cells/s", "pcr_action": "discard"}
    result = run([cbr("a", "cbr", 0.5)], {"class": [{"name": "cbr"}]}, policer=[policer])
    vc = next(vc for vc in result.records["vcs"] if vc["name"] == "a")
    # Cells come every 20 us and may come every 50: of 0, 20, 40, 60 ... 0, 60, 120 conform.
    assert cell_loss_ratio(vc) == pytest.approx(2 / 3, abs=0.001)
    assert vc["cells_policed"] == vc["cells_nonconforming"]
    assert vc["cells_tagged"] == 0


def test_a_tagged_cell_arrives_all_the_same() -> None:
    policer = {"vcs": ["a"], "pcr": "20000 cells/s", "pcr_action": "tag"}
    result = run([cbr("a", "cbr", 0.5)], {"class": [{"name": "cbr"}]}, policer=[policer])
    vc = next(vc for vc in result.records["vcs"] if vc["name"] == "a")
    assert vc["cells_tagged"] == vc["cells_nonconforming"] > 3000
    assert cell_loss_ratio(vc) == 0


@pytest.mark.parametrize("engine", ["reference", "fast"])
@pytest.mark.parametrize(("conformance", "tagged", "policed"), [("vbr_2", 0, 18), ("vbr_3", 18, 0)])
def test_cells_with_clp_1_take_nothing_from_the_sustainable_rate(
    conformance: str, tagged: int, policed: int, engine: str
) -> None:
    # A burst of 40 cells, one every 20 us, every fourth with CLP = 1. T of SCR is 80 us, BT is
    # 3 (80 - 20) = 180 us: of the 30 with CLP = 0 those at 0, 1, 2 and 4 intervals conform, and
    # from 8 on every fourth (8 of them).
    source = {"kind": "vbr", "name": "a", "class": "rt_vbr", "peak_rate": "50000 cells/s"}
    source |= {"on": "800 us", "off": "1 s", "phase": "0 s", "clp": "0001"}
    policer: dict[str, Any] = {"vcs": ["a"], "conformance": conformance}
    policer |= {"pcr": "50000 cells/s", "cdvt": "1 us", "scr": "12500 cells/s", "mbs": 4}
    result = run([source], {"class": [{"name": "rt_vbr"}]}, engine=engine, policer=[policer])
    vc = next(vc for vc in result.records["vcs"] if vc["name"] == "a")
    assert (vc["cells_offered"], vc["cells_nonconforming"]) == (40, 18)
    assert (vc["cells_tagged"], vc["cells_policed"]) == (tagged, policed)
    assert vc["cells_delivered"] == 40 - policed


@pytest.mark.parametrize("engine", ["reference", "fast"])
@pytest.mark.parametrize(
    ("conformance", "lost", "of_clp0", "judged"),
    [("vbr_2", 6 + 5, 6 + 2, 12), ("vbr_3", 11, 2, 12 - 6)],
)
def test_a_contract_for_cells_with_clp_0_is_held_against_these_alone(
    conformance: str, lost: int, of_clp0: int, judged: int, engine: str
) -> None:
    """Of cells 0 to 15, 20 us apart, 3, 7, 11 and 15 have CLP = 1, the other 12 CLP = 0.

    Of these 0, 1, 2, 4, 8 and 12 conform (T 80 us, BT 180 us), six do not: VBR.3 tags them, VBR.2
    discards them. They begin at 1 ms; the class in front leaves no room on the link, and the
    queue holds five cells, 0 to 4. Of the conforming ones 8 and 12 are lost: 2 of 6 under VBR.3,
    with what VBR.2 discards 8 of 12. All in all 11 are lost: tagged, all from 5 on; else six, and
    7, 8, 11, 12 and 15.
    """
    source = {"kind": "vbr", "name": "a", "class": "rt_vbr", "peak_rate": "50000 cells/s"}
    source |= {"on": "320 us", "off": "1 s", "phase": "999.32 ms", "clp": "0001"}
    policer: dict[str, Any] = {"vcs": ["a"], "conformance": conformance}
    policer |= {"pcr": "50000 cells/s", "cdvt": "1 us", "scr": "12500 cells/s", "mbs": 4}
    classes = {"class": [{"name": "cbr"}, {"name": "rt_vbr", "buffer": "5 cells"}]}
    bounds = [{"vcs": ["a"], "clr": 0.5}]
    both = [cbr("all", "cbr", 1.0), source]
    result = run(both, classes, engine, policer=[policer], qos=bounds)
    vc = next(vc for vc in result.records["vcs"] if vc["name"] == "a")
    assert vc["clp0"] == {"cells_offered": 12, "cells_lost": of_clp0}
    assert (vc["cells_offered"], vc["cells_queued"]) == (16, 16 - lost)
    (row,) = result.records["qos"]
    assert (row["what"], row["measured"], row["cells"]) == ("clr0", of_clp0 / judged, judged)


def test_a_packet_of_a_list_has_clp_1_in_all_its_cells(tmp_path: Path) -> None:
    """Of 100, 1500 and 40 octets, with LLC/SNAP 3, 32 and 2 cells, the second goes with CLP = 1."""
    packets = tmp_path / "packets.csv"
    packets.write_text("time_s,octets\n0,100\n0.01,1500\n0.02,40\n", encoding="utf-8")
    source = {"kind": "trace", "name": "a", "file": str(packets), "clp": "010"}
    result = run([source], {"policy": {"kind": "priority_drop", "tagged_threshold": 0.001}})
    vc = next(vc for vc in result.records["vcs"] if vc["name"] == "a")
    assert vc["cells_offered"] == 3 + 32 + 2
    assert vc["clp0"] == {"cells_offered": 5, "cells_lost": 0}


def test_what_a_contract_refuses_counts_as_lost() -> None:
    # Every frame is longer than its contract allows, and none of them passes.
    contract = {"vcs": ["a"], "mcr": "20000 cells/s", "mfs": "5 cells", "nonconforming": "discard"}
    source = cbr("a", "gfr", 0.5) | {"frame": 10}
    result = run([source], {"class": [{"name": "gfr"}]}, gfr=[contract])
    vc = next(vc for vc in result.records["vcs"] if vc["name"] == "a")
    assert vc["cells_delivered"] == 0
    assert cell_loss_ratio(vc) == pytest.approx(1, abs=0.001)  # some are on their way to the switch


def test_what_is_lost_on_a_link_counts_as_lost(tmp_path: Path) -> None:
    series = tmp_path / "lossy.csv"
    series.write_text("time_s,delay_ms,loss_percent\n0,1,25\n1,1,25\n", encoding="utf-8")
    schedule = {"delay": None, "schedule": {"series": str(series)}}
    result = run([cbr("a", "cbr", 0.5)], {**schedule, "class": [{"name": "cbr"}]})
    vc = next(vc for vc in result.records["vcs"] if vc["name"] == "a")
    assert vc["cells_lost"]["drawn"] > 0
    assert cell_loss_ratio(vc) == pytest.approx(0.25, abs=0.03)


def test_a_cell_of_the_preferred_class_waits_for_one_cell_at_most() -> None:
    # The connection keeps the link busy; a cell that finds a cell under transmission waits for it.
    result = run([cbr("a", "cbr", 0.0997)], {"class": [{"name": "cbr"}]})
    (record,) = result.records["cell_delays"]
    delay = cell_delay(record)
    assert delay is not None
    # Two links after the source's own, 10 us a cell each.
    assert delay.fixed_s == pytest.approx(20e-6)
    assert (
        0 <= record["min_ps"] - record["fixed_ps"] < 50_000
    )  # some cell waits for next to nothing
    assert 5e-6 < delay.max_s - delay.fixed_s <= 10e-6
    assert delay.peak_to_peak_cdv_s(999) <= 10e-6


def test_a_burst_waits_in_its_own_queue_and_is_lost_from_it() -> None:
    # Two sources at the link's rate into a queue of 10 cells: half of their cells are too many. Of
    # class cbr they would be a fault.
    two = [cbr("a", "rt_vbr", 1.0), cbr("b", "rt_vbr", 1.0)]
    result = run(two, {"class": [{"name": "rt_vbr", "buffer": "10 cells"}]})
    (queue,) = [q for q in port(result)["queues"] if q["class"] == "rt_vbr"]
    assert queue["queue"]["max"] == 10
    assert queue["discarded"]["overflow"] == pytest.approx(queue["arrived"] / 2, abs=10)


def test_bursts_take_their_share_of_the_time() -> None:
    vbr = {
        "kind": "vbr",
        "name": "v",
        "peak_rate": 1.0,
        "on": "10 ms",
        "off": "30 ms",
        "phase": "0 s",
    }
    result = run([vbr], {"class": [{"name": "nrt_vbr"}]})
    # Bursts from 0 to 10, 40 to 50 and 80 to 90 ms: 1000 cells each.
    assert result.records["sources"][0]["cells"] == 3000
