"""The canonical text of a spec: one text for one meaning, written and hashed at little cost."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from typing import Any

from skycell.spec.part import SpecPart, fields_of

_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_encode_text = json.encoder.encode_basestring_ascii


def canonical_json(part: SpecPart) -> str:
    """A spec, or a part of one, as JSON with sorted keys and no spaces.

    Parts that are one object in several places, such as the TCP parameters of many flows, are
    written once; apart from the result this takes little memory.

    Raises:
        ValueError: a number is not finite.
    """
    return "".join(_Writer().pieces(part))


class _Writer:
    def __init__(self) -> None:
        self._known: dict[int, str] = {}

    def pieces(self, part: SpecPart) -> Iterator[str]:
        """The text of a part in pieces, one for each part of its lists."""
        before = "{"
        for key, name, usual in _keys(type(part)):
            value = getattr(part, name)
            if value == usual:
                continue
            yield before + key
            before = ","
            if isinstance(value, tuple) and value and isinstance(value[0], SpecPart):
                yield "["
                yield self.whole(value[0])
                for item in value[1:]:
                    yield ","
                    yield self.whole(item)
                yield "]"
            else:
                yield self._value(value)
        yield "}"

    def whole(self, part: SpecPart) -> str:
        written = [
            key + self._value(value)
            for key, name, usual in _keys(type(part))
            if (value := getattr(part, name)) != usual
        ]
        return "{" + ",".join(written) + "}"

    def _value(self, value: Any) -> str:
        # Most values are plain; to ask whether one is a model takes longer than to write a number.
        kind = type(value)
        if kind is int:
            return str(value)
        if kind is str:
            return _encode_text(value)
        if value is None:
            return "null"
        if kind is tuple:
            if value and isinstance(value[0], SpecPart):
                return "[" + ",".join(map(self.whole, value)) + "]"
            return "[" + ",".join(map(self._value, value)) + "]"
        if isinstance(value, SpecPart):
            text = self._known.get(id(value))
            if text is None:
                text = self._known[id(value)] = self.whole(value)
            return text
        return _encode(value)


_ALWAYS_WRITTEN = object()


@cache
def _keys(kind: type[SpecPart]) -> tuple[tuple[str, str, Any], ...]:
    """Of each field, sorted by its key in the JSON form: key and colon, name, when to omit it."""
    fields = {field.key: (name, field) for name, field in fields_of(kind).items()}
    return tuple(
        (f'"{key}":', name, field.default if field.is_left_out else _ALWAYS_WRITTEN)
        for key, (name, field) in sorted(fields.items())
    )


class SpecText:
    """The canonical text of a run with any seed; what the replications of a case have in common.

    A text of megabytes takes a twentieth of that while it waits for its turn.
    """

    def __init__(self, text: str, seed: int) -> None:
        # A quote within a name is escaped, so the key stands there once.
        before, after = text.split(f'"seed":{seed}', 1)
        self._start = zlib.compress(f'{before}"seed":'.encode(), 1)
        self._after = after

    def with_seed(self, seed: int) -> str:
        """The text of the run with this seed."""
        return f"{zlib.decompress(self._start).decode()}{seed}{self._after}"

    def hashes(self, seeds: Iterable[int]) -> list[str]:
        """The hashes of the runs with these seeds, as `NetworkSpec.hash` of their specs."""
        start = sha256(zlib.decompress(self._start))
        hashes = []
        for seed in seeds:
            digest = start.copy()
            digest.update(f"{seed}{self._after}".encode())
            hashes.append(digest.hexdigest())
        return hashes
