"""Published beside ours."""

from dataclasses import replace
from typing import Any

import pytest

from skycell.plots.comparison import Layout, comparison, layout_of
from skycell.plots.figure import NothingToDrawError, Origin, digest
from tests.unit.plots.traces import compared, drawn

STUDY = Origin(
    engine="reference",
    version="0.1.0",
    spec_hashes=("aa", "bb"),
    seed=1,
    replications=5,
    source="ICCCN'97 Table 3",
)


def values(rows: list[dict[str, Any]], **options: Any) -> list[dict[str, Any]]:
    return drawn(comparison(rows, STUDY, title="Efficiency", **options))


def test_each_row_gives_our_mean_with_its_spread_and_the_published_value() -> None:
    ours, published = values([compared()])
    assert (ours["kind"], ours["value"], ours["low"], ours["high"], ours["n"]) == (
        "ours",
        0.62,
        0.58,
        0.65,
        5,
    )
    assert (published["kind"], published["value"]) == ("published", 0.6)


def test_a_row_that_was_never_published_gives_ours_alone() -> None:
    assert [row["kind"] for row in values([compared(published=None)])] == ["ours"]


def test_a_doubt_about_the_print_is_seen_in_the_figure_and_said_in_the_caption() -> None:
    figure = comparison([compared(doubt="digit")], STUDY, title="Efficiency")
    kinds = [row["kind"] for row in drawn(figure)]
    assert kinds == ["ours", "published, print in doubt"]
    assert "Triangle: published value whose print is in doubt." in figure.caption


def test_policies_go_along_the_axis_buffers_by_colour_and_tcps_into_columns() -> None:
    rows = [
        compared(policy, buffer_cells=cells, tcp=tcp)
        for tcp in ("sack", "reno")
        for cells in (200_000, 600_000)
        for policy in ("ubr", "sd")
    ]
    assert layout_of(rows) == Layout(x="policy", series="buffer_cells", column="tcp", rows=())
    drawn = values(rows)
    assert {row["column"] for row in drawn} == {"SACK", "Reno"}
    assert {row["series"] for row in drawn} == {"200\u202f000 cells", "600\u202f000 cells"}
    assert {row["x"] for row in drawn} == {"tail drop", "SD"}


def test_two_more_factors_become_rows_and_columns() -> None:
    rows = [compared(p, config=c, n_sources=n) for p in "ab" for c in "cd" for n in (5, 15)]
    assert layout_of(rows) == Layout(x="policy", series=None, column="n_sources", rows=("config",))


def test_the_series_of_a_panel_stand_side_by_side_whatever_other_panels_hold() -> None:
    rows = [
        compared(config=config, buffer_cells=cells)
        for config, sizes in (("lan", (3000, 1000)), ("wan", (12_000, 36_000)), ("geo", (200_000,)))
        for cells in sizes
    ]
    layout = Layout("policy", "buffer_cells", None, ("config",))
    aside = {(row["row"], row["series"]): row["aside"] for row in values(rows, layout=layout)}
    assert aside == {
        ("LAN", "1\u202f000 cells"): -0.5,
        ("LAN", "3\u202f000 cells"): 0.5,
        ("WAN", "12\u202f000 cells"): -0.5,
        ("WAN", "36\u202f000 cells"): 0.5,
        ("GEO", "200\u202f000 cells"): 0.0,
    }


def test_numbers_ascend_and_names_keep_their_order() -> None:
    rows = [compared(n_sources=n, tcp=tcp) for n in (100, 5, 15) for tcp in ("sack", "reno")]
    spec = comparison(rows, STUDY, title="Efficiency").bare_spec()
    assert spec["spec"]["layer"][0]["encoding"]["x"]["sort"] == ["5", "15", "100"]
    assert spec["facet"]["column"]["sort"] == ["SACK", "Reno"]


