"""Studies of our own: what they may hold, how they are judged, and conclusions that can fail."""

import random
from typing import Any

import pytest

from skycell.studies import load_study
from skycell.studies.compare import own_verdict
from skycell.studies.findings import predicate_of
from skycell.studies.library import OWN_IDS
from skycell.studies.model import Conclusion, Study
from skycell.studies.values import Entry, Values
from tests.unit.report.reproductions import row
from tests.unit.studies.deciding import decide
from tests.unit.studies.own_worlds import WORLDS

OWN = [pytest.param(load_study(name), id=name) for name in OWN_IDS]
CONCLUSIONS = [
    pytest.param(study, entry, id=f"{study.id}-{entry.id}")
    for study in map(load_study, OWN_IDS)
    for entry in study.conclusions
]


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
    part = {"measure": "efficiency", "unit": "1", "factors": ["n"], "grid": [{"n": "*"}]}
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


@pytest.mark.parametrize("study", OWN)
def test_every_conclusion_of_ours_has_its_test_and_every_world_its_study(study: Study) -> None:
    assert study.id in WORLDS
    assert study.conclusions
    for conclusion in study.conclusions:
        assert predicate_of(study.id, conclusion.id) is not None


@pytest.mark.parametrize(("study", "conclusion"), CONCLUSIONS)
def test_a_conclusion_of_ours_holds_in_a_world_made_for_it(
    study: Study, conclusion: Conclusion
) -> None:
    test = predicate_of(study.id, conclusion.id)
    assert test is not None
    finding = test(Values(WORLDS[study.id]()))
    assert finding.holds, finding.evidence


@pytest.mark.parametrize(("study", "conclusion"), CONCLUSIONS)
def test_no_conclusion_of_ours_holds_for_whatever_numbers(
    study: Study, conclusion: Conclusion
) -> None:
    test = predicate_of(study.id, conclusion.id)
    assert test is not None
    outcomes = []
    for seed in range(40):
        entries = WORLDS[study.id]()
        values = [entry.value for entry in entries]
        random.Random(seed).shuffle(values)
        shuffled = [
            Entry(e.table, e.metric, e.factors, v) for e, v in zip(entries, values, strict=True)
        ]
        outcomes.append(test(Values(shuffled)).holds)
    assert not all(outcomes)


def test_the_evidence_of_a_study_of_our_own_speaks_of_no_print() -> None:
    study = load_study("gfr-schemes")
    conclusion = next(entry for entry in study.conclusions if entry.id == "8")
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
    result = decide(study, conclusion, rows)
    assert result.published_holds is None
    assert result.ours_holds is True
    assert result.evidence == "latency and number of TCPs 57 %, scheme 4 %"
