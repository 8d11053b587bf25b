"""The design of an experiment: factors with levels, cells, and what a sweep's file states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path as FilePath
from typing import Any

from skycell.input.faults import Path, Positions

Level = str | int | float | bool
"""A level of a factor, as the table of results shows it."""

MOST_RUNS = 1_000_000
"""Runs of a sweep; more are a slip of the pen."""


@dataclass(frozen=True, eq=False)
class FactorLevel:
    """A level of a factor: what it is called, and the scenario keys that it sets.

    Levels of one factor are told apart by their labels.
    """

    label: Level
    settings: Mapping[str, Any]
    path: Path = ()
    """Where it stands in a sweep's file."""

    @classmethod
    def of_key(cls, label: Level, key: str, form: str | None, path: Path = ()) -> FactorLevel:
        """The level that is the value of a scenario key, written into `form` at its `{}`.

        >>> FactorLevel.of_key(0.5, "bottleneck.buffer", "{} RTT").settings
        {'bottleneck.buffer': '0.5 RTT'}
        """
        value = label if form is None else form.replace("{}", shown(label))
        return cls(label, {key: value}, path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FactorLevel) and is_same(self.label, other.label)

    def __hash__(self) -> int:
        return hash(self.label)


@dataclass(frozen=True)
class SweepFactor:
    """A factor and its levels, in the order of the file."""

    name: str
    levels: tuple[FactorLevel, ...]
    unit: str = ""
    """What its levels are counted in, where they are numbers of something."""


@dataclass(frozen=True)
class Template:
    """The scenario that all runs have in common, as plain data."""

    name: str
    """File that it stands in."""
    prefix: str
    """What goes before its keys in that file: nothing, or `scenario.`."""
    values: Mapping[str, Any]
    positions: Positions
    folder: FilePath
    """From which it names files."""


@dataclass(frozen=True)
class Cell:
    """One combination of levels.

    Attributes:
        levels: of each factor that tells the cells apart, by its name.
        of: the study and its experiment; empty for a sweep, which is one.
    """

    levels: tuple[tuple[str, FactorLevel], ...]
    of: tuple[str, ...] = ()

    @property
    def labels(self) -> dict[str, Level]:
        """The level of each factor."""
        return {name: level.label for name, level in self.levels}

    @property
    def settings(self) -> dict[str, Any]:
        """Scenario keys that the levels set; of two that set one key, the later factor's."""
        return {key: value for _, level in self.levels for key, value in level.settings.items()}

    def __str__(self) -> str:
        return " ".join((*self.of, *(f"{name}={shown(own.label)}" for name, own in self.levels)))


@dataclass(frozen=True)
class SweepPlan:
    """A sweep as its file states it, checked but for the scenarios of its cells.

    Attributes:
        name: the file.
        title: what the sweep is about.
        template: the scenario in common.
        factors: at least one, each with at least two levels.
        replications: runs of each cell.
        first_seed: that the seeds are counted or drawn from.
        common_random_numbers: whether replication k has the same seed in every cell.
        responses: names of what is measured.
        ceiling: `link`, `left`, or a bit rate whose TCP share is an efficiency of 1.
        throughput: a definition of `skycell.metrics.throughput`.
        positions: line and column of what the file says, by dotted path.
    """

    name: str
    title: str
    template: Template
    factors: tuple[SweepFactor, ...]
    replications: int
    first_seed: int
    common_random_numbers: bool
    responses: tuple[str, ...]
    ceiling: str = "link"
    throughput: str = "delivered_over_duration"
    positions: Positions = field(default_factory=dict, repr=False)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Every combination of the levels; the last factor changes fastest."""
        names = [factor.name for factor in self.factors]
        return tuple(
            Cell(tuple(zip(names, levels, strict=True)))
            for levels in product(*(factor.levels for factor in self.factors))
        )


def is_same(one: Level, other: Level) -> bool:
    """Whether two labels are of one level; true and false are no numbers.

    >>> is_same(2, 2.0), is_same(1, True)
    (True, False)
    """
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def shown(label: Level) -> str:
    """A level in words.

    >>> shown(2.0), shown(False)
    ('2', 'false')
    """
    if isinstance(label, bool):
        return str(label).lower()
    return f"{label:.10g}" if isinstance(label, float) else str(label)
