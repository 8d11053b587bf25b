"""How much other choices move the tables. The engine is a test double."""

import pytest

from skycell.studies import UnknownStudyError
from skycell.studies.sensitivity import alternatives, sensitivity
from tests.unit.studies.double import Double


def test_each_alternative_is_compared_with_what_was_chosen(double: Double) -> None:
    told: list[str] = []
    result = sensitivity(
        ["ijsc-t1"],
        {"ceiling.base": ["155.52 Mbit/s"], "tcp.rto_restart": ["on_send"]},
        replications=1,
        jobs=2,
        version="test",
        work=double.work,
        on_variant=told.append,
    )
    assert told == ["as chosen", "ceiling.base=155.52 Mbit/s", "tcp.rto_restart=on_send"]
    base, restart = result.shifts
    (baseline,) = result.baseline
    # The double's rates do not depend on the timer; the base divides them by 1.0389.
    assert restart.mean_absolute_change == 0
    assert restart.summary.cells == baseline.cells
    at_149_7 = 15 * 0.001 * 155.52 / 149.7 / (9180 / (53 * 193))
    expected = at_149_7 * (1 - 149.7 / 155.52)
    assert base.mean_absolute_change == pytest.approx(expected, rel=1e-6)
    assert base.largest_change == pytest.approx(expected, rel=1e-6)
    assert base.as_dict()["key"] == "ceiling.base"
    assert len(result.as_dict()["shifts"]) == 2


def test_all_alternatives_of_the_studies_concerned_are_known() -> None:
    found = alternatives(["ijsc", "icccn97-t3"])
    assert found["tcp.rto_restart"]
    assert "single.duration" not in found
    assert "single.duration" in alternatives(["compcom99"])
    with pytest.raises(UnknownStudyError):
        alternatives(["nonsense"])
