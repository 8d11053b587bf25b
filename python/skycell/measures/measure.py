"""How a measure is declared: its function, unit, meaning, part of the network, better direction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar

from skycell.input.quantities import PS_PER_MS
from skycell.stats.ranges import ANY, POSITIVE, Range

Better = Literal["larger", "smaller", ""]
"""Which values of a measure users would rather have; empty if that depends on the question."""

View = TypeVar("View", contravariant=True)
Function = TypeVar("Function", bound="Callable[..., float | None]")


@dataclass(frozen=True)
class Measure(Generic[View]):
    """A number that is measured on a run, or computed from other numbers.

    Attributes:
        unit: of its values; `1` for a number without unit.
        meaning: one sentence without a full stop.
        measure: returns the value, or None if it is not defined, such as the fairness of a run that
            delivered nothing.
        part: kind of the parts of the network that `NAME:PART` measures alone: `flow`, `port`,
            `uplink`, `call` (a class of calls), `vc` or `class`; `sky` for all of a constellation;
            empty if there are none. Measures
            of a flow, or of no part, concern TCP flows; those of a VC concern the VCs whose cell
            delay is measured.
        traffic: kind of traffic that the flows need, `web` or `transfers`; empty for any.
        better: which values users would rather have.
        trace: trace that runs keep for it, in addition to `transfers`; empty for none.
        of_one_port: whether it concerns a single port, by default the slowest that data cross.
        range: the values that it can have.
    """

    unit: str
    meaning: str
    measure: Callable[[View], float | None]
    part: str = ""
    traffic: str = ""
    better: Better = ""
    trace: str = ""
    of_one_port: bool = False
    range: Range = ANY

    @property
    def is_of_flows(self) -> bool:
        """Whether it concerns TCP connections only."""
        return self.part in {"", "flow"}


class Measures(Mapping[str, Measure[View]]):
    """Measures by name. A name is declared once.

    >>> measures = Measures()
    >>> @measures.declare("s", "seconds that passed")
    ... def passed(run):
    ...     return 2.0
    >>> measures["passed"].measure(None)
    2.0
    >>> measures.declare("ms", "the same in another unit")(passed)
    Traceback (most recent call last):
    ValueError: the measure passed is declared twice
    """

    def __init__(self, *groups: Mapping[str, Measure[View]]) -> None:
        """The measures of some groups together."""
        self._by_name: dict[str, Measure[View]] = {}
        for group in groups:
            for name, measure in group.items():
                self._add(name, measure)

    def __getitem__(self, name: str) -> Measure[View]:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def declare(self, unit: str, meaning: str, **about: Any) -> Callable[[Function], Function]:
        """Declares the function below it as the measure of its name.

        Args:
            unit: of its values.
            meaning: one sentence without a full stop.
            about: other attributes of `Measure`.
        """

        def declared(function: Function) -> Function:
            name = function.__name__
            self._add(name, Measure(unit=unit, meaning=meaning, measure=function, **about))
            return function

        return declared

    def times(
        self,
        name: str,
        what: str,
        times_of: Callable[[View], Mapping[str, Any] | None],
        figures: str,
        *,
        note: str = "",
        **about: Any,
    ) -> None:
        """Declares figures of some times in milliseconds, such as `mean_NAME` and `p95_NAME`.

        Args:
            name: of the times.
            what: a time, in words that follow "mean".
            times_of: returns the record of the times; None if there are none.
            figures: names from `FIGURES`, separated by spaces.
            note: what follows the meaning.
            about: other attributes of `Measure`.
        """
        about = {"better": "smaller", "range": POSITIVE, **about}
        for figure in figures.split():
            words, key = FIGURES[figure]
            meaning = words.format(what) + note
            self._add(f"{figure}_{name}", Measure("ms", meaning, _of_times(times_of, key), **about))

    def _add(self, name: str, measure: Measure[View]) -> None:
        if name in self._by_name:
            raise ValueError(f"the measure {name} is declared twice")
        self._by_name[name] = measure


FIGURES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "mean": ("mean {}", "mean_ps"),
        "p50": ("median {}", "p50_ps"),
        "p90": ("90th percentile of the {}", "p90_ps"),
        "p95": ("95th percentile of the {}", "p95_ps"),
        "p99": ("99th percentile of the {}", "p99_ps"),
        "p999": ("99.9th percentile of the {}", "p999_ps"),
        "largest": ("largest {}", "max_ps"),
    }
)
"""Figures of times: their words, and their keys in the records."""

_COUNTS = ("count", "packets", "cells")
"""Keys of a record of times that say how many there are."""


def _of_times(
    times_of: Callable[[View], Mapping[str, Any] | None], key: str
) -> Callable[[View], float | None]:
    def figure(run: View) -> float | None:
        times = times_of(run)
        if not times or not any(times.get(count) for count in _COUNTS):
            return None
        return float(times[key]) / PS_PER_MS

    return figure


RENAMED: Mapping[str, tuple[str, ...]] = {
    "fairness": ("max_min_fairness", "jain_fairness"),
    "access_delay": ("mean_access_delay",),
    "total_throughput": ("throughput",),
    "needless_part": ("needless_percent",),
    "overflow_part": ("overflow_percent",),
}
"""Names of version 0.1, and the names that replace them."""


def renamed(name: str) -> str:
    """Returns a sentence that names what replaces an old name; empty for any other name.

    >>> renamed("fairness"), renamed("speed")
    ('fairness is now max_min_fairness or jain_fairness', '')
    >>> renamed("access_delay:hub")
    'access_delay is now mean_access_delay'
    """
    base = name.partition(":")[0]
    return f"{base} is now {' or '.join(RENAMED[base])}" if base in RENAMED else ""
