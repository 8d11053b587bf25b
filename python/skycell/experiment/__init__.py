"""Experiments: a design, its runs on all cores, a store of those that are finished, measures."""
