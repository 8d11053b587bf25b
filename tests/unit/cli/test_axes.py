"""`--x`, `--series` and `--facet` of tables and figures, and tables as LaTeX."""

from pathlib import Path

import pytest

from tests.unit.cli.calling import refused, reported_together, skycell

SWEEP = """
replications = 2
responses = ["throughput", "mean_delay", "ceiling", "utilisation", "p99_queue"]

[scenario]
preset = "icccn97-lan"
run.duration = "20 ms"

[factors.tcp]
key = "tcp.recovery"
levels = ["reno", "sack"]

[factors.buffer]
key = "topology.bottleneck.buffer"
form = "{} cells"
levels = [300, 3000]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("axes")
    (folder / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    store = folder / "runs.sqlite"
    out = ("--out", folder / "out", "--no-report", "--store", store, "--jobs", 1)
    assert skycell("sweep", folder / "sweep.toml", *out).exit_code == 0
    return folder


def test_a_sweep_and_its_analysis_show_the_same_tables_by_two_factors(made: Path) -> None:
    axes = ("--x", "buffer", "--series", "tcp")
    shown = skycell("sweep", made / "sweep.toml", "--store", made / "runs.sqlite", *axes).stdout
    again = skycell("analyse", made / "out", *axes).stdout
    tables = shown[: shown.index("\nthroughput (Mbit/s)\n")]
    assert again.startswith(tables)
    assert tables.count(" by buffer (cells) and TCP; mean of 2 replications") == 5
    assert "\nBest throughput (Mbit/s): " in shown
    assert "Best ceiling" not in shown


def test_one_axis_is_enough_where_the_others_follow(made: Path) -> None:
    alone, both = (
        skycell("analyse", made / "out", "--response", "throughput", "--x", "buffer", *more).stdout
        for more in ((), ("--series", "tcp"))
    )
    assert alone == both


def test_with_latex_all_that_is_shown_is_tables_and_comments(made: Path) -> None:
    shown = skycell("analyse", made / "out", "--latex", "--response", "throughput").stdout
    outside = []
    for part in shown.split(r"\begin{table}"):
        outside += part.rpartition("\\end{table}\n")[2].splitlines()
    assert shown.count(r"\toprule") == 3  # variation, effects, the interaction
    assert outside
    assert all(line.startswith("% ") for line in outside)
    both = skycell("analyse", made / "out", "--latex", "--json")
    assert refused(both) == "Error: --json and --latex: only one of them is allowed"


def test_a_figure_of_a_sweep_is_by_a_factor_or_over_another_response(made: Path) -> None:
    for x, name in (("buffer", "a.svg"), ("mean_delay", "b.svg")):
        axes = ("--x", x, "--series", "tcp", "--response", "throughput", "--out", made / name)
        assert skycell("plot", made / "out", *axes).exit_code == 0
        assert "Throughput (Mbit/s)" in (made / name).read_text(encoding="utf-8")
    only = ("--where", "tcp=reno", "--x", "buffer", "--out", made / "c.svg")
    assert skycell("plot", made / "out", *only).exit_code == 0
    assert "4\u00a0runs" in (made / "c.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("verb", ["sweep", "analyse", "plot"])
def test_axes_that_there_are_not_are_refused_together(verb: str, made: Path) -> None:
    source = made / "sweep.toml" if verb == "sweep" else made / "out"
    reported_together(
        skycell(verb, source, "--x", "bufer", "--facet", "site"),
        "Invalid value for '--x': bufer: there are tcp, buffer",
        "Invalid value for '--facet': site: there are tcp, buffer",
    )
    twice = skycell(verb, source, "--x", "tcp", "--series", "tcp")
    assert refused(twice) == "Error: --x, --series and --facet: a factor has one place"


def test_axes_are_for_what_has_factors_and_for_no_kind_that_explains(made: Path) -> None:
    explained = skycell("plot", made / "out", "--kind", "residuals", "--x", "tcp")
    assert refused(explained).startswith("Error: --kind residuals explains the response; --x")
    scenario = made / "lan.toml"
    scenario.write_text('preset = "icccn97-lan"\nrun.duration = "20 ms"\n', encoding="utf-8")
    assert refused(skycell("plot", scenario, "--x", "tcp")).endswith("studies, not for runs")
