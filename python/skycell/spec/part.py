"""What the parts of a spec have in common."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

U32 = Annotated[int, Field(ge=0, lt=2**32)]
U64 = Annotated[int, Field(ge=0, lt=2**64)]


class SpecPart(BaseModel):
    """A part of a spec: frozen, of exact types, and unknown keys are faults."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, populate_by_name=True, defer_build=True
    )

    def model_post_init(self, context: Any, /) -> None:
        """Shares the set of the fields' names, which takes more memory than a small part itself."""
        object.__setattr__(self, "__pydantic_fields_set__", _names_of(type(self)))


def left_out(value: Any) -> Any:
    """A key younger than the form, left out of it at this value: older specs keep their hashes."""
    return Field(default=value, exclude_if=lambda own: bool(own == value))


@cache
def _names_of(part: type[SpecPart]) -> set[str]:
    return set(part.model_fields)
