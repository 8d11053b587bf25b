"""`Constellation`: a checked constellation file, and its resolved form for the compiled part."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from skycell.input.account import Account
from skycell.input.checking import check_against
from skycell.input.dotted_keys import set_value
from skycell.input.expand import base_of, merge
from skycell.input.faults import FaultCollector, Positions, ScenarioFaults
from skycell.input.quantities import PS_PER_SECOND, rounded
from skycell.input.text import read_text
from skycell.input.toml_text import read_toml
from skycell.orbit.checks import check_count, check_ends_of_links, check_file, check_planes
from skycell.orbit.file import (
    FILE_PATTERNS,
    ConstellationFile,
    DeltaPattern,
    ElementsPattern,
    EphemerisPattern,
    Jsac98Pattern,
    SlotsPattern,
    StarPattern,
    longitudes_deg,
)
from skycell.orbit.file_links import ListedLinks, grid_links, listed_links
from skycell.orbit.fleet import Fleet, read_fleet
from skycell.orbit.foreign import folder_of, foreign_values
from skycell.orbit.places import PLACE_LISTS, Place, ReadPlaces, account_of_places
from skycell.orbit.presets import constellations


@dataclass(frozen=True)
class Constellation:
    """Satellites, their links, and how paths are found over them; checked.

    `values` is what the file says, its preset still by name. `foreign` is the account of another
    simulator's files, where they stand for the constellation. `is_bent_pipe` says that its links
    between satellites are not used.
    """

    name: str
    values: Mapping[str, Any]
    positions: Positions = field(default_factory=dict, repr=False)
    folder: Path = Path()
    foreign: Account | None = None
    is_bent_pipe: bool = False

    @cached_property
    def file(self) -> ConstellationFile:
        """The file with preset and defaults filled in."""
        faults = self._faults()
        values = dict(self.values)
        base = base_of(values, constellations(), faults)
        is_known = not faults.faults
        return check_against(ConstellationFile, merge(base, values), faults, is_known)

    @property
    def title(self) -> str:
        """What pictures and tables call it."""
        preset = constellations().get(str(self.values.get("preset")))
        return self.file.title or (preset.title if preset else self.name)

    def with_values(self, values: Mapping[str, Any]) -> Constellation:
        """The constellation with other values, given as they would stand in the file.

        Args:
            values: by dotted key, such as `route` or `ground.mask`.

        Raises:
            ScenarioFaults: with these values it is none.
        """
        changed = copy.deepcopy(dict(self.values))
        faults = FaultCollector(self.name)
        for key, value in values.items():
            set_value(changed, key, copy.deepcopy(value), faults, ConstellationFile)
        faults.raise_if_any()
        return _checked(Constellation(self.name, changed, {}, self.folder, self.foreign))

    def bent_pipe(self) -> Constellation:
        """The constellation without its links between satellites."""
        return replace(self, is_bent_pipe=True)

    def _faults(self) -> FaultCollector:
        return FaultCollector(self.name, self.positions)

    @cached_property
    def fleet(self) -> Fleet:
        """The satellites of the constellation's file; none of a pattern.

        Raises:
            ScenarioFaults: the file of the satellites has faults, or cannot be read.
        """
        return read_fleet(self.file, self.folder, self._faults())

    @cached_property
    def own_places(self) -> tuple[Place, ...]:
        """The places of the file or of the built-in list that `ground.places` names.

        Raises:
            ScenarioFaults: the file has faults, or cannot be read.
        """
        read = self._read_places
        return () if read is None else read.places

    @cached_property
    def _read_places(self) -> ReadPlaces | None:
        name = self.file.ground.places
        if name is None:
            return None
        try:
            return account_of_places(self.folder / name, name)
        except OSError as error:
            faults = self._faults()
            allowed = f"a file that can be read, or a built-in list ({', '.join(PLACE_LISTS)}); "
            allowed += error.strerror or str(error)
            faults.add(("ground", "places"), name, allowed, "places on the ground")
            raise ScenarioFaults(faults) from None

    @cached_property
    def file_links(self) -> tuple[tuple[int, int], ...]:
        """Links between satellites of a file: those of a grid, and those of `links.file`.

        Raises:
            ScenarioFaults: the file of links has faults, or cannot be read.
        """
        return (*grid_links(self.file, self.fleet), *self._read_links.pairs)

    @cached_property
    def _read_links(self) -> ListedLinks:
        count = len(self.satellites)
        return listed_links(self.file, self.fleet, count, self.folder, self._faults())

    @property
    def accounts(self) -> tuple[Account, ...]:
        """What was read of each of its files, left aside and assumed."""
        places = None if self._read_places is None else self._read_places.account
        links = self._read_links.account
        read = (self.foreign, self.fleet.account, links, places)
        return tuple(account for account in read if account is not None)

    @cached_property
    def satellites(self) -> tuple[str, ...]:
        """Names of the satellites by number: plane-place from 1, slot, or the element set's."""
        pattern = self.file.pattern
        if isinstance(pattern, ElementsPattern | EphemerisPattern):
            return self.fleet.names
        if isinstance(pattern, SlotsPattern):
            return tuple(f"slot-{place + 1}" for place in range(len(longitudes_deg(pattern))))
        return tuple(
            f"{plane + 1}-{place + 1}"
            for plane in range(pattern.planes)
            for place in range(pattern.satellites_per_plane)
        )

    @property
    def hold(self) -> bool:
        """Whether a station keeps its satellite as long as it is visible."""
        ground = self.file.ground
        return ground.access == "longest" if ground.hold is None else ground.hold

    @property
    def links_satellites(self) -> bool:
        """Whether some of its satellites may be linked."""
        if self.is_bent_pipe:
            return False
        listed = bool(self.file.links.given) or bool(self.file_links)
        return listed or self._links()["kind"] != "none"

    def spec(
        self, places: Sequence[Place] = (), pairs: Sequence[tuple[int, int]] = ()
    ) -> dict[str, Any]:
        """The form that the compiled part reads.

        Args:
            places: stations on the ground.
            pairs: source and destination of paths, as places' numbers.
        """
        file = self.file
        numbers = {name: number for number, name in enumerate(self.satellites)}
        return {
            "shells": [self._shell()],
            "rotation": self._rotation(),
            "shape": file.earth.shape,
            "light_km_s": float(file.earth.light_speed.amount),
            "limits": {
                "max_length_km": _number(file.links.max_length),
                "clearance_km": float(file.links.clearance.amount),
            },
            "given_links": []
            if self.is_bent_pipe
            else [
                *([numbers[name] for name in pair] for pair in file.links.given),
                *map(list, self.file_links),
            ],
            "stations": [self._station(place) for place in places],
            "pairs": [list(pair) for pair in pairs],
            "access": {"rule": file.ground.access, "hold": self.hold, "slots": self._slots()},
            "route": file.route,
            "extra": {
                "satellite_ps": rounded(file.links.satellite_delay.amount),
                "ground_ps": rounded(file.ground.frame_delay.amount),
            },
        }

    def _station(self, place: Place) -> dict[str, Any]:
        """A place as the compiled part reads it; what it does not say is the constellation's."""
        ground = self.file.ground

        def own(value: Any, common: Any) -> Any:
            return common if value is None else value

        sectors = own(place.horizon_deg, ground.horizon)
        return {
            "name": place.name,
            "latitude_deg": place.latitude_deg,
            "longitude_deg": place.longitude_deg,
            "height_km": place.height_km,
            "mask_deg": own(place.mask_deg, float(ground.mask.amount)),
            "horizon_deg": [list(sector) for sector in sorted(sectors)],
            "longest_km": own(place.max_range_km, _number(ground.max_range)),
            "gso_exclusion_deg": own(place.gso_exclusion_deg, float(ground.gso_exclusion.amount)),
        }

    def _slots(self) -> dict[str, int] | None:
        """When stations are given their satellites, from time 0."""
        ground = self.file.ground
        if ground.reassign is None:
            return None
        period_ps = rounded(ground.reassign.amount)
        epoch_ps = (self.file.earth.epoch or 0) * 1000
        phase_ps = (rounded(ground.phase.amount) - epoch_ps) % period_ps
        return {"period_ps": period_ps, "phase_ps": phase_ps, "seed": ground.seed}

    def _rotation(self) -> dict[str, Any]:
        earth = self.file.earth
        if earth.epoch is None:
            return {"kind": "uniform", "angle_at_start_deg": 0.0}
        offset_s = float(earth.ut1_minus_utc.amount) / PS_PER_SECOND
        return {"kind": "sidereal", "start_unix_ns": earth.epoch, "ut1_minus_utc_s": offset_s}

    def _shell(self) -> dict[str, Any]:
        pattern = self.file.pattern
        epoch_ns = self.file.earth.epoch
        if isinstance(pattern, ElementsPattern):
            farthest_min = float(pattern.farthest.amount) / PS_PER_SECOND / 60
            return {
                "from": "elements",
                "elements": [entry.omm for entry in self.fleet.sets],
                "farthest_min": farthest_min if pattern.faulty == "leave_out" else None,
                "links": self._links(),
            }
        if isinstance(pattern, EphemerisPattern):
            objects = [
                [segment.spec(epoch_ns or 0) for segment in entry.segments]
                for entry in self.fleet.ephemerides
            ]
            return {
                "from": "ephemerides",
                "objects": objects,
                "max_error_km": float(pattern.max_error.amount),
                "links": self._links(),
            }
        return {"from": "pattern", "pattern": _pattern(pattern), "links": self._links()}

    def _links(self) -> dict[str, Any]:
        links = self.file.links
        if self.is_bent_pipe:
            return {"kind": "none"}
        if links.kind == "grid" and isinstance(self.file.pattern, FILE_PATTERNS):
            return {"kind": "none"}  # given one by one
        if links.kind == "grid":
            below = float(links.cross_plane_below.amount)
            return {"kind": "grid", "seam": links.seam, "cross_plane_below_deg": below}
        if links.kind == "nearest":
            return {"kind": "nearest", "count": links.count}
        return {"kind": links.kind}


