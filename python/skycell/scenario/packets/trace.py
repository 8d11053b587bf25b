"""The packets of a file: when a source sends each, and how long it is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from skycell.input.faults import Fault, FaultCollector, ScenarioFaults, show_value
from skycell.input.quantities import (
    LONGEST_RUN_PS,
    PS_PER_SECOND,
    rounded,
    show_amount,
    show_time,
)
from skycell.input.text import csv_faults, read_text
from skycell.scenario.file.scenario_file import ScenarioFile
from skycell.scenario.file.sources import LEAST_PACKET, MOST_PACKET, TraceSource
from skycell.scenario.links.logs.tables import stamp_ps
from skycell.scenario.links.series_columns import KINDS
from skycell.scenario.packets.rows import MEANING, Cell, Row, rows_of

#: Packets of one list; a spec with more takes hundreds of megabytes.
MOST_PACKETS = 1_000_000
#: A file that is wrong throughout is told by its first faults.
_MOST_FAULTS = 20
#: Numbers without a unit from here on are moments since 1970, in s, ms, us or ns: as seconds, 1973.
_SINCE_1970 = 10**8
_CLOCK = re.compile(r"(\d\d):(\d\d):(\d\d(?:\.\d{1,30})?)")
_DATE = re.compile(r"\d{4}-?\d\d-?\d\d")
_PLAIN = re.compile(r"\d+(?:\.\d*)?")
_TIMES_ALLOWED = (
    "a time from 0 in seconds or the header's unit or its own (12.5 ms), a time since 1970 in s, "
    "ms, us or ns, or ISO 8601"
)


@dataclass(frozen=True)
class PacketTrace:
    """The packets of a file, at least one.

    Attributes:
        times_ps: when each is sent since the source began, not descending.
        octets: of each as an IP packet.
        longest_line: of the file, where the first of the longest packets stands.
    """

    times_ps: tuple[int, ...]
    octets: tuple[int, ...]
    longest_line: int


def read_packet_traces(
    file: ScenarioFile, folder: Path, faults: FaultCollector
) -> dict[int, PacketTrace]:
    """The packets of each source that names a file, by its place among the sources.

    What is wrong with a file is noted in `faults`, and its source is left out.
    """
    found = {}
    for place, source in enumerate(file.source):
        if not isinstance(source, TraceSource):
            continue
        path = folder / source.file
        try:
            with csv_faults(str(path)):
                found[place] = read_packet_trace(str(path), read_text(path))
        except OSError as error:
            allowed = f"a file that can be read; {error.strerror or error}"
            faults.add(("source", place, "file"), source.file, allowed)
        except ScenarioFaults as own:
            faults.faults += own.faults
    return found


def read_packet_trace(name: str, text: str) -> PacketTrace:
    """The packets of one file.

    Times that are moments (since 1970, ISO 8601, times of day) count from the first packet, others
    from the begin of the source as they are written.

    Args:
        name: of the file, for faults.
        text: its content.

    Raises:
        ScenarioFaults: with the faults of the file, by line and column.
    """
    reader = _Reader(name)
    for row in rows_of(name, text):
        if len(reader.faults) >= _MOST_FAULTS:
            break
        if isinstance(row, Fault):
            reader.faults.append(row)
        elif len(reader.times_ps) == MOST_PACKETS:
            most = show_amount(MOST_PACKETS)
            got, allowed = f"more than {most} packets", f"up to {most}"
            reader.faults.append(Fault(name, "", got, allowed, MEANING, line=row.line))
            break
        else:
            reader.add(row)
    return reader.trace()


@dataclass
class _Reader:
    """Packets as far as they are read, each with its line; times as they are written."""

    name: str
    faults: list[Fault] = field(default_factory=list)
    times_ps: list[int] = field(default_factory=list)
    octets: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    has_moments: bool = False

    def add(self, row: Row) -> None:
        """Takes a packet, or notes what is wrong with it."""
        time, octets = _time_of(row.time), _octets_of(row.size)
        if octets is None:
            allowed = f"whole octets of an IP packet, {LEAST_PACKET} to {show_amount(MOST_PACKET)}"
            self._refuse(row, row.size, allowed)
        if time is None:
            self._refuse(row, row.time, _TIMES_ALLOWED)
        if time is None or octets is None:
            return
        at_ps, is_moment = time
        if not self.times_ps:
            self.has_moments = is_moment
        if is_moment != self.has_moments:
            allowed = "moments in all lines, or times since the source began in all"
            self._refuse(row, row.time, allowed)
        elif self.times_ps and at_ps < self.times_ps[-1]:
            back = show_time(self.times_ps[-1] - at_ps)
            got = f"{show_value(row.time.text)}, {back} before line {self.lines[-1]}"
            self._refuse(row, row.time, "times that do not go back", got)
        elif at_ps - self._begin_ps(at_ps) > LONGEST_RUN_PS:
            self._refuse(row, row.time, f"times within {show_time(LONGEST_RUN_PS)}")
        else:
            self.times_ps.append(at_ps)
            self.octets.append(octets)
            self.lines.append(row.line)

    def trace(self) -> PacketTrace:
        """The packets of all lines; raises `ScenarioFaults`."""
        if not self.times_ps and not self.faults:
            self.faults.append(Fault(self.name, "", "no packet", "a line for each", MEANING))
        if self.faults:
            raise ScenarioFaults(self.faults)
        begin_ps = self._begin_ps(0)
        return PacketTrace(
            tuple(time - begin_ps for time in self.times_ps),
            tuple(self.octets),
            self.lines[self.octets.index(max(self.octets))],
        )

    def _begin_ps(self, first_ps: int) -> int:
        """When the source begins; `first_ps` is the first time where there is none yet."""
        if not self.has_moments:
            return 0
        return self.times_ps[0] if self.times_ps else first_ps

    def _refuse(self, row: Row, cell: Cell, allowed: str, got: str | None = None) -> None:
        shown = show_value(cell.text) if got is None else got
        where = self.name, cell.name, shown, allowed, MEANING, row.line, cell.column
        self.faults.append(Fault(*where))


def _time_of(cell: Cell) -> tuple[int, bool] | None:
    """A time, and whether it is a moment rather than one since the source began."""
    if clock := _CLOCK.fullmatch(cell.text):
        hours, minutes, seconds = clock.groups()
        whole = (int(hours) * 60 + int(minutes)) * 60
        return rounded((whole + Fraction(seconds)) * PS_PER_SECOND), True
    if _PLAIN.fullmatch(cell.text) and float(cell.text) >= _SINCE_1970 and not cell.unit:
        return _moment_of(cell)
    times = KINDS["time"]
    found = times.read(cell.text, cell.unit)
    if found is None and cell.unit is None:
        found = times.read(cell.text, "s")
    if found is not None:
        return rounded(found.amount), False
    if cell.unit is not None or not _DATE.match(cell.text):
        return None
    return _moment_of(cell)


def _moment_of(cell: Cell) -> tuple[int, bool] | None:
    try:
        return stamp_ps(cell.text), True
    except ValueError:
        return None


def _octets_of(cell: Cell) -> int | None:
    match = re.fullmatch(r"(\d{1,9})(?:\s*B)?", cell.text)
    octets = int(match[1]) if match else 0
    return octets if LEAST_PACKET <= octets <= MOST_PACKET else None
