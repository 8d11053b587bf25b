"""The setting of an experiment, and how far a question is from it, factor by factor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log2

from skycell.experiment.ranking import Beside, Traffic

NEAR = 1.25
"""Largest ratio of two rates, round trips or numbers of users that are near each other."""
_NEAR_LOSS = 1.5
_LEAST_LOSS = 1e-5
"""Losses below this part of the packets are as good as none, where distances are added."""
_PACKET_BITS = 12_000
"""A packet of 1500 octets."""


@dataclass(frozen=True)
class Setting:
    """What users have before they choose.

    Attributes:
        rate_bps: of the congested link, bit/s.
        rtt_s: without queues, of the farthest user.
        users: connections, or web users.
        traffic: what they do.
        loss: part of the packets that the link loses.
        mss: octets of data in a full segment; whatever there is if None, which only a question has.
        beside: other traffic on the link, which goes first.
    """

    rate_bps: float
    rtt_s: float
    users: int
    traffic: Traffic = "bulk"
    loss: float = 0.0
    mss: int | None = None
    beside: Beside = "none"

    @property
    def packets_in_flight(self) -> float:
        """Packets of 1500 octets that a user's share of the link has in a round trip."""
        return self.rate_bps * self.rtt_s / self.users / _PACKET_BITS

    def in_words(self) -> str:
        """The setting in a few words.

        >>> Setting(20e6, 0.6, 10, loss=0.001).in_words()
        '20 Mbit/s, 600 ms, 10 users of bulk traffic, loss 0.1 %'
        """
        loss = f", loss {100 * self.loss:g} %" if self.loss else ""
        beside = f", beside {self.beside.upper()}" if self.beside != "none" else ""
        users = "1 user" if self.users == 1 else f"{self.users} users"
        return (
            f"{self.rate_bps / 1e6:g} Mbit/s, {1e3 * self.rtt_s:g} ms, {users} of {self.traffic} "
            f"traffic{loss}{beside}"
        )


@dataclass(frozen=True)
class Difference:
    """One factor of a question beside that of an experiment.

    Attributes:
        factor: its name.
        asked: its value in the question, in words.
        stored: in the experiment.
        ratio: of the first to the second; none where one of them is 0, or nothing is asked.
        is_near: whether the answer of the one counts for the other.
        is_outside: whether the question's value lies beyond all that is stored.
    """

    factor: str
    asked: str
    stored: str
    ratio: float | None
    is_near: bool
    is_outside: bool


def differences(
    asked: Setting, stored: Setting, among: Iterable[Setting] = ()
) -> tuple[Difference, ...]:
    """How far a question is from an experiment.

    Args:
        asked: the question's setting.
        stored: the experiment's.
        among: settings of all experiments that cover the question.

    >>> far = differences(Setting(50e6, 0.6, 10), Setting(20e6, 0.6, 10))
    >>> [one.factor for one in far if not one.is_near]
    ['rate', 'packets in flight']
    >>> far[0].ratio
    2.5
    """
    every = [stored, *among]
    found = [
        _of_numbers(
            "rate",
            f"{asked.rate_bps / 1e6:g} Mbit/s",
            f"{stored.rate_bps / 1e6:g} Mbit/s",
            asked.rate_bps,
            [one.rate_bps for one in every],
        ),
        _of_numbers(
            "round trip",
            f"{asked.rtt_s * 1e3:g} ms",
            f"{stored.rtt_s * 1e3:g} ms",
            asked.rtt_s,
            [one.rtt_s for one in every],
        ),
        _of_numbers(
            "users", str(asked.users), str(stored.users), asked.users, [one.users for one in every]
        ),
        _of_losses(asked.loss, [one.loss for one in every]),
        _of_segments(asked.mss, [one.mss for one in every if one.mss is not None]),
        _of_numbers(
            "packets in flight",
            f"{asked.packets_in_flight:.3g} a user",
            f"{stored.packets_in_flight:.3g} a user",
            asked.packets_in_flight,
            [one.packets_in_flight for one in every],
        ),
    ]
    return tuple(found)


def _of_numbers(
    factor: str, asked: str, stored: str, value: float, known: Sequence[float]
) -> Difference:
    """The first of `known` is the experiment's."""
    ratio = value / known[0]
    outside = value > NEAR * max(known) or value < min(known) / NEAR
    return Difference(factor, asked, stored, ratio, 1 / NEAR <= ratio <= NEAR, outside)


def _of_segments(value: int | None, known: Sequence[int]) -> Difference:
    stored = f"{known[0]} B" if known else "any"
    if value is None or not known:
        return Difference(
            "segment", "any" if value is None else f"{value} B", stored, None, True, False
        )
    return _of_numbers("segment", f"{value} B", stored, value, known)


def _of_losses(value: float, known: Sequence[float]) -> Difference:
    own = known[0]
    ratio = value / own if value and own else None
    is_near = value == own or (ratio is not None and 1 / _NEAR_LOSS <= ratio <= _NEAR_LOSS)
    outside = value > _NEAR_LOSS * max(known)
    return Difference("loss", _percent(value), _percent(own), ratio, is_near, outside)


def _percent(part: float) -> str:
    return f"{100 * part:g} %" if part else "none"


def distance(asked: Setting, stored: Setting) -> float:
    """Doublings between two settings, of all factors together; those of losses count half."""
    losses = log2(max(asked.loss, _LEAST_LOSS) / max(stored.loss, _LEAST_LOSS))
    segments = log2(asked.mss / stored.mss) if asked.mss and stored.mss else 0.0
    return (
        abs(log2(asked.rate_bps / stored.rate_bps))
        + abs(log2(asked.rtt_s / stored.rtt_s))
        + abs(log2(asked.users / stored.users))
        + abs(losses) / 2
        + abs(segments)
    )


def is_near(found: Iterable[Difference]) -> bool:
    """Whether an experiment's answer counts for a question: each factor is near.

    The packets in flight follow from the others, and do not count on their own.
    """
    return all(one.is_near for one in found if one.factor != "packets in flight")
