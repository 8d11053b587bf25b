"""What measuring tools write about a link, as samples over time: a module for each kind of form.

The forms are those of mahimahi (packet opportunities), ping of iputils and of Windows, fping (text,
JSON), irtt, iperf3, RIPE Atlas and flent (JSON), and tables of samples (CSV with a time stamp, a
round trip or a throughput). Which one a file has is seen from what it holds, not from its name.
"""

from __future__ import annotations

import re

from skycell.scenario.links.logs.documents import read_document
from skycell.scenario.links.logs.log import Asked, Log, Sample, refused
from skycell.scenario.links.logs.mahimahi import read_mahimahi
from skycell.scenario.links.logs.pings import (
    FPING,
    PING,
    WINDOWS,
    WINDOWS_ELSEWHERE,
    WINDOWS_IN_ENGLISH,
    read_pings,
    read_windows,
)
from skycell.scenario.links.logs.tables import delimiter_of, read_table, refuse_header

__all__ = ["Asked", "Log", "Sample", "delimiter_of", "read_log", "refuse_header"]


def read_log(name: str, text: str, asked: Asked | None = None) -> Log | None:
    """The samples of a measuring tool's file.

    Args:
        name: of the file, for faults.
        text: its content.
        asked: what the user says of it.

    Returns:
        None if it is no such file: then it may be a table of steps.

    Raises:
        ScenarioFaults: it is one, and faulty; by line.
        csv.Error: a table that cannot be read as CSV.
    """
    asked = asked or Asked()
    start = text.lstrip()
    if re.match(r"\{|\[\s*[\[{]", start):
        return read_document(name, text, asked)
    if PING.search(text) or FPING.search(text):
        return read_pings(name, text, asked)
    if WINDOWS.search(text):
        return read_windows(name, text, asked)
    if WINDOWS_ELSEWHERE.search(text):
        raise refused(name, "", "ping of Windows in another language", WINDOWS_IN_ENGLISH)
    if re.match(r"\d+\s*(\r?\n|$)", start):
        return read_mahimahi(name, text)
    return read_table(name, text, asked)
