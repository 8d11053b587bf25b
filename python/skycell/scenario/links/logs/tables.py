"""Tables of samples: CSV with time stamps and a round trip or a throughput."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from io import StringIO
from statistics import median
from typing import Any, NoReturn

from skycell.input.account import Assumed, LeftAside
from skycell.input.faults import Fault, ScenarioFaults, show_value
from skycell.input.printable import printable
from skycell.input.quantities import show_amount
from skycell.scenario.links.limits import (
    OutOfLimitsError,
    delay_ps,
    moment_ps,
    number,
    rate_bps,
)
from skycell.scenario.links.logs.log import (
    MEANING,
    MOST_FAULTS,
    Asked,
    Direction,
    Log,
    Sample,
    in_order,
    refused,
)
from skycell.scenario.links.logs.loss_column import LossColumn, is_loss_column
from skycell.scenario.links.schedule import MOST_STEPS

_TIME_COLUMN = re.compile(
    r"(?:(?:date_?)?time_?stamp|date_?time|date|time)(?:_(?:(?P<unit>s|ms|us|ns)|unix|utc|iso))?"
)
_ROUND_TRIP_COLUMN = re.compile(r"(?:rtt|ping|pop_ping_latency)(?:_(?P<unit>s|ms|us|ns))?")
_RATE_COLUMN = re.compile(
    r"(?:rate|throughput|goodput|bandwidth|capacity|speed|"
    r"(?P<down>down(?:load|link)?)|(?P<up>up(?:load|link)?))_"
    r"(?P<unit>[kmg]?bps|[kmg]?bit_?s|bits_per_second)"
)
_RATE_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_TIME_UNITS = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3}
_LOST = {"", "-1", "nan", "none", "null", "timeout", "lost", "*", "-"}
_NUMBER = re.compile(r"[+-]?\d{1,30}(?:[.,]\d{0,30})?(?:[eE][+-]?\d{1,2})?")
_OF_STEPS = re.compile(r"(?:delay|availability)(?:_.*)?")
_DISH_USAGE = re.compile(r"(?:down|up)link_throughput_bps")
_STAMPS = "seconds since any moment, a time since 1970 in s, ms, us or ns, or ISO 8601"
_MEASUREMENTS = {"timestamp_start", "timestamp_end"}
"""Columns of a table with a row for each measurement of many packets, as WetLinks has them."""
_EVEN = Fraction(9, 10)
"""How much more even the spacing by one meaning of the stamps has to be to decide for it."""


def stamp_ps(written: str) -> int:
    """A time stamp: since 1970 in s, ms, us or ns, told apart by its size, or ISO 8601.

    >>> stamp_ps("1705744800616897349") - stamp_ps("1705744800.6")
    16897349000

    Raises:
        ValueError: it is neither.
    """
    if _NUMBER.fullmatch(written):
        amount = number(written, decimal_comma=True)
        size = abs(amount)
        unit = next(
            unit
            for least, unit in ((10**17, "ns"), (10**14, "us"), (10**11, "ms"), (0, "s"))
            if size >= least
        )
        return moment_ps(amount * _TIME_UNITS[unit] / 10**12)
    stamp = datetime.fromisoformat(written)
    if stamp.tzinfo is None:
        stamp = stamp.replace(tzinfo=UTC)
    since = stamp - datetime(1970, 1, 1, tzinfo=UTC)
    return ((since.days * 86_400 + since.seconds) * 10**6 + since.microseconds) * 10**6


def _at_ps(written: str, unit_ps: int | None) -> int:
    if unit_ps is None or not _NUMBER.fullmatch(written):
        return stamp_ps(written)
    return moment_ps(number(written, decimal_comma=True) * unit_ps / 10**12)


@dataclass(frozen=True)
class _Column:
    index: int
    name: str
    unit: int | None
    direction: Direction | None = None


@dataclass
class _Header:
    """The columns of a table of samples, and those that it has besides."""

    names: list[str]
    time: list[_Column] = field(default_factory=list)
    rtt: list[_Column] = field(default_factory=list)
    rate: list[_Column] = field(default_factory=list)
    loss: list[_Column] = field(default_factory=list)
    others: list[_Column] = field(default_factory=list)


def delimiter_of(text: str) -> str:
    """What stands between the values of a table: semicolons, where its header has no comma.

    >>> delimiter_of("time_s;rtt_ms"), delimiter_of("time_s,rtt_ms")
    (';', ',')
    """
    header = text.lstrip().partition("\n")[0]
    return next((sign for sign in ",;\t" if sign in header), ",")


def read_table(name: str, text: str, asked: Asked) -> Log | None:
    """A table of samples, if its header says that it is one; none for a table of steps."""
    delimiter = delimiter_of(text)
    lines = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    names = [column.strip() for column in next(lines, [])]
    words = [_word(column) for column in names]
    _refuse_measurements(name, words)
    header = _header(names, words)
    if any(_OF_STEPS.fullmatch(word) for word in words):
        return None
    if not header.time or not (header.rtt or header.rate):
        return None
    rate = _of_direction(name, header.rate, asked)
    loss = header.loss if header.rtt else []
    for columns in (header.time, header.rtt, rate, loss):
        if len(columns) > 1:
            got = " and ".join(printable(column.name) for column in columns)
            raise refused(name, "", got, "one such column: remove the others", 1)
    used = (*rate, *loss)
    unused = [column for column in (*header.rate, *header.loss) if column not in used]
    header = replace(header, rate=rate, loss=loss, others=[*header.others, *unused])
    return _Rows(name, header, asked, delimiter).read(lines)


def _word(column: str) -> str:
    """The name of a column in lower case, with its unit behind `_` instead of in brackets."""
    return re.sub(r"[\s(/]+", "_", column.lower()).rstrip(")")


def _header(names: list[str], words: list[str]) -> _Header:
    header = _Header(names)
    for index, (column, word) in enumerate(zip(names, words, strict=True)):
        if match := _TIME_COLUMN.fullmatch(word):
            unit = _TIME_UNITS[match["unit"]] if match["unit"] else None
            header.time.append(_Column(index, column, unit))
        elif match := _ROUND_TRIP_COLUMN.fullmatch(word):
            header.rtt.append(_Column(index, column, _TIME_UNITS[match["unit"] or "ms"]))
        elif match := _RATE_COLUMN.fullmatch(word):
            scale = match["unit"][0] if match["unit"][0] in "kmg" else ""
            way: Direction | None = "up" if match["up"] else "down" if match["down"] else None
            header.rate.append(_Column(index, column, _RATE_UNITS[scale], way))
        elif is_loss_column(word):
            header.loss.append(_Column(index, column, None))
        else:
            header.others.append(_Column(index, column, None))
    return header


def _refuse_measurements(name: str, words: list[str]) -> None:
    """Names a table with a row for each measurement of many packets."""
    if set(words) >= _MEASUREMENTS and {"ping_avg", "download", "upload"} & set(words):
        got = "a table with a row for each measurement, as WetLinks has it: means of many packets"
        allowed = (
            "a row for each packet or second: the columns timestamp and rtt_ms, or timestamp and "
            "throughput_mbps, as in its table of seconds"
        )
        raise refused(name, "", got, allowed, 1)


def _of_direction(name: str, columns: list[_Column], asked: Asked) -> list[_Column]:
    """The columns of rates in the direction that is asked for."""
    ways = {column.direction for column in columns if column.direction}
    if asked.direction is not None and columns:
        found = [column for column in columns if column.direction == asked.direction]
        if not found:
            got = f'direction = "{asked.direction}" for {columns[0].name}'
            raise refused(name, "", got, "a direction that a column names", 1)
        return found
    if len(ways) > 1:
        got = f"rates of both directions: {' and '.join(printable(one.name) for one in columns)}"
        raise refused(name, "", got, 'direction = "up" or direction = "down" beside series', 1)
    return columns


@dataclass
class _Rows:
    name: str
    header: _Header
    asked: Asked
    delimiter: str
    faults: list[Fault] = field(default_factory=list)
    empty: int = 0

    def read(self, lines: Any) -> Log:
        losses = [LossColumn(column.name, _word(column.name)) for column in self.header.loss]
        samples = list(self._samples(lines, losses))
        if not self.faults and not samples:
            allowed = "at least one"
            self.faults.append(
                Fault(self.name, "", "no row after the header", allowed, MEANING, line=1)
            )
        if self.faults:
            raise ScenarioFaults(self.faults)
        words = "round trips" if self.header.rtt else "rates"
        assumed = [*self._units(), *_order(samples)]
        for column in losses:
            samples, of_losses = column.on(samples, self.name)
            assumed += of_losses
        is_by_packet = bool(self.header.rtt) and not any(
            sample.loss is not None for sample in samples
        )
        if is_by_packet:
            samples, stamps = _by_sending(samples, self.asked)
            assumed.append(stamps)
        directions = [column.direction for column in self.header.rate if column.direction]
        return in_order(
            self.name,
            Log(
                f"table of {words}",
                tuple(samples),
                noun="rows",
                has_round_trips=bool(self.header.rtt),
                has_stamps=is_by_packet,
                may_lack_rows=is_by_packet and not losses and not any(s.is_lost for s in samples),
                directions=tuple(directions),
                left_aside=tuple(self._left_aside()),
                assumed=tuple(assumed),
            ),
        )

    def _samples(self, lines: Any, losses: Sequence[LossColumn]) -> Iterator[Sample]:
        count = 0
        for values in lines:
            if not values or len(self.faults) >= MOST_FAULTS:
                continue
            if len(values) != len(self.header.names):
                self._refuse_length(values, lines.line_num)
                continue
            values = [value.strip() for value in values]
            sample = self._sample(values, lines.line_num)
            if sample is None:
                continue
            for column, loss in zip(self.header.loss, losses, strict=True):
                self._loss(column, loss, values, lines.line_num)
            count += 1
            if count > MOST_STEPS:
                most = show_amount(MOST_STEPS)
                self._refuse("", f"more than {most} rows", f"up to {most}", lines.line_num)
                return
            yield sample

    def _refuse_length(self, values: list[str], line: int) -> None:
        expected = len(self.header.names)
        allowed = f"{expected}, as in the header"
        if self.delimiter == "," and len(values) > expected:
            allowed += "; with commas as decimal signs put semicolons between the values"
        self._refuse("", f"{len(values)} values", allowed, line)

    def _sample(self, values: list[str], line: int) -> Sample | None:
        time = self.header.time[0]
        try:
            at_ps = _at_ps(values[time.index], time.unit)
        except ValueError:
            self._refuse(time.name, show_value(values[time.index]), _STAMPS, line)
            return None
        delay: int | None = None
        rate: Fraction | None = None
        is_lost = False
        for column in self.header.rtt:
            amount = self._amount(column, values, line)
            # LENS writes 0 and -1 where a packet was lost, in whichever column it was.
            is_lost = amount is None or amount in (0, -1)
            if not is_lost:
                delay = self._limited(column, values, line, delay_ps, amount, column.unit)
        for column in self.header.rate:
            amount = self._amount(column, values, line)
            if amount is None:
                self.empty += 1
            rate = self._limited(column, values, line, rate_bps, amount or Fraction(0), column.unit)
        return Sample(at_ps, delay, rate, is_lost=is_lost, line=line)

    def _loss(self, column: _Column, loss: LossColumn, values: list[str], line: int) -> None:
        try:
            loss.read(values[column.index], line, decimal_comma=self.delimiter != ",")
        except OutOfLimitsError as error:
            self._refuse(column.name, error.got, error.allowed, line)

    def _amount(self, column: _Column, values: list[str], line: int) -> Fraction | None:
        """A number of a row; none where nothing was measured, and for a fault."""
        written = values[column.index]
        if written.lower() in _LOST:
            return None
        try:
            return number(written, decimal_comma=self.delimiter != ",")
        except OutOfLimitsError as error:
            allowed = f"{error.allowed}, or nothing for a lost packet"
            self._refuse(column.name, error.got, allowed, line)
            return None

    def _limited(
        self, column: _Column, values: list[str], line: int, convert: Any, *of: Any
    ) -> Any:
        try:
            return convert(*of)
        except OutOfLimitsError as error:
            self._refuse(column.name, show_value(values[column.index]), error.allowed, line)
            return None

    def _refuse(self, column: str, got: str, allowed: str, line: int) -> None:
        self.faults.append(Fault(self.name, column, got, allowed, MEANING, line=line))

    def _units(self) -> Iterator[Assumed]:
        for column in self.header.rtt:
            if column.name.lower() in ("rtt", "ping"):
                sentence = f"The column {column.name} has no unit: its numbers are milliseconds."
                yield Assumed("units", sentence)
        if self.delimiter != ",":
            sign = {";": "semicolons", "\t": "tabs"}[self.delimiter]
            yield Assumed("signs", f"Values stand between {sign}; a comma is a decimal sign.")
        if self.empty:
            sentence = "An empty rate is 0."
            yield Assumed("rates", f"{sentence} Rows with one: {self.empty}.", numbers={})
        for column in self.header.rate:
            if column.direction is not None:
                ways = [one.direction for one in self.header.others if one.direction]
                other = f'direction = "{ways[0]}"' if ways else ""
                by = "key" if self.asked.direction else "file"
                sentence = f"The rates are those of the column {column.name} ({column.direction})."
                yield Assumed("direction", sentence, by, other)

    def _left_aside(self) -> Iterator[LeftAside]:
        usage = [
            other.name for other in self.header.others if _DISH_USAGE.fullmatch(other.name.lower())
        ]
        loss = [one.name for one in self.header.others if _is_loss(one.name)]
        rest = [one.name for one in self.header.others if one.name not in (*usage, *loss)]
        for names, why in (
            (usage, "a dish writes what was used, not what the link can carry"),
            (
                loss,
                "parts and percentages beside round trips are read; a table of steps has loss",
            ),
            (rest, ""),
        ):
            if names:
                yield LeftAside("column", len(names), tuple(names), why)


def _is_loss(name: str) -> bool:
    return bool(re.search(r"loss|lost|drop", name.lower()))


def _order(samples: list[Sample]) -> Iterator[Assumed]:
    late = sum(b.at_ps < a.at_ps for a, b in itertools.pairwise(samples))
    if late:
        sentence = f"Rows that are earlier than the row before them: {late}. All are sorted."
        yield Assumed("order", sentence, "file", numbers={"late": late})


def _by_sending(samples: list[Sample], asked: Asked) -> tuple[list[Sample], Assumed]:
    """The samples at the moments when packets were sent, and what their stamps were taken for.

    Packets leave at an even pace, and answers come back as the link lets them. Of the two meanings
    of the stamps that one is taken by which the packets left at the more even pace.
    """
    answered = [
        sample if sample.delay_ps is None else replace(sample, at_ps=sample.at_ps - sample.delay_ps)
        for sample in samples
    ]
    by_sending, by_answering = _unevenness(samples), _unevenness(answered)
    decided = asked.stamp
    by = "key"
    if decided is None:
        decided, by = "sent", "file"
        if by_answering < by_sending * _EVEN:
            decided = "answered"
        elif by_sending >= by_answering * _EVEN:
            by = "default"
    what = "answering" if decided == "answered" else "sending"
    sentence = f"The stamps are moments of {what}"
    if by == "file":
        own, other = by_sending, by_answering
        if decided == "answered":
            own, other = by_answering, by_sending
        sentence += (
            f": by them packets leave with {_percent(own)} of their spacing as deviation, by "
            f"the other meaning with {_percent(other)}"
        )
    elif by == "default":
        sentence = f"The file does not say what its stamps are: they are taken for {what}"
    other_word = "sent" if decided == "answered" else "answered"
    numbers = {"uneven_if_sent": float(by_sending), "uneven_if_answered": float(by_answering)}
    found = Assumed("stamps", f"{sentence}.", by, f'stamp = "{other_word}"', numbers)
    return (answered if decided == "answered" else samples), found


def _percent(part: Fraction) -> str:
    return f"{show_amount(round(float(100 * part), 2))} %"


def _unevenness(samples: Sequence[Sample]) -> Fraction:
    """Mean distance of the spacings from whole numbers of the median one, in parts of that.

    A missing row makes a spacing of twice the median, which is as even as any.
    """
    times = sorted(sample.at_ps for sample in samples)
    steps = [after - before for before, after in itertools.pairwise(times)]
    usual = int(median(steps)) if steps else 0
    if usual <= 0:
        return Fraction(0)
    off = sum(abs(step - usual * max(1, (step + usual // 2) // usual)) for step in steps)
    return Fraction(off, usual * len(steps))


def refuse_header(name: str, header: Sequence[str], missing: str) -> NoReturn:
    """Refuses a header that is neither of steps nor of samples."""
    got = ", ".join(printable(column) for column in header[:12]) or "nothing"
    more = f" and {len(header) - 12} more" if len(header) > 12 else ""
    allowed = (
        "a header of steps, such as time_s and delay_ms, or of samples, such as timestamp and "
        f"rtt_ms or throughput_mbps; {missing}"
    )
    raise ScenarioFaults([Fault(name, "", f"{got}{more}", allowed, "", line=1)])
