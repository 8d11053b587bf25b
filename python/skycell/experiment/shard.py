"""A share of an experiment's runs, for machines that know nothing of each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

Run = TypeVar("Run")


@dataclass(frozen=True)
class Shard:
    """One of some shares that together have every run once.

    Attributes:
        number: which share, from 1.
        of: how many there are.
    """

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise ValueError(f"shard {self}: must be from 1/{self.of} to {self.of}/{self.of}")

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard of a text.

        Raises:
            ValueError: it is none.

        >>> Shard.parse("2/4")
        Shard(number=2, of=4)
        """
        found = re.fullmatch(r"(\d{1,9})/([1-9]\d{0,8})", text)
        if found is None:
            raise ValueError(f"shard {text}: must be two whole numbers such as 2/4")
        return cls(int(found[1]), int(found[2]))

    def share_of(self, runs: Sequence[Run]) -> Sequence[Run]:
        """Every n-th run, so that neighbours, which take about as long, are spread over all.

        >>> Shard(2, 3).share_of("abcdefgh")
        'beh'
        """
        return runs[self.number - 1 :: self.of]

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"
