"""Runs in the formats of other tools: named tables, captures, qlog, samples of sockets."""
