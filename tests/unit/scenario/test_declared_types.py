"""The readers that are made from declared types, at the ends of their ranges."""

from typing import Any

import pytest

from skycell.input.forms import value_type_of
from skycell.input.parameters import ValueType
from skycell.input.quantities import Refused
from skycell.scenario.declared import types


def reader(name: str) -> ValueType:
    found = value_type_of(getattr(types, name))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "taken", "refused"),
    [
        ("FromZeroToOne", [0, 1, 0.5], [-0.1, 1.1, True, "50 %"]),
        ("PerSecond", [1e-9, 1000], [0, 1000.1]),
        ("Correlation", [0, 0.999], [1, -0.001]),
        ("AtLeastOne", [1, 10**9], [0.999, float("inf"), float("nan")]),
        ("Weight", [1e-9, 1e9], [0]),
        ("PartOfOne", [1, "80 %"], [0, "101 %"]),
        ("CellsBetweenRm", [2, 256], [1, 3, 512, True]),
        ("Backoff", [1, 65_536], [0, 3, "4"]),
        ("QueueCount", [0, 65_536], [-1, 65_537, 1.0]),
        ("Interval", ["1 ns", "24 h"], ["0 s", "25 h", 1, "1 km"]),
        ("StateTime", ["100 us"], ["99 us"]),
        ("RateUpToPeak", ["0 cells/s", "pcr", "4 Mbit/s"], ["link rate", "1 B"]),
        ("VcAllowances", ["0 cells", "MBS"], ["1.5 cells", "PCR"]),
        ("CellCount", ["0 cells", "30 kB"], ["-1 cells"]),
        ("VcLevels", [{"a": 1, "b": 64}], [{"a": 0}, {"a": 65}, 3]),
        ("ClassWeights", [{"cbr": 1}], [{"abr": 1}, {"gold": 1}, {"cbr": 0}]),
        ("Flag", [True, False], [0, "true"]),
    ],
)
def test_a_reader_takes_its_range_with_its_ends(
    name: str, taken: list[Any], refused: list[Any]
) -> None:
    own = reader(name)
    for value in taken:
        own.read(value)
    for value in refused:
        with pytest.raises(Refused):
            own.read(value)
