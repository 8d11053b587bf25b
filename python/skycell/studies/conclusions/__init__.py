"""The tests of the published conclusions, one module a study.

Each is a function of numbers alone, so that it can be asked of the published numbers as well as of
ours. The wording of a conclusion, with its criterion, stands in the study's `study.toml`.
"""
