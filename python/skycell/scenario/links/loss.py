"""What a link loses: a part of all frames, frames in bursts, or what its bit errors spoil."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from skycell.input.parameters import Parameters, param, probability
from skycell.scenario.declared.channels import AnyChannel
from skycell.scenario.links.coding import AnyCode
from skycell.spec.values import WHOLE_PPB

Part = Annotated[float, probability(Fraction(1, WHOLE_PPB), "0.1 %")]


class Independent(Parameters):
    """Each frame is lost with the same probability, whatever became of the others."""

    kind: Literal["independent"] = param(..., "how losses come")
    part: Part = param(..., "probability that a frame is lost")


def _independent_by_part(value: Any) -> Any:
    return value if isinstance(value, dict) else {"kind": "independent", "part": value}


_Any = Independent | AnyChannel | AnyCode
FrameLoss = Annotated[
    Annotated[_Any, Field(discriminator="kind")],
    BeforeValidator(_independent_by_part, json_schema_input_type=_Any | Part),
]
