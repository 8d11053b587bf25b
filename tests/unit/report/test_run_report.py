"""The report of a run: its numbers are those of the records."""

import re
from pathlib import Path

import pytest

import skycell
from skycell.metrics import throughputs_bps
from skycell.metrics.run_rows import MANY
from skycell.plots.files import WouldOverwriteError
from skycell.report import write_run_report
from skycell.scenario import parse
from tests.unit.plots.browser import browse, outside_references
from tests.unit.plots.runs import run_without_traces, short_run
from tests.unit.report.drawing import page_of_run
from tests.unit.report.test_study import Page


@pytest.fixture(scope="module")
def html() -> str:
    return page_of_run(short_run())


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def test_each_flow_stands_with_its_throughput(page: Page) -> None:
    rates = throughputs_bps(short_run().records)
    table = next(t for t in page.tables if t[0][1] == "throughput (Mbit/s)")
    assert [line[:2] for line in table[1:]] == [
        [f"flow{number}", f"{rate / 1e6:.3f}"] for number, rate in enumerate(rates, 1)
    ]


def test_each_flow_stands_with_what_came_of_it_when_and_in_what_time(page: Page) -> None:
    table = next(t for t in page.tables if t[0][1] == "throughput (Mbit/s)")
    reported = ("delivered", "start", "largest cwnd", "delay: mean", "smallest", "largest")
    assert [head.split(" (")[0] for head in table[0][2:]] == list(reported)
    for line, flow in zip(table[1:], short_run().records["flows"], strict=True):
        assert line[2:] == [
            f"{flow['octets_delivered'] / 1e6:.3f}",  # MB
            f"{flow['start_ps'] / 1e12:.3f}",  # s
            f"{flow['cwnd_max'] / 1e3:.1f}",  # kB
            *(f"{flow[f'delay_{which}_ps'] / 1e9:.3f}" for which in ("mean", "min", "max")),  # ms
        ]
    table = next(t for t in page.tables if "sent again" in t[0])
    plain = [[cell.replace("\u202f", "") for cell in line] for line in table[1:]]
    segments = [f"segments_{what}" for what in ("sent", "retransmitted", "received", "duplicate")]
    keys = [*segments, "timeouts", "fast_retransmits", "dup_acks_received", "transfers"]
    flows = short_run().records["flows"]
    assert plain == [[flow["name"], *(str(flow[key]) for key in keys)] for flow in flows]


def test_it_begins_with_what_all_flows_had_together(page: Page) -> None:
    records = short_run().records
    octets = sum(flow["octets_delivered"] for flow in records["flows"])
    together = octets * 8 / (records["duration_ps"] / 1e12) / 1e6
    ceiling = short_run().ceiling_bps
    assert ceiling is not None
    of_it = f"{together * 1e6 / ceiling:.3f} of the {ceiling / 1e6:.2f} that TCP could get"
    reported = (
        f"Together {together:.2f} Mbit/s of TCP payload were delivered in order, {of_it}, with a"
    )
    assert reported in page.text


def test_one_flow_is_not_fair_to_others_and_ports_without_cells_are_left_out() -> None:
    start = {"kind": "together", "at": "40 ms"}
    scenario = {"preset": "icccn97-lan", "topology": {"sources": 1}, "start": start}
    page = Page(page_of_run(skycell.run({**scenario, "run": {"duration": "50 ms"}})))
    assert re.search(
        r"Together [1-9].* were delivered in order, .* that TCP could get\.", page.text
    )
    assert "fairness index" not in page.text
    # After a microsecond the first segment has come no further than to its host's own port.
    begun = Page(page_of_run(skycell.run({**scenario, "run": {"duration": "40.001 ms"}})))
    (table,) = (table for table in begun.tables if table[0][-1] == "largest queue")
    assert [line[0] for line in table[1:]] == ["source1>switch1"]


