"""JSON of RIPE Atlas: results of ping by one probe."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from statistics import median
from typing import Any

from skycell.input.account import Assumed, LeftAside
from skycell.input.faults import show_value
from skycell.input.quantities import PS_PER_MS, show_time
from skycell.scenario.links.limits import delay_ps, moment_ps, number
from skycell.scenario.links.logs.log import Asked, Log, Sample, in_order, refused
from skycell.scenario.links.logs.pings import DEFAULT_INTERVAL_PS

KEYS = {"prb_id", "msm_id"}
"""That every result has."""
_MOST_NAMED = 3


def read_atlas(name: str, results: Sequence[Any], asked: Asked) -> Log:
    """The packets of each result, in the order in which they were sent.

    Source: RIPE Atlas, Measurement Result Format, version 5000. `timestamp` is the begin of a
    result in seconds since 1970; an entry of `result` has `rtt` in ms, or `x` where no answer came,
    or `error`. A `dup` or `late` entry is no packet of its own.
    """
    pings = [result for result in results if result.get("type", "ping") == "ping"]
    others = [str(result["type"]) for result in results if result.get("type", "ping") != "ping"]
    kinds = tuple(dict.fromkeys(others))
    if not pings:
        got = f"results of RIPE Atlas of the type {', '.join(map(show_value, kinds[:3]))}"
        raise refused(name, "type", got, "results of the type ping")
    _refuse_several(name, pings)
    interval_ps = asked.interval_ps or DEFAULT_INTERVAL_PS
    samples: list[Sample] = []
    errors = doubles = 0
    for result in pings:
        begin_ps = moment_ps(number(result["timestamp"]))
        packets = [one for one in result["result"] if not {"dup", "late"} & one.keys()]
        doubles += len(result["result"]) - len(packets)
        for at, packet in enumerate(packets):
            errors += "error" in packet
            rtt = packet.get("rtt")
            delay = None if rtt is None else delay_ps(number(rtt), PS_PER_MS)
            at_ps = begin_ps + at * interval_ps
            samples.append(Sample(at_ps, delay, is_lost=delay is None))
    if not any(sample.delay_ps is not None for sample in samples):
        raise refused(name, "result", "no answer", "an answer or more of RIPE Atlas")
    left = []
    if others:
        left.append(LeftAside("result", len(others), kinds, "not of ping"))
    if doubles:
        why = "each is a second or a late answer"
        left.append(LeftAside("answer", doubles, ("dup, late",), why))
    log = Log(
        "round trips of RIPE Atlas",
        tuple(samples),
        noun="packets",
        has_round_trips=True,
        left_aside=tuple(left),
        assumed=tuple(_assumed(pings, asked, interval_ps, errors)),
    )
    return in_order(name, log)


def _refuse_several(name: str, pings: Sequence[Any]) -> None:
    """Refuses the results of several probes, which have nothing to do with one link."""
    ends = list(dict.fromkeys((result["prb_id"], result["msm_id"]) for result in pings))
    if len(ends) == 1:
        return
    words = [
        f"probe {show_value(probe)} in measurement {show_value(measurement)}"
        for probe, measurement in ends[:_MOST_NAMED]
    ]
    more = f" and {len(ends) - len(words)} more" if len(ends) > len(words) else ""
    allowed = "the results of one probe in one measurement"
    raise refused(name, "prb_id", f"{', '.join(words)}{more}", allowed)


def _assumed(pings: Sequence[Any], asked: Asked, interval_ps: int, errors: int) -> list[Assumed]:
    by = "key" if asked.interval_ps else "default"
    found = [
        Assumed(
            "times",
            f"A result has the moment of its first packet: the others follow each "
            f"{show_time(interval_ps)}.",
            by,
            "" if asked.interval_ps else "interval",
        )
    ]
    moments = sorted(number(result["timestamp"]) for result in pings)
    if len(moments) > 1:
        apart = Fraction(median(after - before for before, after in pairwise(moments)))
        sentence = (
            f"Results are {show_time(moment_ps(apart))} apart: in between, the last round trip "
            "holds."
        )
        found.append(Assumed("sampling", sentence, "file", numbers={"apart_s": float(apart)}))
    addresses = dict.fromkeys(str(result.get("dst_addr")) for result in pings)
    if len(addresses) > 1:
        sentence = f"The target had {len(addresses)} addresses. All are read as one."
        found.append(Assumed("target", sentence, "default"))
    if errors:
        sentence = f"A packet with an error is a lost packet: {errors}."
        found.append(Assumed("errors", sentence, numbers={"errors": float(errors)}))
    return found
