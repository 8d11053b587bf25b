"""Buffer policies of a `NetworkSpec`, thresholds in cells; the JSON form of `crates/spec`."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

U32 = Annotated[int, Field(ge=0, lt=2**32)]
U64 = Annotated[int, Field(ge=0, lt=2**64)]


class SpecPart(BaseModel):
    """A part of a spec: frozen, of exact types, and unknown keys are faults."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)

    def model_post_init(self, context: Any, /) -> None:
        """Shares the set of the fields' names, which takes more memory than a small part itself."""
        object.__setattr__(self, "__pydantic_fields_set__", _names_of(type(self)))


def left_out(value: Any) -> Any:
    """A key younger than the form, left out of it at this value: older specs keep their hashes."""
    return Field(default=value, exclude_if=lambda own: bool(own == value))


@cache
def _names_of(part: type[SpecPart]) -> set[str]:
    return set(part.model_fields)


class TailDropSpec(SpecPart):
    """Discards the cells that find the buffer full."""

    kind: Literal["tail_drop"] = "tail_drop"


class PpdSpec(SpecPart):
    """Partial Packet Discard."""

    kind: Literal["ppd"] = "ppd"


class EpdSpec(SpecPart):
    """Early Packet Discard."""

    kind: Literal["epd"] = "epd"
    threshold_cells: U32
    partial_discard: bool = True


class SelectiveDropSpec(SpecPart):
    """Selective Drop."""

    kind: Literal["selective_drop"] = "selective_drop"
    threshold_cells: U32
    fairness_threshold: float
    partial_discard: bool = True


class FairBufferAllocationSpec(SpecPart):
    """Fair Buffer Allocation."""

    kind: Literal["fair_buffer_allocation"] = "fair_buffer_allocation"
    threshold_cells: U32
    fairness_threshold: float
    partial_discard: bool = True


class SingleDropSpec(SpecPart):
    """One frame at each crossing of a VC's threshold."""

    kind: Literal["single_drop"] = "single_drop"
    thresholds_cells: tuple[U32 | None, ...]
    rearm_below_cells: U32


class ZFixedSpec(SpecPart):
    """Z_i of DFBA is the same for all VCs."""

    kind: Literal["fixed"] = "fixed"
    value: float


class ZComplementSpec(SpecPart):
    """Z_i of DFBA is 1 - W_i / W."""

    kind: Literal["complement"] = "complement"


class ZComplementSquaredSpec(SpecPart):
    """Z_i of DFBA is (1 - W_i / W)^2."""

    kind: Literal["complement_squared"] = "complement_squared"


class RedPart(SpecPart):
    """What other policies share with RED."""

    min_cells: U32
    max_cells: U32
    max_p: float
    weight: float
    frame_ps: U64


class RedSpec(RedPart):
    """Random Early Detection."""

    kind: Literal["red"] = "red"


class FredSpec(SpecPart):
    """Flow Random Early Drop."""

    kind: Literal["fred"] = "fred"
    red: RedPart
    min_queue_cells: U32
    frame_cells: U32


class PriorityDropSpec(SpecPart):
    """A threshold for tagged frames and one for all."""

    kind: Literal["priority_drop"] = "priority_drop"
    tagged_cells: U32
    threshold_cells: U32


class VcPriorityDropSpec(SpecPart):
    """A threshold for tagged frames, one for the others, and one for each VC above it."""

    kind: Literal["vc_priority_drop"] = "vc_priority_drop"
    tagged_cells: U32
    threshold_cells: U32
    vc_thresholds_cells: tuple[U32, ...]


class VirtualQueueingSpec(SpecPart):
    """Virtual Queueing with a fixed threshold."""

    kind: Literal["virtual_queueing"] = "virtual_queueing"
    threshold_cells: U32


class DynamicEpdSpec(SpecPart):
    """Virtual Queueing with Dynamic EPD."""

    kind: Literal["dynamic_epd"] = "dynamic_epd"
    threshold_cells: U32


class McrSchedulingSpec(SpecPart):
    """Virtual Queueing with MCR scheduling."""

    kind: Literal["mcr_scheduling"] = "mcr_scheduling"
    threshold_cells: U32
    interval_ps: U64
    mcr_millicells: tuple[U64, ...]


class PmeEredSpec(SpecPart):
    """Packet Marking Engine and Enhanced RED."""

    kind: Literal["pme_ered"] = "pme_ered"
    red: RedPart
    interval_ps: U64
    step: float
    marked_part: float
    mcr_millicells: tuple[U64, ...]


class DfbaSpec(SpecPart):
    """Differential Fair Buffer Allocation."""

    kind: Literal["dfba"] = "dfba"
    low_cells: U32
    high_cells: U32
    alpha: float
    mcr_millicells: tuple[U64, ...]
    z: Annotated[ZFixedSpec | ZComplementSpec | ZComplementSquaredSpec, Field(discriminator="kind")]
    keeps_last_cells: bool


PolicySpec = Annotated[
    TailDropSpec
    | PpdSpec
    | EpdSpec
    | SelectiveDropSpec
    | FairBufferAllocationSpec
    | SingleDropSpec
    | DfbaSpec
    | PriorityDropSpec
    | VcPriorityDropSpec
    | RedSpec
    | FredSpec
    | VirtualQueueingSpec
    | DynamicEpdSpec
    | McrSchedulingSpec
    | PmeEredSpec,
    Field(discriminator="kind"),
]
