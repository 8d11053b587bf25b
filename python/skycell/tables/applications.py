"""Tables of what users of applications got: a table for each kind, a row for each group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skycell.metrics import applications as of_users
from skycell.metrics.applications import Group
from skycell.tables.recorded import Recorded, made
from skycell.tables.table import Cell, Table, count, loss, number, words

_PERCENTS = (50, 90, 95, 99)
_HEADS = ("50 %", "90 %", "95 %", "99 %")


def applications(run: Recorded) -> list[Table]:
    """Returns a table for each kind of application that users of a run have."""
    groups: Sequence[Group] = run.records.get("users", ())
    tables = []
    for kind, make in _MAKE.items():
        own = [group for group in groups if group["app"]["kind"] == kind]
        table = make(own) if own else None
        if table is not None:
            tables.append(table)
    return tables


def _times(values: Sequence[float | None]) -> list[Cell]:
    """Cells of percentiles of times, ms to s; what has not ended is longer than all."""
    return [_seconds(of_users.percentile(values, p) if values else None) for p in _PERCENTS]


def _seconds(ms: float | None) -> Cell:
    return number(None if ms is None else ms / 1000, 3)


def _part(value: float | None) -> Cell:
    return number(None, 3) if value is None else loss(value)


def _pages(groups: Sequence[Group]) -> Table | None:
    def row(group: Group) -> tuple[Cell, ...]:
        loaded = of_users.times_ms(group, "loaded_ps")
        first = of_users.times_ms(group, "first_octet_ps")
        return (
            words(group["name"]),
            count(group["users"]),
            count(len(loaded)),
            *_times(loaded),
            _seconds(of_users.percentile(first, 50) if first else None),
            _seconds(of_users.percentile(first, 95) if first else None),
            _part(of_users.unfinished_part(loaded)),
        )

    return made(
        "Pages: page load time, s",
        "Pages that began while the run counts: percentiles of the page load time, from the begin "
        "to the last octet, and of the time to the first octet of the page, in seconds; the part "
        "that had not come whole, which is longer than all others.",
        "group",
        ("users", "pages", *_HEADS, "first octet, 50 %", "95 %\u00a0", "unfinished"),
        map(row, groups),
    )


def _videos(groups: Sequence[Group]) -> Table | None:
    def row(group: Group) -> tuple[Cell, ...]:
        playing, totals = of_users.times_ms(group, "playing_ps"), of_users.video_totals(group)
        watched = totals["played_s"] + totals["stalled_s"]
        stalls = of_users.ratio(3600 * totals["stalls"], watched)
        rate = of_users.ratio(totals["bits"], 1e6 * totals["come_s"])
        return (
            words(group["name"]),
            count(group["users"]),
            count(len(playing)),
            *_times(playing),
            number(stalls, 1),
            _part(of_users.ratio(totals["stalled_s"], watched)),
            number(rate, 3),
            number(of_users.ratio(60 * totals["switches"], totals["come_s"]), 2),
        )

    return made(
        "Videos: start-up delay, s, stalls and bit rate",
        "Videos that began while the run counts: percentiles of the time until they play, in "
        "seconds; stalls in an hour of playing and stalling, and the part of it that stalls; mean "
        "bit rate of the segments in Mbit/s, and changes of it in a minute of video.",
        "group",
        ("users", "videos", *_HEADS, "stalls per h", "stalled", "Mbit/s", "switches per min"),
        map(row, groups),
    )


def _calls(groups: Sequence[Group]) -> Table | None:
    def row(group: Group) -> tuple[Cell, ...]:
        ratings: list[float | None] = [*of_users.call_ratings(group)]
        scores: list[float | None] = [*of_users.call_opinions(group)]
        delays = of_users.mouth_to_ear_ms(group)
        return (
            words(group["name"]),
            count(group["users"]),
            count(len(delays)),
            number(of_users.percentile(ratings, 50) if ratings else None, 1),
            number(of_users.percentile(ratings, 10) if ratings else None, 1),
            number(of_users.percentile(scores, 50) if scores else None, 2),
            number(of_users.percentile(scores, 10) if scores else None, 2),
            _part(of_users.call_loss([group])),
            number(of_users.percentile(delays, 50) if delays else None, 1),
            number(of_users.percentile(delays, 95) if delays else None, 1),
        )

    return made(
        "Calls: R and MOS of the E-model",
        "Calls that began while the run counts, each way by itself: the rating R of ITU-T G.107 "
        "and its mean opinion score, of half of the calls and of the worst tenth at most; packets "
        "that were lost or late for the playout buffer; delay from mouth to ear in ms.",
        "group",
        (
            "users",
            "ways",
            "R, 50 %",
            "10 %",
            "MOS, 50 %",
            "10 %\u00a0",
            "lost or late",
            "ms, 50 %",
            "95 %",
        ),
        map(row, groups),
    )


def _asks(groups: Sequence[Group]) -> Table | None:
    def row(group: Group) -> tuple[Cell, ...]:
        found = [of_users.response_percentile_ms([group], p) for p in _PERCENTS]
        return (
            words(group["name"]),
            count(group["users"]),
            count(group["responses"]["asked"]),
            *(number(ms, 1) for ms in found),
            number(group["responses"]["max_ps"] / 1e9 or None, 1),
            _part(of_users.unanswered_part([group])),
        )

    return made(
        "Requests and answers: response time, ms",
        "Requests in datagrams that were sent first while the run counts: percentiles of the time "
        "to the answer in ms, and the longest; the part without an answer, longer than all.",
        "group",
        ("users", "requests", *_HEADS, "largest", "unanswered"),
        map(row, groups),
    )


def _downloads(groups: Sequence[Group]) -> Table | None:
    def row(group: Group) -> tuple[Cell, ...]:
        ended = of_users.times_ms(group, "end_ps")
        return (
            words(group["name"]),
            count(group["users"]),
            count(len(ended)),
            *_times(ended),
            _part(of_users.unfinished_part(ended)),
        )

    return made(
        "Downloads: time, s",
        "Downloads that began while the run counts: percentiles of the time from the begin to the "
        "last octet, in seconds; the part that had not come whole, longer than all others.",
        "group",
        ("users", "downloads", *_HEADS, "unfinished"),
        map(row, groups),
    )


_MAKE: dict[str, Any] = {
    "pages": _pages,
    "video": _videos,
    "call": _calls,
    "asks": _asks,
    "bulk": _downloads,
}
