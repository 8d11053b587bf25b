"""What a run over links of packets shows: their unit, wherever people read one."""

import json
import re
from pathlib import Path

import pytest

from skycell.plots.figure import NothingToDrawError
from skycell.plots.run import figures_of_run, run_figure
from skycell.records.reading import read_result
from tests.unit.cli.calling import skycell

SCENARIO = """
[run]
duration = "4 s"
[topology]
kind = "dumbbell"
sources = 3
bottleneck.rate = "2 Mbit/s"
bottleneck.framing = "ethernet"
bottleneck.delay = "20 ms"
bottleneck.buffer = "15 kB"
bottleneck.loss = 0.001
access = { rate = "10 Mbit/s", delay = "1 ms" }
[tcp]
mss = "1460 B"
receiver_window = "64 kB"
[records]
traces = ["queue", "vc_queue", "discards"]
[[source]]
kind = "cbr"
name = "call"
rate = "80 kbit/s"
packet_size = "200 B"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result of a run over links of packets."""
    place = tmp_path_factory.mktemp("packets")
    (place / "packets.toml").write_text(SCENARIO, encoding="utf-8")
    reported = skycell("run", place / "packets.toml", "--out", place / "out")
    assert reported.exit_code == 0, reported.stderr
    (place / "shown.txt").write_text(reported.stdout, encoding="utf-8")
    return place


def words_on_cells(text: str) -> list[str]:
    return re.findall(r"(?<![a-zA-Z_])[cC]ells?(?![a-zA-Z_])", text)


def test_a_run_shows_packets_octets_and_milliseconds(folder: Path) -> None:
    shown = (folder / "shown.txt").read_text(encoding="utf-8")
    assert "Ports with a limited buffer, in packets" in shown
    assert "Octets in these ports, and how long packets stayed, ms" in shown
    assert re.search(r"router1>router2 +15 000 B ", shown)
    assert re.search(r"Link \S+ lost [\d ]+ of [\d ]+ packets \(", shown)
    assert words_on_cells(shown) == []


def test_a_report_speaks_of_packets(folder: Path) -> None:
    reported = skycell("report", folder / "out", "--out", folder / "report.html", "--force")
    assert reported.exit_code == 0, reported.stderr
    page = (folder / "report.html").read_text(encoding="utf-8")
    body = page[page.index("<body") :]
    text = re.sub(r"<(script|style|pre)\b.*?</\1>", " ", body, flags=re.DOTALL)
    text = re.sub(r"<[^>]*>", " ", text)
    # What names a kind of sender in the ledger, and a key of the spec.
    assert words_on_cells(text.replace("cell sources", "")) == []
    assert "packets offered" in text


def test_records_name_their_accounts_after_packets(folder: Path) -> None:
    records = json.loads((folder / "out" / "records.json").read_text(encoding="utf-8"))
    names = [account["name"] for account in records["ledger"]["accounts"]]
    assert "packets, vc flow1.forward2" in names
    assert not [name for name in names if name.startswith("cells")]
    port = next(port for port in records["ports"] if port["name"] == "router1>router2")
    stays = port["octets"]["sojourn"]
    order = ["min_ps", "p50_ps", "p90_ps", "p95_ps", "p99_ps", "p999_ps", "max_ps"]
    assert [stays[key] for key in order] == sorted(stays[key] for key in order)
    # 15 000 octets are ten packets of 1500, each 1538 on the line of 2 Mbit/s.
    assert stays["max_ps"] <= 10 * 1538 * 4_000_000


def test_figures_of_a_run_have_packets_on_their_axes(folder: Path) -> None:
    result = read_result(folder / "out")
    figures = {figure.name: figure for figure in figures_of_run(result)}
    assert {"queue", "vc-queue", "sojourn", "discards"} <= figures.keys()
    for figure in figures.values():
        text = f"{figure.title} {figure.caption_text()} {figure.description}"
        assert words_on_cells(text) == [], figure.name
    assert "Queue (packets)" in json.dumps(figures["queue"].chart.to_dict(validate=False))
    assert "Packets discarded" in json.dumps(figures["discards"].chart.to_dict(validate=False))


def test_a_figure_of_sojourn_times_has_the_percentiles_of_the_records(folder: Path) -> None:
    result = read_result(folder / "out")
    figure = run_figure(result, "sojourn", port="router1>router2")
    (values,) = figure.chart.to_dict(validate=False)["datasets"].values()
    port = next(p for p in result.records["ports"] if p["name"] == "router1>router2")
    stays = port["octets"]["sojourn"]
    assert {value["part"]: value["ms"] for value in values} == pytest.approx(
        {
            "median": stays["p50_ps"] / 1e9,
            "90 %": stays["p90_ps"] / 1e9,
            "95 %": stays["p95_ps"] / 1e9,
            "99 %": stays["p99_ps"] / 1e9,
            "99.9 %": stays["p999_ps"] / 1e9,
            "largest": stays["max_ps"] / 1e9,
        }
    )
    with pytest.raises(NothingToDrawError, match="no port of packets"):
        run_figure(result, "sojourn", port="source1>router1")


def test_a_sweep_gives_counts_of_ports_in_packets(folder: Path) -> None:
    file = folder / "sweep.toml"
    sweep = re.sub(r"^(\[+)", r"\1scenario.", SCENARIO, flags=re.MULTILINE)
    file.write_text(
        'responses = ["mean_queue", "p50_sojourn", "p95_sojourn", "p99_sojourn"]\n'
        + sweep
        + '[factors.buffer]\nkey = "topology.bottleneck.buffer"\nlevels = ["5 kB", "20 packets"]\n',
        encoding="utf-8",
    )
    reported = skycell("sweep", file, "--json", "--jobs", 1, "--store", folder / "runs.sqlite")
    assert reported.exit_code == 0, reported.stderr
    result = json.loads(reported.stdout)
    assert result["units"]["mean_queue"] == "packets"
    for run in result["runs"]:
        _, *stays = run["values"].values()
        assert 0 < stays[0] < stays[-1]
        assert stays == sorted(stays)
