"""The column of a table of round trips that says which part of an interval's packets was lost."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from skycell.input.account import Assumed
from skycell.input.faults import show_value
from skycell.input.quantities import counted
from skycell.scenario.links.limits import OutOfLimitsError, number
from skycell.scenario.links.logs.log import Sample, refused

_COLUMN = re.compile(
    r"(?:(?:packet|pop|ping)_?)*(?:loss|drop|lost)(?:_?(?P<of>%|per_?cent|pct|ratio|rate|"
    r"fraction|part|share|probability))?"
)
_UNIT: dict[str, Literal["%", ""]] = {
    **dict.fromkeys(("%", "percent", "per_cent", "pct"), "%"),
    **dict.fromkeys(("ratio", "fraction", "part", "share", "probability"), ""),
}
_OF_A_DISH = "pop_ping_drop_rate"
"""A part from 0 to 1 (starlink-grpc-tools, `get_sample_data`)."""
_SAY_WHICH = "a name that says which: loss_ratio for parts of 1, loss_percent for parts of 100"


def is_loss_column(word: str) -> bool:
    """Whether a column, by its name in lower case, has the losses of intervals; a count has not.

    >>> is_loss_column("packet_loss_%"), is_loss_column("lost"), is_loss_column("loss_up")
    (True, False, False)
    """
    found = _COLUMN.fullmatch(word)
    return found is not None and word not in ("lost", "drop")


@dataclass
class LossColumn:
    """What stands in the column, row by row.

    Attributes:
        name: of the column, as written.
        word: the same in lower case.
        values: a part of 1 or of 100; none where nothing is written.
        lines: of the values.
    """

    name: str
    word: str
    values: list[Fraction | None] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    _has_sign: bool = False

    def read(self, written: str, line: int, *, decimal_comma: bool) -> None:
        """Reads the value of a row.

        Raises:
            OutOfLimitsError: it is no number from 0 to 100.
        """
        text = written.removesuffix("%").strip()
        self._has_sign = self._has_sign or text != written
        value = None
        if text and text.lower() not in ("nan", "none", "null", "-"):
            value = number(text, decimal_comma=decimal_comma)
            if not 0 <= value <= 100:
                raise OutOfLimitsError(show_value(written), "a loss from 0 to 100 %")
        self.values.append(value)
        self.lines.append(line)

    def on(self, samples: Sequence[Sample], file: str) -> tuple[list[Sample], list[Assumed]]:
        """The samples with their losses, and what was taken for what.

        Args:
            samples: of the rows of the values.
            file: its name, for faults.

        Raises:
            ScenarioFaults: neither the name nor the values say what the numbers are parts of, or
                they contradict each other.
        """
        known = [value for value in self.values if value is not None]
        whole, by = self._whole(file, max(known, default=Fraction(0)))
        parts = [None if value is None else value / whole for value in self.values]
        if not any(parts):
            return list(samples), [self._said(whole, by, "nothing is lost")]
        if all(part in (0, 1) for part in parts):
            found = [
                replace(sample, delay_ps=None, is_lost=True) if part else sample
                for sample, part in zip(samples, parts, strict=True)
            ]
            return found, [self._said(whole, by, "all are nothing or all: a row is a packet")]
        found = [
            replace(sample, is_lost=False, loss=part)
            for sample, part in zip(samples, parts, strict=True)
        ]
        return found, [self._said(whole, by, ""), *_of_intervals(parts)]

    def _whole(self, file: str, most: Fraction) -> tuple[int, str]:
        """What 1 is a part of, 1 or 100, and who decided it."""
        match = _COLUMN.fullmatch(self.word)
        of = match["of"] if match else None
        unit = "" if self.word == _OF_A_DISH else _UNIT.get(of or "")
        if unit == "" and (most > 1 or self._has_sign):
            line = next(
                line for value, line in zip(self.values, self.lines, strict=True) if value == most
            )
            got = f"{show_value(str(float(most)))} in a column of parts from 0 to 1"
            raise refused(file, self.name, got, "parts of 1, or a name such as loss_percent", line)
        if unit is not None:
            return (100 if unit else 1), "file"
        if self._has_sign or most > 1:
            return 100, "file"
        if most:
            got = f"a loss of up to {float(most):g}, which is a part of 1 or of 100"
            raise refused(file, self.name, got, _SAY_WHICH, 1)
        return 1, "file"

    def _said(self, whole: int, by: str, more: str) -> Assumed:
        of = "per cent" if whole == 100 else "parts of 1"
        sentence = f"The column {self.name} has losses in {of}"
        return Assumed("loss column", f"{sentence}{f'; {more}' if more else ''}.", by)


def _of_intervals(parts: Sequence[Fraction | None]) -> Iterator[Assumed]:
    whole = sum(part == 1 for part in parts)
    empty = sum(part is None for part in parts)
    sentence = (
        "A row is an interval from its stamp to the next row. Its loss is that of round trips: a "
        "part p of them is 1 - sqrt(1 - p) each way."
    )
    if whole:
        sentence += f" An interval that lost all of its packets is an outage: {whole}."
    if empty:
        sentence += f" {counted(empty, 'row')} without a loss: the one before goes on."
    yield Assumed("losses", sentence, numbers={"outages": float(whole), "empty": float(empty)})
