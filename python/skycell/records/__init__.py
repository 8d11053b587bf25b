"""What a run left, as typed tables, and how it is kept in files."""

from skycell.records.files import OutputExists, existing_files, write_result
from skycell.records.result import RunResult
from skycell.spec.declared.traces import TRACE_COLUMNS

__all__ = ["TRACE_COLUMNS", "OutputExists", "RunResult", "existing_files", "write_result"]
