"""The responses of a sweep: the measures that need the records of a run alone."""

from __future__ import annotations

from skycell.measures.applications import APPLICATIONS
from skycell.measures.calls import CALLS
from skycell.measures.cells import VCS
from skycell.measures.flows import FLOWS
from skycell.measures.measure import Better, Measure, Measures
from skycell.measures.ports import PORTS
from skycell.measures.probes import PROBES
from skycell.measures.run_view import RunView
from skycell.measures.sky import SKY
from skycell.measures.uplinks import UPLINKS
from skycell.measures.users import TRANSFERS, WEB
from skycell.stats.ranges import ANY, Range

DEFAULT_RESPONSES = ("efficiency", "max_min_fairness")
"""What is measured unless the file says otherwise."""

RESPONSES: Measures[RunView] = Measures(
    FLOWS, PORTS, UPLINKS, PROBES, CALLS, VCS, WEB, TRANSFERS, APPLICATIONS, SKY
)
"""Responses by name. A response with a part measures one part alone as `NAME:PART`."""


def response_of(name: str) -> Measure[RunView]:
    """Returns the response of a name, with or without a part; KeyError for any other."""
    base, colon, part = name.partition(":")
    response = RESPONSES[base]
    if colon and not (response.part and part):
        raise KeyError(name)
    return response


def is_response(name: str) -> bool:
    """Whether there is a response of this name.

    >>> is_response("timeouts:flow1"), is_response("efficiency:flow1"), is_response("speed")
    (True, False, False)
    """
    try:
        response_of(name)
    except KeyError:
        return False
    return True


def better_of(name: str) -> Better:
    """Returns which values of a response users would rather have; empty for another column.

    >>> better_of("throughput:flow1"), better_of("mean_delay"), better_of("speed")
    ('larger', 'smaller', '')
    """
    return response_of(name).better if is_response(name) else ""


def meaning_of(name: str) -> str:
    """Returns the meaning of a response, without a full stop; empty for another column.

    >>> meaning_of("jain_fairness"), meaning_of("speed")
    ("Jain's index of the throughputs", '')
    """
    return response_of(name).meaning if is_response(name) else ""


def range_of(name: str) -> Range:
    """Returns the range of a response; any value for another column.

    >>> range_of("throughput:flow1"), range_of("speed") == ANY
    (Range(low=0.0, high=inf), True)
    """
    return response_of(name).range if is_response(name) else ANY


def measure(name: str, run: RunView) -> float | None:
    """Returns the value of a response on a run; None if it is not defined there."""
    response = response_of(name)
    if response.is_of_flows and not run.flows:
        return None
    part = name.partition(":")[2]
    view = run.narrowed(response.part, part) if part else run
    return None if view is None else response.measure(view)