def _number(amount: Any) -> float | None:
    return None if amount is None else float(amount.amount)


def _pattern(
    pattern: Jsac98Pattern | DeltaPattern | StarPattern | SlotsPattern,
) -> dict[str, Any]:
    if isinstance(pattern, SlotsPattern):
        radius = float(pattern.radius.amount)
        return {"kind": "slots", "radius_km": radius, "longitudes_deg": longitudes_deg(pattern)}
    spec: dict[str, Any] = {
        "kind": pattern.kind,
        "planes": pattern.planes,
        "satellites_per_plane": pattern.satellites_per_plane,
        "altitude_km": float(pattern.altitude.amount),
        "inclination_deg": float(pattern.inclination.amount),
    }
    if isinstance(pattern, DeltaPattern):
        spec |= {"phasing": pattern.phasing, "alternating": pattern.alternating}
    if isinstance(pattern, StarPattern):
        steps = {
            "raan_step_deg": (pattern.raan_step, 180.0 / pattern.planes),
            "phase_step_deg": (pattern.phase_step, 180.0 / pattern.satellites_per_plane),
        }
        for key, (stated, usual) in steps.items():
            spec[key] = usual if stated is None else float(stated.amount)
    return spec


#: A constellation, or what one can be made of: a preset, a file, or the data of a file.
ConstellationLike = Constellation | str | PathLike[str] | Mapping[str, Any]


