"""Lists of packets, each with a time and a size, from the files that sources of a scenario name."""
