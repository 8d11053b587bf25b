"""The table [vs_vd] as a scenario file writes it.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from typing import Annotated

from skycell.input.parameters import Parameters, param, when, word
from skycell.scenario.declared.types import Interval, PartOfOne
from skycell.scenario.values.rule_specs import FieldSpec, RuleSpec
from skycell.spec.declared.network import VsVdSpec


class VsVd(Parameters):
    """A switch at which the control loops of ABR VCs are cut."""

    coupling: Annotated[str, word("minimum", "both", "acr", "link", "queue")] = param(
        "minimum",
        "by what the loop before the switch is held to what the one behind it can take",
        source="Kalyanaraman, thesis, 1997, section 9.2.2: ER1 = min(ER1, VAL2, ACR2)",
    )
    target_delay: Interval = param(
        "1.5 ms",
        "delay in the VC's own queue that is aimed at",
        symbol="T0",
        source="choice: as ERICA+ here",
        when=when("coupling", "queue"),
    )
    drain_limit: PartOfOne = param(
        0.5,
        "least part of the rate behind the switch that the loop before it is told",
        symbol="QDLF",
        source="choice: as ERICA+ here",
        when=when("coupling", "queue"),
    )


VS_VD = RuleSpec(
    VsVd,
    VsVdSpec,
    (
        FieldSpec("coupling", "coupling", "word"),
        FieldSpec("target_ps", "target_delay", "Interval"),
        FieldSpec("drain_limit", "drain_limit", "PartOfOne"),
    ),
)
