"""Where satellites stand above places over time: azimuth, elevation and range."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from skycell.orbit.constellation import Constellation
from skycell.orbit.places import Place
from skycell.orbit.validity import Validity, validity

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Sights:
    """Where some satellites stand above some places at some moments.

    Attributes:
        places: names.
        satellites: names.
        times_ps: moments since time 0.
        epoch: time 0; None without `earth.epoch`.
        angles: moments x places x satellites x 3: azimuth clockwise from north and elevation above
            the horizon in degrees (below 0 where it has set), and range in km; NaN where a
            satellite is left out.
        validity: what positions are worth.
    """

    places: tuple[str, ...]
    satellites: tuple[str, ...]
    times_ps: tuple[int, ...]
    epoch: datetime | None
    angles: NDArray[np.float64]
    validity: Validity

    def table(self) -> pl.DataFrame:
        """A row a place, satellite and moment, in this order; none where one is left out."""
        import numpy as np
        import polars as pl

        moments, places, satellites, _ = self.angles.shape
        at = self.angles.transpose(1, 2, 0, 3).reshape(-1, 3)
        each = places * satellites
        utc: list[datetime | None] = [
            self.epoch and self.epoch + timedelta(microseconds=time // 10**6)
            for time in self.times_ps
        ]
        rows = pl.DataFrame(
            {
                "place": np.repeat(np.array(self.places, dtype=object), satellites * moments),
                "satellite": list(np.repeat(np.array(self.satellites, dtype=object), moments))
                * places,
                "time_ps": np.tile(np.array(self.times_ps, dtype=np.uint64), each),
                "utc": pl.Series(utc * each, dtype=pl.Datetime("us", "UTC")),
                "azimuth_deg": at[:, 0],
                "elevation_deg": at[:, 1],
                "range_km": at[:, 2],
            },
            schema_overrides={"place": pl.String, "satellite": pl.String},
        )
        return rows.filter(pl.col("range_km").is_not_nan())


def sights(
    constellation: Constellation,
    places: Sequence[Place],
    satellites: Sequence[str],
    times_ps: Sequence[int],
) -> Sights:
    """Azimuth, elevation and range of satellites above places at some moments.

    They are given below the horizon and the elevation mask too.

    Args:
        constellation: the satellites.
        places: on the ground.
        satellites: names of those that are looked at, as in `constellation.satellites`.
        times_ps: since time 0, one or more.

    Raises:
        ScenarioFaults: a moment is too far from the elements' epochs, or every satellite has
            decayed.
        ValueError: no moment, or a name that no satellite has.

    >>> from skycell.orbit import as_constellation, find_places
    >>> found = sights(as_constellation("jsac98-6x11"), find_places(["london"]), ["1-3"], [0])
    >>> found.angles[0, 0, 0].round(1).tolist()
    [15.0, 17.4, 1861.7]
    """
    from skycell import _core

    if not times_ps:
        raise ValueError("no moment to look at")
    numbers = {name: number for number, name in enumerate(constellation.satellites)}
    unknown = [name for name in satellites if name not in numbers]
    if unknown:
        raise ValueError(f"{', '.join(map(repr, unknown))}: no satellite has this name")
    known = validity(constellation, min(times_ps), max(times_ps))
    flat: Any = _core.orbit_sights(
        json.dumps(constellation.spec(places)), list(times_ps), [numbers[s] for s in satellites]
    )
    epoch_ns = constellation.file.earth.epoch
    epoch = None
    if epoch_ns is not None:
        epoch = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=epoch_ns // 1000)
    return Sights(
        tuple(place.name for place in places),
        tuple(satellites),
        tuple(times_ps),
        epoch,
        flat.reshape(len(times_ps), len(places), len(satellites), 3),
        known,
    )
