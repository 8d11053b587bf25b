"""Measures of a run: a number each, with unit, meaning, part of the network and direction."""
