"""What is the same in two reproductions and what is not."""

import copy

import pytest

from tests.docs.scripts import load_script

compare = load_script("compare_reproductions").compare

ROW = {"study": "s", "table": "t", "factors": {"n": 5}, "metric": "efficiency", "mean": 0.7}
CONCLUSION = {"study": "s", "id": "1.1", "ours_holds": True, "evidence": "0.7 of 0.8"}
RESULT = {"rows": [{**ROW, "specs": ["a"]}], "conclusions": [CONCLUSION]}


def changed(part: str, **values: object) -> dict[str, list[dict[str, object]]]:
    result = copy.deepcopy(RESULT)
    result[part][0].update(values)
    return result


@pytest.mark.parametrize(
    ("part", "values", "reported"),
    [
        ("rows", {"mean": 0.7 + 1e-16}, ["0.7 -> 0.7000000000000001"]),
        ("rows", {"mean": None}, ["0.7 -> None"]),
        ("conclusions", {"ours_holds": False}, ["True -> False"]),
        ("rows", {"factors": {"n": 6}}, ["is gone", "is new"]),
        ("rows", {"specs": ["b"]}, []),
        ("conclusions", {"evidence": "0.7 of 0.9"}, []),
        ("rows", {"sd": 0.1}, ["None -> 0.1"]),
    ],
)
def test_all_but_hashes_and_the_wording_of_evidence_has_to_be_the_same(
    part: str, values: dict[str, object], reported: list[str]
) -> None:
    differences, counts = compare(RESULT, changed(part, **values))
    assert len(differences) == len(reported)
    assert all(any(words in difference for difference in differences) for words in reported)
    assert counts["specs"] + counts["evidence"] == (not reported)
