"""Both sides of a bound that a conclusion draws: numbers that just keep it, and some beyond it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import pytest

from skycell.studies import load_study
from skycell.studies.findings import predicate_of
from skycell.studies.model import Level
from skycell.studies.values import Entry, Values

Change = tuple[str, Mapping[str, Level], float]
"""A metric, some factors, and the value of every number of both; of several changes the last."""


class Bound(NamedTuple):
    """One bound of one conclusion.

    Attributes:
        conclusion: its number.
        said: the words of the conclusion that draw the bound.
        kept: numbers with which the conclusion holds.
        passed: what lies beyond the bound, and nothing else; then it does not.
    """

    conclusion: str
    said: str
    kept: Sequence[Change]
    passed: Sequence[Change]


def params(bounds: Iterable[Bound]) -> list[object]:
    """The bounds as parameters of a test."""
    return [pytest.param(bound, id=f"{bound.conclusion} {bound.said}") for bound in bounds]


class Told(Values):
    """Numbers told by a metric and some factors only, as many as are asked for."""

    def __init__(self, changes: Sequence[Change]) -> None:
        super().__init__()
        self._changes = changes

    def entry(self, table: str, metric: str, **factors: Level) -> Entry:
        """The last number told of these factors or of some of them."""
        told = [
            value
            for name, where, value in self._changes
            if name == metric and where.items() <= factors.items()
        ]
        assert told, f"nothing is told of the {metric} of {table} {factors}"
        return Entry(table, metric, factors, told[-1])


def changed(entries: Iterable[Entry], changes: Sequence[Change]) -> Values:
    """Numbers with some of them changed, each change being one of at least one number."""
    values = dict(enumerate(entries))
    for metric, where, value in changes:
        own = [
            place
            for place, entry in values.items()
            if entry.metric == metric and where.items() <= entry.factors.items()
        ]
        assert own, f"no {metric} has {where}"
        for place in own:
            entry = values[place]
            values[place] = Entry(entry.table, metric, entry.factors, value)
    return Values(values.values())


def printed(study: str, conclusion: str, changes: Sequence[Change]) -> Values:
    """The published numbers that a conclusion speaks of, with some of them changed."""
    (tables,) = [c.tables for c in load_study(study).conclusions if c.id == conclusion]
    return changed(Values.printed(tables).entries, changes)


def holds(study: str, conclusion: str, values: Values) -> bool:
    """Whether a conclusion of a study holds for some numbers."""
    test = predicate_of(study, conclusion)
    assert test is not None
    return test(values).holds


def check_both_sides(study: str, bound: Bound, told: Callable[[Sequence[Change]], Values]) -> None:
    """Fails unless a conclusion holds with what keeps a bound and falls with what passes it.

    Args:
        study: of the conclusion.
        bound: what is tried.
        told: the numbers of the study with some changes.
    """
    assert holds(study, bound.conclusion, told(bound.kept))
    assert not holds(study, bound.conclusion, told([*bound.kept, *bound.passed]))
