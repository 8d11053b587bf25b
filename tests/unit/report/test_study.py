"""The report of a study says everything that was found, and holds everything it needs."""

import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from skycell.experiment.run import run_spec
from skycell.input.settings import read_value
from skycell.plots.files import WouldOverwriteError
from skycell.report import write_study_report
from skycell.report.comparison import (
    comparison_figure,
    comparison_table,
    groups_of,
    scores_table,
    tally,
)
from skycell.report.example import Example, planned_example
from skycell.report.study import conclusions_text, origin_of, study_figures, study_page
from skycell.studies.compare import Row
from skycell.studies.design import cell_of, scenario_of
from skycell.studies.findings import ConclusionResult, RunByRun
from skycell.studies.library import load_study
from skycell.studies.reproduction import Reproduction
from skycell.studies.sensitivity_store import KeptSensitivity
from tests.unit.plots.browser import browse, outside_references
from tests.unit.plots.traces import drawn
from tests.unit.report.drawing import pictures
from tests.unit.report.reproductions import (
    CONCLUSIONS,
    ROWS,
    geo,
    of_two_studies,
    reproduction,
    row,
)

CONCLUSIONS_TEXT = (
    "Of 2 conclusions that hold in the published numbers, 1 holds in ours "
    "(1 more needs values that were not run)."
)

STUDY = load_study("icccn97")


def example_of(made: Reproduction) -> Example | None:
    """The run over time of the study, simulated."""
    planned = planned_example(made, STUDY)
    if planned is None:
        return None
    return planned.example([run_spec(spec, made.engine) for spec in planned.specs])


