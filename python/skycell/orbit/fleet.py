"""The satellites of a constellation's file: those that are used, and those that are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

from skycell.input.account import Account
from skycell.input.faults import FaultCollector, Path, ScenarioFaults, Verbatim
from skycell.input.text import read_text
from skycell.orbit.elements import ElementSet, FaultySatellite, sets_of
from skycell.orbit.ephemeris import Ephemeris, ephemerides_of
from skycell.orbit.file import ConstellationFile, ElementsPattern, EphemerisPattern
from skycell.orbit.selection import Choice, unmet

_FILE_MEANING = "the satellites' elements"


@dataclass(frozen=True)
class Fleet:
    """The satellites of a file.

    Attributes:
        sets: mean elements of satellites, in the order of the file.
        ephemerides: states of satellites, instead.
        faulty: satellites that are left out.
        planes: planes and satellites in each, where the file counts them.
        account: what was read of the file, left aside and assumed; None without a file.
    """

    sets: tuple[ElementSet, ...] = ()
    ephemerides: tuple[Ephemeris, ...] = ()
    faulty: tuple[FaultySatellite, ...] = ()
    planes: tuple[int, int] | None = None
    account: Account | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The satellites' names by number."""
        return (*(s.name for s in self.sets), *(s.name for s in self.ephemerides))


def read_fleet(file: ConstellationFile, folder: FilePath, faults: FaultCollector) -> Fleet:
    """The satellites of a constellation's file; none of a pattern.

    Args:
        file: the constellation's.
        folder: that the file of satellites is relative to.
        faults: of the constellation's file.

    Raises:
        ScenarioFaults: the file has faults that are not left out, or cannot be read; a choice means
            no satellite; or none is left.
    """
    pattern = file.pattern
    if not isinstance(pattern, ElementsPattern | EphemerisPattern):
        return Fleet()
    path = folder / pattern.file
    try:
        text = read_text(path)
    except OSError as error:
        allowed = f"a file that can be read; {error.strerror or error}"
        faults.add(("pattern", "file"), pattern.file, allowed, _FILE_MEANING)
        raise ScenarioFaults(faults) from None
    if isinstance(pattern, ElementsPattern):
        read = sets_of(text, str(path), pattern.select, pattern.exclude)
        fleet = Fleet(read.sets, (), read.faulty, read.planes, read.account)
        known = [(entry.name, str(entry.omm["NORAD_CAT_ID"])) for entry in read.sets]
    else:
        found = ephemerides_of(text, str(path), pattern.select, pattern.exclude)
        fleet = Fleet((), found.satellites, found.faulty, None, found.account)
        known = [(entry.name, entry.object_id) for entry in found.satellites]
    if fleet.faulty and pattern.faulty == "refuse":
        raise ScenarioFaults(fault for entry in fleet.faulty for fault in entry.faults)
    known += [(entry.name, entry.catalogue_number) for entry in fleet.faulty]
    _check_choices(("pattern", "select"), pattern.select, known, faults)
    faults.raise_if_any()
    if not fleet.names:
        got = Verbatim("no satellite that is used")
        if fleet.faulty:
            got = Verbatim(f"{got.text}: {fleet.faulty[0]}")
        faults.add(("pattern", "file"), got, "at least one", _FILE_MEANING)
        faults.raise_if_any()
    return fleet


def _check_choices(
    path: Path,
    choices: Sequence[Choice],
    known: Sequence[tuple[str, str]],
    faults: FaultCollector,
) -> None:
    """Notes choices that mean no satellite: a slip of the pen would else change the fleet."""
    for place in unmet(choices, known):
        allowed = "what means a satellite of the file"
        meaning = "the satellites that are used"
        faults.add((*path, place), choices[place].text, allowed, meaning)
