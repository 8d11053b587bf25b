"""What users of applications got: values of each thing that they did, and figures over all of them.

A thing counts if it began in the time that counts; what has not ended is longer than everything
that has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND
from skycell.metrics.emodel import EModel, burst_ratio, mean_opinion

Group = Mapping[str, Any]
"""The record of a group of users."""


def rows(group: Group) -> list[dict[str, Any]]:
    """What the users of a group did, each with its columns.

    >>> rows({"rows": {"user": [0, 1], "begin_ps": [5, 7], "end_ps": [9, None]}})[1]
    {'user': 1, 'begin_ps': 7, 'end_ps': None}
    """
    columns: Mapping[str, Sequence[Any]] = group["rows"]
    names = list(columns)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def times_ms(group: Group, end: str) -> list[float | None]:
    """Times from the begin of each thing to a moment, ms; None where that has not come."""
    columns = group["rows"]
    pairs = zip(columns["begin_ps"], columns[end], strict=True)
    return [None if at is None else (at - begin) / PS_PER_MS for begin, at in pairs]


def percentile(values: Iterable[float | None], percent: float) -> float | None:
    """Returns the nearest rank; None is larger than all, and there is no value if it is reached.

    >>> [percentile([3.0, 1.0, None, 2.0], p) for p in (50, 75, 90)]
    [2.0, 3.0, None]
    """
    known = list(values)
    there = sorted(value for value in known if value is not None)
    rank = max(1, math.ceil(percent * len(known) / 100 - 1e-9))
    return there[rank - 1] if rank <= len(there) else None


def mean(values: Iterable[float | None]) -> float | None:
    """Returns the mean of what has ended; None without any."""
    there = [value for value in values if value is not None]
    return sum(there) / len(there) if there else None


def ratio(over: float, under: float) -> float | None:
    """Returns a quotient; None by 0."""
    return over / under if under else None


def unfinished_part(values: Sequence[float | None]) -> float | None:
    """Returns the part of values that are none."""
    return ratio(sum(value is None for value in values), len(values))


def video_totals(group: Group) -> dict[str, float]:
    """Sums over all videos of a group: seconds played and stalled, of segments, bits, counts."""
    columns = group["rows"]
    segment_s = group["app"]["segment_ps"] / PS_PER_SECOND
    segments = sum(columns["segments"])
    return {
        "played_s": sum(columns["played_for_ps"]) / PS_PER_SECOND,
        "stalled_s": sum(columns["stalled_for_ps"]) / PS_PER_SECOND,
        "come_s": segments * segment_s,
        "bits": 8.0 * sum(columns["octets"]),
        "stalls": float(sum(columns["stalls"])),
        "switches": float(sum(columns["switches"])),
    }


def mouth_to_ear_ms(group: Group) -> list[float | None]:
    """Delays of each call and direction, ms: of a packet, the network and the playout buffer."""
    app = group["app"]
    own = app["interval_ps"] + app["playout_ps"]
    return [
        None if least is None else (least + own) / PS_PER_MS
        for least in group["rows"]["least_delay_ps"]
    ]


def call_ratings(group: Group) -> list[float]:
    """R of each call and direction of which a packet has come, by the E-model; without an echo.

    The scale of R begins at 0. Many losses in bursts would give less, and count as 0.
    """
    app, found = group["app"], []
    for row, delay_ms in zip(rows(group), mouth_to_ear_ms(group), strict=True):
        if delay_ms is None or not row["packets"]:
            continue
        missing = row["lost"] + row["late"]
        model = EModel(
            ta_ms=delay_ms,
            ie=app["ie"],
            bpl=app["bpl"],
            ppl=100 * missing / row["packets"],
            burst_ratio=max(1.0, burst_ratio(row["packets"], missing, max(1, row["runs"]))),
        )
        found.append(max(0.0, model.rating()))
    return found


def call_opinions(group: Group) -> list[float]:
    """Mean opinion scores of the same."""
    return [mean_opinion(rating) for rating in call_ratings(group)]


def call_loss(groups: Iterable[Group]) -> float | None:
    """Packets that were lost or late, as a part of all."""
    columns = [group["rows"] for group in groups]
    missing = sum(sum(of["lost"]) + sum(of["late"]) for of in columns)
    return ratio(missing, sum(sum(of["packets"]) for of in columns))


def response_percentile_ms(groups: Iterable[Group], percent: float) -> float | None:
    """Returns the nearest rank of the times to answers, ms: the middle of its bucket of 1/64."""
    answers: dict[int, int] = {}
    asked = 0
    for responses in (group["responses"] for group in groups):
        asked += responses["asked"]
        for value, count in responses["buckets"].items():
            answers[int(value)] = answers.get(int(value), 0) + count
    rank = max(1, math.ceil(percent * asked / 100 - 1e-9))
    for value, count in sorted(answers.items()):
        rank -= count
        if rank <= 0:
            return (value + _bucket_ps(value) / 2) / PS_PER_MS
    return None


def _bucket_ps(least_ps: int) -> int:
    """Width of the bucket that begins at a time: times keep 7 bits."""
    return 1 << max(0, least_ps.bit_length() - 7)


def response_mean_ms(groups: Iterable[Group]) -> float | None:
    """Returns the mean time to an answer, ms."""
    found = [group["responses"] for group in groups]
    total = ratio(sum(of["sum_ps"] for of in found), sum(of["answered"] for of in found))
    return None if total is None else total / PS_PER_MS


def unanswered_part(groups: Iterable[Group]) -> float | None:
    """Requests without an answer, as a part of all."""
    found = [group["responses"] for group in groups]
    asked = sum(of["asked"] for of in found)
    return ratio(asked - sum(of["answered"] for of in found), asked)


def carried_in_words(records: Mapping[str, Any]) -> str:
    """What the connections of all groups carried each way, in words."""
    groups, seconds = records["users"], records["duration_ps"] / PS_PER_SECOND
    down, up = (
        8 * sum(group[way]["octets_delivered"] for group in groups) / seconds / 1e6
        for way in ("forward", "reverse")
    )
    return f"{down:.2f} Mbit/s to users and {up:.2f} Mbit/s from them"


Values = Callable[[Group], Sequence[float | None]]
