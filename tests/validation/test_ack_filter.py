"""Filtered acknowledgements before a slow line (RFC 3449, 5.2.1), against what it lets through."""

import copy
import tomllib
from pathlib import Path
from typing import Any

import pytest

import skycell
from skycell import RunResult

EXAMPLE = Path(__file__).parents[2] / "examples" / "thin-return-link.toml"
#: A millisecond, picoseconds.
MS = 10**9
#: Of an acknowledgement with timestamps, 52 octets, at 20 kbit/s.
SERVICE_MS = 20.8


def scenario(filters: bool, **tables: Any) -> dict[str, Any]:
    """The example, whose return link has a filter or none."""
    own = copy.deepcopy(tomllib.loads(EXAMPLE.read_text(encoding="utf-8")))
    (slow,) = (link for link in own["topology"]["link"] if "ack_filter" in link)
    slow["ack_filter"] = filters
    return {**own, "run": {"duration": "30 s"}, **tables}


def return_port(run: RunResult) -> dict[str, Any]:
    """The port before the return link."""
    return next(port for port in run.records["ports"] if port["name"] == "terminal>gateway")


@pytest.fixture(scope="module")
def filtered() -> RunResult:
    return skycell.run(skycell.parse(scenario(filters=True)))


def test_both_engines_filter_the_same(filtered: RunResult) -> None:
    reference = skycell.run(skycell.parse(scenario(filters=True)), engine="reference")
    for key in ("flows", "ports", "vcs", "ledger"):
        assert filtered.records[key] == reference.records[key]
    assert filtered.stepped_ports == {"terminal>gateway": "queue_management"}


def test_the_line_is_the_bottleneck_no_more(filtered: RunResult) -> None:
    plain = skycell.run(skycell.parse(scenario(filters=False)))
    rates = [run.records["flows"][0]["octets_acked"] * 8 / 30e6 for run in (plain, filtered)]
    assert rates[0] < 4.5 < 7 < rates[1]
    # Without a filter 50 wait, and others find no room.
    assert return_port(plain)["discarded"]["overflow"] > 100
    longest = return_port(plain)["octets"]["sojourn"]["max_ps"]
    assert longest == pytest.approx(50 * SERVICE_MS * MS, rel=0.03)


def test_every_acknowledgement_is_sent_or_has_a_newer_one_in_its_place(filtered: RunResult) -> None:
    port = return_port(filtered)
    count = port["discarded"]["filtered"]
    assert count == sum(port["discarded"].values()) > 1_000
    assert port["arrived"] == port["departed"] + port["queued"] + count
    assert port["queue"]["max"] <= 3  # a duplicate, at most, beside the one under transmission
    # What is sent came after the one before it had begun to go: it waits for one at most.
    assert port["octets"]["sojourn"]["max_ps"] <= 3 * SERVICE_MS * MS


def test_flows_that_are_encrypted_are_left_alone() -> None:
    tables = scenario(filters=True)
    topology = tables["topology"]
    topology["hosts"] += ["server2", "client2"]
    for link in list(topology["link"]):
        ends = {link["from"], link["to"]} & {"server", "client"}
        if ends:
            own = {
                key: f"{link[key]}2" if link[key] in ends else link[key] for key in ("from", "to")
            }
            topology["link"].append({**link, **own})
    topology["flow"].append({"name": "vpn", "source": "server2", "destination": "client2"})
    tables["flow"] = [{"names": ["vpn"], "ipsec": True}]
    run = skycell.run(skycell.parse(tables))
    filtered = {
        row["name"]: row["cells_discarded"].get("filtered", 0) for row in run.records["vcs"]
    }
    assert sum(n for name, n in filtered.items() if name.startswith("vpn")) == 0
    assert sum(n for name, n in filtered.items() if name.startswith("download")) > 100
