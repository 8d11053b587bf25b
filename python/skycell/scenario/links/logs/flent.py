"""JSON of flent: the series of its pings, packet by packet."""

from __future__ import annotations

from typing import Any

from skycell.input.account import Assumed, LeftAside
from skycell.input.faults import show_value
from skycell.input.quantities import PS_PER_MS
from skycell.scenario.links.limits import delay_ps, moment_ps, number
from skycell.scenario.links.logs.log import Asked, Log, Sample, in_order, refused
from skycell.scenario.links.logs.pings import FLENT_PING, Answer, of_answers

_PING = "Ping (ms)"
_ICMP = "Ping (ms) ICMP"


def read_flent(name: str, document: dict[str, Any], asked: Asked) -> Log:
    """The pings of a test.

    Source: flent's documentation of its data file, and its `runners.py`: `raw_values` has a list
    for each series, with the moment `t` in seconds since 1970, `val`, and, of ping -D, `seq`.
    `results` are the same, resampled.
    """
    raw = document.get("raw_values") or {}
    pings = [series for series, points in raw.items() if series.startswith(_PING) and points]
    if not pings:
        allowed = f"raw_values with a series such as {_ICMP}"
        raise refused(name, "raw_values", "data of flent without pings", allowed)
    series = _ICMP if _ICMP in pings else pings[0]
    if series != _ICMP and len(pings) > 1:
        got = " and ".join(show_value(ping) for ping in pings[:4])
        raise refused(name, "raw_values", got, f"one series of pings, or {_ICMP} among them")
    points = raw[series]
    others = [one for one in raw if one != series]
    left = []
    if others:
        why = f"{series} is read; throughputs are what the test's own connections got"
        left.append(LeftAside("series", len(others), tuple(map(str, others)), why, "series"))
    if all("seq" in point for point in points):
        answers = []
        for at, point in enumerate(points, 1):
            ms = number(point["val"])
            delay_ps(ms, PS_PER_MS)
            answers.append(Answer(at, int(number(point["seq"])), number(point["t"]), ms))
        tool = FLENT_PING if series == _ICMP else "flent"
        return of_answers(name, tool, answers, asked, left)
    samples = tuple(
        Sample(moment_ps(number(point["t"])), delay_ps(number(point["val"]), PS_PER_MS))
        for point in points
    )
    sentence = f"{series} has no numbers of packets: nothing is taken for lost."
    log = Log(
        "round trips of flent",
        samples,
        has_round_trips=True,
        left_aside=tuple(left),
        assumed=(Assumed("losses", sentence),),
    )
    return in_order(name, log)
