"""Runs: one at a time, or many on all cores with a store of those that are finished."""
