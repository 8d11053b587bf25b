"""Numbers of an analysis of variation, on the published values: they give the published numbers."""

from collections.abc import Iterator

import pytest

from skycell.studies import load_study
from skycell.studies.effects import EFFECT_MEASURES, effect_of
from skycell.studies.model import Part, Table
from skycell.studies.plan import cells_of
from skycell.studies.published import PublishedValue, published_values

STUDY = load_study("atmf980876r1")
VALUES = {"wan": "t4", "meo": "t7", "geo": "t10"}


def table(name: str) -> Table:
    return STUDY.table(f"atmf980876r1-{name}")


def response(config: str, measure: str) -> dict[tuple[object, ...], float]:
    """Printed values by TCP, policy and buffer."""
    suffix = "" if EFFECT_MEASURES[measure].response == "efficiency" else "-fairness"
    (part,) = table(VALUES[config] + suffix).parts
    return {
        tuple(row.factors[name] for name in ("tcp", "policy", "buffer_cells")): row.value
        for row in published_values(STUDY, part)
        if row.value is not None
    }


def printed() -> Iterator[tuple[Part, PublishedValue]]:
    for found in STUDY.tables:
        for part in found.parts:
            if part.measure in EFFECT_MEASURES:
                for row in published_values(STUDY, part):
                    yield part, row


@pytest.mark.parametrize(
    ("part", "row"),
    [
        pytest.param(p, r, id=f"{p.measure}-{'-'.join(map(str, r.factors.values()))}")
        for p, r in printed()
    ],
)
def test_the_printed_analysis_follows_from_the_printed_values(
    part: Part, row: PublishedValue
) -> None:
    cells = cells_of(part, row.factors)
    values = response(str(row.factors["config"]), part.measure)
    of_cells = [values[tuple(cell[n] for n in ("tcp", "policy", "buffer_cells"))] for cell in cells]
    assert len(cells) == 24
    found = effect_of(part.measure, cells, of_cells, row.factors, part.design)
    # A unit in the last place: some WAN fairness numbers are printed cut instead of rounded.
    assert row.value is not None
    assert found == pytest.approx(row.value, abs=2.001 * row.half_unit)


def test_a_measure_of_effects_needs_a_design() -> None:
    with pytest.raises(ValueError, match="needs the cells of a design"):
        Part(measure="efficiency_share", factors=(), grid=({"component": ("tcp",)},))


def test_a_design_of_our_own_names_its_factors() -> None:
    cells = [
        {"scheme": scheme, "tcps_per_vc": tcps}
        for scheme in ("epd", "dfba", "wfq")
        for tcps in (1, 20)
    ]
    # Only the scheme matters: 0.3, 0.1 and 0.2, whatever the number of TCPs.
    values = [{"epd": 0.3, "dfba": 0.1, "wfq": 0.2}[str(cell["scheme"])] for cell in cells]
    share = effect_of(
        "guarantee_shortfall_share",
        cells,
        values,
        {"component": "scheme"},
        ("scheme", "tcps_per_vc"),
    )
    assert share == pytest.approx(100.0)
