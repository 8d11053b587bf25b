"""What more goodput costs in delay: the options that no other one beats in both."""

from __future__ import annotations

from dataclasses import dataclass

from skycell.experiment.ranking import Aim, Ranked, Ranking


@dataclass(frozen=True)
class TradeOff:
    """The options of which none has more goodput at no more delay, by their delays.

    Attributes:
        goodput: the response that is to be great.
        delay: the response that is to be small.
        options: the one with the least delay first, which has the least goodput.
    """

    goodput: str
    delay: str
    options: tuple[Ranked, ...]

    def of(self, option: Ranked) -> tuple[float, float]:
        """Goodput and delay of an option."""
        goodput, delay = option.values[self.goodput], option.values[self.delay]
        assert goodput is not None
        assert delay is not None
        return goodput, delay

    @property
    def dearest(self) -> tuple[float, float] | None:
        """The part of the goodput that the last option adds to the one before, and its delay.

        None for a single option.
        """
        if len(self.options) < 2:
            return None
        (before, shorter), (most, longer) = map(self.of, self.options[-2:])
        return (most - before) / most, longer - shorter


def trade_off(ranking: Ranking, goodput: Aim, delay: Aim) -> TradeOff | None:
    """The trade-off of the options of a ranking; none where they have no such values."""
    measured = [
        option
        for option in ranking.ranked
        if option.values.get(goodput.response) is not None
        and option.values.get(delay.response) is not None
    ]
    if not measured:
        return None
    every = TradeOff(goodput.response, delay.response, ())
    measured.sort(key=lambda option: (every.of(option)[1], -every.of(option)[0]))
    kept: list[Ranked] = []
    for option in measured:
        if not kept or every.of(option)[0] > every.of(kept[-1])[0]:
            kept.append(option)
    return TradeOff(goodput.response, delay.response, tuple(kept))
