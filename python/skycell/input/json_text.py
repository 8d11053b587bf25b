"""JSON of a file that anybody may have written.

Python hears of no signal within a call of `json.loads`, unless that calls Python: here it does so
for each whole number. Without one, 256 MiB take three seconds.
"""

from __future__ import annotations

import json
import re
from typing import Any

_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""Escapes of halves of signs, of which two may be a whole one."""

_MOST_DIGITS = 38
"""Those of 128 bits, which no table has more than."""


def read_json(text: str | bytes) -> Any:
    """What a JSON text says.

    Raises:
        ValueError: it is no JSON, is nested too deeply to be read, has a number of too many digits,
            or half of a sign, which no text in UTF-8 can have.
    """
    try:
        data = json.loads(text, parse_int=whole)
        if _HALF.search(text if isinstance(text, str) else text.decode("latin-1")):
            json.dumps(data, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return data


def whole(digits: str) -> int:
    """A whole number of a JSON text; between two of them Python hears of signals.

    Raises:
        ValueError: of too many digits.
    """
    if len(digits) > _MOST_DIGITS:
        raise ValueError("a number has too many digits")
    return int(digits)