class Page(HTMLParser):
    """Text, tables and headings of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.open: list[str] = []
        self.headings: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in {"meta", "br", "path", "rect", "line"}:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"td", "th"}:
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if {"script", "style", "svg"} & set(self.open):
            return
        self.words.append(data)
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data
        if {"h1", "h2", "h3"} & set(self.open):
            self.headings.append(data.strip())

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))


@pytest.fixture(scope="module")
def html() -> str:
    """The report of a reproduction, without a run over time."""
    made = reproduction()
    return study_page(made, STUDY, pictures(study_figures(made, STUDY.id)), None)


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def test_the_report_begins_with_what_came_out(page: Page) -> None:
    assert (
        "Of 5 published values 3 lie inside the span of our replications, 1 near it and 1 off. "
        "Of 2 conclusions that hold in the published numbers, 1 holds in ours."
    ) in page.text


def test_each_row_stands_with_the_published_value_ours_and_the_verdict(page: Page) -> None:
    table = next(t for t in page.tables if "verdict" in t[0])
    assert table[0] == [
        "TCP",
        "buffer policy",
        "published",
        "ours",
        "verdict",
        "difference",
        "SD",
        "lowest to highest",
    ]
    assert table[1] == [
        "SACK",
        "tail drop",
        "0.86",
        "0.870",
        "inside",
        "+0.010",
        "0.028",
        "0.850 to 0.890",
    ]
    assert table[3][2:6] == ["0.721", "0.320", "off2", "\u22120.400"]  # 0.72 with note 1


def test_a_doubt_about_the_print_stands_below_its_table_as_text(html: str) -> None:
    assert "&lt;two&gt; copies differ" in html
    assert "<two>" not in html


def test_what_is_the_same_in_all_rows_stands_in_the_caption(page: Page) -> None:
    assert (
        "ICCCN'97, Table 3; GEO, N = 5, buffer 200\u202f000 cells. Ours: mean of 2 replications; "
        "SD: their standard deviation."
    ) in " ".join(page.words)


def test_scores_count_suspect_prints_and_failures_apart(page: Page) -> None:
    table = next(t for t in page.tables if "mean absolute error" in t[0])
    assert table[1:] == [
        # |0.87 - 0.86|, |0.67 - 0.60|, |0.32 - 0.72|: mean 0.16
        ["ICCCN'97, Table 3", "values", "3", "1", "1", "1", "0.160"],
        ["ICCCN'97, Table 3", "suspect print", "1", "1", "0", "0", "0.030"],
        ["ICCCN'97, Table 4", "values", "1", "1", "0", "0", "0.005"],
        ["ICCCN'97, Table 4", "failed", "1", "–", "–", "–", "–"],
    ]


def test_a_row_without_a_result_says_why(page: Page) -> None:
    assert ["icccn97 geo policy=epd", "2", "out of memory"] in page.tables[1]
    fairness = [t for t in page.tables if "verdict" in t[0]][1]
    assert fairness[2] == ["EPD", "0.83", "–", "failed1", "–", "–", "–"]


def test_each_conclusion_says_whether_it_holds_and_on_what_evidence(page: Page) -> None:
    assert "3.1 SACK is best. In print holds ours holds 6 of 6." in page.text
    assert (
        "3.2 Reno is worst. In print holds ours does not hold Published: a; ours: b." in page.text
    )
    assert "3.3 Policies differ little. In print does not hold ours not decided No n" in page.text


def test_the_numbers_of_conclusions_are_told_to_be_no_sections_of_the_publication(
    page: Page,
) -> None:
    reported = (
        "The numbers are ours and not those of sections of the publication: the first part counts"
    )
    assert reported in page.text
    none = study_page(reproduction(conclusions=[]), STUDY, [], None)
    own = study_page(reproduction(), STUDY.model_copy(update={"origin": "own"}), [], None)
    assert reported not in Page(none).text + Page(own).text


def test_a_verdict_says_in_how_many_single_replications_it_holds(page: Page) -> None:
    assert "single replications" not in page.text
    conclusions = [
        replace(CONCLUSIONS[0], run_by_run=RunByRun(5, 5)),
        replace(CONCLUSIONS[1], run_by_run=RunByRun(2, 5)),
    ]
    text = Page(study_page(reproduction(conclusions=conclusions), STUDY, [], None)).text
    assert "In print holds ours holds (holds in 5 of 5 single replications) 6 of" in text
    assert "ours does not hold (holds in 2 of 5 single replications) Published: a; ours" in text
    assert (
        "1 holds in ours. Every single replication agrees on 1 of 1 that hold and on 0 of 1 that "
        "do not. The verdict on our values is that of the means over the replications. In how "
        in text
    )
    assert "how much of the verdict is chance: published values are mostly those of one run" in text


def test_a_single_replication_says_nothing_of_its_own() -> None:
    conclusions = [replace(CONCLUSIONS[0], run_by_run=RunByRun(1, 1))]
    text = Page(study_page(reproduction(conclusions=conclusions), STUDY, [], None)).text
    assert "single replication" not in text


def test_every_choice_of_the_study_stands_with_value_and_reason(page: Page) -> None:
    table = next(t for t in page.tables if t[0] == ["parameter", "value", "reason"])
    assert len(table) - 1 == len(STUDY.choices)
    for choice, line in zip(STUDY.choices, table[1:], strict=True):
        assert line[0] == choice.meaning + choice.name
        assert choice.reason[1:] in line[2]


def test_a_choice_that_was_set_otherwise_is_told_with_the_studys_own() -> None:
    made = reproduction(overrides={"tcp.tick": "200 ms"})
    page = Page(study_page(made, STUDY, [], None))
    table = next(t for t in page.tables if t[0] == ["parameter", "value", "reason"])
    value = next(line[1] for line in table if line[0].endswith("tcp.tick"))
    assert value == "200 msset for these runs; the study says 100 ms"
    assert "Changed tcp.tick = 200 ms" in page.text
    captions = [figure.caption_text() for figure in study_figures(made, "icccn97")]
    assert captions
    assert all("from the study: tcp.tick = 200 ms." in caption for caption in captions)
    assert "--set 'tcp.tick=200 ms'" in page.text


def test_a_choice_that_is_a_table_or_a_truth_is_told_in_the_words_of_what_was_tried() -> None:
    rows = [row("atmf980876r1-t10", {"config": "geo", "tcp": "sack"}, 0.9, (0.9,))]
    page = Page(study_page(reproduction(rows), load_study("atmf980876r1"), [], None))
    table = next(t for t in page.tables if t[0] == ["parameter", "value", "reason"])
    values = {line[0].rsplit("web.", 1)[-1].rsplit("tcp.", 1)[-1]: line[1] for line in table}
    assert values["gap"] == "uniform, 100 ms, 500 msor 300 ms"
    assert values["nagle"] == "falseor true"


def test_what_was_set_otherwise_can_be_set_again_as_the_report_has_it() -> None:
    overrides = {
        "web.gap": {"kind": "exponential", "mean": "300 ms"},
        "tcp.nagle": True,
        "tcp.tick": "200 ms",
    }
    rows = [row("atmf980876r1-t10", {"config": "geo", "tcp": "sack"}, 0.9, (0.9,))]
    made = reproduction(rows, overrides=overrides)
    page = Page(study_page(made, load_study("atmf980876r1"), [], None))
    written = 'web.gap = {kind = "exponential", mean = "300 ms"}'
    reported = f"{written}, tcp.nagle = true, tcp.tick = 200 ms"
    assert f"Changed {written}, tcp.nagle = true and tcp.tick = 200 ms" in page.text
    captions = [figure.caption_text() for figure in study_figures(made, "atmf980876r1")]
    assert captions
    assert all(f"from the study: {reported}." in caption for caption in captions)
    inputs = re.findall(r"--set ('[^']*'|\S+)", page.text)
    texts = [text.strip("'").split("=", 1) for text in inputs]
    assert {key: read_value(value) for key, value in texts} == overrides


def test_every_alternative_that_was_tried_stands_with_what_it_moves(page: Page) -> None:
    kept = KeptSensitivity.of_study(STUDY)
    assert kept is not None
    heads = ["changed choice", "ICCCN'97, Table 3", "ICCCN'97, Table 4", "conclusions"]
    table = next(t for t in page.tables if t[0][0] == heads[0])
    assert table[0] == heads
    assert len(table) - 1 == len(kept.alternatives)
    shown = {"icccn97-t3", "icccn97-t4"}
    judged = {found.id for found in STUDY.conclusions if shown.intersection(found.tables)}
    for entry, line in zip(kept.alternatives, table[1:], strict=True):
        moved = entry.effects["icccn97-t3"].change
        assert line[0].startswith(f"{entry.key} = ")
        assert line[1] == ("\u2013" if moved is None else f"{moved:.3f}")
        flips = [name for name in entry.flips if name in judged]
        assert (line[3] == "as chosen") == (not flips)
        assert all(name in line[3] for name in flips)
    assert "How much they matter" in page.headings
    assert f"Measured beforehand with skycell {kept.version}" in page.text


def test_the_report_says_how_to_run_it_again_with_every_spec(page: Page) -> None:
    assert (
        "skycell reproduce icccn97-t3 icccn97-t4 \\ --engine reference \\ --seed 1 \\ "
        "--replications 2"
    ) in page.text
    specs = next(t for t in page.tables if t[0] == ["case", "specs"])
    shown = " ".join(line[1] for line in specs[1:]).split()
    assert sorted(shown) == sorted({name[:16] for entry in ROWS for name in entry.spec_hashes})
    # Tables 3 and 4 are measured on the same runs: four cases, two seeds.
    assert "Specs of all 8 runs" in page.text


def test_where_the_published_values_come_from_is_told(page: Page) -> None:
    table = next(t for t in page.tables if t[0] == ["file", "document", "place", "doubts"])
    assert [line[0] for line in table[1:]] == [
        "icccn97-t3-geo-efficiency.csv",
        "icccn97-t4-geo-fairness.csv",
    ]


def test_figures_stand_in_the_page_with_caption_and_description(html: str) -> None:
    pictures = re.findall(r'<svg [^>]*role="img" aria-label="([^"]+)"', html)
    assert len(pictures) == 2
    assert "SACK, Selective Drop: ours 0.32, published 0.72" in pictures[0]
    assert html.count("<figcaption>") == 2
    assert "Published values: ICCCN&#39;97, Table 4." in html


def test_every_table_has_a_caption_and_headings(html: str) -> None:
    tables = re.findall(r"<table.*?</table>", html, re.DOTALL)
    assert len(tables) >= 6
    for table in tables:
        assert "<caption>" in table
        assert '<th scope="col"' in table
        assert '<th scope="row"' in table


def test_no_id_is_given_twice(html: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))


def test_every_link_of_the_contents_leads_somewhere(html: str) -> None:
    targets = re.findall(r'href="#([\w-]+)"', html)
    assert len(targets) == 7
    for target in targets:
        assert f'id="{target}"' in html


def test_nothing_in_the_report_refers_to_another_place(html: str) -> None:
    assert outside_references(html) == []


def test_the_report_opens_and_sorts_in_a_browser_without_a_network(
    html: str, tmp_path: Path
) -> None:
    file = tmp_path / "report.html"
    press = "<script>document.querySelectorAll('thead button')[3].click()</script>"
    file.write_text(html.replace("</body>", press + "</body>"), encoding="utf-8")
    visit = browse(file)
    assert visit.requests == []
    table = next(t for t in Page(visit.dom).tables if "verdict" in t[0])
    ours = [line[3] for line in table[1:]]
    assert ours == sorted(ours)
    assert 'aria-sort="ascending"' in visit.dom


def test_averages_and_other_metrics_of_a_table_are_groups_of_their_own() -> None:
    lan = {"config": "lan", "tcp": "sack", "policy": "epd"}
    full = {**geo("epd"), "config": "lan"}
    made = reproduction(
        [
            row("icccn97-t1", full, 0.9, (0.9, 0.9)),
            row("icccn97-t1", lan, 0.89, (0.9, 0.9), is_average=True),
        ]
    )
    cells, averages = groups_of(made, "icccn97")
    assert (cells.name, averages.name) == (
        "icccn97-t1-efficiency",
        "icccn97-t1-efficiency-averages",
    )
    assert "averages, efficiency" in comparison_table(averages, several=True).caption


def test_a_group_without_any_result_has_no_figure() -> None:
    made = reproduction([row("icccn97-t3", geo("sd"), 0.7, (), failures=("no",))])
    (group,) = groups_of(made, "icccn97")
    assert comparison_figure(group, origin_of(made, "icccn97")) is None


def test_a_difference_that_rounds_to_nothing_has_no_sign() -> None:
    made = reproduction([row("icccn97-t3", geo("sd"), 0.7, (0.6999, 0.6999))])
    (group,) = groups_of(made, "icccn97")
    (line,) = comparison_table(group, several=False).rows
    assert [cell.text for cell in line] == [
        "GEO",
        "0.70",
        "0.700",
        "inside",
        "0.000",
        "0.000",
        "0.700 to 0.700",
    ]


def test_values_that_were_never_printed_are_counted_as_such() -> None:
    made = reproduction([row("icccn97-t3", geo("sd"), None, (0.7, 0.8))])
    table = scores_table(made.summaries, {"icccn97-t3": "Table 3"})
    assert [cell.text for cell in table.rows[0]][:3] == ["Table 3", "never printed as numbers", "1"]
    assert tally(made.summaries) == "These tables have no numbers in print to compare with."
    (figure,) = (f for f in study_figures(made, STUDY.id) if f.name.startswith("icccn97-t3"))
    assert "diamond" not in figure.caption_text()
    assert "Published values" not in figure.caption_text()


@pytest.mark.parametrize(
    ("conclusions", "text"),
    [
        ([], "No conclusion is about these tables."),
        (CONCLUSIONS, "Of 2 conclusions that hold in the published numbers, 1 holds in ours."),
        (
            [*CONCLUSIONS, ConclusionResult("icccn97", "4", "x", True, None, "no numbers")],
            CONCLUSIONS_TEXT,
        ),
        (
            [ConclusionResult("icccn97", "4", "x", None, True, "y")],
            "The one conclusion that our numbers decide holds.",
        ),
    ],
)
def test_conclusions_are_summed_up(conclusions: list[ConclusionResult], text: str) -> None:
    assert conclusions_text(conclusions) == text


def short() -> dict[str, str]:
    """Makes the runs of a study so short that a test can make one."""
    return {"run.duration": "150 ms"}


def test_the_run_over_time_is_the_recommended_cell_of_the_study() -> None:
    lan = [
        {**geo(p), "config": "lan", "buffer_cells": 1000, "n_sources": n}
        for p, n in (("epd", 5), ("sd", 15), ("sd", 5))
    ]
    made = reproduction(
        [row("icccn97-t1", factors, 0.9, (0.9, 0.9)) for factors in lan], overrides=short()
    )
    example = example_of(made)
    assert example is not None
    assert example.text.startswith("LAN, N = 5, buffer 1\u202f000 cells, SACK, ")
    windows = [f"icccn97-figure{number}" for number in range(1, 5)]
    names = [figure.name for figure in example.figures]
    assert names == ["icccn97-run-cwnd", "icccn97-run-queue", *windows]
    changed = ", ".join(f"{key} = {value}" for key, value in short().items())
    for figure in example.figures:
        assert f"Set differently from the study: {changed}." in figure.caption_text()


def test_the_run_over_time_is_called_the_same_only_if_its_spec_is_among_the_rows() -> None:
    factors = {**geo("sd"), "config": "lan", "buffer_cells": 1000}
    entry = row("icccn97-t1", factors, 0.9, (0.9, 0.9))
    case = cell_of(STUDY, "terrestrial", factors)
    spec = scenario_of(STUDY, case, short()).resolve(1).hash()
    own = replace(entry, spec_hashes=(spec, "0" * 64))
    texts = []
    for rows in ([entry], [own]):
        example = example_of(reproduction(rows, overrides=short()))
        assert example is not None
        texts.append(example.text)
    said = f" The same run as {spec[:12]} in the tables, with its traces kept."
    assert texts == [texts[0], texts[0] + said]


def test_a_study_without_results_has_no_run_over_time() -> None:
    made = reproduction([row("icccn97-t3", geo("sd"), 0.7, (), failures=("no",))])
    assert planned_example(made, STUDY) is None


def test_the_report_is_written_with_its_figures_in_three_formats(tmp_path: Path) -> None:
    lan = {**geo("sd"), "config": "lan", "buffer_cells": 1000}
    made = reproduction([row("icccn97-t1", lan, 0.9, (0.9, 0.9))], overrides=short())
    files = write_study_report(made, tmp_path)
    windows = [f"icccn97-figure{number}" for number in range(1, 5)]
    stems = ("icccn97-t1-efficiency", "icccn97-run-cwnd", "icccn97-run-queue", *windows)
    expected = [f"figures/{stem}.{form}" for stem in stems for form in ("svg", "pdf", "png")]
    assert [str(file.relative_to(tmp_path)) for file in files] == ["report.html", *expected]
    assert all(file.stat().st_size > 1000 for file in files)
    text = files[0].read_text(encoding="utf-8")
    assert text.count("<figcaption>") == len(stems)
    with pytest.raises(WouldOverwriteError, match=r"report\.html exists already"):
        write_study_report(made, tmp_path)
    files[0].unlink()
    with pytest.raises(WouldOverwriteError, match=r"efficiency\.svg"):
        write_study_report(made, tmp_path, example=False)
    assert not files[0].exists()
    assert write_study_report(made, tmp_path, force=True) == files


def test_numpy_is_whole_before_the_engines_thread_needs_it(tmp_path: Path) -> None:
    script = f"""
