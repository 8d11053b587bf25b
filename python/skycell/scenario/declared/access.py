"""Access in a scenario file.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from skycell.input.parameters import Parameters, param, when, word
from skycell.scenario.declared.types import (
    BackoffExponent,
    Flag,
    FrameCount,
    FrameSlots,
    Interval,
    PartOfOne,
    SlotCount,
    SlotCountOrNone,
    TimeOrNone,
)
from skycell.scenario.values.rule_specs import (
    FieldSpec,
    RuleSpec,
    kind_by_name,
)
from skycell.spec.declared.network import (
    DamaSpec,
    FixedAssignmentSpec,
    HybridSpec,
    SlottedAlohaSpec,
    SplittingSpec,
    TreeSpec,
)


class SlottedAloha(Parameters):
    """Slotted ALOHA: terminals send at random, and again at random after a collision."""

    kind: Literal["slotted_aloha"] = param(..., "the access protocol")
    backoff: Annotated[str, word("fixed", "binary_exponential", "pseudo_bayesian")] = param(
        "pseudo_bayesian",
        "how terminals wait after a collision",
        source="Bertsekas and Gallager 1992, section 4.2.3: stable up to 1/e",
    )
    probability: PartOfOne = param(
        0.05,
        "probability with which a terminal sends again in a slot after a collision",
        symbol="q_r",
        source="choice",
        when=when("backoff", "fixed"),
    )
    max_exponent: BackoffExponent = param(
        10,
        "largest k of the 2^k slots among which one is drawn after the k-th collision",
        source="IEEE 802.3: 10",
        when=when("backoff", "binary_exponential"),
    )
    arrivals: PartOfOne = param(
        0.36787944117144233,
        "arrivals in a slot that the estimate of the backlog takes for granted",
        symbol="lambda",
        source="Bertsekas and Gallager 1992, section 4.2.3: 1/e, the most that it carries",
        when=when("backoff", "pseudo_bayesian"),
    )


class Tree(Parameters):
    """Tree collision resolution: groups that collide split in two until each burst is through."""

    kind: Literal["tree"] = param(..., "the access protocol")
    window: TimeOrNone = param(
        "0 s",
        (
            "arrivals of this time enter a tree (dynamic); 0 for all that wait when it "
            "begins (static)"
        ),
        symbol="Delta",
        source="Capetanakis 1979: static",
    )
    skips_certain_collisions: Flag = param(
        False,
        "a group that must collide, as its sibling was idle, splits without being sent",
        source="Capetanakis 1979: no; Massey 1981: yes",
    )


class Splitting(Parameters):
    """First-come first-serve splitting of intervals of arrival times."""

    kind: Literal["splitting"] = param(..., "the access protocol")
    window: Interval = param(
        ...,
        "longest interval of arrival times that is sent at first",
        symbol="alpha_0",
    )


class FixedAssignment(Parameters):
    """Fixed assignment (TDMA): each terminal has its own slots in each frame, used or not."""

    kind: Literal["fixed_assignment"] = param(..., "the access protocol")
    constant_slots: SlotCount = param(
        1,
        "slots of each terminal in a frame; terminals take turns",
        source="choice",
    )


class Dama(Parameters):
    """DAMA: terminals ask for slots, and a controller grants them frame by frame."""

    kind: Literal["dama"] = param(..., "the access protocol")
    frame_slots: FrameSlots = param(
        64,
        "slots of a frame",
        source="choice",
    )
    request_slots: SlotCount = param(
        4,
        "slots at its beginning that carry requests",
        source="choice",
    )
    requests_per_slot: SlotCount = param(
        4,
        "requests, each of one terminal, that such a slot carries",
        source="choice: bursts of EN 301 790's request channel are shorter",
    )
    request: Annotated[str, word("none", "rate", "volume", "absolute_volume")] = param(
        "volume",
        "category of the terminals' requests",
        source="EN 301 790: VBDC",
    )
    constant_slots: SlotCountOrNone = param(
        0,
        "CRA: slots a frame that each terminal has without asking",
        source="choice: none",
    )
    rate_timeout: FrameCount = param(
        16,
        "frames for which a requested rate holds",
        source="choice",
        when=when("request", "rate"),
    )
    free_capacity: Flag = param(
        False,
        "FCA: slots that nobody has asked for are given to all in turn",
        source="choice",
    )


class Hybrid(Parameters):
    """Hybrid access: the first burst of a message contends and asks for the slots of the rest."""

    kind: Literal["hybrid"] = param(..., "the access protocol")
    frame_slots: FrameSlots = param(
        64,
        "slots of a frame",
        source="choice",
    )
    contention_slots: SlotCount = param(
        4,
        "slots of it that are never reserved, the last ones",
        source="choice",
    )
    arrivals: PartOfOne = param(
        0.36787944117144233,
        ("arrivals in a slot of contention that the estimate of the backlog takes for granted"),
        symbol="lambda",
        source="as slotted_aloha",
    )


AnyAccessProtocol = SlottedAloha | Tree | Splitting | FixedAssignment | Dama | Hybrid
#: Those that need no more than their name.
_Names = Literal["slotted_aloha", "tree", "fixed_assignment", "dama", "hybrid"]
AccessProtocol = Annotated[
    Annotated[AnyAccessProtocol, Field(discriminator="kind")],
    BeforeValidator(kind_by_name, json_schema_input_type=AnyAccessProtocol | _Names),
]

ACCESS: dict[str, RuleSpec] = {
    "slotted_aloha": RuleSpec(
        SlottedAloha,
        SlottedAlohaSpec,
        (
            FieldSpec("backoff", "backoff", "word"),
            FieldSpec("probability", "probability", "PartOfOne"),
            FieldSpec("max_exponent", "max_exponent", "BackoffExponent"),
            FieldSpec("arrivals", "arrivals", "PartOfOne"),
        ),
        facts={},
    ),
    "tree": RuleSpec(
        Tree,
        TreeSpec,
        (
            FieldSpec("window_ps", "window", "TimeOrNone"),
            FieldSpec("skips_certain_collisions", "skips_certain_collisions", "Flag"),
        ),
        facts={},
    ),
    "splitting": RuleSpec(
        Splitting,
        SplittingSpec,
        (FieldSpec("window_ps", "window", "Interval"),),
        facts={},
    ),
    "fixed_assignment": RuleSpec(
        FixedAssignment,
        FixedAssignmentSpec,
        (FieldSpec("constant_slots", "constant_slots", "SlotCount"),),
        facts={},
    ),
    "dama": RuleSpec(
        Dama,
        DamaSpec,
        (
            FieldSpec("frame_slots", "frame_slots", "FrameSlots"),
            FieldSpec("request_slots", "request_slots", "SlotCount"),
            FieldSpec("requests_per_slot", "requests_per_slot", "SlotCount"),
            FieldSpec("request", "request", "word"),
            FieldSpec("constant_slots", "constant_slots", "SlotCountOrNone"),
            FieldSpec("rate_timeout", "rate_timeout", "FrameCount"),
            FieldSpec("free_capacity", "free_capacity", "Flag"),
        ),
        facts={},
    ),
    "hybrid": RuleSpec(
        Hybrid,
        HybridSpec,
        (
            FieldSpec("frame_slots", "frame_slots", "FrameSlots"),
            FieldSpec("contention_slots", "contention_slots", "SlotCount"),
            FieldSpec("arrivals", "arrivals", "PartOfOne"),
        ),
        facts={},
    ),
}
"""What each access protocol declares, by its kind."""
