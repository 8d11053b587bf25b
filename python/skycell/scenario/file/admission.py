"""The table [admission]: what links may be promised away."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from skycell.input.parameters import Parameters, param, probability, when, word

_LOSS = probability(Fraction(1, 10**12), "0.001 %")


class Admission(Parameters):
    """Whether each link has to carry what is promised to all VCs that cross it."""

    overbooking: Annotated[Literal["refuse", "allow"], word("refuse", "allow")] = param(
        "refuse",
        "treatment of a file that promises more than a link carries: it is a fault, or it runs "
        "unchanged, to study the overload",
        source="Traffic Management 4.0, section 3: connections are admitted before they send",
    )
    loss: Annotated[float, _LOSS] = param(
        1e-5,
        "part of the time in which the buffer of on/off sources of classes rt_vbr and nrt_vbr may "
        "overflow; admission counts their effective bandwidth for it, with 0 their peak rate, with "
        "1 their mean rate",
        symbol="ε",
        source="the loss of I.356, class 2",
        when=when("overbooking", "refuse"),
    )
