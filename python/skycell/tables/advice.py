"""Tables of an answer of `skycell advise`: the ranking, and how far its experiment is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skycell.tables.table import Table, columns, number, words

if TYPE_CHECKING:
    from skycell.experiment.advice import Question
    from skycell.experiment.ranking import Ranking
    from skycell.experiment.result import SweepResult
    from skycell.studies.advice import Answer

_NOT_SHOWN = ("efficiency", "retransmitted_octets_percent", "page_response_median")
"""Responses that are kept for programs: the table has the width of a terminal."""


def ranking_table(found: Answer, question: Question, ranking: Ranking) -> Table:
    """Returns the options in their order, with the means of their responses."""
    responses = [
        name
        for name in found.result.responses
        if name not in _NOT_SHOWN and _has_values(ranking, name)
    ]
    heads = [_head(name, found.result) for name in responses]
    rows = [
        (
            *(words(_level(level)) for level in option.levels.values()),
            *(number(option.values[name], 3) for name in responses),
            words(f"{option.low:+.3g} to {option.high:+.3g}" if at else ""),
            words("worse" if option.is_worse else "best" if not at else "not told apart"),
        )
        for at, option in enumerate(ranking.ranked)
    ]
    setting = found.setting if found.stored is None else found.stored.setting
    title = f"{setting.in_words()}: by {question.aim} ({ranking.aim.meaning})"
    factors = list(ranking.ranked[0].levels)
    names = columns(*factors, *heads, "to the best", "", numeric=[*heads, "to the best"])
    return Table(title, names, tuple(rows), keys=len(factors))


def _has_values(ranking: Ranking, response: str) -> bool:
    return any(option.values[response] is not None for option in ranking.ranked)


def _head(response: str, result: SweepResult) -> str:
    """Name of a response, the port that it concerns, and its unit."""
    port = result.subjects.get(response)
    of = f" of {port}" if port else ""
    return f"{response.replace('_', ' ')}{of}{_unit(result.units[response])}"


def distance_table(found: Answer) -> Table:
    """Returns how far the question is from the stored runs, factor by factor."""
    rows = tuple(
        (
            words(one.factor),
            words(one.asked),
            words(one.stored),
            words("" if one.ratio is None else f"{one.ratio:.3g} times"),
            words("outside" if one.is_outside else "near" if one.is_near else "not near"),
        )
        for one in found.differences
    )
    names = columns("factor", "asked", "stored", "ratio", "", numeric=["ratio"])
    return Table("How far the question is from these runs", names, rows, keys=1)


def _level(level: Any) -> str:
    return f"{level:g}" if isinstance(level, float) else str(level)


def _unit(unit: str) -> str:
    return "" if unit == "1" else f", {unit}"


def levels_in_words(levels: Mapping[str, Any]) -> str:
    """Returns levels with the names of their factors."""
    return ", ".join(f"{name} {_level(level)}" for name, level in levels.items())
