"""Measures of web users that only tables of studies have; times are in seconds, as in print."""

from __future__ import annotations

from skycell.input.quantities import PS_PER_SECOND
from skycell.measures.flows import MBIT
from skycell.measures.measure import Measures
from skycell.metrics import scheduled_bps
from skycell.studies.measured_run import Measured

STUDY_WEB: Measures[Measured] = Measures()


@STUDY_WEB.declare("Mbit/s", "what all servers had to send")
def offered_load(run: Measured) -> float:
    """Over the whole run."""
    return sum(scheduled_bps(run.summary)) / MBIT


@STUDY_WEB.declare("kB", "mean size of the files sent, in 1000 octets")
def mean_file(run: Measured) -> float | None:
    """None if no file was sent."""
    web = run.summary["web"]
    answered = web["requests_answered"]
    return web["octets_scheduled"] / answered / 1000 if answered else None


def _response_s(run: Measured, times: str, key: str) -> float | None:
    """A quantile of the response times over all clients; none if nothing came."""
    time_ps = run.summary["web"][times][key]
    return None if time_ps is None else time_ps / PS_PER_SECOND


@STUDY_WEB.declare("s", "median time of a web file", better="smaller")
def file_response_median(run: Measured) -> float | None:
    """From request to last octet."""
    return _response_s(run, "file_response", "p50_ps")


@STUDY_WEB.declare("s", "95th percentile of the time of a web file", better="smaller")
def file_response_p95(run: Measured) -> float | None:
    """From request to last octet."""
    return _response_s(run, "file_response", "p95_ps")


@STUDY_WEB.declare("s", "median time of a web page", better="smaller")
def page_response_median(run: Measured) -> float | None:
    """From first request to last octet."""
    return _response_s(run, "page_response", "p50_ps")


@STUDY_WEB.declare("s", "95th percentile of the time of a web page", better="smaller")
def page_response_p95(run: Measured) -> float | None:
    """From first request to last octet."""
    return _response_s(run, "page_response", "p95_ps")
