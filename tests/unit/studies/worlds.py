"""Numbers drawn for the cases of a conclusion's tables, such that levels of factors differ."""

import ast
import math
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from skycell.experiment.design import Level
from skycell.studies.criteria import parsed
from skycell.studies.library import table_of
from skycell.studies.model import Conclusion, Study
from skycell.studies.plan import printed_rows
from skycell.studies.values import Entry, Values

T = TypeVar("T")
OF_SIZE = [0.3, 0.5, 0.9, 0.97, 1, 1, 1, 1, 1.03, 1.1, 2]
Case = tuple[str, str, Mapping[str, Level]]


def cases_of(conclusion: Conclusion) -> list[Case]:
    """Table, measure and factors of every number that a conclusion may look at."""
    return [
        (table, part.measure, printed.factors)
        for table in conclusion.tables
        for part in table_of(table).table.parts
        for printed in printed_rows(table_of(table).study, part)
    ]


def worlds(study: Study, conclusion: Conclusion, seed: int = 1) -> Iterator[Values]:
    """Without an end: numbers as large as those that the criterion names, and of some structure.

    Levels have effects of their own, or in pairs, a number may be in proportion to a level, and
    what has some level, or everything of a measure, may be nothing.
    """
    draw = random.Random(seed)
    cases = cases_of(conclusion)
    factors = sorted({name for _, _, levels in cases for name in levels})
    sizes = _sizes(study, conclusion)
    while True:
        spread = draw.choice([0, 0, 0.003, 0.01, 0.1, 0.5, 1, 2, 2])
        noise = draw.choice([0, 0, 0, 0.001, 0.02, 0.1])
        pair = draw.sample(factors, 2) if len(factors) > 1 and draw.random() < 0.5 else []
        proportional = draw.choice([*factors, ""])
        nothing = draw.choice([*factors, "all", "", ""])
        known: dict[Any, Any] = {}

        def once(key: Any, make: Callable[[], T], known: dict[Any, Any] = known) -> T:
            if key not in known:
                known[key] = make()
            found: T = known[key]
            return found

        entries = []
        for table, measure, levels in cases:
            value = once(measure, lambda: draw.choice(sizes) * draw.choice(OF_SIZE))
            for level in levels.items():
                effect = once((measure, level), lambda: draw.gauss(0, 1) * draw.choice([0, 1, 1]))
                value *= math.exp(spread * effect)
            if pair and levels.keys() >= set(pair):
                key = (measure, *(levels[name] for name in pair))
                value *= math.exp(2 * spread * once(key, lambda: draw.gauss(0, 1)))
            level_of = levels.get(proportional)
            if isinstance(level_of, int | float):
                known.setdefault((measure, "unit"), level_of or 1)
                value *= level_of / known[measure, "unit"]
            value *= math.exp(noise * draw.gauss(0, 1))
            is_nothing = nothing and once(
                (measure, "nothing", levels.get(nothing)), lambda: draw.random() < 0.5
            )
            entries.append(Entry(table, measure, levels, 0.0 if is_nothing else value))
        yield Values(entries)


def _sizes(study: Study, conclusion: Conclusion) -> list[float]:
    texts = [*[conclusion.holds] * 2, *conclusion.names.values(), *study.names.values()]
    return [1.0] + [
        float(node.value)
        for text in texts
        for node in ast.walk(parsed(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and node.value > 0
    ]
