"""JSON of a file that anybody may have written."""

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
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
