"""The table [[qos]]: bounds on losses and delays of VCs; a run says whether it kept them."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from skycell.input.parameters import (
    NamesOfPairs,
    Parameters,
    ValueType,
    param,
    probability,
    quantity,
    read_number,
    when,
    without,
    word,
)
from skycell.input.quantities import (
    DAY_PS,
    PS_PER_MS,
    Dimension,
    Quantity,
    Refused,
    parse_quantity,
    rounded,
)


class QosBounds(NamedTuple):
    """The most that cells may suffer: part lost, and times in picoseconds; None where unspecified.

    `ctd_ps` bounds the transfer delay, `cdv_ps` its variation, peak to peak.
    """

    clr: float | None
    ctd_ps: int | None
    cdv_ps: int | None


#: Bounds that stand in a recommendation or a paper, by the name of what asks for them.
PROFILES = {
    # I.356 (10/96), table 2, classes 1 (stringent) and 2 (tolerant); the times also in
    # NASA/CR-1999-209158, part III.A, section 2.1.
    "itu_class_1": QosBounds(3e-7, 400 * PS_PER_MS, 3 * PS_PER_MS),
    "itu_class_2": QosBounds(1e-5, None, None),
    # Times: NASA/CR-1999-209158, part III.A, section 2.1; losses: G.1010, appendix I.
    "interactive_voice": QosBounds(0.03, 400 * PS_PER_MS, 3 * PS_PER_MS),
    "interactive_video": QosBounds(0.01, 400 * PS_PER_MS, 3 * PS_PER_MS),
    # "very loose delay requirements" there; G.1010 has less than 60 s for bulk data.
    "file_transfer": QosBounds(1e-5, 60_000 * PS_PER_MS, None),
}

_WITH_DELAYS = [
    name for name, bounds in PROFILES.items() if bounds.ctd_ps is not None or bounds.cdv_ps
]

#: Parts of the cells or packets within which records have a delay, and the key of each there.
QUANTILES = {
    0.5: "p50_ps",
    0.9: "p90_ps",
    0.95: "p95_ps",
    0.99: "p99_ps",
    0.999: "p999_ps",
    1.0: "max_ps",
}

#: The one of these that only packets have.
OF_PACKETS = 0.95


def _read_quantile(value: Any) -> float:
    if isinstance(value, str):
        amount = parse_quantity(value)
        if amount.dimension is not Dimension.PART:
            raise Refused("")
        number = float(amount.amount)
    else:
        number = read_number(value)
    if number not in QUANTILES:
        raise Refused("")
    return number


_QUANTILE = ValueType(
    "0.5, 0.9, 0.95 (of packets), 0.99, 0.999 or 1, the largest delay; or as many per cent",
    _read_quantile,
    {"anyOf": [{"enum": [*QUANTILES]}, {"type": "string", "examples": ["99.9 %"]}]},
)
_TIME = quantity(Dimension.TIME, above=0, high=DAY_PS, example="400 ms")
_CLR = probability(Fraction(1, 10**12), "0.1 %")


class QosTargets(Parameters):
    """What the cells of VCs, or packets, may suffer, at ports too; it changes nothing in the run.

    Each VC, flow and port is held against the bounds by itself.
    """

    vcs: NamesOfPairs | None = param(
        None,
        "VCs that the bounds apply to",
        source="none; then ports or flows",
    )
    ports: Annotated[tuple[str, ...], Field(min_length=1)] | None = param(
        None,
        'links of packets, such as "router1>router2": the bounds apply to the losses of packets '
        "and their time in these ports; with vcs links of cells, and the time of the VCs' cells",
        source="none: from end to end",
    )
    flows: NamesOfPairs | None = param(
        None,
        "flows, such as voice or flow1.forward: the bounds apply only to the time of their packets "
        "in the ports; without ports sources of packets, and their delays from end to end",
        source="all packets at the ports",
        when=without("vcs"),
    )
    profile: Annotated[str, word(*PROFILES)] | None = param(
        None,
        "bounds of a service class or an application from end to end; the keys below replace "
        "single bounds",
        source="only the bounds below",
        when=when("vcs"),
    )
    clr: Annotated[float, _CLR] | None = param(
        None,
        "largest part of the cells, or of the packets of a port, that may be lost",
        symbol="CLR",
        source="that of the profile, if any",
    )
    ctd: Annotated[Quantity, _TIME] | None = param(
        None,
        "largest transfer delay from end to end, or time in a port, at the quantile",
        symbol="maxCTD",
        source="that of the profile, if any",
    )
    cdv: Annotated[Quantity, _TIME] | None = param(
        None,
        "largest peak-to-peak variation of the delay: the quantile less the delay of a cell that "
        "never waits; for packets and in a port the quantile less the least",
        symbol="CDV",
        source="that of the profile, if any",
    )
    quantile: Annotated[float, _QUANTILE] = param(
        0.999,
        "part of the cells or packets whose delay is at most the value compared with ctd and cdv",
        source="choice: the finest that records have beside the largest; Traffic Management 4.0 "
        "leaves it to the contract, I.356 has a part of 1e-8 beyond it",
        when=(when("ctd"), when("cdv"), when("profile", *_WITH_DELAYS)),
    )

    @property
    def bounds(self) -> QosBounds:
        """The bounds of the profile, with those that the table says itself in their place."""
        base = PROFILES[self.profile] if self.profile else QosBounds(None, None, None)
        return QosBounds(
            base.clr if self.clr is None else self.clr,
            base.ctd_ps if self.ctd is None else rounded(self.ctd.amount),
            base.cdv_ps if self.cdv is None else rounded(self.cdv.amount),
        )

    @property
    def asks_for_delays(self) -> bool:
        """Whether delays of cells have to be measured."""
        return self.bounds.ctd_ps is not None or self.bounds.cdv_ps is not None
