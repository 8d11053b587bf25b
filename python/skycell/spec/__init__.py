"""The spec of a run, as engines read it: generated classes, canonical text, hash.

Room `declared` is written by `make generate` from the declarations in Rust.
"""
