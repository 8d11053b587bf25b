"""The measures that a table of a study can have: those of any run, and those of studies alone."""

from __future__ import annotations

from skycell.measures.measure import Measures
from skycell.measures.responses import RESPONSES
from skycell.studies.flow_measures import STUDY_FLOWS
from skycell.studies.guarantees import GUARANTEES
from skycell.studies.measured_run import Measured
from skycell.studies.port_measures import STUDY_PORTS
from skycell.studies.privileged import PRIVILEGED
from skycell.studies.thresholds import THRESHOLDS
from skycell.studies.web import STUDY_WEB
from skycell.studies.windows import WINDOWS

MEASURES: Measures[Measured] = Measures(
    RESPONSES,
    STUDY_FLOWS,
    STUDY_PORTS,
    THRESHOLDS,
    WINDOWS,
    GUARANTEES,
    PRIVILEGED,
    STUDY_WEB,
)
"""Measures by name; a name stands for one measure, in sweeps and in studies."""
