"""Studies of our own: what they may hold, and how they are judged."""

from typing import Any

import pytest

from skycell.studies import load_study
from skycell.studies.compare import own_verdict
from skycell.studies.findings import evaluate_all
from skycell.studies.model import Study
from tests.unit.report.reproductions import row


def plain(**more: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": "x",
        "title": "x",
        "choices": (),
        "experiments": {"e": {"title": "e", "scenario": {}, "factors": {"n": {"label": True}}}},
        "tables": [{"id": "x", "title": "x", "experiment": "e", "parts": ()}],
    }
    return fields | more


def test_a_study_of_our_own_needs_no_print_and_three_replications() -> None:
    assert Study.model_validate(plain(origin="own", replications=3)).is_own
    with pytest.raises(ValueError, match="at least 3 replications"):
        Study.model_validate(plain(origin="own", replications=2))


@pytest.mark.parametrize(
    "more",
    [
        {"tables": [{"id": "x", "title": "x", "printed_as": "T", "experiment": "e", "parts": ()}]},
        {"conclusions": [{"id": "1", "text": "x", "tables": ["x"], "in_print": "holds"}]},
        {"published": [{"file": "f", "document": "d", "printed_as": "T", "sha256": "0" * 64}]},
    ],
)
def test_a_study_of_our_own_has_nothing_in_print(more: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a study of our own has nothing in print"):
        Study.model_validate(plain(origin="own", replications=3, **more))


def test_a_published_study_says_where_its_tables_stand() -> None:
    with pytest.raises(ValueError, match="names its documents and where each table stands"):
        Study.model_validate(plain())


def test_a_star_stands_for_every_level_of_a_factor() -> None:
    factors: dict[str, Any] = {"n": {"levels": {"5": {}, "sack": {}}}}
    part = {"measure": "efficiency", "factors": ["n"], "grid": [{"n": "*"}]}
    study = Study.model_validate(
        plain(
            origin="own",
            replications=3,
            experiments={"e": {"title": "e", "scenario": {}, "factors": factors}},
            tables=[{"id": "x", "title": "x", "experiment": "e", "parts": [part]}],
        )
    )
    assert study.tables[0].parts[0].cases == [{"n": 5}, {"n": "sack"}]


def test_what_is_not_defined_has_not_failed() -> None:
    assert own_verdict(()) == "own"
    assert own_verdict(("out of memory",)) == "failed"


def test_the_evidence_of_a_study_of_our_own_speaks_of_no_print() -> None:
    study = load_study("gfr-schemes")
    rows = [
        row(
            "gfr-schemes-variation",
            {"component": name},
            None,
            (share,),
            metric="guarantee_shortfall_share",
        )
        for name, share in (
            ("scheme", 4.0),
            ("latency", 26.0),
            ("tcps_per_vc", 14.0),
            ("latency_x_tcps_per_vc", 17.0),
        )
    ]
    found = evaluate_all([study], ["gfr-schemes-variation"], rows)
    (result,) = (entry for entry in found if entry.id == "8")
    assert result.published_holds is None
    assert result.ours_holds is True
    assert result.evidence == "latency and number of TCPs 57 %, scheme 4 %"
