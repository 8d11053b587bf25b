"""Packet opportunities, as mahimahi records and replays them."""

from __future__ import annotations

import re
from dataclasses import replace

from skycell.input.account import Assumed
from skycell.input.faults import Fault, ScenarioFaults, show_value
from skycell.input.quantities import PS_PER_MS
from skycell.scenario.links.logs.log import MEANING, MOST_FAULTS, Log, Sample

OCTETS = 1504
"""That may leave at each moment: a packet of 1500 and the 4 of mahimahi's tunnel."""


def read_mahimahi(name: str, text: str) -> Log:
    """Milliseconds, one a line, at each of which a packet may leave; it begins anew at the last.

    Source: mahimahi's mm-link (R. Netravali et al., Mahimahi: Accurate Record-and-Replay for HTTP,
    USENIX ATC 2015): opportunities of an MTU each.
    """
    samples: list[Sample] = []
    faults: list[Fault] = []
    before = 0
    for number, line in enumerate(text.splitlines(), 1):
        word = line.strip()
        if not word:
            continue
        allowed = "a whole number of milliseconds, not below the one before it"
        if not re.fullmatch(r"\d{1,12}", word) or int(word) < before:
            faults.append(Fault(name, "", show_value(word), allowed, MEANING, line=number))
            if len(faults) == MOST_FAULTS:
                break
            continue
        before = int(word)
        samples.append(Sample(before * PS_PER_MS, octets=OCTETS))
    if not faults and not before:
        allowed = "moments up to one above 0: at the last moment the file begins again"
        faults.append(Fault(name, "", "no moment above 0", allowed, MEANING))
    if faults:
        raise ScenarioFaults(faults)
    # A moment at the very end is the 0 of the next round.
    inside = tuple(replace(sample, at_ps=sample.at_ps % (before * PS_PER_MS)) for sample in samples)
    ordered = tuple(sorted(inside, key=lambda sample: sample.at_ps))
    return Log(
        "packet opportunities of mahimahi",
        ordered,
        before * PS_PER_MS,
        "opportunities",
        wraps=True,
        assumed=(
            Assumed("size", f"An opportunity is {OCTETS} octets, as mahimahi has it."),
            Assumed("repeat", "The file begins again at its end.", otherwise="repeat = false"),
        ),
    )
