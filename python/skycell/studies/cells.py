"""Numbers by the levels of their factors, and arithmetic that pairs them by these levels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from skycell.experiment.design import Level

Key = tuple[Level, ...]


class MissingValueError(LookupError):
    """A number that a conclusion needs is not there."""


@dataclass(frozen=True)
class Cells:
    """Some numbers of a table, or what is computed from them; a single number has no factors.

    Attributes:
        factors: those that tell the numbers apart.
        values: each number by its level of each factor, in an order that is kept; true and false
            where something was compared.
        runs: of numbers taken from a table, the runs that each is the mean of, by seed, none for a
            run without a number; else empty.
        is_lookup: whether levels that the other operand does not have are of no account.
    """

    factors: tuple[str, ...]
    values: Mapping[Key, float]
    runs: Mapping[Key, Sequence[float | None]] | None = None
    is_lookup: bool = False

    @classmethod
    def single(cls, value: float) -> Cells:
        """One number."""
        return cls((), {(): value})

    @property
    def number(self) -> float:
        """The only number.

        Raises:
            ValueError: there are several.
        """
        (value,) = self.values.values()
        return value

    @property
    def listed(self) -> list[float]:
        """The numbers in their order."""
        return list(self.values.values())

    def each(self, change: Callable[[float], float]) -> Cells:
        """A function of each number."""
        return Cells(self.factors, {key: change(value) for key, value in self.values.items()})

    def paired(self, other: Cells, combine: Callable[[float, float], float]) -> Cells:
        """A function of every two numbers whose levels of common factors agree.

        >>> tcp = Cells(("tcp", "n"), {("reno", 1): 2.0, ("sack", 1): 6.0})
        >>> tcp.paired(Cells(("n",), {(1,): 4.0}), lambda a, b: a / b).listed
        [0.5, 1.5]

        Raises:
            MissingValueError: a number of either has none of the other to go with.
        """
        common = [name for name in self.factors if name in other.factors]
        rest = [name for name in other.factors if name not in common]
        partners: dict[Key, list[tuple[Key, float]]] = {}
        for levels, value in other._split(common, rest):
            partners.setdefault(levels[0], []).append((levels[1], value))
        found: dict[Key, float] = {}
        met = set()
        own = [self.factors.index(name) for name in common]
        for key, value in self.values.items():
            shared = tuple(key[place] for place in own)
            if shared not in partners:
                if self.is_lookup:
                    continue
                raise MissingValueError(f"nothing to go with {shared}")
            met.add(shared)
            for more, partner in partners[shared]:
                found[key + more] = combine(value, partner)
        if len(met) < len(partners) and not other.is_lookup:
            raise MissingValueError(f"nothing to go with {set(partners) - met}")
        is_lookup = self.is_lookup and other.is_lookup
        return Cells((*self.factors, *rest), found, is_lookup=is_lookup)

    def _split(
        self, first: Sequence[str], second: Sequence[str]
    ) -> Iterable[tuple[tuple[Key, Key], float]]:
        """Each number by its levels of some factors and of some others."""
        places = [[self.factors.index(name) for name in names] for names in (first, second)]
        for key, value in self.values.items():
            one, other = (tuple(key[place] for place in own) for own in places)
            yield (one, other), value

    def without(self, factors: Iterable[str]) -> list[str]:
        """The factors besides some.

        Raises:
            ValueError: one of them is no factor.
        """
        gone = list(factors)
        if unknown := set(gone) - set(self.factors):
            raise ValueError(f"no factor {', '.join(sorted(unknown))} in {self.factors}")
        return [name for name in self.factors if name not in gone]

    def grouped(self, over: Iterable[str]) -> dict[Key, dict[Key, float]]:
        """Numbers by their levels of some factors, in groups that are alike in all others."""
        over = list(over)
        groups: dict[Key, dict[Key, float]] = {}
        for (group, own), value in self._split(self.without(over), over):
            groups.setdefault(group, {})[own] = value
        return groups

    def reduced(self, over: Iterable[str], to_one: Callable[[list[float]], float]) -> Cells:
        """One number for all that differ in some factors only.

        Raises:
            MissingValueError: there is no number.
        """
        over = list(over)
        if not self.values:
            raise MissingValueError("no number")
        groups = self.grouped(over)
        values = {group: to_one(list(own.values())) for group, own in groups.items()}
        return Cells(tuple(self.without(over)), values)

    def neighbours(self, factor: str) -> tuple[Cells, Cells]:
        """Numbers but the last along a factor, and the next of each, under the level of the latter.

        Levels that are numbers follow one another by size, others as they stand.
        """
        names = (*self.without([factor]), factor)
        earlier: dict[Key, float] = {}
        later: dict[Key, float] = {}
        for group, own in self._along(factor).items():
            for (_, before), (level, value) in pairwise(own):
                earlier[*group, level], later[*group, level] = before, value
        return Cells(names, earlier), Cells(names, later)

    def last(self, factor: str) -> Cells:
        """The number at the last level of a factor that each group has."""
        values = {group: own[-1][1] for group, own in self._along(factor).items()}
        return Cells(tuple(self.without([factor])), values)

    def _along(self, factor: str) -> dict[Key, list[tuple[Level, float]]]:
        return {
            group: _in_order([(level, value) for (level,), value in own.items()])
            for group, own in self.grouped([factor]).items()
        }

    def at(self, levels: Mapping[str, Level | Sequence[Level]]) -> Cells:
        """The numbers with some levels: one, whose factor is then none, or those of a list.

        Raises:
            MissingValueError: there is none of a level.
            ValueError: a name is of no factor.
        """
        self.without(levels)  # which refuses a name of no factor
        rest = self.without(name for name, level in levels.items() if not isinstance(level, list))
        wanted = {
            self.factors.index(name): level if isinstance(level, list) else [level]
            for name, level in levels.items()
        }
        keys = [
            key
            for key in self.values
            if all(key[place] in allowed for place, allowed in wanted.items())
        ]
        for place, allowed in wanted.items():
            for level in allowed:
                if not any(key[place] == level for key in keys):
                    raise MissingValueError(f"nothing with {self.factors[place]}={level}")
        keys.sort(key=lambda key: [allowed.index(key[place]) for place, allowed in wanted.items()])
        left = [self.factors.index(name) for name in rest]
        values = {tuple(key[place] for place in left): self.values[key] for key in keys}
        return Cells(tuple(rest), values, is_lookup=self.is_lookup)


def _in_order(own: list[tuple[Level, float]]) -> list[tuple[Level, float]]:
    numbers = [(level, value) for level, value in own if not isinstance(level, str)]
    return sorted(numbers) if len(numbers) == len(own) else own
