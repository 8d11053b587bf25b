"""Curves, trade-offs and where the names of their points stand."""

from typing import Any

import pytest

from skycell.plots.curves import curves
from skycell.plots.figure import NothingToDrawError, Origin
from skycell.plots.label_placement import APART, HEIGHT, POINT, place
from skycell.plots.text_metrics import text_width
from skycell.plots.trade_off import Axes, trade_off
from skycell.report.study_figures import listed_figure, reserved_mbps
from skycell.report.traced import traced_figure
from skycell.studies.figures import Reserved, StudyFigure, TracedFigure
from skycell.studies.library import load_study

ORIGIN = Origin(engine="fast", version="0.1.0", spec_hashes=("aa",), seed=1, replications=3)


def row(metric: str, mean: float | None, **factors: Any) -> dict[str, Any]:
    spread = (
        {"low": None, "high": None} if mean is None else {"low": mean * 0.9, "high": mean * 1.1}
    )
    return {
        "study": "s",
        "table": "t",
        "factors": factors,
        "metric": metric,
        "unit": "1",
        "published": None,
        "mean": mean,
        "n": 3,
        "specs": ["aa"],
        **spread,
    }


def datasets(figure: Any) -> list[dict[str, Any]]:
    """Every row of data of a figure."""
    found: list[dict[str, Any]] = []

    def walk(part: Any) -> None:
        if isinstance(part, dict):
            values = part.get("data", {}).get("values") if "data" in part else None
            found.extend(values or [])
            for name, item in part.items():
                if name == "datasets":
                    for rows in item.values():
                        found.extend(rows)
                elif name != "data":
                    walk(item)
        elif isinstance(part, list):
            for item in part:
                walk(item)

    walk(figure.bare_spec())
    return found


def test_a_curve_goes_through_the_means_in_the_order_of_the_axis() -> None:
    rows = [row("mean_queue", y, mcr=x, vc="a") for x, y in ((3, 30.0), (1, 12.0), (2, 20.0))]
    figure = curves(rows, ORIGIN, title="t", x="mcr", series="vc")
    assert [(r["x"], r["value"]) for r in datasets(figure)] == [(1, 12.0), (2, 20.0), (3, 30.0)]
    with pytest.raises(NothingToDrawError):
        curves([], ORIGIN, title="t", x="mcr", series="vc")


def test_the_description_of_curves_tells_every_line_and_the_caption_what_was_published() -> None:
    values = {("a", 1): 12.0, ("a", 2): 20.0, ("b", 1): 6.0}
    rows = [row("mean_queue", y, mcr=x, vc=vc) for (vc, x), y in values.items()]
    ours = curves(rows, ORIGIN, title="t", x="mcr", series="vc")
    assert ours.description.endswith(". VC = a: 12 at 1, 20 at 2; VC = b: 6 at 1.")
    assert "Diamond: published value." not in ours.caption
    assert "datum.published" not in str(ours.bare_spec())
    rows[0]["published"] = 11.0
    beside = curves(rows, ORIGIN, title="t", x="mcr", series="vc")
    assert "Diamond: published value." in beside.caption
    assert "datum.published" in str(beside.bare_spec())


def test_a_line_in_proportion_has_the_same_sum_as_the_values() -> None:
    wanted = StudyFigure(
        id="f", title="t", kind="curves", tables=("t",), metric="mean_queue", x="mcr", series="vc",
        proportional=True,
    )  # fmt: skip
    rows = [row("mean_queue", y, mcr=x, vc="a") for x, y in ((1, 30.0), (2, 30.0))]
    figure = listed_figure(wanted, rows, ORIGIN)
    assert figure is not None
    line = [(r["x"], r["value"]) for r in datasets(figure) if r.get("kind") == "reference"]
    assert line == [(1, 20.0), (2, 40.0)]
    assert "in proportion" in figure.caption_text()


def test_what_an_mcr_reserves_leaves_out_every_header() -> None:
    # 9140 + 40 + 12 + 8 octets fill 192 cells: 9140 of 192 x 53 octets.
    assert reserved_mbps(192, Reserved(mss=9140, timestamps=True)) == pytest.approx(9140 * 8 / 1e6)


