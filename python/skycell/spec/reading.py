"""A spec read from its JSON form, by the types that its classes declare."""

from __future__ import annotations

from functools import cache
from typing import TypeVar

from msgspec import DecodeError
from msgspec.json import Decoder

from skycell.spec.part import SpecPart

P = TypeVar("P", bound=SpecPart)


class NoSpec(ValueError):
    """A text is not the JSON form of a spec; says where and why."""


def read_part(part: type[P], text: str) -> P:
    """Reads a part of a spec from its JSON form.

    Raises:
        NoSpec: with the key that is missing, unknown or of another type.
    """
    try:
        read: P = _decoder(part).decode(text)
    except (DecodeError, UnicodeEncodeError) as error:
        raise NoSpec(str(error)) from None
    return read


@cache
def _decoder(part: type[P]) -> Decoder[P]:
    return Decoder(part)
