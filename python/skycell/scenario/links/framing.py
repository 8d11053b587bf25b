"""What a framing takes of a link, by the rule in `crates/framing`.

A framing of cells leaves a part of the rate. One of packets says what each IP packet takes of the
line beside itself, and the rate of the link is that of the line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from skycell import _core
from skycell.input.quantities import Quantity, rounded
from skycell.scenario.declared.framings import FRAMINGS, Framing
from skycell.scenario.interpreter.place import Place
from skycell.scenario.interpreter.rules import fields_of
from skycell.scenario.values.rule_specs import FieldSpec
from skycell.spec.declared.network import PacketFraming

#: Octets of the longest IP packet.
LONGEST_PACKET = 65_535
_IP_HEADER = 20  # RFC 791 section 3.1, without options


@dataclass(frozen=True)
class Overhead:
    """What a framing takes of a link.

    Attributes:
        carried: bits of cells, or of the line of packets, for a bit or symbol of the stated rate.
        packet: what a packet takes of that line, but for its rate; empty for a framing of cells.
        layers: shares of the link by layer, together 1; empty where there is one layer.
    """

    carried: Fraction
    packet: Mapping[str, int]
    layers: Mapping[str, Fraction]

    def on_line(self, rate: Fraction) -> PacketFraming:
        """What packets take of a line of packets of a rate in bit/s."""
        return PacketFraming(rate_millibps=rounded(rate * 1000), **self.packet)


@dataclass(frozen=True)
class Unfit:
    """A parameter of a framing that does not go with the others.

    Attributes:
        key: of the parameter.
        allowed: what it may be.
    """

    key: str
    allowed: str


def carries_packets(framing: Framing | None) -> bool:
    """Whether IP packets go whole; else they go in cells."""
    return framing is not None and FRAMINGS[framing.kind].facts["carries"] == "packets"


def counts_symbols(framing: Framing) -> bool:
    """Whether the rate of the link is one of symbols."""
    return FRAMINGS[framing.kind].facts.get("rate") == "symbols"


def only_bps(framing: Framing) -> int | None:
    """The only rate that the framing exists at, bit/s; none where any will do."""
    return FRAMINGS[framing.kind].facts.get("only_bps")


def overhead_of(framing: Framing) -> Overhead:
    """What a framing without faults takes; of one with a fault, nothing."""
    found = _asked(framing)
    return found if isinstance(found, Overhead) else Overhead(Fraction(1), {}, {})


def unfit_of(framing: Framing) -> Unfit | None:
    """The parameter of a framing that does not go with the others; none as a rule."""
    found = _asked(framing)
    return found if isinstance(found, Unfit) else None


def checked_octets(frame_check: Quantity | str, overhead_octets: int) -> int | None:
    """Octets of a frame that its check covers, with a framing of so many; None for all of them."""
    if isinstance(frame_check, Quantity):
        return int(frame_check.amount)
    return None if frame_check == "frame" else overhead_octets + _IP_HEADER


@lru_cache(maxsize=256)
def _asked(framing: Framing) -> Overhead | Unfit:
    rule = FRAMINGS[framing.kind]
    asked = {"kind": framing.kind, **fields_of(rule, framing, Place())}
    answer = json.loads(_core.framing_overhead(json.dumps(asked)))
    if "Err" in answer:
        own = (parameter for parameter in rule.parameters if isinstance(parameter, FieldSpec))
        (key,) = (parameter.key for parameter in own if parameter.field == answer["Err"]["field"])
        return Unfit(str(key), answer["Err"]["allowed"])
    found = answer["Ok"]
    return Overhead(
        _part(found["carried"]),
        found["packet"] or {},
        {name: _part(share) for name, share in found["layers"]},
    )


def _part(part: Mapping[str, int]) -> Fraction:
    return Fraction(part["parts"], part["whole"])
