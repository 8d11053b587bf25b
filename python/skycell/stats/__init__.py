"""Statistics of factorial studies: effects, allocation of variation, confidence intervals.

Pure functions on tables of runs, whoever made them; see `analyse` and `dominant_factor`.
"""

from skycell.stats.analysis import analyse, dominant_factor
from skycell.stats.result import Analysis
from skycell.stats.table import DesignError

__all__ = ["Analysis", "DesignError", "analyse", "dominant_factor"]
