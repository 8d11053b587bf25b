"""Framings in a scenario file.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from skycell.input.parameters import Parameters, param, word
from skycell.scenario.declared.types import (
    Flag,
    FromZeroToOne,
    OctetsBeside,
    OctetsOfUnit,
    OctetsOfUnitOnLine,
)
from skycell.scenario.values.rule_specs import (
    FieldSpec,
    RuleSpec,
    kind_by_name,
)


class NoOverhead(Parameters):
    """All of the rate carries ATM cells."""

    kind: Literal["none"] = param(..., "the framing")


class Sts3c(Parameters):
    """ATM cells in SONET STS-3c (SDH STM-1): 149.76 of 155.52 Mbit/s (ANSI T1.105)."""

    kind: Literal["sts3c"] = param(..., "the framing")


class Sts12c(Parameters):
    """ATM cells in SONET STS-12c (SDH STM-4): 599.04 of 622.08 Mbit/s (ANSI T1.105)."""

    kind: Literal["sts12c"] = param(..., "the framing")


class Ds3Plcp(Parameters):
    """ATM cells in the PLCP of a DS3: 96 000 cells/s of 44.736 Mbit/s (ANSI T1.624)."""

    kind: Literal["ds3_plcp"] = param(..., "the framing")


class Ip(Parameters):
    """IP packets alone: the rate is that at which the link carries their octets."""

    kind: Literal["ip"] = param(..., "the framing")


class Ethernet(Parameters):
    """Ethernet: 38 octets beside each packet, from preamble to gap, and padding to 46."""

    kind: Literal["ethernet"] = param(..., "the framing")
    vlan: Flag = param(
        False,
        "frames carry a VLAN tag (IEEE 802.1Q), 4 octets",
        source="untagged frames",
    )


class Ppp(Parameters):
    """PPP in frames like HDLC's, on a synchronous line; stuffed bits are not counted."""

    kind: Literal["ppp"] = param(..., "the framing")
    check_sequence: Annotated[str, word("16 bit", "32 bit")] = param(
        "16 bit",
        "the frame check sequence",
        symbol="FCS",
        source="RFC 1662 section 3.1",
    )
    compressed: Flag = param(
        False,
        "address and control are left out, and the protocol has one octet",
        source="RFC 1661 sections 6.5 and 6.6: to be negotiated",
    )


class Custom(Parameters):
    """Any overhead of octets for each packet, perhaps with padding, perhaps in units."""

    kind: Literal["custom"] = param(..., "the framing")
    overhead: OctetsBeside = param(
        ...,
        "octets of each packet beside itself",
    )
    padded_to: OctetsBeside = param(
        "0 B",
        "octets to which a shorter packet is padded",
        source="no padding",
    )
    unit: OctetsOfUnit = param(
        "1 B",
        (
            "octets of the units that a packet with its overhead fills, such as 48 B of a"
            " modem that uses ATM cells"
        ),
        source="no units",
    )
    unit_on_line: OctetsOfUnitOnLine | None = param(
        None,
        "octets that a unit takes of the line, such as 53 B",
        source="those of the unit",
    )


class Gse(Parameters):
    """GSE packets in the BBFRAMEs of a DVB-S2 carrier, whose symbol rate is the link's rate."""

    kind: Literal["gse"] = param(..., "the framing")
    modcod: Annotated[
        str,
        word(
            "QPSK 1/4",
            "QPSK 1/3",
            "QPSK 2/5",
            "QPSK 1/2",
            "QPSK 3/5",
            "QPSK 2/3",
            "QPSK 3/4",
            "QPSK 4/5",
            "QPSK 5/6",
            "QPSK 8/9",
            "QPSK 9/10",
            "8PSK 3/5",
            "8PSK 2/3",
            "8PSK 3/4",
            "8PSK 5/6",
            "8PSK 8/9",
            "8PSK 9/10",
            "16APSK 2/3",
            "16APSK 3/4",
            "16APSK 4/5",
            "16APSK 5/6",
            "16APSK 8/9",
            "16APSK 9/10",
            "32APSK 3/4",
            "32APSK 4/5",
            "32APSK 5/6",
            "32APSK 8/9",
            "32APSK 9/10",
        ),
    ] = param(
        ...,
        "constellation and code rate",
        symbol="MODCOD",
    )
    frame: Annotated[str, word("normal", "short")] = param(
        "normal",
        "FECFRAMEs of 64 800 or 16 200 bits",
        source="EN 302 307-1 section 5.3",
    )
    pilots: Flag = param(
        True,
        "36 pilot symbols after every 16 slots",
        source="choice: as most carriers have",
    )
    label: Annotated[str, word("6 B", "3 B", "none")] = param(
        "6 B",
        "address of each GSE packet",
        source="TS 102 606-1: as long as an Ethernet address",
    )
    roll_off: FromZeroToOne = param(
        0.2,
        (
            "roll-off of the pulses: a carrier occupies 1 + roll-off times its symbol "
            "rate; for `skycell budget` alone"
        ),
        symbol="α",
        source="EN 302 307-1 section 5.6: the least of 0.35, 0.25 and 0.20",
    )


