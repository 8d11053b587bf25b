"""Real hosts, recorded over modelled paths, beside what is simulated over the same paths."""

from skycell.validation.scenarios import RecordedScenario, UnknownScenarioError
from skycell.validation.validate import Validation, validate_linux

__all__ = [
    "RecordedScenario",
    "UnknownScenarioError",
    "Validation",
    "validate_linux",
]