import sys
from pathlib import Path
from skycell.experiment import run
from skycell.report import write_study_report
from tests.unit.report.reproductions import geo, reproduction, row

def seen(spec, engine, simulate=run.run_spec):
    print("numpy" in sys.modules)
    return simulate(spec, engine)

run.run_spec = seen
lan = {{**geo("sd"), "config": "lan", "buffer_cells": 1000}}
rows = [row("icccn97-t1", lan, 0.9, (0.9, 0.9))]
write_study_report(reproduction(rows, overrides={short()!r}), Path({str(tmp_path)!r}))
"""
    root = Path(__file__).parents[3]
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True
    )
    assert set(run.stdout.split()) == {"True"}


def test_several_studies_get_a_folder_each_and_an_index(tmp_path: Path) -> None:
    files = write_study_report(of_two_studies(), tmp_path, example=False)
    pages = [str(file.relative_to(tmp_path)) for file in files if file.suffix == ".html"]
    assert pages == ["index.html", "icccn97/report.html", "ijsc/report.html"]
    index = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert 'href="icccn97/report.html"' in index
    assert outside_references(index.replace('href="i', "")) == []
    assert "Of 5 published values 3 lie inside" in index


def test_the_same_reproduction_gives_the_same_page(html: str) -> None:
    made = reproduction()
    assert study_page(made, STUDY, pictures(study_figures(made, STUDY.id)), None) == html


def buffer_study() -> list[Row]:
    """Two sizes of buffer for two latencies."""
    return [
        row(
            "atmf970616-s4",
            {"config": config, "n_sources": 15, "buffer_cells": cells},
            None,
            (0.7, 0.8),
            metric=metric,
        )
        for metric in ("efficiency", "jain_fairness")
        for config, sizes in (("leo", (6000, 12_000)), ("geo", (50_000, 200_000)))
        for cells in sizes
    ]


def test_a_buffer_study_is_drawn_against_round_trips() -> None:
    made = reproduction(buffer_study(), [])
    efficiency, fairness = study_figures(made, "atmf970616")
    points = [row for row in drawn(efficiency) if "low" in row]
    assert {(row["panel"], row["x"]) for row in points} == {
        ("LEO", 0.5),
        ("LEO", 1.0),
        ("GEO", 0.25),
        ("GEO", 1.0),
    }
    assert "'type': 'log'" in str(efficiency.bare_spec())
    dashed = [row for row in drawn(efficiency) if row.get("kind") == "reference"]
    assert {(row["panel"], row["value"]) for row in dashed} == {("LEO", 0.98), ("GEO", 0.98)}
    assert efficiency.caption[-1].startswith("Dashed: 0.98, which the publication states")
    assert not any("Dashed" in sentence for sentence in fairness.caption)
    assert (efficiency.subtitle, fairness.subtitle) == ("Efficiency", "Fairness index")
    assert efficiency.name == "atmf970616-s4-efficiency"


def test_values_that_were_never_printed_have_no_columns_for_the_print() -> None:
    made = reproduction(buffer_study(), [])
    (group, _) = groups_of(made, "atmf970616")
    table = comparison_table(group, several=True)
    assert [column.title for column in table.columns] == [
        "configuration",
        "buffer (cells)",
        "ours",
        "SD",
        "lowest to highest",
    ]
    assert [cell.text for cell in table.rows[0]][2:] == ["0.750", "0.071", "0.700 to 0.800"]


def test_counts_beside_a_tables_values_have_no_figure() -> None:
    case = {"set": 1, "buffer_cells": 4096, "max_window_bytes": 600_000}
    made = reproduction(
        [
            row("atmf960518-t1", case, 52.5, (50.0, 60.0), metric="throughput", unit="Mbit/s"),
            row("atmf960518-t1", case, None, (3.0, 4.0), metric="cells_discarded", unit="cells"),
        ],
        [],
    )
    assert [figure.name for figure in study_figures(made, "atmf960518")] == [
        "atmf960518-t1-throughput"
    ]
    assert len(groups_of(made, "atmf960518")) == 2