AnyFraming = NoOverhead | Sts3c | Sts12c | Ds3Plcp | Ip | Ethernet | Ppp | Custom | Gse
#: Those that need no more than their name.
_Names = Literal["none", "sts3c", "sts12c", "ds3_plcp", "ip", "ethernet", "ppp"]
Framing = Annotated[
    Annotated[AnyFraming, Field(discriminator="kind")],
    BeforeValidator(kind_by_name, json_schema_input_type=AnyFraming | _Names),
]

FRAMINGS: dict[str, RuleSpec] = {
    "none": RuleSpec(
        NoOverhead,
        None,
        (),
        facts={
            "carries": "cells",
        },
    ),
    "sts3c": RuleSpec(
        Sts3c,
        None,
        (),
        facts={
            "carries": "cells",
            "only_bps": 155520000,
        },
    ),
    "sts12c": RuleSpec(
        Sts12c,
        None,
        (),
        facts={
            "carries": "cells",
            "only_bps": 622080000,
        },
    ),
    "ds3_plcp": RuleSpec(
        Ds3Plcp,
        None,
        (),
        facts={
            "carries": "cells",
            "only_bps": 44736000,
        },
    ),
    "ip": RuleSpec(
        Ip,
        None,
        (),
        facts={
            "carries": "packets",
        },
    ),
    "ethernet": RuleSpec(
        Ethernet,
        None,
        (FieldSpec("vlan", "vlan", "Flag"),),
        facts={
            "carries": "packets",
        },
    ),
    "ppp": RuleSpec(
        Ppp,
        None,
        (
            FieldSpec(
                "check_sequence",
                "check_sequence",
                "word",
                words={"16 bit": "short", "32 bit": "long"},
            ),
            FieldSpec("compressed", "compressed", "Flag"),
        ),
        facts={
            "carries": "packets",
        },
    ),
    "custom": RuleSpec(
        Custom,
        None,
        (
            FieldSpec("overhead_octets", "overhead", "OctetsBeside"),
            FieldSpec("least_octets", "padded_to", "OctetsBeside"),
            FieldSpec("unit_octets", "unit", "OctetsOfUnit"),
            FieldSpec("line_octets", "unit_on_line", "OctetsOfUnitOnLine"),
        ),
        facts={
            "carries": "packets",
        },
    ),
    "gse": RuleSpec(
        Gse,
        None,
        (
            FieldSpec(
                "modcod",
                "modcod",
                "word",
                words={
                    "QPSK 1/4": "qpsk1_4",
                    "QPSK 1/3": "qpsk1_3",
                    "QPSK 2/5": "qpsk2_5",
                    "QPSK 1/2": "qpsk1_2",
                    "QPSK 3/5": "qpsk3_5",
                    "QPSK 2/3": "qpsk2_3",
                    "QPSK 3/4": "qpsk3_4",
                    "QPSK 4/5": "qpsk4_5",
                    "QPSK 5/6": "qpsk5_6",
                    "QPSK 8/9": "qpsk8_9",
                    "QPSK 9/10": "qpsk9_10",
                    "8PSK 3/5": "psk8_3_5",
                    "8PSK 2/3": "psk8_2_3",
                    "8PSK 3/4": "psk8_3_4",
                    "8PSK 5/6": "psk8_5_6",
                    "8PSK 8/9": "psk8_8_9",
                    "8PSK 9/10": "psk8_9_10",
                    "16APSK 2/3": "apsk16_2_3",
                    "16APSK 3/4": "apsk16_3_4",
                    "16APSK 4/5": "apsk16_4_5",
                    "16APSK 5/6": "apsk16_5_6",
                    "16APSK 8/9": "apsk16_8_9",
                    "16APSK 9/10": "apsk16_9_10",
                    "32APSK 3/4": "apsk32_3_4",
                    "32APSK 4/5": "apsk32_4_5",
                    "32APSK 5/6": "apsk32_5_6",
                    "32APSK 8/9": "apsk32_8_9",
                    "32APSK 9/10": "apsk32_9_10",
                },
            ),
            FieldSpec("frame", "frame", "word"),
            FieldSpec("pilots", "pilots", "Flag"),
            FieldSpec("label", "label", "word", words={"6 B": "long", "3 B": "short"}),
            FieldSpec("roll_off", "roll_off", "FromZeroToOne"),
        ),
        facts={
            "carries": "packets",
            "rate": "symbols",
        },
    ),
}
"""What each framing declares, by its kind."""
