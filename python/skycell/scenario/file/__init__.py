"""The tables of a scenario file, each a class of parameters."""
