"""Passes: when satellites rise above places, stand highest, and set."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from skycell.orbit.constellation import Constellation
from skycell.orbit.places import Place
from skycell.orbit.reach import refuse_out_of_reach
from skycell.orbit.validity import Validity, validity

if TYPE_CHECKING:
    import polars as pl

NO_MOMENT_PS = 2**64 - 1
"""In columns: the pass began before the first moment, or goes on after the last."""
_EVENTS = ("rise", "top", "set")
_LOOKS = ("azimuth_deg", "elevation_deg", "range_km")


@dataclass(frozen=True)
class PassEvent:
    """Where a satellite stands at a moment of its pass.

    Attributes:
        at_ps: since time 0.
        utc: the moment; None without `earth.epoch`.
        azimuth_deg: clockwise from north, 0 to below 360.
        elevation_deg: above the horizon.
        range_km: distance.
    """

    at_ps: int
    utc: datetime | None
    azimuth_deg: float
    elevation_deg: float
    range_km: float


@dataclass(frozen=True)
class Pass:
    """A time in which a place may use a satellite.

    Attributes:
        place: its name.
        satellite: its name.
        rise: the first moment; None where the pass had begun before the first moment asked for.
        top: the moment of the highest elevation, within the moments asked for.
        set: the last moment; None where it goes on after the last moment asked for.
    """

    place: str
    satellite: str
    rise: PassEvent | None
    top: PassEvent
    set: PassEvent | None


@dataclass(frozen=True)
class Passes:
    """The passes over some places.

    Attributes:
        rows: place after place, in the order of their beginnings.
        validity: what positions are worth.
    """

    rows: tuple[Pass, ...]
    validity: Validity

    def table(self) -> pl.DataFrame:
        """A row a pass; nulls where it has no rise or no set."""
        import polars as pl

        columns: dict[str, list[Any]] = {
            "place": [row.place for row in self.rows],
            "satellite": [row.satellite for row in self.rows],
        }
        types: dict[str, Any] = {"place": pl.String, "satellite": pl.String}
        for name in _EVENTS:
            events: list[PassEvent | None] = [getattr(row, name) for row in self.rows]
            for what, kind in [
                ("at_ps", pl.UInt64),
                ("utc", pl.Datetime("us", "UTC")),
                *((look, pl.Float64) for look in _LOOKS),
            ]:
                columns[f"{name}_{what}"] = [e and getattr(e, what) for e in events]
                types[f"{name}_{what}"] = kind
        return pl.DataFrame(columns, schema=types)


def passes(
    constellation: Constellation,
    places: Sequence[Place],
    *,
    duration_ps: int,
    start_ps: int = 0,
    jobs: int | None = None,
    on_progress: Callable[[float], bool] | None = None,
) -> Passes:
    """When satellites rise above places, stand highest, and set.

    Moments of rising and setting are found to 1 us, those of the highest elevation to 1 ms. A pass
    is a time in which a place may use a satellite: above its mask and within its other limits.

    Args:
        constellation: the satellites.
        places: on the ground.
        duration_ps: from the first moment to the last.
        start_ps: the first moment, since time 0.
        jobs: threads; as many as there are cores if not given.
        on_progress: reported the share that is done about every 0.1 s; False gives up.

    Raises:
        ScenarioFaults: a place can see no satellite at any time, a moment is too far from the
            elements' epochs, or every satellite has decayed.

    >>> from skycell.orbit import as_constellation, find_places, passes
    >>> places = find_places(["london"])
    >>> found = passes(as_constellation("jsac98-6x11"), places, duration_ps=900 * 10**12)
    >>> [row.satellite for row in found.rows if row.rise and row.set]
    ['6-7']
    """
    import os

    from skycell import _core

    last_ps = start_ps + duration_ps
    known = validity(constellation, start_ps, last_ps, places)
    refuse_out_of_reach(constellation, places)
    spec = json.dumps(constellation.spec(places))
    jobs = jobs or os.cpu_count() or 1
    columns = _core.orbit_passes(spec, start_ps, last_ps, jobs, on_progress)
    epoch_ns = constellation.file.earth.epoch

    def event(name: str, row: int) -> PassEvent | None:
        at_ps = int(columns[f"{name}_ps"][row])
        if at_ps == NO_MOMENT_PS:
            return None
        utc = None
        if epoch_ns is not None:
            microseconds = (epoch_ns + at_ps // 1000) // 1000
            utc = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
        return PassEvent(at_ps, utc, *(float(columns[f"{name}_{look}"][row]) for look in _LOOKS))

    rows = []
    for row, (station, satellite) in enumerate(
        zip(columns["station"], columns["satellite"], strict=True)
    ):
        top = event("top", row)
        assert top is not None
        names = places[station].name, constellation.satellites[satellite]
        rows.append(Pass(*names, event("rise", row), top, event("set", row)))
    return Passes(tuple(rows), known)
