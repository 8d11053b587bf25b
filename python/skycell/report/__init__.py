"""Reports: one HTML file that holds everything and asks nothing of a network."""

from skycell.report.writing import (
    write_run_report,
    write_study_report,
    write_sweep_report,
    write_validation_report,
)

__all__ = [
    "write_run_report",
    "write_study_report",
    "write_sweep_report",
    "write_validation_report",
]