def test_only_rows_that_a_figure_asks_for_are_drawn_and_none_is_no_figure() -> None:
    wanted = StudyFigure(
        id="f", title="t", kind="curves", tables=("t",), metric="mean_queue", x="mcr", series="vc",
        only=({"vc": ("b",)},),
    )  # fmt: skip
    rows = [row("mean_queue", 1.0, mcr=1, vc="a"), row("other", 1.0, mcr=1, vc="b")]
    assert listed_figure(wanted, rows, ORIGIN) is None
    figure = listed_figure(wanted, [*rows, row("mean_queue", 5.0, mcr=1, vc="b")], ORIGIN)
    assert figure is not None
    assert [r["value"] for r in datasets(figure)] == [5.0]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"kind": "trade_off"}, "a trade-off names the metric or the factor of its colours"),
        (
            {"kind": "trade_off", "colour": "z", "group": "z"},
            "a trade-off names the metric or the factor of its colours",
        ),
        ({"kind": "curves", "colour": "z"}, "curves name none"),
        ({"kind": "curves", "group": "z"}, "curves name none"),
        ({"kind": "curves", "points": ["z"]}, "the lines of curves are those of one factor"),
        ({"kind": "curves", "row": "z"}, "curves have panels from left to right only"),
        (
            {"kind": "trade_off", "colour": "z", "proportional": True},
            "lines of reference belong to curves",
        ),
    ],
)
def test_a_figure_fits_its_kind(more: dict[str, Any], message: str) -> None:
    fields = {"id": "f", "title": "t", "tables": ["t"], "metric": "m", "x": "x", "series": "s"}
    with pytest.raises(ValueError, match=message):
        StudyFigure.model_validate(fields | more)


AXES = Axes(series="scheme", x="efficiency", y="guarantee_shortfall", colour="excess_fairness")


def test_a_point_needs_both_places_and_may_do_without_colour() -> None:
    rows = [
        row("efficiency", 0.9, scheme="dfba"),
        row("guarantee_shortfall", 0.1, scheme="dfba"),
        row("efficiency", 0.8, scheme="epd"),
    ]
    figure = trade_off(rows, ORIGIN, AXES, title="t", figure_name="f")
    assert {(r["name"], r["x"], r["y"], r["colour"]) for r in datasets(figure)} == {
        ("DFBA", 0.9, 0.1, None)
    }
    assert "White: not defined" in figure.caption_text()
    with pytest.raises(NothingToDrawError):
        trade_off(rows[2:], ORIGIN, AXES, title="t", figure_name="f")


def test_points_of_two_tables_are_coloured_by_a_factor_and_told_apart_by_several() -> None:
    wanted = StudyFigure(
        id="f", title="t", kind="trade_off", tables=("t", "u"),
        metric="jain_fairness", x="efficiency",
        series="policy", points=("buffer_cells",), group="vbr_period_ms",
    )  # fmt: skip
    places = [("sd", 1000, 50), ("sd", 3000, 50), ("epd", 1000, 300)]
    rows = [
        row(name, value, policy=policy, buffer_cells=cells, vbr_period_ms=period) | {"table": table}
        for name, table, value in (("efficiency", "t", 0.9), ("jain_fairness", "u", 0.8))
        for policy, cells, period in places
    ]
    figure = listed_figure(wanted, rows, ORIGIN)
    assert figure is not None
    points = {(r["series"], r["name"], r["x"], r["y"]) for r in datasets(figure)}
    assert points == {
        ("VBR period 50 ms", "Selective Drop, 1\u202f000 cells", 0.9, 0.8),
        ("VBR period 50 ms", "Selective Drop, 3\u202f000 cells", 0.9, 0.8),
        ("VBR period 300 ms", "EPD, 1\u202f000 cells", 0.9, 0.8),
    }
    assert "'text'" not in str(figure.bare_spec()["vconcat"][0]["hconcat"][0]["layer"])
    assert listed_figure(wanted, rows[:3], ORIGIN) is None


