"""Tables of an answer of `skycell advise`: the ranking, and how far its experiment is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil
from typing import TYPE_CHECKING, Any

from skycell.studies.option_state import KEPT_FOR, state_of
from skycell.studies.settings import is_near
from skycell.tables.table import Table, columns, number, share, words

if TYPE_CHECKING:
    from skycell.experiment.advice import Question
    from skycell.experiment.ranking import Ranked, Ranking
    from skycell.experiment.result import SweepResult
    from skycell.experiment.trade_off import TradeOff
    from skycell.studies.advice import Answer
    from skycell.studies.stored import StoredResult

_BAR = 24
"""Length of the longest bar."""
_NOT_SHOWN = (
    "efficiency",
    "retransmitted_octets_percent",
    "page_response_median",
    "smallest_throughput",
)
"""Responses that are kept for programs where nobody asks for them: a terminal is not wide."""


def ranking_table(found: Answer, question: Question, ranking: Ranking) -> Table:
    """Returns the options in their order, with the means of their responses."""
    responses = [
        name
        for name in found.result.responses
        if (name not in _NOT_SHOWN or name == ranking.aim.response) and _has_values(ranking, name)
    ]
    heads = [_head(name, found.result) for name in responses]
    kept = f"per {KEPT_FOR[found.choice]}"
    rows = [
        (
            *(words(_level(level)) for level in option.levels.values()),
            words(", ".join(state_of(found.source, option.levels)) or "–"),
            *(number(option.values[name], 3) for name in responses),
            words(f"{option.low:+.3g} to {option.high:+.3g}" if at else ""),
            words("worse" if option.is_worse else "best" if not at else "not told apart"),
        )
        for at, option in enumerate(ranking.ranked)
    ]
    setting = found.setting if found.stored is None else found.stored.setting
    title = f"{setting.in_words()}: by {question.aim} ({ranking.aim.meaning})"
    factors = _factors(found, ranking.ranked[0].levels)
    names = columns(*factors, kept, *heads, "to the best", "", numeric=[*heads, "to the best"])
    return Table(title, names, tuple(rows), keys=len(factors))


def _factors(found: Answer, names: Iterable[str]) -> list[str]:
    """Names of the factors, with the units of their levels."""
    units = found.result.factor_units
    return [f"{name}{_unit(units.get(name, '1'))}" for name in names]


def opening(found: Answer, ranking: Ranking) -> str:
    """Returns the answer in a line: what to take, and how it compares with the simplest."""
    units = found.result.factor_units
    best = ranking.ranked[0]
    simple = simplest(found, ranking)
    value = _measured(found, ranking, best)
    taken = levels_in_words(found.chosen(best.levels), units)
    reported = f"Take {taken}: {value} ({ranking.aim.meaning})."
    if found.source.fixed:
        reported = f"{reported} Nothing but {levels_in_words(found.source.fixed)} was run."
    if found.stored is not None and not is_near(found.differences):
        reported = f"{reported} These runs are of another setting, which is not near."
    if simple is None:
        return reported
    if simple is best:
        return f"{reported} It is also the simplest."
    apart = "" if simple.is_worse else ", and the runs do not tell the two apart"
    plain = levels_in_words(found.chosen(simple.levels), units)
    return (
        f"{reported} The simplest option, {plain}, has {_measured(found, ranking, simple)}{apart}."
    )


def simplest(found: Answer, ranking: Ranking) -> Ranked | None:
    """Returns the best of the options that everybody has; none if it has no rank."""
    wanted = found.source.simplest.items()
    if not wanted:
        return None
    own = (option for option in ranking.ranked if wanted <= option.levels.items())
    return next(own, None)


def _measured(found: Answer, ranking: Ranking, option: Ranked) -> str:
    response = ranking.aim.response
    value = option.values[response]
    assert value is not None  # of a ranked option
    unit = found.result.units[response]
    shown = f"{float(f'{value:.3g}'):g}"
    return shown if unit == "1" else f"{shown} {unit}"


def trade_off_table(found: Answer, trade: TradeOff) -> Table:
    """Returns the options that no other one beats, with a bar as long as the delay."""
    units = found.result.units
    values = [trade.of(option) for option in trade.options]
    most, longest = values[-1]
    rows = tuple(
        (
            *(words(_level(level)) for level in option.levels.values()),
            number(goodput, 3),
            share(goodput / most),
            number(delay, 3),
            words("█" * ceil(_BAR * delay / longest) if longest else ""),
        )
        for option, (goodput, delay) in zip(trade.options, values, strict=True)
    )
    heads = [
        f"{name.replace('_', ' ')}{_unit(units[name])}" for name in (trade.goodput, trade.delay)
    ]
    factors = _factors(found, trade.options[0].levels)
    names = columns(
        *factors, heads[0], "of the most", heads[1], "", numeric=[*heads, "of the most"]
    )
    return Table("What more goodput costs in delay", names, rows, keys=len(factors))


def trade_off_in_words(found: Answer, trade: TradeOff) -> str:
    """Returns what the last part of the goodput costs; nothing for a single option."""
    if trade.dearest is None:
        return ""
    part, delay = trade.dearest
    unit = found.result.units[trade.delay]
    return f"The last {100 * part:.2g} % of the goodput cost {delay:.3g} {unit} of delay."


def _has_values(ranking: Ranking, response: str) -> bool:
    return any(option.values[response] is not None for option in ranking.ranked)


def _head(response: str, result: SweepResult) -> str:
    """Name of a response, the port that it concerns, and its unit."""
    port = result.subjects.get(response)
    of = f" of {port}" if port else ""
    return f"{response.replace('_', ' ')}{of}{_unit(result.units[response])}"


def experiment_in_words(found: StoredResult) -> str:
    """Returns the study of stored runs, its tables and their setting."""
    tables = ", ".join(found.tables)
    return f"study {found.source.study} ({tables}: {found.setting.in_words()})"


def distance_table(found: Answer) -> Table:
    """Returns how far the question is from the stored runs, factor by factor."""
    rows = tuple(
        (
            words(difference.factor),
            words(difference.asked),
            words(difference.stored),
            words("" if difference.ratio is None else f"{difference.ratio:.3g} times"),
            words(
                "outside" if difference.is_outside else "near" if difference.is_near else "not near"
            ),
        )
        for difference in found.differences
    )
    names = columns("factor", "asked", "stored", "ratio", "", numeric=["ratio"])
    return Table("How far the question is from these runs", names, rows, keys=1)


def _level(level: Any) -> str:
    return f"{level:g}" if isinstance(level, float) else str(level)


def _unit(unit: str) -> str:
    return "" if unit == "1" else f", {unit}"


def levels_in_words(levels: Mapping[str, Any], units: Mapping[str, str] | None = None) -> str:
    """Returns levels with the names of their factors, and their units."""
    shown = (
        f"{name} {_level(level)}" + (f" {units[name]}" if units and units.get(name) else "")
        for name, level in levels.items()
    )
    return ", ".join(shown)
