"""Positions of satellites, for pictures and checks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skycell.orbit.constellation import Constellation
from skycell.orbit.validity import validity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def positions_km(constellation: Constellation, times_ps: Sequence[int]) -> NDArray[np.float64]:
    """Earth-fixed positions: moments x satellites x 3, km; NaN where a satellite is left out.

    The third axis leads to the north pole, the first to latitude and longitude 0.

    Raises:
        ScenarioFaults: a moment is too far from the elements' epochs, or every satellite has
            decayed.

    >>> from skycell.orbit import as_constellation
    >>> positions_km(as_constellation("jsac98-6x11"), [0]).shape
    (1, 66, 3)
    """
    from skycell import _core

    if times_ps:
        validity(constellation, min(times_ps), max(times_ps))
    flat: Any = _core.orbit_positions(json.dumps(constellation.spec()), list(times_ps))
    return flat.reshape(len(times_ps), -1, 3)  # type: ignore[no-any-return]