def test_the_congested_port_stands_with_policy_buffer_and_discards(page: Page) -> None:
    port = next(p for p in short_run().records["ports"] if p["name"] == "switch1>switch2")
    (line,) = next(t for t in page.tables if t[0][:2] == ["port", "arrived"])[1:]
    assert line[0] == "switch1>switch2Selective Drop, 600 cells"
    assert line[2].replace("\u202f", "") == str(sum(port["discarded"].values()))
    assert line[9] == str(port["queue"]["max"])
    duration_ps = short_run().records["duration_ps"]
    discarded = sum(port["discarded"].values()) / port["arrived"]
    assert line[1].replace("\u202f", "") == str(port["arrived"])
    assert line[3:6] == [
        f"{100 * discarded:.1f} %",
        f"{100 * port['busy_ps'] / duration_ps:.1f} %",
        f"{port['queue']['mean']:.1f}",
    ]
    assert line[6:9] == [str(port["queue"][quantile]) for quantile in ("p50", "p90", "p99")]


def test_ports_without_a_limit_stand_apart(page: Page) -> None:
    table = next(t for t in page.tables if t[0][-1] == "largest queue")
    names = [line[0] for line in table[1:]]
    assert "source1>switch1" in names
    assert "switch1>switch2" not in names
    ports = {port["name"]: port for port in short_run().records["ports"]}
    assert set(names) == {name for name, port in ports.items() if port["arrived"]} - {
        "switch1>switch2"
    }
    port = ports["source1>switch1"]
    (line,) = (line for line in table[1:] if line[0] == "source1>switch1")
    busy = port["busy_ps"] / short_run().records["duration_ps"]
    assert [cell.replace("\u202f", "") for cell in line[1:]] == [
        str(port["arrived"]),
        f"{100 * busy:.1f} %",
        f"{port['queue']['mean']:.1f}",
        str(port["queue"]["max"]),
    ]


def test_a_run_of_classes_contracts_and_web_users_is_told_as_on_the_command_line() -> None:
    scenario = """
preset = "icccn97-lan"
run.duration = "300 ms"
traffic = { kind = "web", page_interval = "1 s" }
[[topology.bottleneck.class]]
name = "nrt_vbr"
[[source]]
kind = "vbr"
name = "video"
peak_rate = 0.5
on = "10 ms"
off = "10 ms"
[[gfr]]
vcs = ["flow1.forward"]
mcr = "20000 cells/s"
[[policer]]
vcs = ["video"]
pcr = "100000 cells/s"
"""
    result = skycell.run(parse(scenario))
    tables = {t[0][0] + t[0][1]: t for t in reversed(Page(page_of_run(result)).tables)}
    queues = [line[0] for line in tables["portarrived"][1:]]
    assert queues == [
        "switch1>switch2 nrt_vbrtail drop, no limit",
        "switch1>switch2 restSelective Drop, 1\u202f000 cells",
    ]
    vc = next(vc for vc in result.records["vcs"] if vc["name"] == "flow1.forward")
    due = f"{vc['run_guarantee']['due_cells']:,}".replace(",", "\u202f")
    (contract,) = tables["VCframes"][1:]
    assert (contract[0], contract[6]) == ("flow1.forward", due)
    both = [t[1:] for t in Page(page_of_run(result)).tables if t[0][:2] == ["VC", "offered"]]
    ((policed,), (delay,)) = both
    vc = next(vc for vc in result.records["vcs"] if vc["name"] == "video")
    assert vc["cells_policed"] > 0
    reported = (vc["cells_offered"], vc["cells_nonconforming"], 0, vc["cells_policed"])
    assert policed == ["video", *(f"{cells:,}".replace(",", "\u202f") for cells in reported)]
    assert delay[0] == "video"
    found = result.records["cell_delays"][0]
    variation_ps = found["p999_ps"] - found["fixed_ps"]
    assert delay[-2:] == [f"{ps / 1e9:.3f}" for ps in (found["max_ps"], variation_ps)]
    assert [line[0] for line in tables["whatasked for"][1:]] == ["files", "pages"]


def test_every_account_of_the_ledger_is_there(page: Page) -> None:
    accounts = short_run().records["ledger"]["accounts"]
    table = next(t for t in page.tables if t[0][0] == "account")
    assert [line[0] for line in table[1:]] == [account["name"] for account in accounts]
    assert f"All {len(accounts)} accounts balance" in page.text


def test_an_account_that_does_not_balance_is_told() -> None:
    from skycell.report.run import _ledger_text

    accounts = [{"put_in": 3, "found": [["departed", 2]]}, {"put_in": 1, "found": [["x", 1]]}]
    text = _ledger_text({"ledger": {"accounts": accounts}})
    assert text == "1 of 2 accounts do not balance."


