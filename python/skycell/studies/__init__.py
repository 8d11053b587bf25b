"""Published studies as data, and their reproduction from one call.

>>> from skycell.studies import known_ids
>>> "icccn97-t3" in known_ids()
True
"""

from skycell.studies.compare import Row, TableSummary
from skycell.studies.design import scenario_of
from skycell.studies.findings import ConclusionResult, RunByRun
from skycell.studies.library import STUDY_IDS, UnknownStudyError, known_ids, load_study, select
from skycell.studies.reproduce import Progress, reproduce
from skycell.studies.reproduction import ChoiceInForce, Reproduction, SuspectPrint

__all__ = [
    "STUDY_IDS",
    "ChoiceInForce",
    "ConclusionResult",
    "Progress",
    "Reproduction",
    "Row",
    "RunByRun",
    "SuspectPrint",
    "TableSummary",
    "UnknownStudyError",
    "known_ids",
    "load_study",
    "reproduce",
    "scenario_of",
    "select",
]
