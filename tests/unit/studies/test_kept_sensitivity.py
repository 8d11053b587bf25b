"""What alternatives did, as a study's folder keeps it. The engine is a test double."""

from dataclasses import replace
from pathlib import Path

import pytest

from skycell.studies import load_study, reproduce
from skycell.studies.sensitivity import sensitivity
from skycell.studies.sensitivity_store import (
    Alternative,
    Effect,
    KeptSensitivity,
    alternatives_of,
    fingerprint,
    value_in_words,
)
from tests.unit.report.reproductions import ROWS, reproduction
from tests.unit.studies.double import Double

STILL = Effect(0.0, 0.0, 3, 3, 2, 0.067, 0)


def _kept(*alternatives: Alternative) -> KeptSensitivity:
    as_chosen = {"ijsc-t1": Effect(None, None, 3, 3, 2, 0.067, 0)}
    return KeptSensitivity("ijsc", 2, ("ijsc",), "0.1.0", "0f", as_chosen, alternatives)


def test_a_file_has_one_alternative_a_line_and_is_read_as_it_was_written(tmp_path: Path) -> None:
    kept = _kept(
        Alternative("tcp.tick", "200 ms", {"ijsc-t1": STILL}, {}),
        Alternative(
            "tcp.handshake",
            True,
            {"ijsc-t1": Effect(0.01, 0.2, 4, 2, 2, 0.06, 1)},
            {"7.5": True, "7.4": False},
        ),
    )
    file = tmp_path / "sensitivity.json"
    kept.write(file)
    assert KeptSensitivity.read(file) == kept
    assert '"note"' not in file.read_text()
    noted = replace(kept, note="Of other draws.")
    noted.write(file)
    assert KeptSensitivity.read(file) == noted
    lines = [line for line in file.read_text().splitlines() if line.startswith('{"key": ')]
    assert [line.split(",")[0] for line in lines] == [
        '{"key": "tcp.tick"',
        '{"key": "tcp.handshake"',
    ]


def test_alternatives_join_in_the_order_of_the_study_which_names_what_is_missing() -> None:
    study = load_study("ijsc")
    names = [(choice.name, value) for choice in study.choices for value in choice.alternatives]
    all_but_first = [Alternative(*name, {"ijsc-t1": STILL}, {}) for name in names[1:]]
    left = Alternative("tcp.gone", 1, {"ijsc-t1": STILL}, {})
    kept = _kept(left).with_alternatives(study, reversed(all_but_first))
    assert [(entry.key, entry.value) for entry in kept.alternatives] == names[1:]
    assert kept.missing(study) == {names[0][0]: (names[0][1],)}
    again = Alternative(*names[1], {"ijsc-t1": replace(STILL, change=0.5)}, {})
    kept = kept.with_alternatives(study, [again])
    assert kept.alternatives[0] == again
    assert len(kept.alternatives) == len(names) - 1


@pytest.mark.parametrize(
    "changed",
    [
        {"replications": 1},
        {"tables": ("ijsc-t1",)},
        {"fingerprint": "1f"},
        {"as_chosen": {"ijsc-t1": replace(STILL, inside=4)}},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_what_was_tried_beside_other_tables_is_not_gone_on_with(changed: dict[str, object]) -> None:
    before = _kept(Alternative("tcp.tick", "200 ms", {"ijsc-t1": STILL}, {}))
    assert before.goes_on(_kept())
    assert before.goes_on(replace(_kept(), version="0.2.0"))
    assert replace(before, note="Of other draws.").goes_on(_kept())
    assert not before.goes_on(replace(_kept(), **changed))  # type: ignore[arg-type]


def test_the_fingerprint_is_of_every_value_and_of_every_verdict() -> None:
    result = reproduction()
    assert fingerprint(result) == fingerprint(reproduction())
    moved = replace(ROWS[0], by_replication=(0.85, 0.890001))
    assert fingerprint(reproduction(rows=[moved, *ROWS[1:]])) != fingerprint(result)
    flipped = [replace(entry, ours_holds=not entry.ours_holds) for entry in result.conclusions]
    assert fingerprint(reproduction(conclusions=flipped)) != fingerprint(result)


def test_what_is_measured_is_kept_alternative_by_alternative(double: Double) -> None:
    vary = {"ceiling.base": ["149.7 Mbit/s"], "tcp.tick": ["200 ms", "500 ms"]}
    measured = sensitivity(["ijsc"], vary, replications=1, jobs=1, version="test", work=double.work)
    base, *ticks = alternatives_of(measured)
    assert (base.key, base.value) == ("ceiling.base", "149.7 Mbit/s")
    (shift, *_) = measured.shifts
    assert base.effects["ijsc-t1"].change == pytest.approx(shift.mean_absolute_change, rel=1e-5)
    assert [entry.value for entry in ticks] == ["200 ms", "500 ms"]
    assert all(entry.effects["ijsc-t1"].change == 0 for entry in ticks)
    as_chosen = reproduce(["ijsc"], replications=1, jobs=1, version="1+0f", work=double.work)
    begun = KeptSensitivity.begun("ijsc", ["ijsc"], as_chosen)
    assert (begun.replications, begun.version) == (1, "1")
    assert begun.as_chosen["ijsc-t1"].inside == measured.baseline[0].cells.inside


@pytest.mark.parametrize(
    ("value", "reported"),
    [
        (True, "true"),
        ({"kind": "uniform", "low": "100 ms"}, "uniform, 100 ms"),
        (["reno", 2], "reno, 2"),
    ],
)
def test_a_value_is_told_in_plain_words(value: object, reported: str) -> None:
    assert value_in_words(value) == reported


def test_tables_that_join_are_under_the_alternatives_that_were_tried_of_both() -> None:
    tick = Alternative("tcp.tick", "200 ms", {"ijsc-t1": STILL}, {"7.5": True})
    handshake = Alternative("tcp.handshake", True, {"ijsc-t1": STILL}, {})
    moved = replace(STILL, change=0.5)
    more = [Alternative("tcp.tick", "200 ms", {"ijsc-t2": moved}, {"7.9": False})]
    both = reproduction()
    before = replace(_kept(tick, handshake), study="icccn97", note="Of other draws.")
    kept = before.joined(("a", "b"), both, more)
    assert kept.tables == ("a", "b")
    assert kept.fingerprint == fingerprint(both)
    assert kept.note == "Of other draws."
    assert kept.alternatives == (
        Alternative(
            "tcp.tick",
            "200 ms",
            {"ijsc-t1": STILL, "ijsc-t2": moved},
            {"7.5": True, "7.9": False},
        ),
    )
