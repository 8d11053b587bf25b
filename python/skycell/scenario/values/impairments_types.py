"""The types of parameters of `impairments` as people write them, named as in `crates/declare`."""

from __future__ import annotations

from skycell.scenario.values.parameter_types import FromZeroToOne as FromZeroToOne
from skycell.scenario.values.parameter_types import TimeOrNone as TimeOrNone
