"""Runs: one at a time, or many on all cores with a store of those that are finished."""

from skycell.experiment.run import OnProgress, run_spec

__all__ = ["OnProgress", "run_spec"]
