"""JSON of a file that anybody may have written.

Python hears of no signal within a call of `json.loads`, unless that calls Python: here it does so
for each whole number. Without one, 256 MiB take three seconds.
"""

from __future__ import annotations

import json
from typing import Any


def read_json(text: str | bytes) -> Any:
    """What a JSON text says.

    Raises:
        ValueError: it is no JSON, is nested too deeply to be read, or has a number of too many
            digits.
    """
    try:
        return json.loads(text, parse_int=whole)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def whole(digits: str) -> int:
    """A whole number of a JSON text; between two of them Python hears of signals.

    Raises:
        ValueError: of too many digits.
    """
    return int(digits)
