"""The types of parameters of [[vs_vd]] as people write them, named as in `crates/declare`."""

from __future__ import annotations

from skycell.scenario.values.parameter_types import Interval as Interval
from skycell.scenario.values.parameter_types import PartOfOne as PartOfOne
