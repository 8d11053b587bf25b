"""The table [[classifier]]: which packets take which VC out of a node, in which service class."""

from __future__ import annotations

from typing import Annotated

from skycell.input.parameters import Name, Parameters, param, whole_number, word
from skycell.scenario.links.classes import ServiceClass

#: Differentiated services code points by name, with their six bits (RFC 2474, 2597, 2598).
CODE_POINTS = {
    "DF": 0,
    **{f"CS{level}": 8 * level for level in range(1, 8)},
    **{f"AF{c}{drop}": 8 * c + 2 * drop for c in range(1, 5) for drop in range(1, 4)},
    "EF": 46,
}

CodePoint = Annotated[str, word(*CODE_POINTS)]
PortNumber = Annotated[int, whole_number(0, 65_535)]
#: RFC 3032: 20 bits, of which the first 16 values are reserved.
Label = Annotated[int, whole_number(16, 2**20 - 1)]
Protocol = Annotated[str, word("tcp", "udp")]

_ANY = "any"


class Rule(Parameters):
    """Packets that take a VC; the first rule that fits holds, and what it leaves out may be any."""

    vc: Name = param(
        ...,
        "VC that matching packets take to the next host or router, and share; over a second path "
        "its end is added to the name",
    )
    service: ServiceClass | None = param(
        None, "service class of that VC", alias="class", source="that of the flow"
    )
    source: Name | None = param(None, "source host of the packets", source=_ANY)
    destination: Name | None = param(None, "destination host of the packets", source=_ANY)
    protocol: Protocol | None = param(
        None, "tcp for flows, udp for sources of datagrams", source=_ANY
    )
    source_port: PortNumber | None = param(None, "source port of the packets", source=_ANY)
    destination_port: PortNumber | None = param(
        None, "destination port of the packets", source=_ANY
    )
    dscp: CodePoint | None = param(None, "code point of the packets", source=_ANY)
    label: Label | None = param(None, "MPLS label of the packets", source=_ANY)


class Classifier(Parameters):
    """A host or router that chooses VCs for packets by what their headers say."""

    node: Name = param(..., "host or router at which the VCs begin")
    rule: tuple[Rule, ...] = param([], "rules in their order", source="VCs as they are")
    preset: Annotated[str, word("diffserv")] | None = param(
        None,
        "further rules: diffserv has EF on a VC of class cbr, each AF class on one of class "
        "nrt_vbr, the rest on one of class ubr",
        source="none",
    )
    most_vcs: Annotated[int, whole_number(1, 65_535)] | None = param(
        None, "VCs that may begin at the node over one link", source="as many as there are"
    )


def _diffserv() -> tuple[Rule, ...]:
    assured = (f"AF{c}{drop}" for c in range(1, 5) for drop in range(1, 4))
    return (
        Rule.model_construct(vc="ef", service="cbr", dscp="EF"),
        *(
            Rule.model_construct(vc=name[:3].lower(), service="nrt_vbr", dscp=name)
            for name in assured
        ),
        Rule.model_construct(vc="rest", service="ubr"),
    )


PRESETS = {"diffserv": _diffserv()}
"""Rules by the name of their preset."""
