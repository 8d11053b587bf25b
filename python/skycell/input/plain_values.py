"""Values that a program hands over, as a scenario file would have them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any


def plain_value(value: Any) -> Any:
    """A copy with numbers and arrays of numpy as Python's own numbers and lists.

    >>> import numpy as np
    >>> plain_value({"tcp.mss": np.int64(3), "levels": (np.True_, np.array([0.5, 1.0]))})
    {'tcp.mss': 3, 'levels': [True, [0.5, 1.0]]}
    """
    if isinstance(value, Mapping):
        return {key: plain_value(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(entry) for entry in value]
    if hasattr(value, "tolist"):
        return value.tolist()
    return copy.deepcopy(value)
