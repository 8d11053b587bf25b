"""The table [impairments] as a scenario file writes it.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from skycell.input.parameters import Parameters, param
from skycell.scenario.declared.types import FromZeroToOne, TimeOrNone
from skycell.scenario.values.rule_specs import FieldSpec, RuleSpec
from skycell.spec.declared.network import AccessImpairments


class Impairments(Parameters):
    """The impairments of an uplink."""

    burst_errors: FromZeroToOne = param(
        0.0,
        (
            "part of the bursts that are not understood: in contention heard as a "
            "collision, of a request lost, in a slot of one's own sent again when that is"
            " known"
        ),
        source="none",
    )
    false_collisions: FromZeroToOne = param(
        0.0,
        "part of the idle slots of contention that are heard as collisions",
        source="none",
    )
    jammed: FromZeroToOne = param(
        0.0,
        "part of the slots in which a failed terminal sends, whosever they are",
        source="none",
    )
    jammed_from: TimeOrNone = param(
        "0 s",
        "when it fails",
        source="at once",
    )
    jammed_until: TimeOrNone = param(
        "0 s",
        "when it is off again; 0 for never",
        source="never",
    )


IMPAIRMENTS = RuleSpec(
    Impairments,
    AccessImpairments,
    (
        FieldSpec("burst_errors", "burst_errors", "FromZeroToOne"),
        FieldSpec("false_collisions", "false_collisions", "FromZeroToOne"),
        FieldSpec("jammed", "jammed", "FromZeroToOne"),
        FieldSpec("jammed_from_ps", "jammed_from", "TimeOrNone"),
        FieldSpec("jammed_until_ps", "jammed_until", "TimeOrNone"),
    ),
)
