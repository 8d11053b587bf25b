"""Measures of what users of applications got, of one group or of all groups of a kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skycell.measures.measure import Measures
from skycell.measures.run_view import RunView
from skycell.metrics import applications as of_users
from skycell.metrics.applications import Group
from skycell.stats.ranges import PART, POSITIVE

APPLICATIONS: Measures[RunView] = Measures()

_OF_GROUP: Mapping[str, Any] = {"part": "user", "better": "smaller"}
_PERCENTILES = {"p50": 50, "p90": 90, "p95": 95, "p99": 99}
_WORDS = {
    "mean": "mean {}, of those that ended",
    "p50": "median {}",
    "p90": "90th percentile of the {}",
    "p95": "95th percentile of the {}",
    "p99": "99th percentile of the {}",
}
_LOW = {"p50": 50, "p10": 10, "p5": 5}
_LOW_WORDS = {
    "mean": "mean {}",
    "p50": "median {}",
    "p10": "10th percentile of the {}",
    "p5": "5th percentile of the {}",
}


def groups_of(run: RunView, *kinds: str) -> list[Group]:
    """The groups of a run, or of the one that is asked for, that have an application of a kind."""
    return [group for group in run.summary.get("users", ()) if group["app"]["kind"] in kinds]


def _pooled(run: RunView, kind: str, values: of_users.Values) -> list[float | None]:
    return [value for group in groups_of(run, kind) for value in values(group)]


def _declare(name: str, unit: str, meaning: str, **about: Any) -> Callable[[Any], Any]:
    def add(function: Callable[[RunView], float | None]) -> Any:
        function.__name__ = name
        return APPLICATIONS.declare(unit, meaning, **{**_OF_GROUP, "range": POSITIVE, **about})(
            function
        )

    return add


def _times(name: str, kind: str, what: str, values: of_users.Values) -> None:
    """Declares the mean and the percentiles of a time; what has not ended is longer than all."""
    for figure, words in _WORDS.items():

        def measure(run: RunView, figure: str = figure) -> float | None:
            pooled = _pooled(run, kind, values)
            if figure == "mean":
                return of_users.mean(pooled)
            return of_users.percentile(pooled, _PERCENTILES[figure]) if pooled else None

        _declare(f"{figure}_{name}", "ms", words.format(what))(measure)


def _scores(name: str, what: str, values: Callable[[Group], Sequence[float]]) -> None:
    """Declares the mean and low percentiles of a score of calls."""
    for figure, words in _LOW_WORDS.items():

        def measure(run: RunView, figure: str = figure) -> float | None:
            pooled: list[float | None] = [v for g in groups_of(run, "call") for v in values(g)]
            if figure == "mean":
                return of_users.mean(pooled)
            return of_users.percentile(pooled, _LOW[figure]) if pooled else None

        _declare(f"{figure}_{name}", "1", words.format(what), better="larger")(measure)


def _part(name: str, kind: str, what: str, values: of_users.Values) -> None:
    """Declares the part of things that have not ended."""

    def measure(run: RunView) -> float | None:
        return of_users.unfinished_part(_pooled(run, kind, values))

    _declare(name, "1", what, range=PART)(measure)


_LOADED: of_users.Values = lambda group: of_users.times_ms(group, "loaded_ps")  # noqa: E731
_FIRST: of_users.Values = lambda group: of_users.times_ms(group, "first_octet_ps")  # noqa: E731
_PLAYING: of_users.Values = lambda group: of_users.times_ms(group, "playing_ps")  # noqa: E731
_DOWNLOADED: of_users.Values = lambda group: of_users.times_ms(group, "end_ps")  # noqa: E731

_times("page_load_time", "pages", "time from a page's begin to its last octet", _LOADED)
_times("time_to_first_byte", "pages", "time from a page's begin to its first octet", _FIRST)
_part(
    "unfinished_pages_part",
    "pages",
    "pages that had not come whole, as a part of those begun",
    _LOADED,
)
_times("start_up_delay", "video", "time from a video's begin until it plays", _PLAYING)
_times("download_time", "bulk", "time from a download's begin to its last octet", _DOWNLOADED)
_part(
    "unfinished_downloads_part",
    "bulk",
    "downloads that had not come whole, as a part of those begun",
    _DOWNLOADED,
)
_times("mouth_to_ear", "call", "delay of a call, from mouth to ear", of_users.mouth_to_ear_ms)
_scores("call_r", "rating R of a call, by the E-model", of_users.call_ratings)
_scores("call_mos", "mean opinion score of a call, by the E-model", of_users.call_opinions)


def _of_videos(run: RunView, over: Sequence[str], under: Sequence[str]) -> float | None:
    totals = [of_users.video_totals(group) for group in groups_of(run, "video")]
    sums = [sum(total[key] for total in totals for key in keys) for keys in (over, under)]
    return of_users.ratio(*sums)


@_declare("stalls_per_hour", "1/h", "stalls of videos in an hour that plays or stalls")
def _stalls(run: RunView) -> float | None:
    found = _of_videos(run, ["stalls"], ["played_s", "stalled_s"])
    return None if found is None else 3600 * found


@_declare(
    "stalled_part", "1", "time in which videos stall, as a part of playing and stalling", range=PART
)
def _stalled(run: RunView) -> float | None:
    return _of_videos(run, ["stalled_s"], ["played_s", "stalled_s"])


@_declare("mean_bit_rate", "Mbit/s", "bit rate of videos, mean of their segments", better="larger")
def _bit_rate(run: RunView) -> float | None:
    found = _of_videos(run, ["bits"], ["come_s"])
    return None if found is None else found / 1e6


@_declare("switches_per_minute", "1/min", "changes of the bit rate in a minute of video")
def _switches(run: RunView) -> float | None:
    found = _of_videos(run, ["switches"], ["come_s"])
    return None if found is None else 60 * found


@_declare("call_loss", "1", "packets of calls that were lost or late, as a part of all", range=PART)
def _call_loss(run: RunView) -> float | None:
    return of_users.call_loss(groups_of(run, "call"))


@_declare(
    "unanswered_part", "1", "requests in datagrams without an answer, as a part of all", range=PART
)
def _unanswered(run: RunView) -> float | None:
    return of_users.unanswered_part(groups_of(run, "asks"))


@_declare("mean_response_time", "ms", "mean time from a request in datagrams to its answer")
def _response_mean(run: RunView) -> float | None:
    return of_users.response_mean_ms(groups_of(run, "asks"))


def _response_times() -> None:
    for figure, percent in _PERCENTILES.items():

        def measure(run: RunView, percent: float = percent) -> float | None:
            groups = groups_of(run, "asks")
            return of_users.response_percentile_ms(groups, percent) if groups else None

        meaning = _WORDS[figure].format("time from a request in datagrams to its answer")
        _declare(f"{figure}_response_time", "ms", meaning)(measure)


_response_times()