def test_of_two_factors_that_tell_the_same_rows_apart_one_is_shown() -> None:
    rows = [
        compared(policy, buffer_cells=cells)
        for policy in ("epd", "sd")
        for cells in (12_000, 36_000)
    ]
    for row in rows:
        multiple = row["factors"]["buffer_cells"] // 12_000
        row["factors"] = {"buffer_rtt_multiple": multiple, **row["factors"]}
    layout = layout_of(rows)
    assert layout == Layout(x="policy", series="buffer_cells", column=None, rows=())
    figure = comparison(rows, STUDY, title="Efficiency", layout=layout)
    assert figure.subtitle == "GEO, N = 5, SACK"


@pytest.mark.parametrize("key", ["buffer_cells", "tcp"])
def test_a_single_factor_goes_along_the_axis(key: str) -> None:
    rows = [{**compared(), "factors": {key: level}} for level in ("a", "b")]
    assert layout_of(rows) == Layout(x=key, series=None, column=None, rows=())


def test_many_panels_are_set_in_two_columns() -> None:
    rows = [compared(policy, set=n) for policy in ("epd", "sd") for n in range(1, 5)]
    spec = comparison(rows, STUDY, title="Efficiency").bare_spec()
    assert spec["columns"] == 2
    assert len(spec["facet"]["sort"]) == 4


def test_factors_that_do_not_vary_stand_under_the_title() -> None:
    figure = comparison([compared("epd"), compared("sd")], STUDY, title="Efficiency")
    assert figure.subtitle == "GEO, N = 5, buffer 200\u202f000 cells, SACK"


def test_the_caption_says_units_replications_bars_source_and_runs() -> None:
    figure = comparison([compared("sd")], STUDY, title="Efficiency")
    assert figure.caption_text() == (
        "Efficiency: sum of the throughputs as a fraction of the ceiling, no unit. Dot: mean of 5 "
        "replications; bar: lowest to highest; diamond: published value. SD: Selective Drop. "
        "Published values: ICCCN'97 Table 3. skycell\u00a00.1.0, engine\u00a0reference, "
        f"2\u00a0runs, scenarios\u00a0{digest(['bb', 'aa'])}, first seed\u00a01."
    )


def test_the_caption_says_what_was_set_otherwise() -> None:
    changed = replace(STUDY, set_otherwise={"tcp.tick": "200 ms", "run.duration": "1 s"})
    caption = comparison([compared("sd")], changed, title="Efficiency").caption_text()
    assert (
        "Published values: ICCCN'97 Table 3. Set differently from the study: "
        "tcp.tick = 200 ms, run.duration = 1 s. skycell"
    ) in caption


def test_the_description_tells_every_value_to_those_who_cannot_see() -> None:
    figure = comparison([compared("sd")], STUDY, title="Efficiency")
    assert "Selective Drop: ours 0.62, published 0.6" in figure.description


def test_a_metric_with_a_unit_names_it_on_the_axis() -> None:
    row = {**compared(), "metric": "throughput", "unit": "Mbit/s", "high": 14.0, "mean": 13.0}
    spec = comparison([row], STUDY, title="Throughput").bare_spec()
    assert spec["layer"][0]["encoding"]["y"]["title"] == "Throughput (Mbit/s)"


def test_no_rows_make_no_figure() -> None:
    with pytest.raises(NothingToDrawError, match="no values to compare"):
        comparison([], STUDY, title="Efficiency")


def test_two_metrics_in_one_figure_are_refused() -> None:
    other = {**compared(), "metric": "jain_fairness"}
    with pytest.raises(ValueError, match="one figure shows one metric"):
        comparison([compared(), other], STUDY, title="Efficiency")


def test_a_notebook_is_given_the_picture_and_its_words() -> None:
    bundle = comparison([compared()], STUDY, title="Efficiency")._repr_mimebundle_()
    assert bundle["application/vnd.vegalite.v6+json"]["title"]["text"] == "Efficiency"
    assert bundle["text/plain"].startswith("Efficiency\nEfficiency: sum of the throughputs")