def test_the_report_names_the_run_and_how_to_make_it_again(page: Page) -> None:
    run = short_run()
    assert run.spec_hash in page.text
    assert f"Seed {run.seed}" in page.text
    assert "NetworkSpec.model_validate_json" in page.text
    assert '"sample_every_ps"' in page.text


def test_the_way_to_make_it_again_works(html: str, tmp_path: Path) -> None:
    import html as markup

    run = run_without_traces()
    code, spec = re.findall(r"<pre><code>(.*?)</code></pre>", page_of_run(run), re.DOTALL)
    (tmp_path / "spec.json").write_text(markup.unescape(spec), encoding="utf-8")
    names: dict[str, object] = {}
    script = markup.unescape(code).replace(
        'Path("spec.json")', f"Path({str(tmp_path)!r}, 'spec.json')"
    )
    exec(script, names)  # what the page tells people to do
    assert getattr(names["result"], "records", None) == run.records


@pytest.fixture(scope="module")
def many() -> skycell.RunResult:
    """More flows than anybody reads one by one."""
    return skycell.run(
        {
            "preset": "icccn97-lan",
            "run": {"duration": "10 ms"},
            "topology": {"kind": "dumbbell", "sources": MANY + 1},
        }
    )


def test_of_very_many_flows_the_ends_are_told_and_how_all_are_spread(
    many: skycell.RunResult,
) -> None:
    html = page_of_run(many)
    assert len(html) < 1_000_000
    page = Page(html)
    rates = sorted(rate / 1e6 for rate in throughputs_bps(many.records))
    flows, spread = page.tables[:2]
    reported = [float(line[1].replace("\u202f", "")) for line in flows[1:]]
    assert reported == pytest.approx([*rates[:20], *rates[-20:]], abs=5e-4)
    assert "of 501 rows, the 20 with the smallest and the 20 with the largest" in page.text
    assert "\u201cflows\u201d in records.json, which `skycell run --out` writes" in page.text
    assert spread[0] == ["column", "least", "10 %", "median", "90 %", "most"]
    # Nearest rank of 501: the 51st, the 251st and the 451st.
    quantiles = [rates[place] for place in (0, 50, 250, 450, 500)]
    assert spread[1] == ["throughput (Mbit/s)", *(f"{rate:.3f}" for rate in quantiles)]
    assert max(map(len, page.tables)) <= 41
    assert "Throughput of the flows" in page.text
    assert '"sample_every_ps"' not in page.text
    assert "from the spec.json that" in page.text


def test_of_very_many_flows_what_transfers_took_is_told_of_all_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    transfers = {"kind": "transfers", "size": "1000 B", "count": 2, "idle": "10 ms"}
    run = skycell.run(
        {
            "preset": "icccn97-lan",
            "run": {"duration": "100 ms"},
            "traffic": transfers,
            "records": {"traces": ["transfers"]},
        }
    )
    flows = [flow.name for flow in run.spec.flows]

    def reported() -> list[list[str]]:
        tables = Page(page_of_run(run)).tables
        return [line[:2] for line in next(t for t in tables if t[0][:2] == ["flow", "finished"])]

    finished = [[name, "2"] for name in flows]
    together = ["all flows", str(2 * len(flows))]
    assert reported() == [["flow", "finished"], together, *finished]
    monkeypatch.setattr("skycell.metrics.run_rows.MANY", len(flows) - 1)
    assert reported() == [["flow", "finished"], together]


def test_every_trace_has_its_figure(html: str) -> None:
    assert html.count("<figcaption>") == 7


def test_a_run_without_traces_has_a_report_without_figures() -> None:
    page = Page(page_of_run(run_without_traces()))
    assert "Figures" not in page.headings
    assert "One flow over 0.02 s" in page.headings


def test_the_report_asks_nothing_of_a_network(html: str, tmp_path: Path) -> None:
    assert outside_references(html) == []
    file = tmp_path / "run.html"
    file.write_text(html, encoding="utf-8")
    assert browse(file).requests == []


def test_a_report_does_not_replace_a_file_without_leave(tmp_path: Path) -> None:
    file = tmp_path / "run.html"
    assert write_run_report(run_without_traces(), file) == file
    with pytest.raises(WouldOverwriteError, match=r"run\.html exists already"):
        write_run_report(run_without_traces(), file)
    assert write_run_report(run_without_traces(), file, force=True) == file