@pytest.mark.parametrize(
    "points",
    [
        [(100.0 + 12 * i, 100.0 + 5 * (i % 3)) for i in range(8)],
        [(300.0 - 9 * i, 10.0 + 9 * i) for i in range(10)],
        # Ten of sixteen schemes in a corner, as where nearly all reach the link's rate.
        [*((280.0 + 8 * (i % 5), 200.0 + 25 * (i // 5)) for i in range(10)), (20.0, 20.0)],
    ],
)
def test_names_touch_neither_each_other_nor_points(points: list[tuple[float, float]]) -> None:
    widths = [20.0 + 6 * (i % 5) for i in range(len(points))]
    labels = place(points, widths, 320.0, 260.0)
    for i, (one, wide) in enumerate(zip(labels, widths, strict=True)):
        assert wide / 2 <= one.x <= 320 - wide / 2
        assert HEIGHT / 2 - 1 <= one.y <= 260 - HEIGHT / 2 + 1
        for other, other_wide in list(zip(labels, widths, strict=True))[i + 1 :]:
            apart = abs(one.x - other.x) - (wide + other_wide) / 2
            assert apart >= APART - 1 or abs(one.y - other.y) >= HEIGHT
        for x, y in points:
            assert abs(x - one.x) >= wide / 2 + POINT or abs(y - one.y) >= HEIGHT / 2 + POINT


def test_names_are_as_wide_as_the_font_draws_them() -> None:
    # Advance widths of Inter, in parts of 2816 to an em: a lower case l 668, an m 2448.
    assert text_width("l", 2816) == 668
    assert text_width("mm", 10) == 2 * text_width("m", 10) > 6 * text_width("l", 10)
    assert text_width("\u4e2d", 10) == text_width("n", 10)  # the font has no Chinese


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"to_s": 1.0}, "begins at 0 s or later and ends after that"),
        ({"reserved_mcr": 5.0}, "reserved_mcr and reserved, or neither"),
        ({"kind": "queue"}, "'cwnd', 'rate' or 'share'"),
        ({"kind": "share"}, "windows and rates are those of a flow, shares of a link of none"),
        ({"flow": ""}, "windows and rates are those of a flow, shares of a link of none"),
    ],
)
def test_a_figure_over_time_lasts_and_names_what_it_reserves(
    more: dict[str, Any], message: str
) -> None:
    fields = {"id": "f", "title": "t", "kind": "cwnd", "experiment": "e", "case": {}, "flow": "a"}
    with pytest.raises(ValueError, match=message):
        TracedFigure.model_validate(fields | {"from_s": 1.0, "to_s": 2.0} | more)


def test_a_figure_over_time_runs_its_case_as_long_as_it_lasts() -> None:
    study = load_study("bonaventure")
    wanted = next(entry for entry in study.traced if entry.kind == "rate")
    short = wanted.model_copy(update={"from_s": 0.2, "to_s": 1.0})
    figure = traced_figure(study, short, seed=3, overrides={}, engine="fast")
    assert (figure.name, figure.subtitle) == ("bonaventure-figure24", "Figure 24, redrawn")
    assert "seed\u00a03" in figure.caption_text()
    assert "68.5 Mbit/s reserved" in figure.caption_text()
    # The first second of the run itself, whatever comes after.
    longer = wanted.model_copy(update={"from_s": 0.2, "to_s": 1.4})
    same = traced_figure(study, longer, seed=3, overrides={}, engine="fast")
    # Eight intervals, the last of them to its end.
    *rates, end = (r["mbps"] for r in datasets(figure))
    assert (rates, end) == ([r["mbps"] for r in datasets(same)][:8], rates[-1])


def test_a_figure_of_a_links_shares_shows_every_class() -> None:
    study = load_study("atmf970424")
    wanted = next(entry for entry in study.traced if entry.id == "atmf970424-figure2-gr05")
    short = wanted.model_copy(update={"from_s": 0.0, "to_s": 0.1})
    figure = traced_figure(study, short, seed=1, overrides={}, engine="fast")
    assert figure.subtitle == "Figure 2, redrawn"
    assert {row["panel"] for row in datasets(figure)} == {"nrt_vbr", "rest"}


def test_a_figure_over_time_names_the_level_of_every_factor() -> None:
    study = load_study("bonaventure")
    data = study.model_dump()
    data["traced"][0]["case"].pop("variant")
    with pytest.raises(ValueError, match="bonaventure-figure6 names the level of each factor"):
        type(study).model_validate(data)
