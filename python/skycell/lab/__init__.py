"""The workbench: a local page on which scenarios are written, run, looked at and compared."""
