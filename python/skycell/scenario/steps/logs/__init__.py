"""What measuring tools write about a link, as samples over time: a module for each kind of form.

The forms are those of mahimahi (packet opportunities), iputils ping, fping (text, JSON), irtt and
iperf3 (JSON), and tables of samples (CSV with a time stamp, a round trip or a throughput). Which
one a file has is seen from what it holds, not from its name.
"""

from __future__ import annotations

import re

from skycell.scenario.steps.logs.documents import read_document
from skycell.scenario.steps.logs.log import Log, Sample
from skycell.scenario.steps.logs.mahimahi import read_mahimahi
from skycell.scenario.steps.logs.pings import FPING, PING, read_pings
from skycell.scenario.steps.logs.tables import read_table

__all__ = ["Log", "Sample", "read_log"]


def read_log(name: str, text: str, interval_ps: int | None = None) -> Log | None:
    """The samples of a measuring tool's file.

    Args:
        name: of the file, for faults.
        text: its content.
        interval_ps: time from one packet to the next where the file has no times.

    Returns:
        None if it is no such file: then it may be a table of steps.

    Raises:
        ScenarioFaults: it is one, and faulty; by line.
        csv.Error: a table that cannot be read as CSV.
    """
    start = text.lstrip()
    if re.match(r"\{|\[\s*\{", start):
        return read_document(name, text, interval_ps)
    if PING.search(text) or FPING.search(text):
        return read_pings(name, text, interval_ps)
    if re.match(r"\d+\s*(\r?\n|$)", start):
        return read_mahimahi(name, text)
    return read_table(name, text)
