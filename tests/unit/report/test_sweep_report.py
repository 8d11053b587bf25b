"""The report of a sweep holds its findings, figures and tables, and asks nothing of a network."""

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from skycell.experiment.result import SweepResult, SweepRun
from skycell.plots.files import WouldOverwriteError
from skycell.report import write_sweep_report


def result(replications: int = 3, spread: float = 0.03) -> SweepResult:
    """SACK is better by 0.3, whatever the buffer; the fairness is chance."""
    draw = random.Random(2)
    runs = [
        SweepRun(
            levels={"tcp": tcp, "buffer": buffer},
            replication=k,
            seed=k,
            spec_hash=f"{tcp}{buffer}{k}".encode().hex().ljust(64, "0"),
            values={
                "efficiency": base + draw.gauss(0, spread),
                "max_min_fairness": 0.9 + draw.gauss(0, spread),
            },
            reason=None,
        )
        for tcp, base in (("reno", 0.6), ("sack", 0.9))
        for buffer in (0.5, 1)
        for k in range(1, replications + 1)
    ]
    return SweepResult(
        title="TCP & buffer",
        file="studies/tcp.toml",
        factors={"tcp": ("reno", "sack"), "buffer": (0.5, 1)},
        replications=replications,
        first_seed=1,
        common_random_numbers=True,
        units={"efficiency": "1", "max_min_fairness": "1"},
        engine="fast",
        version="0.1.0+test",
        runs=tuple(runs),
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("report") / "report.html"
    write_sweep_report(result(), out)
    return out.read_text(encoding="utf-8")


def text_of(page: str) -> str:
    body = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.S)
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def test_it_begins_with_the_factor_that_explains_most_and_what_is_chance(page: str) -> None:
    lead = re.search(r'<p class="lead">(.*?)</p>', page, re.S)
    assert lead is not None
    assert re.fullmatch(
        r"TCP explains 96 % of the variation of efficiency; no factor can be shown to move "
        r"max-min fairness index\.",
        lead.group(1).strip(),
    )


def test_it_says_what_was_run_and_how_to_run_it_again(page: str) -> None:
    text = text_of(page)
    assert "Factor TCP Reno, SACK" in text
    assert "12: 4 cells, 3 replications of each, the same seeds in every cell, from 1" in text
    assert "fast, skycell 0.1.0+test" in text
    assert "skycell sweep studies/tcp.toml --replications 3 --engine fast" in text
    assert text.count("TCP = Reno, buffer = 0.5") == 3


def test_the_specs_of_many_runs_are_in_the_table_beside_it(tmp_path: Path) -> None:
    write_sweep_report(result(replications=126), tmp_path / "report.html")
    text = text_of((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "The seed and the spec of each run are in runs.csv." in text
    assert "Seeds and specs of all" not in text


def test_every_response_has_its_findings_figures_and_tables(page: str) -> None:
    text = text_of(page)
    assert page.count("<svg") == 2 * 6
    for part in ("Allocation of variation.", "Means and main effects.", "Interaction of TCP and"):
        assert text.count(part) == 2
    assert "At 90 % confidence tcp and buffer matter;" in text
    assert "At 90 % confidence no factor matters" in text
    assert "differ" in text
    assert "not told apart" in text
    assert text.count("Efficiency by buffer and TCP: mean of 3 replications (and its 90 %") == 1
    best = r"Best efficiency: 0\.\d{4} \(90 % interval [^)]*\) with SACK, buffer = [\d.]+\."
    assert len(re.findall(best, text)) == 2  # in words and above its table


def test_cells_have_their_means_and_spreads(page: str) -> None:
    rows = re.findall(r"<tr>(.*?)</tr>", page[page.index('id="cells"') :], re.S)
    first = text_of(rows[1]).split()
    values = [run.values["efficiency"] or 0.0 for run in result().runs[:3]]
    assert first[:2] == ["Reno", "0.5"]
    assert first[2] == f"{sum(values) / 3:.4f}"


def test_it_asks_nothing_of_a_network_and_escapes_what_people_wrote(page: str) -> None:
    assert "TCP &amp; buffer" in page
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)


def test_failed_runs_are_told_and_the_rest_is_analysed(tmp_path: Path) -> None:
    whole = result()
    broken = replace(whole.runs[4], values=dict.fromkeys(whole.units), reason="ran into <a wall>")
    runs = (*whole.runs[:4], broken, *whole.runs[5:])
    write_sweep_report(replace(whole, runs=runs), tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "ran into &lt;a wall&gt;" in page
    assert "1 row without a value of efficiency is left out." in text_of(page)


def test_responses_that_cannot_be_analysed_say_why(tmp_path: Path) -> None:
    whole = result()
    runs = tuple(
        replace(run, values={"efficiency": run.values["efficiency"], "max_min_fairness": None})
        for run in whole.runs
    )
    write_sweep_report(replace(whole, runs=runs), tmp_path / "a.html")
    text = text_of((tmp_path / "a.html").read_text(encoding="utf-8"))
    assert "No analysis: no row has a value of max_min_fairness." in text
    assert "TCP explains 96 %" in text


def test_figures_are_written_beside_it_in_three_formats(tmp_path: Path) -> None:
    out = tmp_path / "out" / "report.html"
    written = write_sweep_report(result(), out, figures=tmp_path / "out" / "figures")
    assert written[0] == out
    assert len(written) == 1 + 2 * 6 * 3
    assert {path.suffix for path in written[1:]} == {".svg", ".pdf", ".png"}
    with pytest.raises(WouldOverwriteError):
        write_sweep_report(result(), out)