def as_constellation(source: ConstellationLike, folder: Path | None = None) -> Constellation:
    """A checked constellation of a preset's name, a file, or the data that a file stands for.

    A file is a constellation file, StarryNet's `config.json`, or a folder of Hypatia's. Files that
    data name are relative to `folder`, or to where Python runs if it is not given.

    Raises:
        ScenarioFaults: with every fault.
        OSError: the file cannot be read.

    >>> len(as_constellation("jsac98-6x11").satellites)
    66
    """
    if isinstance(source, Constellation):
        return source
    if isinstance(source, Mapping):
        values = copy.deepcopy(dict(source))
        return _checked(Constellation("constellation", values, {}, folder or Path()))
    if isinstance(source, str) and source in constellations():
        return _checked(Constellation(source, {"preset": source}))
    path = Path(source)
    if (foreign := foreign_values(path)) is not None:
        values, account = foreign
        return _checked(Constellation(fspath(source), values, {}, folder_of(path), account))
    values, positions = read_toml(read_text(path), fspath(source))
    return _checked(Constellation(fspath(source), values, positions, path.parent))


def _checked(constellation: Constellation) -> Constellation:
    faults = FaultCollector(constellation.name, constellation.positions)
    check_file(constellation.file, faults)
    faults.raise_if_any()
    check_count(len(constellation.fleet.names), faults)
    check_planes(constellation.file, constellation.fleet, faults)
    faults.raise_if_any()
    for read in (lambda: constellation.own_places, lambda: constellation.file_links):
        try:
            read()
        except ScenarioFaults as found:
            faults.faults += found.faults
    check_ends_of_links(constellation.file, constellation.satellites, faults)
    faults.raise_if_any()
    return constellation
